// A bare undici as a client under test: Node's HTTP/2 client with nothing of ours around it.
import { fileURLToPath } from 'node:url';
import { orderedProgram, peer } from './peer.ts';

const SCRIPT = fileURLToPath(new URL('../../bench/peers/undici/trials.ts', import.meta.url));

/** HTTP/2 alone. */
export const undici = peer('undici', 'undici alone (HTTP/2)', (testbed) =>
  orderedProgram(testbed, [process.execPath, SCRIPT]),
);
