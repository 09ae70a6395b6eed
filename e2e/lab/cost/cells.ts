// What is measured and its record: each cell is one server, one object, one load and one kind of request, and is cut
// into segments that are spread over the whole run; a line for each segment has its samples and whether its load was
// sustained.
import type { Random } from '@photofinish/shared/testing/seeded-random';
import { count } from '@photofinish/shared/web/untrusted';
import * as v from 'valibot';
import { shuffled } from '../../bench/measure.ts';
import { figure, type RecordSchema, turnKey } from '../journal.ts';
import type { Winner } from './generator.ts';

export const SERVERS = ['caddy', 'own'] as const;
export type ServerName = (typeof SERVERS)[number];

/** P1's objects. */
export const OBJECTS = [1024, 35_840] as const;
export type ObjectBytes = (typeof OBJECTS)[number];
export const objectTitle = (bytes: number) => `${bytes / 1024} KiB`;

/** The winner of the race: P1's HE-TCP, HE-SCTP and HE-50 %. */
const WINNERS = ['h2', 'h3', 'half'] as const;
type Winners = (typeof WINNERS)[number];
export const HIT_SHARES = [0, 0.2, 0.4, 0.6, 0.8, 1] as const;
export type HitShare = (typeof HIT_SHARES)[number];

/** P1's propagation delay, here the round trip. */
export const RTT_MS = 20;

export type Way =
  /** P1's third test case. At 1 only the winner is attempted, at 0 it is the naive race of the first two cases. */
  | { readonly kind: 'cached'; readonly winner: Winners; readonly hitShare: HitShare }
  /** Our own client's modes at round trip 0. */
  | { readonly kind: 'near'; readonly mode: 'race' | 'h3' }
  /** A part of an old-HTTP connection. */
  | { readonly kind: 'part'; readonly part: 'tcp' | 'tls' };

export interface Cell {
  readonly id: string;
  readonly server: ServerName;
  readonly objectBytes: ObjectBytes;
  readonly perSecond: number;
  readonly rttMs: number;
  /** Whether the client offers a post-quantum key share, as it does by default. */
  readonly postQuantum: boolean;
  readonly way: Way;
}

export function winnersOf(winner: Winners): readonly Winner[] {
  return winner === 'half' ? ['h2', 'h3'] : [winner];
}

function wayId(way: Way): string {
  if (way.kind === 'cached') return `${way.winner}-hit${100 * way.hitShare}`;
  return way.kind === 'near' ? `near-${way.mode}` : way.part;
}

/** A cell with its name in files; the same parts always give the same name. */
export function cellOf(parts: Omit<Cell, 'id'>): Cell {
  const { server, objectBytes, perSecond, postQuantum, way } = parts;
  const size = `${objectBytes / 1024}k`;
  const id = [server, size, `${perSecond}rps`, wayId(way), ...(postQuantum ? [] : ['classical'])].join('-');
  return { ...parts, id };
}

const cached = (winner: Winners, hitShare: HitShare): Way => ({ kind: 'cached', winner, hitShare });
/** HTTP/2 only, HTTP/3 only, and the naive race in which the old protocol wins (P1, test cases 1 and 2). */
export const BASIC = { h2: cached('h2', 1), h3: cached('h3', 1), naive: cached('h2', 0) } as const;

export interface Choice {
  readonly servers: readonly ServerName[];
  readonly objects: readonly ObjectBytes[];
  /** Sustainable loads of each server, ascending; the last is its highest. */
  readonly loads: Readonly<Partial<Record<ServerName, readonly number[]>>>;
  readonly extent: Extent;
}

/** The extent of a run. */
const EXTENTS = ['quick', 'usual', 'full'] as const;
export type Extent = (typeof EXTENTS)[number];

/**
 * The first object at all loads and every object at the highest, hit ratios at the highest; `quick`: hit ratios of the
 * first object only; `full`: everything everywhere. The rows in addition to P1's (parts of a connection, key exchange,
 * round trip 0) are of the first object.
 */
export function cellsOf({ servers, objects, loads, extent }: Choice): Cell[] {
  const full = extent === 'full';
  const cells = new Map<string, Cell>();
  const add = (parts: Omit<Cell, 'id'>) => {
    const cell = cellOf(parts);
    cells.set(cell.id, cell);
  };
  for (const server of servers) {
    const own = loads[server] ?? [];
    for (const [index, objectBytes] of objects.entries()) {
      for (const perSecond of own) {
        const highest = perSecond === own.at(-1);
        const at = { server, objectBytes, perSecond, rttMs: RTT_MS, postQuantum: true };
        if (index > 0 && !highest && !full) continue;
        for (const way of Object.values(BASIC)) add({ ...at, way });
        if (extent === 'quick' && index > 0) continue;
        if (!highest && !full) continue;
        for (const winner of WINNERS)
          for (const hitShare of HIT_SHARES) add({ ...at, way: cached(winner, hitShare) });
        if (index > 0 || !highest) continue;
        for (const part of ['tcp', 'tls'] as const) add({ ...at, way: { kind: 'part', part } });
        for (const mode of ['race', 'h3'] as const) add({ ...at, rttMs: 0, way: { kind: 'near', mode } });
        for (const way of Object.values(BASIC)) add({ ...at, postQuantum: false, way });
      }
    }
  }
  return [...cells.values()];
}

