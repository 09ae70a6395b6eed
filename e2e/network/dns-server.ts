// A DNS server in a process of its own, so that it can run inside a namespace: `dns-server.ts ADDRESS ZONE` answers on
// UDP port 53 from a JSON zone, says `listening`, and ends with its standard input.
import { createSocket } from 'node:dgram';
import { isIP } from 'node:net';
import { answerQuery, type Zone } from './dns-message.ts';

const DNS_PORT = 53;

const [address = '', zoneText = '{}'] = process.argv.slice(2);
const zone = JSON.parse(zoneText) as Zone;
const socket = createSocket(isIP(address) === 6 ? 'udp6' : 'udp4');
socket.on('message', (query, from) => {
  try {
    socket.send(answerQuery(query, zone), from.port, from.address);
  } catch (error) {
    // A message that cannot be read is left unanswered, as servers do.
    if (!(error instanceof RangeError)) throw error;
  }
});
socket.bind(DNS_PORT, address, () => process.stdout.write('listening\n'));
process.stdin.on('end', () => process.exit(0)).resume();
