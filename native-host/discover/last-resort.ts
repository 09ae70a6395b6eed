// getaddrinfo behind DNS, for names that only the system knows. Each call holds one of libuv's four threads for as long as
// the system likes, so that a list of dead names would keep all of them, and every later name, waiting in line.
import type { Getaddrinfo } from './dns.ts';

/** The others are for files and cryptography. */
const CALLS_AT_ONCE = 2;
/** Standing in line included. What is on the link answers within half a second (RFC 6762 section 6). */
const PATIENCE_MS = 1000;

export type After = (delayMs: number, run: () => void) => () => void;

function tooLate(): NodeJS.ErrnoException {
  return Object.assign(new Error('getaddrinfo did not answer in time'), { code: 'ETIMEOUT' });
}

/** The same for all who ask, a few at a time; rejects with code `ETIMEOUT` when it is not worth waiting any longer. */
export function lastResort(getaddrinfo: Getaddrinfo, after: After): Getaddrinfo {
  const line: (() => void)[] = [];
  let calls = 0;

  function next(): void {
    if (calls >= CALLS_AT_ONCE) return;
    line.shift()?.();
  }

  return (name) =>
    new Promise((resolve, reject) => {
      const call = (): void => {
        calls += 1;
        void getaddrinfo(name)
          .then(resolve, reject)
          .finally(() => {
            forget();
            calls -= 1;
            next();
          });
      };
      const forget = after(PATIENCE_MS, () => {
        const at = line.indexOf(call);
        if (at !== -1) line.splice(at, 1);
        reject(tooLate());
      });
      line.push(call);
      next();
    });
}

/** Whether DNS has no say about a name: those of the link (RFC 6762) and bare ones, which are the system's own. */
export function isBeyondDns(name: string): boolean {
  const bare = name.replace(/\.$/, '').toLowerCase();
  return !bare.includes('.') || bare.endsWith('.local');
}