/** Short enough that each cell is measured at several times of the run, long enough for several samples. */
const SEGMENT_SECONDS = 15;

/** A part of a cell's time. */
export interface LoadTurn<Of extends { readonly id: string } = { readonly id: string }> {
  readonly cell: Of;
  /** From 0; every cell of a group has one turn in each. */
  readonly round: number;
}

/** Group by group, the rounds of each one after the other, the cells of a round in random order. */
export function turnsIn<Of extends { readonly id: string }>(
  groups: readonly (readonly Of[])[],
  rounds: number,
  random: Random,
): LoadTurn<Of>[] {
  const roundOf = (group: readonly Of[], round: number) =>
    shuffled(group, random).map((cell) => ({ cell, round }));
  return groups.flatMap((group) =>
    Array.from({ length: rounds }, (_, round) => roundOf(group, round)).flat(),
  );
}

export interface Segment extends LoadTurn<Cell> {
  readonly seconds: number;
}

/** All segments in order. */
export function segmentsOf(cells: readonly Cell[], secondsPerCell: number, random: Random): Segment[] {
  const rounds = Math.max(1, Math.round(secondsPerCell / SEGMENT_SECONDS));
  const seconds = secondsPerCell / rounds;
  return turnsIn([cells], rounds, random).map((turn) => ({ ...turn, seconds }));
}

const nullable = v.nullable(figure);

/** Processor time of one process during a sample. */
const timeSchema = v.object({ userMs: figure, systemMs: figure });
const memorySchema = v.nullable(v.object({ rssBytes: figure, pssBytes: figure }));
const socketsSchema = v.nullable(v.object({ tcp: figure, timeWait: figure, udp: figure }));

/** Some seconds of a segment: processor time used in them, memory at their end. */
const sampleSchema = v.object({
  seconds: figure,
  /** Requests that ended within it, including failed ones. */
  requests: figure,
  server: timeSchema,
  client: timeSchema,
  /** Of the link's process, which belongs to neither client nor server. */
  link: timeSchema,
  /** Of all processors together. */
  idleMs: figure,
  busyMs: figure,
  serverMemory: memorySchema,
  clientMemory: memorySchema,
  serverSockets: socketsSchema,
  clientSockets: socketsSchema,
  /** Of the whole kernel, client and server alike; null if the kernel does not report them. */
  bufferBytes: nullable,
  slabBytes: nullable,
});
export type Sample = v.InferOutput<typeof sampleSchema>;

const driveSchema = v.object({
  /** Null without a start. */
  lateP99Ms: nullable,
  /** Ended over expected. */
  rateShare: figure,
  failedShare: figure,
  idleShare: figure,
  /** Why the load does not count as driven; empty if it does. */
  why: v.array(v.string()),
});
export type DriveJudgement = v.InferOutput<typeof driveSchema>;

const segmentSchema = v.object({
  kind: v.literal('turn'),
  /** The cell. */
  scenario: v.string(),
  /** The cell's segment number, from 0. */
  turn: figure,
  endedAtMs: figure,
  trials: v.array(sampleSchema),
  drive: driveSchema,
  /** Of races of both protocols: how many there were, and how many HTTP/3 won. */
  races: v.object({ of: figure, h3: figure }),
  serverVersion: v.string(),
});
export type SegmentRecord = v.InferOutput<typeof segmentSchema>;

const list = <Item>(item: v.GenericSchema<unknown, Item>) => v.pipe(v.array(item), v.readonly());

/** What every experiment under load is asked for. */
export const askedOfLoads = {
  /** Per cell. */
  seconds: count,
  objects: list(v.picklist(OBJECTS)),
  /** Requested loads, ascending; null: determined by trial. */
  loads: v.nullable(list(count)),
  /** Substrings of cell names; null: all. */
  cells: v.nullable(list(v.string())),
};

/** Loads of one server, or of one object and security, ascending: those driven, and those of P1 left out. */
export const drivenEntries = {
  driven: v.array(count),
  notDriven: v.array(v.object({ perSecond: count, why: v.string() })),
};
export type DrivenLoads = v.InferOutput<v.ObjectSchema<typeof drivenEntries, undefined>>;

/** The cells of a run. */
export const cellsSchema = <Of extends { readonly way: unknown }>() =>
  v.array(v.custom<Of>((value) => typeof value === 'object' && value !== null && 'way' in value));

const askedSchema = v.object({
  ...askedOfLoads,
  extent: v.picklist(EXTENTS),
  servers: list(v.picklist(SERVERS)),
});
export type CostPlan = v.InferOutput<typeof askedSchema>;

const foundSchema = v.object({
  /** Determined by trial, if none were requested. */
  loads: v.array(v.object({ server: v.picklist(SERVERS), ...drivenEntries })),
  scenarios: cellsSchema<Cell>(),
});
export type CostFindings = v.InferOutput<typeof foundSchema>;

export const COST: RecordSchema<CostPlan, CostFindings, SegmentRecord> = {
  experiment: 'cost',
  asked: askedSchema,
  found: foundSchema,
  turn: segmentSchema,
  keyOf: ({ scenario, turn }) => turnKey(scenario, turn),
};
