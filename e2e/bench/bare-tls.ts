// A TLS client with nothing of ours in it, to run beside the helper inside a namespace: handshakes one after the other,
// each over a TCP connection of its own, offering HTTP/2. Prints the milliseconds each took as one JSON array.
// Arguments: ADDRESS PORT SERVER-NAME CA.pem COUNT
import { once } from 'node:events';
import { readFileSync } from 'node:fs';
import { connect, createSecureContext } from 'node:tls';

const [address = '', port, servername = '', caPath = '', count] = process.argv.slice(2);
// Made once: with the system's list of roots it costs more than a handshake.
const secureContext = createSecureContext({ ca: readFileSync(caPath) });
const milliseconds: number[] = [];
for (let done = 0; done < Number(count); done += 1) {
  const startedMs = performance.now();
  const where = { host: address, port: Number(port), servername };
  const socket = connect({ ...where, secureContext, ALPNProtocols: ['h2', 'http/1.1'] });
  await once(socket, 'secureConnect');
  milliseconds.push(performance.now() - startedMs);
  socket.destroy();
}
process.stdout.write(JSON.stringify(milliseconds));
