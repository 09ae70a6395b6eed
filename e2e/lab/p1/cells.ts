// What `p1` measures: groups of cells that are compared with each other, and their turns. The cells of a group take
// turns of seconds, so that a machine which slows down affects all of them alike.
import type { Random } from '@photofinish/shared/testing/seeded-random';
import { shuffled } from '../../bench/measure.ts';
import { HIT_SHARES, type HitShare, OBJECTS, type ObjectBytes } from '../cost/cells.ts';
import type { TlsVersion } from './contenders.ts';

/** P1's two, and the version that has replaced its own. */
export const SECURITIES = ['plain', '1.2', '1.3'] as const;
export type Security = 'plain' | TlsVersion;

/** P1's HE-TCP, HE-SCTP and HE-50 %. */
export const WINNERS = ['tcp', 'sctp', 'half'] as const;
export type Winners = (typeof WINNERS)[number];

export type Way =
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
export const BASIC: readonly Way[] = [cached('tcp', 1), cached('sctp', 1), cached('tcp', 0)];
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
      const ways = [...(sweeps ? SWEEP : BASIC), ...(highest ? BEYOND : [])];
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
