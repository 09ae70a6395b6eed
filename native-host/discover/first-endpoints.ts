// How much of what DNS and Alt-Svc name one race tries: a zone of thousands of addresses would else make of every race a
// flood of packets to hosts that never asked for it.
import { TRANSPORTS } from '@photofinish/shared/race/outcome';
import type { Endpoint } from './endpoint.ts';

/** Endpoints of one list: HTTP/3 and TCP at six addresses of either family, more than a trial of 3 s comes to. */
export const MOST_ENDPOINTS = 24;

/** What either transport has in any case, where it has a use for it. */
const HALF = MOST_ENDPOINTS / 2;

/** Whether nothing that follows these in their list could be among the first. */
export function areEnough(sorted: readonly Endpoint[]): boolean {
  return TRANSPORTS.every((name) => sorted.filter(({ transport }) => transport === name).length >= HALF);
}

export interface FirstEndpoints {
  readonly endpoints: readonly Endpoint[];
  /** Addresses of the list of which no endpoint is left. */
  readonly untried: number;
}

/**
 * The first endpoints of a list in its order; `named` is all that it was made of, where that is more. Neither transport takes more than half of the places while the other one
 * has a use for them: what is not tried must not look as if it did not answer.
 */
export function firstEndpoints(
  sorted: readonly Endpoint[],
  named: readonly (readonly Endpoint[])[] = [sorted],
): FirstEndpoints {
  const endpoints = sorted.length <= MOST_ENDPOINTS ? sorted : shared(sorted);
  const addresses = new Set(named.flatMap((group) => group.map(({ address }) => address)));
  const kept = new Set(endpoints.map(({ address }) => address));
  return { endpoints, untried: Math.max(0, addresses.size - kept.size) };
}

function shared(sorted: readonly Endpoint[]): Endpoint[] {
  const room = { h3: 0, h2: 0 };
  for (const { transport } of sorted) room[transport] += 1;
  const [h3, h2] = TRANSPORTS.map((name) => Math.min(room[name], HALF));
  room.h3 = Math.min(room.h3, MOST_ENDPOINTS - (h2 ?? 0));
  room.h2 = Math.min(room.h2, MOST_ENDPOINTS - (h3 ?? 0));
  return sorted.filter(({ transport }) => {
    room[transport] -= 1;
    return room[transport] >= 0;
  });
}
