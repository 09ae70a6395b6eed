// A run as the laboratory could have measured it, made up from a seed: for the tests of what is made of a run. Its
// figures mean nothing.
import type { Attempt, Trial } from '@photofinish/shared/outcome';
import { type Random, seededRandom } from '@photofinish/shared/seeded-random.fixture';
import type { DirectionReport, LinkReport } from '../../network/shape.ts';
import type { AdoptionRun, Cell, CellResult, ContestantInfo } from '../adoption/run.ts';
import type { LabTrial } from '../trial.ts';

const CELLS: readonly Cell[] = [
  ...[0, 50, 100, 150, 200].map((delayMs) => ({ id: `delay-${delayMs}`, delayMs, loss: 0 })),
  ...[3, 10, 25, 50].map((percent) => ({ id: `loss-${percent}`, delayMs: 0, loss: percent / 100 })),
];

interface Manner {
  readonly info: ContestantInfo;
  /** What it takes beyond the link's round trips, ms. */
  readonly workMs: number;
  readonly roundTrips: number;
  /** Share of HTTP/3 lost for each share of packets lost. */
  readonly missesPerLoss: number;
  /** Until what was lost is sent again. */
  readonly recoveryMs: number;
  readonly tellsEstablished: boolean;
}

function manner(
  name: string,
  title: string,
  kind: ContestantInfo['kind'],
  rest: Partial<Omit<Manner, 'info'>> = {},
): Manner {
  const info = { name, title, kind, versions: kind === 'ours' ? {} : { [name]: '1.2.3' } };
  return {
    info,
    workMs: 1.6,
    roundTrips: 1,
    missesPerLoss: 0.7,
    recoveryMs: 200,
    tellsEstablished: true,
    ...rest,
  };
}

const MANNERS: readonly Manner[] = [
  manner('race', 'race, first contact', 'ours', { missesPerLoss: 0.6, recoveryMs: 180 }),
  manner('alt-svc', 'Alt-Svc, first contact', 'ours', { roundTrips: 2, missesPerLoss: 2 }),
  manner('race-known', 'race, known host', 'ours', { missesPerLoss: 0.25, recoveryMs: 60 }),
  manner('go-race', "the paper's code", 'peer', { workMs: 1.9 }),
  manner('go-alt-svc', "the paper's code, Alt-Svc", 'peer', { roundTrips: 2, workMs: 2.2 }),
  manner('curl', 'curl', 'peer', { workMs: 2.4, missesPerLoss: 0.4, recoveryMs: 300 }),
  manner('chromium-first', 'Chromium, first visit', 'browser', {
    roundTrips: 2,
    workMs: 6,
    missesPerLoss: 2,
  }),
  manner('firefox-second', 'Firefox, second visit', 'browser', { workMs: 9, tellsEstablished: false }),
];

function missTrace(establishedMs: number, answered: boolean): Trial {
  const place = { address: '10.0.0.2', port: 443 };
  const quic: Attempt = {
    ...place,
    protocol: 'h3',
    startedMs: 0,
    transportMs: answered ? establishedMs - 0.4 : null,
    establishedMs: answered ? establishedMs + 3.2 : null,
    outcome: answered ? 'established-late' : 'cancelled',
  };
  const tcp: Attempt = {
    ...place,
    protocol: 'h2',
    startedMs: 10,
    transportMs: establishedMs / 2 + 5,
    establishedMs,
    outcome: 'adopted',
  };
  return {
    adopted: 'h2',
    establishedMs,
    firstByteMs: establishedMs + 1,
    lateH3: answered,
    cacheHit: false,
    attempts: [quic, tcp],
  };
}

function trialOf(
  { info, workMs, roundTrips, missesPerLoss, recoveryMs, tellsEstablished }: Manner,
  cell: Cell,
  random: Random,
): LabTrial {
  const { delayMs, loss } = cell;
  if (random() < loss ** 4 / 20)
    return { adopted: null, establishedMs: null, firstByteMs: null, error: 'time-out' };
  const recovered = random() < 2 * loss ? recoveryMs * (1 + random() ** 3) * (random() < loss ? 3 : 1) : 0;
  const misses = random() < 0.0008 + Math.min(0.9, missesPerLoss * loss) || info.name === 'alt-svc';
  const noise = -0.35 * Math.log(1 - random());
  const usableMs = misses
    ? 10 + 2 * delayMs + workMs + noise + recovered / 4
    : roundTrips * delayMs + workMs + noise + recovered;
  const trace = misses && info.kind === 'ours' && { trace: missTrace(usableMs, random() < 0.6) };
  return {
    adopted: misses ? 'h2' : 'h3',
    establishedMs: tellsEstablished ? usableMs : null,
    firstByteMs: usableMs + delayMs + 0.6 + noise,
    datagramsSent: 4,
    ...trace,
  };
}

function direction(packets: number, loss: number, delayMs: number, random: Random): DirectionReport {
  const lost = Array.from({ length: packets }, random).filter((drawn) => drawn < loss).length;
  const lateUs = { median: 20, p99: 90, max: 200 + Math.round(random() * 900) };
  return {
    delivered: packets - lost,
    lost,
    overflowed: 0,
    oversized: 0,
    lateUs,
    shortestUs: Math.round(delayMs * 500) + 8,
  };
}

function cellResult(cell: Cell, trials: number, turns: number, random: Random): CellResult {
  const of = ({ info }: Manner) => (info.kind === 'browser' ? Math.min(trials, 30) : trials);
  const report = (): LinkReport => ({
    up: direction(200, 0, cell.delayMs, random),
    down: direction(240, cell.loss, cell.delayMs, random),
  });
  return {
    cell,
    trials: Object.fromEntries(
      MANNERS.map((own) => [
        own.info.name,
        Array.from({ length: of(own) }, () => trialOf(own, cell, random)),
      ]),
    ),
    link: MANNERS.flatMap(({ info }) =>
      Array.from({ length: turns }, () => ({ contestant: info.name, report: report() })),
    ),
  };
}

/** A whole run with so many trials of ours and of peers in each cell. */
export function syntheticRun({ trials = 100, full = false, seed = 1 } = {}): AdoptionRun {
  const random = seededRandom(seed);
  return {
    startedAtMs: Date.UTC(2026, 0, 5, 9),
    endedAtMs: Date.UTC(2026, 0, 5, 11, 40),
    seed,
    trials: { ours: trials, peer: trials, browser: Math.min(trials, 30) },
    full,
    contestants: MANNERS.map(({ info }) => info),
    absent: [
      { name: 'firefox-first', title: 'Firefox, first visit', kind: 'browser', why: 'no Firefox was found' },
    ],
    cells: CELLS.map((cell) => cellResult(cell, trials, 5, random)),
  };
}
