// What racing costs where it matters most, on paths that are broken: a link of 50 ms round trip on which UDP is lost,
// refused, known to be lost, or everything is dead. Beside it, on the same link, bare handshakes on the clean path.
import { rm } from 'node:fs/promises';
import { join } from 'node:path';
import { networkUnavailable } from '../network/available.ts';
import { startEcho } from '../network/echo.ts';
import { type Laboratory, openLaboratory } from '../network/laboratory.ts';
import type { Loss } from '../network/shape.ts';
import { beginStep, say } from '../run/display.ts';
import { scratchDirectory } from '../scratch.ts';
import { brokenPaths } from './broken-paths.ts';
import { type Measurement, measure, type Side, summarise } from './measure.ts';
import { type Fact, publish } from './result.ts';

const ROUND_TRIP_MS = 50;
/** The side that says what a round trip really takes here, the ends' own work included. */
const DATAGRAM = '1200 bytes of UDP and back';
const START_DELAY_MS = 10;
/** For TLS itself, on a black hole's way to HTTP/2. */
const ALLOWANCE_MS = 3;
const ROUNDS = 15;
const TIMEOUTS_MS = [1000, 3000];
const DEAD_ROUNDS = 7;
const INDEPENDENT: Loss = { kind: 'independent', share: 0.3 };
/** As many, in bursts of three: enter / (enter + leave) is the share, 1 / leave the mean length. */
const BURSTS: Loss = { kind: 'bursts', enter: 1 / 7, leave: 1 / 3 };
const LOSSY: readonly (readonly [name: string, loss: Loss, options: readonly string[]])[] = [
  ['30 % lost each way', INDEPENDENT, []],
  ['30 % lost each way, --fresh-quic', INDEPENDENT, ['--fresh-quic']],
  ['30 % lost each way in bursts of 3', BURSTS, []],
];
const LOSSY_TRIALS = 40;

async function compared(
  title: string,
  sides: readonly [Side, ...Side[]],
  rounds = ROUNDS,
): Promise<Measurement> {
  const step = beginStep(title);
  const measurement = await measure({
    title,
    unit: 'ms',
    sides,
    rounds,
    warmUpRounds: 1,
    seed: 1,
    onRound: (done, of) => step.detail(`${done} of ${of} rounds`),
  });
  step.end(true);
  return measurement;
}

function medianOf({ sides }: Measurement, name: string): number {
  const side = sides.find((candidate) => candidate.name === name);
  if (side === undefined) throw new RangeError(`there is no side ${name}`);
  return side.median;
}

type Paths = ReturnType<typeof brokenPaths>;

async function cleanHandshakes(paths: Paths): Promise<Measurement[]> {
  return [
    await compared('clean path, HTTP/3 established, medians of 5 trials', [
      { name: 'bare quinn', run: paths.bareQuic },
      { name: 'h3 alone', run: () => paths.alone('h3') },
      { name: 'race', run: paths.raced },
    ]),
    await compared('clean path, HTTP/2 established, medians of 5 trials', [
      { name: 'bare TLS', run: paths.bareTls },
      { name: 'h2 alone', run: () => paths.alone('h2') },
    ]),
  ];
}

/** Without UDP: unknown to the helper, refused, and known to it, whose packets are counted. */
async function withoutUdp(
  { client }: Laboratory,
  paths: Paths,
  roundTripMs: number,
): Promise<[Measurement[], Fact[]]> {
  await paths.learnBroken();
  let packets = 0;
  const counter = await client.countSent({ transport: 'udp' });
  const established = await compared('UDP lost, HTTP/2 established, medians of 5 trials', [
    { name: 'h2 alone', run: () => paths.alone('h2') },
    { name: 'host unknown', run: paths.blackHole },
    {
      name: 'host known',
      run: async () => {
        const before = await counter.read();
        const milliseconds = await paths.knownBroken();
        packets += (await counter.read()) - before;
        return milliseconds;
      },
    },
  ]);
  const refused = await compared(
    'UDP refused by ICMP, from the refusal to the start of TCP, medians of 5 trials',
    [{ name: 'race, start delay 500', run: paths.refused }],
  );
  const known = medianOf(established, 'host known') - medianOf(established, 'h2 alone');
  const facts: Fact[] = [
    {
      name: 'UDP lost, host unknown: HTTP/2 established',
      value: medianOf(established, 'host unknown'),
      unit: 'ms',
      atMost: Number((START_DELAY_MS + 2 * roundTripMs + ALLOWANCE_MS).toFixed(1)),
    },
    {
      name: 'UDP refused: TCP starts after the refusal',
      value: medianOf(refused, 'race, start delay 500'),
      unit: 'ms',
      atMost: 2,
    },
    { name: 'UDP lost, host known: longer than HTTP/2 alone', value: known, unit: 'ms', atMost: 1 },
    { name: 'UDP lost, host known: UDP packets sent', value: packets, unit: 'packets', atMost: 0 },
  ];
  return [[established, refused], facts];
}

