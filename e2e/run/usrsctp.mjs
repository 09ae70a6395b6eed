// Where the programs of usrsctp are: Debian's package is the only one that contains them.
const DIR = '/usr/lib/usrsctp';

export const USRSCTP = {
  client: `${DIR}/http_client`,
  server: `${DIR}/echo_server`,
  missing: "usrsctp's programs are not installed; in Debian and Ubuntu: apt-get install libusrsctp-examples",
};
