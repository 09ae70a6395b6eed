// When requests are made and what each asks for: an open loop whose gaps are exponentially distributed (P1), from a seed.
import type { Random } from '@photofinish/shared/testing/seeded-random';
import { shuffled } from '../../bench/random.ts';

/** Moments in milliseconds from 0 up to `durationMs`; the gaps' mean is 1000 / `perSecond`. */
export function exponentialMoments(perSecond: number, durationMs: number, random: Random): number[] {
  const moments: number[] = [];
  for (;;) {
    const gapMs = (-Math.log(1 - random()) * 1000) / perSecond;
    const atMs = (moments.at(-1) ?? 0) + gapMs;
    if (atMs >= durationMs) return moments;
    moments.push(atMs);
  }
}

/** Which protocol wins a race to a host; the path decides that. */
export type Winner = 'h2' | 'h3';

/** One request of P1's third test case. */
export interface CachedRequest {
  readonly winner: Winner;
  /** Whether the outcome is known, so that the winner alone is attempted. */
  readonly hit: boolean;
}

/** Ten hold every share of hits in steps of a tenth, a block of ten for each winner the half-and-half mix as well. */
const BLOCK = 10;

/**
 * Requests without end of which, in each block, exactly `hitShare` are hits for each winner: drawn one by one, a cell's
 * share would itself be a matter of chance.
 */
export function* cachedRequests(
  winners: readonly Winner[],
  hitShare: number,
  random: Random,
): Generator<CachedRequest, never> {
  const hits = Math.round(hitShare * BLOCK);
  const block = winners.flatMap((winner) =>
    Array.from({ length: BLOCK }, (_, index): CachedRequest => ({ winner, hit: index < hits })),
  );
  for (;;) yield* shuffled(block, random);
}
