// The scripted DNS server in a process of its own, so that it can run inside a namespace: `dns-server.ts ADDRESS NAMES`
// answers on UDP port 53 by the script in JSON, says where, and ends with its standard input.
import { startDns } from '../origins/dns.ts';

const DNS_PORT = 53;

const [address = '', names = '{}'] = process.argv.slice(2);
const { resolver } = await startDns(JSON.parse(names), { address, port: DNS_PORT });
process.stdout.write(`${resolver}\n`);
process.stdin.on('end', () => process.exit(0)).resume();
