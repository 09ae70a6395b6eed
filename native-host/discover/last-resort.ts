// getaddrinfo as the fallback of DNS, for names that only the system knows. Each call occupies one of libuv's four
// threads for as long as the system takes, so a list of dead names could block all of them, and with them every later
// name.
import type { Getaddrinfo } from './dns.ts';

/** The other threads are for files and cryptography. */
const CALLS_AT_ONCE = 2;
/** Includes waiting in the queue. Hosts on the link answer within half a second (RFC 6762 section 6). */
const PATIENCE_MS = 1000;

export type After = (delayMs: number, run: () => void) => () => void;

function tooLate(): NodeJS.ErrnoException {
  return Object.assign(new Error('getaddrinfo did not answer in time'), { code: 'ETIMEOUT' });
}

/**
 * The same function with limited concurrency, shared by all callers; rejects with code `ETIMEOUT` after the maximum
 * wait.
 */
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

/**
 * Whether DNS is not authoritative for a name: link-local names (RFC 6762), and single labels, which belong to the
 * system.
 */
export function isBeyondDns(name: string): boolean {
  const bare = name.replace(/\.$/, '').toLowerCase();
  return !bare.includes('.') || bare.endsWith('.local');
}
