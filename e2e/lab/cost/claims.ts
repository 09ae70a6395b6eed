// P1's claims and the goals that stand beside them: said, measured with its interval, holds or not.
import { type Random, seededRandom } from '@photofinish/shared/seeded-random.fixture';
import { type Estimate, type GoalClaim, type GoalRow, judgeGoal } from '../results/goal-row.ts';
import { meanEstimate, ratioOfMeans } from '../results/intervals.ts';
import {
  BASIC,
  type Cell,
  HIT_SHARES,
  type ObjectBytes,
  objectTitle,
  SERVER_TITLES,
  type ServerName,
  type Way,
  WINNERS,
  type Winners,
} from './cells.ts';
import { sweepShape } from './straight-line.ts';
import { type CellSummary, type Figure, valuesOf } from './summary.ts';

/** P1, test case 2 (with TLS): CPU of the naive race above the dearer protocol alone, percent. */
const P1_NAIVE_EXTRA: Readonly<Record<ObjectBytes, number>> = { 1024: 13, 35840: 4 };
/** P1, test case 2: memory above the old protocol alone, percent. */
const P1_MEMORY_EXTRA = 8;
/** P1, test case 3 with TLS, 1 KiB: what an 80 % hit ratio takes away, percent. */
const P1_SAVED = 18;
const LEAST_R2 = 0.98;
const MOST_POINTS_OFF = 2;
const MOST_RACE_EXTRA = 5;

const WINNER_TITLES: Readonly<Record<Winners, string>> = {
  h2: 'HTTP/2 wins',
  h3: 'HTTP/3 wins',
  half: 'half and half',
};

/** Percent above 1 of a ratio. */
const above = ({ value, low, high }: Estimate): Estimate => ({
  value: 100 * (value - 1),
  low: 100 * (low - 1),
  high: 100 * (high - 1),
});

/** The cells of one server and object at its highest load, by what they measure. */
class Group {
  readonly server: ServerName;
  readonly objectBytes: ObjectBytes;
  readonly #cells: readonly CellSummary[];
  constructor(server: ServerName, objectBytes: ObjectBytes, cells: readonly CellSummary[]) {
    this.server = server;
    this.objectBytes = objectBytes;
    this.#cells = cells;
  }
  get title(): string {
    return `${SERVER_TITLES[this.server]}, ${objectTitle(this.objectBytes)}`;
  }
  values(way: Way, figure: Figure = 'serverMs', postQuantum = true): number[] {
    const same = (cell: Cell) =>
      cell.postQuantum === postQuantum && JSON.stringify(cell.way) === JSON.stringify(way);
    const found = this.#cells.find(({ cell }) => same(cell));
    return found === undefined ? [] : valuesOf(found, figure);
  }
}

/** Null unless both have samples. */
function extra(first: readonly number[], second: readonly number[], random: Random): Estimate | null {
  return first.length === 0 || second.length === 0 ? null : above(ratioOfMeans(first, second, random));
}

const meanOf = (values: readonly number[]) => values.reduce((sum, value) => sum + value, 0) / values.length;

/** Of two alternatives the one of the greater mean; the other where one has no samples. */
function dearer(a: readonly number[], b: readonly number[]): readonly number[] {
  if (a.length === 0 || b.length === 0) return [];
  return meanOf(a) >= meanOf(b) ? a : b;
}

/** What a figure says of a claim of P1's that is not a goal here: by the favourable end, as goals are judged. */
function saidBy(measured: Estimate | null, kind: 'below' | 'at least', limit: number): string {
  if (measured === null) return UNMEASURED;
  const holds = kind === 'below' ? measured.low < limit : measured.high >= limit;
  return holds ? "P1's claim holds" : "P1's claim does not hold";
}

const UNMEASURED = 'its cells have no driven segments';

/** There both transports of a race shared what TLS costs: only one at a time carried it. */
const NAIVE = 'Server CPU of the naive race (P1: TLS over one transport at a time)';

function naiveRows(group: Group, random: Random): GoalClaim[] {
  const { title, objectBytes } = group;
  return [true, false].flatMap((postQuantum): GoalClaim[] => {
    const [naive, h2, h3] = [BASIC.naive, BASIC.h2, BASIC.h3].map((way) =>
      group.values(way, 'serverMs', postQuantum),
    ) as [number[], number[], number[]];
    if (!postQuantum && naive.length === 0) return [];
    const single = dearer(h2, h3);
    const name = `naive above the dearer protocol, ${title}`;
    const measured = extra(naive, single, random);
    const said = saidBy(measured, 'below', P1_NAIVE_EXTRA[objectBytes]);
    return [
      {
        group: NAIVE,
        name: postQuantum ? name : `${name}, classical key exchange`,
        unit: '%',
        goal: null,
        measured,
        anchor: `P1 under ${P1_NAIVE_EXTRA[objectBytes]} %`,
        note: measured === null ? said : `${said}; dearer: ${single === h2 ? 'HTTP/2' : 'HTTP/3'}`,
      },
    ];
  });
}

