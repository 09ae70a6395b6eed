// What the browser says, as it comes. Node's stream on stdin brings all of Node's sockets with it, a tenth of the time to
// a first forecast, so the first bytes are read without it.
import { readSync } from 'node:fs';

const STDIN = 0;
const READ_BYTES = 65_536;

/** What is wanted after some bytes: to wait for more and do nothing else, to be called when they come, or no more. */
export type ReadDecision = 'wait' | 'listen' | 'stop';

/** Gives bytes to `take` in their order as long as it wants them, and calls `gone` once they end or fail. */
export function readFromBrowser(take: (bytes: Uint8Array) => ReadDecision, gone: () => void): void {
  let decision: ReadDecision = 'wait';
  while (decision === 'wait') {
    const bytes = Buffer.allocUnsafe(READ_BYTES);
    let count: number;
    try {
      count = readSync(STDIN, bytes);
    } catch {
      // It does not block, or it has failed; the stream copes with the one and tells of the other.
      break;
    }
    if (count === 0) {
      gone();
      return;
    }
    decision = take(bytes.subarray(0, count));
  }
  if (decision === 'stop') return;
  const { stdin } = process;
  stdin.on('data', (bytes: Buffer) => {
    if (take(bytes) === 'stop') stdin.pause();
  });
  stdin.once('end', gone);
  stdin.once('error', gone);
}
