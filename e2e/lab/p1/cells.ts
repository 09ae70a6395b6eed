// What `p1` measures and its record, a line for each turn of a cell. Groups of cells are compared with each other, and
// the cells of a group take turns of seconds, so that a machine which slows down affects all of them alike.
import type { Random } from '@photofinish/shared/testing/seeded-random';
import * as v from 'valibot';
import { shuffled } from '../../bench/measure.ts';
import {
  askedOfLoads,
  cellsSchema,
  drivenEntries,
  HIT_SHARES,
  type HitShare,
  OBJECTS,
  type ObjectBytes,
} from '../cost/cells.ts';
import { count, type Journal, type RecordSchema, turnKey } from '../journal.ts';
import { loadSchema, type TlsVersion, TRANSPORTS } from './transports.ts';

/** P1's two, and the version that has replaced its own. */
export const SECURITIES = ['plain', '1.2', '1.3'] as const;
export type Security = 'plain' | TlsVersion;

/** P1's HE-TCP, HE-SCTP and HE-50 %. */
const WINNERS = ['tcp', 'sctp', 'half'] as const;
export type Winners = (typeof WINNERS)[number];

type Way =
  /** At 1 only the winner is attempted, at 0 it is the naive race. */
  | { readonly kind: 'cached'; readonly winner: Winners; readonly hitShare: HitShare }
  /** {TCP, SCTP, SCTP over UDP} over {IPv4, IPv6}, without a cache. */
  | { readonly kind: 'six' }
  /** The naive race behind a middlebox that drops SCTP. */
  | { readonly kind: 'middlebox' };

export interface Cell {
  readonly id: string;
  readonly objectBytes: ObjectBytes;
  readonly security: Security;
  readonly perSecond: number;
  readonly way: Way;
}

function wayId(way: Way): string {
  return way.kind === 'cached' ? `${way.winner}-hit${100 * way.hitShare}` : way.kind;
}

export function cellOf(parts: Omit<Cell, 'id'>): Cell {
  const { objectBytes, security, perSecond, way } = parts;
  const secured = security === 'plain' ? security : `tls${security}`;
  return { ...parts, id: `${objectBytes / 1024}k-${secured}-${perSecond}rps-${wayId(way)}` };
}

const cached = (winner: Winners, hitShare: HitShare): Way => ({ kind: 'cached', winner, hitShare });
/** TCP alone, SCTP alone, and the naive race that TCP wins (P1, test cases 1 and 2). */
export const BASIC = { tcp: cached('tcp', 1), sctp: cached('sctp', 1), naive: cached('tcp', 0) } as const;
const SWEEP = WINNERS.flatMap((winner) => HIT_SHARES.map((hitShare) => cached(winner, hitShare)));
/** P1's future work. */
const BEYOND: readonly Way[] = [{ kind: 'six' }, { kind: 'middlebox' }];

/** The loads that are driven for one object and security, ascending. */
export interface DrivenLoads {
  readonly objectBytes: ObjectBytes;
  readonly security: Security;
  readonly driven: readonly number[];
}

/** The cells that are compared with each other. */
export type Group = readonly Cell[];

/**
 * P1's basic cells at every load, and at the highest one those beyond P1. Hit ratios at the highest load of P1's object
 * for them, 1 KiB; with `full` of both.
 */
export function groupsOf(loads: readonly DrivenLoads[], full: boolean): Group[] {
  return loads.flatMap(({ objectBytes, security, driven }) =>
    driven.map((perSecond) => {
      const highest = perSecond === driven.at(-1);
      const sweeps = highest && (full || objectBytes === OBJECTS[0]);
      const ways = [...(sweeps ? SWEEP : Object.values(BASIC)), ...(highest ? BEYOND : [])];
      return ways.map((way) => cellOf({ objectBytes, security, perSecond, way }));
    }),
  );
}

/** Long enough for some hundred requests, short enough that the machine is the same for a whole group. */
export const TURN_SECONDS = 3;

export interface Turn {
  readonly cell: Cell;
  /** From 0; every cell of a group has one turn in each. */
  readonly round: number;
}

/** Group by group, the rounds of each one after the other, the cells of a round in random order. */
export function turnsOf(groups: readonly Group[], secondsPerCell: number, random: Random): Turn[] {
  const rounds = Math.max(1, Math.round(secondsPerCell / TURN_SECONDS));
  return groups.flatMap((group) =>
    Array.from({ length: rounds }, (_, round) =>
      shuffled(group, random).map((cell): Turn => ({ cell, round })),
    ).flat(),
  );
}

const figure = v.pipe(v.number(), v.finite());
const nullable = v.nullable(figure);

const turnSchema = v.object({
  kind: v.literal('turn'),
  /** The cell. */
  scenario: v.string(),
  /** The round, from 0. */
  turn: count,
  endedAtMs: figure,
  /** Of the whole turn, from the first request to the end of the last connection. */
  trials: v.array(
    v.object({
      seconds: figure,
      /** Connections that ended, including those of races before the first request. */
      requests: figure,
      /** The server's processor time, precise; user and kernel in hundredths of a second. */
      serverMs: figure,
      serverUserMs: figure,
      serverSystemMs: figure,
      /** The process that carries the link's packets, and on whose account the kernel processes what arrives. */
      linkMs: figure,
      serverPssBytes: nullable,
      /** In the middle of the turn, of the whole kernel; null if it does not report them. */
      bufferBytes: nullable,
      slabBytes: nullable,
    }),
  ),
  drive: v.object({ idleShare: figure, why: v.array(v.string()) }),
  load: loadSchema,
});
export type TurnRecord = v.InferOutput<typeof turnSchema>;

const planSchema = v.object({
  ...askedOfLoads,
  full: v.boolean(),
  securities: v.pipe(v.array(v.picklist(SECURITIES)), v.readonly()),
  /** The transport raced against TCP. */
  sctp: v.picklist(TRANSPORTS),
});
export type P1Plan = v.InferOutput<typeof planSchema>;

const foundSchema = v.object({
  loads: v.array(
    v.object({ objectBytes: v.picklist(OBJECTS), security: v.picklist(SECURITIES), ...drivenEntries }),
  ),
  /** SCTP's retransmission timers, those of the kernel's TCP. */
  timers: v.record(v.string(), figure),
  scenarios: cellsSchema<Cell>(),
});
export type P1Findings = v.InferOutput<typeof foundSchema>;

export const P1: RecordSchema<P1Plan, P1Findings, TurnRecord> = {
  experiment: 'p1',
  asked: planSchema,
  found: foundSchema,
  turn: turnSchema,
  keyOf: ({ scenario, turn }) => turnKey(scenario, turn),
};
export type P1Journal = Journal<P1Plan, P1Findings, TurnRecord>;