/** What a second TLS handshake costs: TLS over TCP less TCP alone, and the naive race's extra without as much. */
function handshakeRows(group: Group, random: Random): GoalClaim[] {
  const [tcp, tls] = (['tcp', 'tls'] as const).map((part) => group.values({ kind: 'part', part })) as [
    number[],
    number[],
  ];
  if (tcp.length === 0 || tls.length === 0) return [];
  const [naive, h2, h3] = [group.values(BASIC.naive), group.values(BASIC.h2), group.values(BASIC.h3)];
  const single = dearer(h2, h3);
  const [whole, without] = [meanEstimate(tls, random), meanEstimate(tcp, random)];
  const handshakeMs = whole.value - without.value;
  const handshake: Estimate = {
    value: handshakeMs,
    low: whole.low - without.high,
    high: whole.high - without.low,
  };
  const bare = naive.map((ms) => ms - handshakeMs);
  const rows: GoalClaim[] = [
    {
      group: NAIVE,
      name: `a TLS handshake over TCP, ${group.title}`,
      unit: 'ms',
      goal: null,
      measured: handshake,
      anchor: '',
      note: 'TLS without a request, less TCP alone',
    },
  ];
  const measured = extra(bare, single, random);
  const limit = P1_NAIVE_EXTRA[group.objectBytes];
  rows.push({
    group: NAIVE,
    name: `naive without a second TLS handshake, ${group.title}`,
    unit: '%',
    goal: null,
    measured,
    anchor: `P1 under ${limit} %`,
    note: saidBy(measured, 'below', limit),
  });
  return rows;
}

function memoryRows(group: Group, random: Random): GoalClaim[] {
  const name = 'Server memory (PSS)';
  const of = (way: Way) => group.values(way, 'serverPssBytes');
  const at80: Way = { kind: 'cached', winner: 'h2', hitShare: 0.8 };
  const row = (claim: string, measured: Estimate | null, most: number, anchor: string): GoalClaim => ({
    group: name,
    name: `${claim}, ${group.title}`,
    unit: '%',
    goal: null,
    measured,
    anchor,
    note: saidBy(measured, 'below', most),
  });
  return [
    row(
      'naive above HTTP/2 alone',
      extra(of(BASIC.naive), of(BASIC.h2), random),
      P1_MEMORY_EXTRA,
      'P1 under 8 %',
    ),
    row('naive above HTTP/3 alone', extra(of(BASIC.naive), of(BASIC.h3), random), 0, 'P1 always under SCTP'),
    row('80 % hits above HTTP/2 alone', extra(of(at80), of(BASIC.h2), random), 1, 'P1 equal at 80 %'),
  ];
}

function sweepRows(group: Group, winner: Winners, random: Random): GoalClaim[] {
  const sweep = HIT_SHARES.map((hitShare) => ({
    hitShare,
    samples: group.values({ kind: 'cached', winner, hitShare }),
  }));
  const shape = sweepShape(sweep, random);
  const row = (
    claim: string,
    rest: Pick<GoalClaim, 'unit' | 'goal' | 'measured' | 'anchor' | 'note'>,
  ): GoalClaim => ({
    group: 'Server CPU over the hit ratio',
    name: `${claim}, ${WINNER_TITLES[winner]}, ${group.title}`,
    ...rest,
    ...(shape === null && { note: UNMEASURED }),
  });
  return [
    row('80 % cell off the line between the ends', {
      unit: 'points',
      goal: { kind: 'at most', value: MOST_POINTS_OFF },
      measured: shape?.offAt80 ?? null,
      anchor: 'P1 linear',
    }),
    row('R²', {
      unit: '',
      goal: { kind: 'at least', value: LEAST_R2 },
      measured: shape?.r2 ?? null,
      anchor: 'P1 linear',
    }),
    row('slope over the whole sweep', {
      unit: '%',
      goal: null,
      measured: shape?.slopePercent ?? null,
      anchor: '',
    }),
    row('taken away at 80 % hits', {
      unit: '%',
      goal: null,
      measured: shape?.savedAt80 ?? null,
      ...(group.objectBytes === 1024
        ? { anchor: `P1 ${P1_SAVED} %`, note: saidBy(shape?.savedAt80 ?? null, 'at least', P1_SAVED) }
        : { anchor: '' }),
    }),
  ];
}

function nearRows(group: Group, random: Random): GoalClaim[] {
  const [race, h3] = (['race', 'h3'] as const).map((mode) => group.values({ kind: 'near', mode })) as [
    number[],
    number[],
  ];
  if (race.length === 0 && h3.length === 0) return [];
  return [
    {
      group: 'Server CPU of the race',
      name: `race (10 ms) at round trip 0 above HTTP/3 alone, ${group.title}`,
      unit: '%',
      goal: { kind: 'at most', value: MOST_RACE_EXTRA },
      measured: extra(race, h3, random),
      anchor: '',
    },
  ];
}

export interface ClaimsOptions {
  readonly seed: number;
  /** Why goals are not judged on these figures; undefined: they are. */
  readonly tooFew?: string | undefined;
}

/** Every claim of every server and object at its highest load. */
export function costGoals(summaries: readonly CellSummary[], { seed, tooFew }: ClaimsOptions): GoalRow[] {
  const random = seededRandom(seed);
  const groups = Map.groupBy(summaries, ({ cell }) => `${cell.server} ${cell.objectBytes}`);
  return [...groups.values()].flatMap((cells) => {
    const first = cells[0]?.cell;
    if (first === undefined) return [];
    const highest = Math.max(...cells.map(({ cell }) => cell.perSecond));
    const atHighest = cells.filter(({ cell }) => cell.perSecond === highest);
    const group = new Group(first.server, first.objectBytes, atHighest);
    const claims = [
      ...naiveRows(group, random),
      ...handshakeRows(group, random),
      ...nearRows(group, random),
      ...WINNERS.flatMap((winner) => sweepRows(group, winner, random)),
      ...memoryRows(group, random),
    ];
    return claims.map((claim) => judgeGoal(claim, tooFew));
  });
}
