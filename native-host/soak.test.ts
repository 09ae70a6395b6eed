// One helper under forecasts, races and observations for a long time: memory, handles, sockets and rows stay at their
// level after the warm-up. `PHOTOFINISH_SOAK=1` runs all of a million forecasts, 50,000 races and 100,000 observations;
// the default is a hundredth of them.
import assert from 'node:assert/strict';
import { once } from 'node:events';
import { readdirSync, readFileSync, readlinkSync, statSync } from 'node:fs';
import { join } from 'node:path';
import { DatabaseSync } from 'node:sqlite';
import type { Readable } from 'node:stream';
import { test } from 'node:test';
import { RACES_AT_ONCE, RACES_PER_MINUTE } from '@photofinish/shared/port/race-limits';
import { median } from '@photofinish/shared/race/statistics';
import { observation } from './testing/cache-samples.ts';
import { closedPort } from './testing/peers.ts';
import { type Helper, home } from './testing/spawned-helper.ts';

const SHARE = Number(process.env.PHOTOFINISH_SOAK ?? 0.01);
const FORECASTS = 1_000_000 * SHARE;
const RACES = 50_000 * SHARE;
const OBSERVATIONS = 100_000 * SHARE;
const ORIGINS_AT_ONCE = 100;
const OBSERVED_AT_ONCE = 100;
/** Visited repeatedly, as people do; this many origins have rows. */
const SITES = 20;
const ORIGINS = 50;
/** A short run ends before V8 has settled; in a long one a leak accumulates. */
const GROWTH_AT_MOST = SHARE >= 0.1 ? 1.1 : 2;

/**
 * Loaded before the helper's own code: each SIGUSR2 advances its monotonic clock by a minute, because it races at most
 * thirty times a minute.
 */
const MINUTES_PASS = `
  import { writeSync } from 'node:fs';
  const { hrtime } = process; let passed = 0;
  process.hrtime = Object.assign(() => { const [s, n] = hrtime(); return [s + passed, n]; }, { bigint: hrtime.bigint });
  process.on('SIGUSR2', () => { passed += 61; writeSync(2, 'minute\\n'); });`;

interface Sample {
  readonly residentMiB: number;
  readonly handles: number;
  readonly sockets: number;
}

function sampleOf(pid: number): Sample {
  const status = readFileSync(`/proc/${pid}/status`, 'utf8');
  const links = readdirSync(`/proc/${pid}/fd`).flatMap((fd) => {
    try {
      return [readlinkSync(`/proc/${pid}/fd/${fd}`)];
    } catch {
      // It was closed in the meantime.
      return [];
    }
  });
  return {
    residentMiB: Number(/^VmRSS:\s+(\d+) kB$/m.exec(status)?.[1]) / 1024,
    handles: links.length,
    sockets: links.filter((link) => link.startsWith('socket:')).length,
  };
}

const siteOf = (n: number): string => `site${n % SITES}.test`;
const originOf = (n: number): string => `https://h${n % ORIGINS}.${siteOf(n)}`;

/** Load on one helper, waiting for each answer; ids are never reused. */
class Load {
  readonly #helper: Helper;
  readonly #origin: string;
  #id = 1;

  constructor(helper: Helper, origin: string) {
    this.#helper = helper;
    this.#origin = origin;
  }

