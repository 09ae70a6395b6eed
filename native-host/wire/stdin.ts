// Input from the browser. Node's stream on stdin loads all of Node's sockets, a tenth of the time to a first forecast,
// so the first bytes are read without it.
import { readSync } from 'node:fs';

const STDIN = 0;
const READ_BYTES = 65_536;

/** What to do after some bytes: block until more arrive, be called when they arrive, or stop. */
export type ReadDecision = 'wait' | 'listen' | 'stop';

/** Passes bytes to `take` in order as long as it wants them, and calls `gone` once they end or fail. */
export function readFromBrowser(take: (bytes: Uint8Array) => ReadDecision, gone: () => void): void {
  let decision: ReadDecision = 'wait';
  while (decision === 'wait') {
    const bytes = Buffer.allocUnsafe(READ_BYTES);
    let count: number;
    try {
      count = readSync(STDIN, bytes);
    } catch {
      // The descriptor is non-blocking, or it has failed; the stream handles the former and reports the latter.
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
