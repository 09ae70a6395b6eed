// Cold races over one and four thousand origins, 32 at a time: processor time of each, compared with a Go program that
// does the same work with quic-go and net/http. Two sizes, because a JavaScript program has to start and to be compiled
// while it runs: what a short list costs is mostly that, and a survey's list is long.
import type { RaceDocument } from '@photofinish/shared/race/outcome';
import { accounted, type AccountedRun as Run } from '../child-process.ts';
import { PHOTOFINISH } from '../lab/client.ts';
import { manyOrigins, startOrigins } from '../origins/start.ts';
import { goProgram } from '../test-programs.ts';
import { type Fact, measureInStep, medianOf, publish } from './measure.ts';

/** Of one server: the short list. The long one is of all. */
const HOSTS = 1000;
const SERVERS = 4;
const CONCURRENCY = 32;
const START_DELAY_MS = 10;
/** The default of `photofinish race`. */
const TIMEOUT_MS = 3000;
/** The goal: no fewer races per second of processor time than the peer. */
const CPU_RATIO_AT_MOST = 1;

const kinds = manyOrigins(HOSTS);
await using first = await startOrigins({ origins: kinds });
await using closing = new AsyncDisposableStack();
const { caPath } = first;
const all = Object.values(first.origins);
for (let servers = 1; servers < SERVERS; servers += 1) {
  const { origins, stop } = await startOrigins({ origins: kinds, certifiedBy: first });
  closing.defer(stop);
  all.push(...Object.values(origins));
}

async function ours(mode: string, count: number): Promise<Run> {
  const chosen = all.slice(0, count);
  const pins = chosen.flatMap(({ host, port }) => ['--resolve', `${host}:${port}:127.0.0.1`]);
  const what = ['--mode', mode, '--memory', 'none', '--concurrency', String(CONCURRENCY)];
  const how = ['--start-delay', String(START_DELAY_MS), '--timeout', String(TIMEOUT_MS)];
  const where = ['--allow-private', '--ca', caPath, '--json', ...pins];
  const run = await accounted(PHOTOFINISH, [
    'race',
    ...chosen.map((o) => o.origin),
    ...what,
    ...how,
    ...where,
  ]);
  const { races } = JSON.parse(run.output) as RaceDocument;
  const failed = races.filter((race) => race.summary.failed > 0 || race.error !== undefined).length;
  if (races.length !== count || failed > 0) throw new Error(`${failed} of ${races.length} races failed`);
  return run;
}

async function theirs(count: number): Promise<Run> {
  const order = {
    origins: all.slice(0, count).map(({ host, port }) => ({ host, port, address: '127.0.0.1' })),
    ca: caPath,
    concurrency: CONCURRENCY,
    startDelayMs: START_DELAY_MS,
    timeoutMs: TIMEOUT_MS,
  };
  const run = await accounted(peer, [], JSON.stringify(order));
  const { failures } = JSON.parse(run.output) as { readonly failures: readonly string[] };
  if (failures.length > 0) throw new Error(`the peer failed: ${failures[0]}`);
  return run;
}

const peer = goProgram('go-peer');

/** Both programs over so many origins in turn, and what else their runs tell. */
async function compared(count: number, rounds: number) {
  const what = `${count} cold races, ${CONCURRENCY} at a time`;
  const walls = { ours: [] as number[], theirs: [] as number[] };
  const bothStarted: number[] = [];
  const measurement = await measureInStep(what, {
    title: `processor time of one of ${what}, start-up included`,
    unit: 'ms',
    sides: [
      {
        name: 'quic-go and net/http',
        async run() {
          const { wallMs, cpuMs } = await theirs(count);
          walls.theirs.push(wallMs);
          return cpuMs / count;
        },
      },
      {
        name: 'photofinish',
        async run() {
          const { wallMs, cpuMs, output } = await ours('race', count);
          const { races } = JSON.parse(output) as RaceDocument;
          walls.ours.push(wallMs);
          bothStarted.push(races.filter((race) => (race.trials[0]?.attempts.length ?? 0) > 1).length / count);
          return cpuMs / count;
        },
        ratioAtMost: CPU_RATIO_AT_MOST,
      },
    ],
    rounds,
    warmUpRounds: 1,
  });
  const perSecond = (wallsMs: readonly number[]): number => count / (medianOf(wallsMs) / 1000);
  const facts: readonly Fact[] = [
    { name: `${count} races: per second (wall), photofinish`, value: perSecond(walls.ours), unit: '1/s' },
    {
      name: `${count} races: per second (wall), quic-go and net/http`,
      value: perSecond(walls.theirs),
      unit: '1/s',
    },
    {
      name: `${count} races: those in which HTTP/2 started too`,
      value: 100 * medianOf(bothStarted),
      unit: '%',
    },
  ];
  return { measurement, facts };
}

/** The breakdown: the cost of start-up, and each transport alone. */
async function breakdown(): Promise<readonly Fact[]> {
  const start = (await ours('race', 1)).cpuMs;
  const h3 = (await ours('h3', HOSTS)).cpuMs;
  const h2 = (await ours('h2', HOSTS)).cpuMs;
  const theirStart = (await theirs(1)).cpuMs;
  return [
    { name: 'processor time of a run with one origin', value: start, unit: 'ms' },
    { name: 'the same, quic-go and net/http', value: theirStart, unit: 'ms' },
    { name: 'processor time a race, HTTP/3 alone', value: (h3 - start) / HOSTS, unit: 'ms' },
    { name: 'processor time a race, HTTP/2 alone', value: (h2 - start) / HOSTS, unit: 'ms' },
  ];
}

const short = await compared(HOSTS, 10);
const long = await compared(all.length, 6);
publish('survey', {
  measurements: [short.measurement, long.measurement],
  facts: [...short.facts, ...long.facts, ...(await breakdown())],
});