async function bothDead(paths: Paths): Promise<[Measurement[], Fact[]]> {
  const measurements: Measurement[] = [];
  const facts: Fact[] = [];
  for (const timeoutMs of TIMEOUTS_MS) {
    const name = `both dead, deadline ${timeoutMs} ms`;
    const sides = [{ name, run: () => paths.bothDead(timeoutMs) }] as const;
    const ended = await compared(`${name}, from the beginning to the record`, sides, DEAD_ROUNDS);
    measurements.push(ended);
    const value = medianOf(ended, name);
    facts.push({ name, value, unit: 'ms', atLeast: timeoutMs, atMost: timeoutMs + 10 });
  }
  return [measurements, facts];
}

/** Reported without a goal: chance has the last word. */
async function lossy(paths: Paths): Promise<Fact[]> {
  const facts: Fact[] = [];
  for (const [name, loss, options] of LOSSY) {
    const step = beginStep(name);
    const shape = { delayMs: ROUND_TRIP_MS / 2, loss };
    const summary = await paths.adopted(shape, LOSSY_TRIALS, ...options);
    step.end(true);
    const share = (count: number) => (100 * count) / summary.trials;
    const { h3, h2 } = summary.adoption;
    facts.push(
      { name: `${name}: adopted HTTP/3`, value: share(h3), unit: '% of races' },
      { name: `${name}: adopted HTTP/2`, value: share(h2), unit: '% of races' },
      { name: `${name}: median established`, value: summary.establishedMs?.median ?? 0, unit: 'ms' },
      { name: `${name}: 95th percentile`, value: summary.establishedMs?.p95 ?? 0, unit: 'ms' },
    );
  }
  return facts;
}

/** The link's own account of itself, and what a datagram meets on it. */
async function linkItself({ client, server }: Laboratory): Promise<[Measurement, Fact[]]> {
  const echo = await startEcho(server);
  const probe = { address: server.ipv4, datagrams: 100, bytes: 1200, gapMs: 0 };
  await server.report();
  const { roundTripsMs } = await echo.probe(client, probe);
  const { up, down } = await server.report();
  const title = `the link, asked for a round trip of ${ROUND_TRIP_MS} ms`;
  const sides = [summarise(DATAGRAM, roundTripsMs)];
  const rounds = roundTripsMs.length;
  const late = [up.lateUs, down.lateUs].map((lateness) => lateness?.p99 ?? Number.NaN);
  return [
    { title, unit: 'ms', rounds, warmUpRounds: 0, seed: 1, sides, ratios: [] },
    [{ name: "the link's lateness, 99th percentile, both directions", value: Math.max(...late), unit: 'us' }],
  ];
}

async function main(): Promise<void> {
  const why = await networkUnavailable('tun');
  if (why !== null) {
    say(`not measured: ${why}`);
    return;
  }
  const dir = await scratchDirectory('goals');
  const laboratory = await openLaboratory({ kind: 'tun', shape: { delayMs: ROUND_TRIP_MS / 2 } });
  try {
    const paths = brokenPaths(laboratory, join(dir, 'cache.db'));
    const [link, accuracy] = await linkItself(laboratory);
    const clean = await cleanHandshakes(paths);
    const [broken, goals] = await withoutUdp(laboratory, paths, medianOf(link, DATAGRAM));
    const [dead, deadlines] = await bothDead(paths);
    const facts = [...accuracy, ...goals, ...deadlines, ...(await lossy(paths))];
    publish('goals', { measurements: [link, ...clean, ...broken, ...dead], facts });
  } finally {
    await laboratory.close();
    await rm(dir, { recursive: true, force: true });
  }
}

await main();