  async forecast(): Promise<void> {
    this.#id += 1;
    const first = this.#id * ORIGINS_AT_ONCE;
    const origins = Array.from({ length: ORIGINS_AT_ONCE }, (_, n) => originOf(first + n));
    const asked = { type: 'forecast', id: this.#id, browser: 'chromium', site: siteOf(first) };
    this.#helper.send({ ...asked, origins });
    await this.#helper.next('forecast', this.#id);
  }

  async observe(): Promise<void> {
    this.#id += 1;
    const first = this.#id * OBSERVED_AT_ONCE;
    const observations = Array.from({ length: OBSERVED_AT_ONCE }, (_, n) => ({
      ...observation({ atMs: Date.now(), site: siteOf(first + n), altSvc: 'h3=":443"' }),
      origin: originOf(first + n),
    }));
    this.#helper.send({ type: 'observed', id: this.#id, browser: 'chromium', observations });
    await this.#helper.next('observed', this.#id);
  }

  /** This many races, as many concurrently as the budget allows, advancing a minute after every thirty. */
  async race(count: number): Promise<void> {
    for (let begun = 0; begun < count; begun += RACES_AT_ONCE) {
      if (begun % (RACES_PER_MINUTE - (RACES_PER_MINUTE % RACES_AT_ONCE)) === 0) await this.#minute();
      const ids = Array.from({ length: RACES_AT_ONCE }, () => {
        this.#id += 1;
        return this.#id;
      });
      for (const id of ids)
        this.#helper.send({ type: 'race', id, origin: this.#origin, mode: 'race', reason: 'click' });
      await Promise.all(ids.map((id) => this.#helper.next('race', id)));
    }
  }

  async #minute(): Promise<void> {
    const { child, stderr } = this.#helper;
    const minutes = (): number => stderr().split('minute').length;
    const before = minutes();
    child.kill('SIGUSR2');
    while (minutes() === before) await once(child.stderr as Readable, 'data');
  }
}

test(`${FORECASTS} forecasts, ${RACES} races and ${OBSERVATIONS} observations leave nothing behind`, {
  skip: process.platform === 'linux' ? false : 'needs /proc',
}, async (t) => {
  const at = await home(t);
  const before = `data:text/javascript,${encodeURIComponent(MINUTES_PASS)}`;
  const helper = await at.greet({ nodeOptions: `--import=${before}` });
  const load = new Load(helper, `https://127.0.0.1:${await closedPort()}`);
  const samples: Sample[] = [];
  const rounds = 40;
  for (let round = 0; round < rounds; round += 1) {
    for (let n = 0; n < FORECASTS / rounds; n += ORIGINS_AT_ONCE) await load.forecast();
    for (let n = 0; n < OBSERVATIONS / rounds; n += OBSERVED_AT_ONCE) await load.observe();
    await load.race(RACES / rounds);
    helper.forget();
    samples.push(sampleOf(helper.child.pid ?? 0));
  }
  helper.send({ type: 'stats', id: Number.MAX_SAFE_INTEGER });
  const stats = await helper.next('stats');
  assert.ok(stats.lookups >= FORECASTS && stats.races >= RACES);
  assert.equal(stats.store, 'sqlite');
  assert.equal(await helper.leave(), 0);

  const path = join(at.directory, 'state', 'cache.db');
  const db = new DatabaseSync(path, { readOnly: true });
  const rows = Number(db.prepare('SELECT count(*) AS n FROM known').get()?.n);
  db.close();
  assert.ok(rows <= 2 * SITES * ORIGINS + 1, `${rows} rows`);
  const quarter = (from: number): readonly Sample[] =>
    samples.slice(from * (rounds / 4), (from + 1) * (rounds / 4));
  const middle = (of: readonly Sample[], key: keyof Sample): number =>
    median(of.map((s) => s[key])) ?? Number.NaN;
  for (const key of ['residentMiB', 'handles', 'sockets'] as const) {
    const [then, now] = [middle(quarter(1), key), middle(quarter(3), key)];
    t.diagnostic(`${key}: ${then.toFixed(1)} in the second quarter, ${now.toFixed(1)} in the last`);
    if (key === 'residentMiB') assert.ok(now <= then * GROWTH_AT_MOST, `${then} MiB became ${now} MiB`);
    else assert.ok(now <= then + 2, `${then} ${key} became ${now}`);
  }
  t.diagnostic(`${rows} rows, ${(statSync(path).size / 1024 / 1024).toFixed(1)} MiB`);
});
