// Cold races over a thousand origins, 32 at a time: processor time of each, compared with a Go program that does the
// same work with quic-go and net/http.
import type { RaceDocument } from '@photofinish/shared/race/outcome';
import { median } from '@photofinish/shared/race/statistics';
import { accounted, type AccountedRun as Run } from '../child-process.ts';
import { PHOTOFINISH } from '../lab/client.ts';
import { startOrigins } from '../origins/start.ts';
import { goProgram } from '../test-programs.ts';
import { type Fact, measureInStep, publish } from './measure.ts';

const ORIGINS = 1000;
const CONCURRENCY = 32;
const START_DELAY_MS = 10;
/** The default of `photofinish race`. */
const TIMEOUT_MS = 3000;
const ROUNDS = 10;
/** The goal: no fewer races per second of processor time than the peer. */
const CPU_RATIO_AT_MOST = 1;

const settings = Array.from({ length: ORIGINS }, (_, n) => ({
  host: `s${n}.test`,
  h3: true,
  altSvc: 'auto',
}));
await using closing = new AsyncDisposableStack();
const { origins, caPath, stop } = await startOrigins({ origins: Object.fromEntries(settings.entries()) });
closing.defer(stop);
const all = Object.values(origins);

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

const walls: Record<'ours' | 'theirs', number[]> = { ours: [], theirs: [] };
const bothStarted: number[] = [];

async function surveyOurs(): Promise<number> {
  const run = await ours('race', ORIGINS);
  const { races } = JSON.parse(run.output) as RaceDocument;
  walls.ours.push(run.wallMs);
  bothStarted.push(races.filter((race) => (race.trials[0]?.attempts.length ?? 0) > 1).length / ORIGINS);
  return run.cpuMs / ORIGINS;
}

async function surveyTheirs(): Promise<number> {
  const run = await theirs(ORIGINS);
  walls.theirs.push(run.wallMs);
  return run.cpuMs / ORIGINS;
}

function perSecond(wallsMs: readonly number[]): number {
  return ORIGINS / ((median(wallsMs) ?? Number.NaN) / 1000);
}

/** The breakdown: the cost of start-up, and each transport alone. */
async function breakdown(): Promise<Fact[]> {
  const start = (await ours('race', 1)).cpuMs;
  const h3 = (await ours('h3', ORIGINS)).cpuMs;
  const h2 = (await ours('h2', ORIGINS)).cpuMs;
  const theirStart = (await theirs(1)).cpuMs;
  return [
    { name: 'races per second (wall), photofinish', value: perSecond(walls.ours), unit: '1/s' },
    { name: 'races per second (wall), quic-go and net/http', value: perSecond(walls.theirs), unit: '1/s' },
    {
      name: 'races in which HTTP/2 started too',
      value: 100 * (median(bothStarted) ?? Number.NaN),
      unit: '%',
    },
    { name: 'processor time of a run with one origin', value: start, unit: 'ms' },
    { name: 'the same, quic-go and net/http', value: theirStart, unit: 'ms' },
    { name: 'processor time a race, HTTP/3 alone', value: (h3 - start) / ORIGINS, unit: 'ms' },
    { name: 'processor time a race, HTTP/2 alone', value: (h2 - start) / ORIGINS, unit: 'ms' },
  ];
}

const peer = goProgram('go-peer');
const measurement = await measureInStep(`${ORIGINS} cold races, ${CONCURRENCY} at a time`, {
  title: `processor time of a cold race over ${ORIGINS} origins, ${CONCURRENCY} at a time, start-up included`,
  unit: 'ms',
  sides: [
    { name: 'quic-go and net/http', run: surveyTheirs },
    { name: 'photofinish', run: surveyOurs, ratioAtMost: CPU_RATIO_AT_MOST },
  ],
  rounds: ROUNDS,
  warmUpRounds: 1,
});
const facts = await breakdown();
publish('survey', { measurements: [measurement], facts });
