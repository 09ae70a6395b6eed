// A separate process for tests of the cache: writes observations until stopped or killed, and prints which of them were
// acknowledged. Arguments: cache file, name, how many batches.
import { CacheUnavailable } from '../cache/database.ts';
import { openHostCache } from '../cache/store.ts';
import { systemClock } from '../clock.ts';
import { observation } from './cache-samples.ts';

const [path = '', name = '', batches = '0'] = process.argv.slice(2);
const cache = openHostCache({ path, clock: systemClock, log: (message) => console.error(message) });

/** Waits and retries, like the extension does with unacknowledged observations. */
async function acknowledged(id: string): Promise<void> {
  for (;;) {
    try {
      cache.observe('home', 'chromium', [observation({ id, site: `${id}.test`, atMs: Date.now() })]);
      return;
    } catch (error) {
      if (!(error instanceof CacheUnavailable)) throw error;
      await new Promise((resolve) => setTimeout(resolve, 5));
    }
  }
}

for (let n = 0; n < Number(batches); n += 1) {
  const id = `${name}-${n}`;
  await acknowledged(id);
  process.stdout.write(`${id}\n`);
}
process.stdout.write(`store ${cache.stats().store}\n`);
cache.close();
