// The addresses of this machine's own interfaces in one text: where tables cannot be read without a command, a change
// of network shows there first.

/** Differs whenever an interface or an IPv4 address of it comes or goes. */
export function interfacesMark(): string {
  const interfaces = Object.entries(process.getBuiltinModule('node:os').networkInterfaces());
  return JSON.stringify(
    interfaces.map(([device, addresses = []]) => [
      device,
      // IPv6 privacy addresses (RFC 8981) come and go on the same network.
      addresses.flatMap(({ family, cidr }) => (family === 'IPv4' ? [cidr] : [])),
    ]),
  );
}
