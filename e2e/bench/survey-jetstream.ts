// What JetStream costs a survey: processor time of a worker for each origin, compared with `race -` over the same list
// on the same machine. Origins are on networks of their own, so that no budget holds anybody back.
import { writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { accounted } from '../child-process.ts';
import { PHOTOFINISH } from '../lab/client.ts';
import { startNats } from '../origins/nats.ts';
import { manyOrigins, startOrigins } from '../origins/start.ts';
import { busyMsOf } from '../proc.ts';
import { scratchIn } from '../scratch.ts';
import { measureInStep, medianOf, publish } from './measure.ts';

const ORIGINS = 1000;
const CONCURRENCY = 16;
const ROUNDS = 6;
/** The goal: 0.9 times as many origins a second of processor time. */
const CPU_RATIO_AT_MOST = 1.11;

const settings = manyOrigins(ORIGINS, (n) => ({ address: `127.${1 + (n % 200)}.${Math.floor(n / 200)}.1` }));
await using local = await startOrigins({ origins: settings });
await using closing = new AsyncDisposableStack();
const { origins, caPath } = local;
const all = Object.values(origins);
const reach = [
  ...['--allow-private', '--ca', caPath, '--concurrency', String(CONCURRENCY)],
  ...all.flatMap(({ host, port, address }) => ['--resolve', `${host}:${port}:${address}`]),
];
const dir = await scratchIn(closing, 'survey-bench');
const list = join(dir, 'list.txt');
const lines = all.map(({ origin }) => `${origin}\n`).join('');
await writeFile(list, lines);
const server = await startNats(join(dir, 'nats'), { syncsAlways: true });
closing.defer(() => server.stop());

async function alone(): Promise<number> {
  const { cpuMs, output } = await accounted(PHOTOFINISH, ['race', '-', '--memory', 'none', ...reach], lines);
  const documents = output.trim().split('\n').length;
  if (documents !== ORIGINS) throw new Error(`${documents} of ${ORIGINS} origins were raced`);
  return cpuMs / ORIGINS;
}

let surveys = 0;
const serverMs: number[] = [];

async function throughJetStream(): Promise<number> {
  surveys += 1;
  const where = ['--survey', `bench-${surveys}`, '--server', server.url];
  const budget = ['--per-network', '1000'];
  await accounted(PHOTOFINISH, ['survey', 'load', list, ...where, ...budget]);
  const beforeMs = busyMsOf(server.pid);
  const work = ['survey', 'work', '--vantage', 'here', '--drain', ...where, ...reach];
  const { cpuMs } = await accounted(PHOTOFINISH, work);
  serverMs.push((busyMsOf(server.pid) - beforeMs) / ORIGINS);
  const { output } = await accounted(PHOTOFINISH, ['survey', 'status', '--json', ...where]);
  const [vantage] = (JSON.parse(output) as { vantages: { done: number }[] }).vantages;
  if (vantage?.done !== ORIGINS) throw new Error(`${vantage?.done} of ${ORIGINS} origins were raced`);
  return cpuMs / ORIGINS;
}

const measurement = await measureInStep(`${ORIGINS} origins, ${CONCURRENCY} at a time`, {
  title: `processor time for each of ${ORIGINS} origins, ${CONCURRENCY} at a time, start-up included`,
  unit: 'ms',
  sides: [
    { name: 'race -', run: alone },
    { name: 'survey work', run: throughJetStream, ratioAtMost: CPU_RATIO_AT_MOST },
  ],
  rounds: ROUNDS,
  warmUpRounds: 1,
});
publish('survey-jetstream', {
  measurements: [measurement],
  facts: [{ name: 'processor time of the server for each origin', value: medianOf(serverMs), unit: 'ms' }],
});
