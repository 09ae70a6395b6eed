// Limits how much of what DNS and Alt-Svc name is tried by one race: otherwise a zone of thousands of addresses would
// turn every race into a packet flood to hosts that never asked for it.
import { TRANSPORTS } from '@photofinish/shared/race/terms';
import type { Endpoint } from './discovering.ts';

/** Endpoints per list: HTTP/3 and TCP at six addresses of each family, more than a trial of 3 s reaches. */
export const MOST_ENDPOINTS = 24;

/** Guaranteed to either transport if it has that many endpoints. */
const HALF = MOST_ENDPOINTS / 2;

/** Whether no later entry of their list could be among the first. */
export function areEnough(sorted: readonly Endpoint[]): boolean {
  return TRANSPORTS.every((name) => sorted.filter(({ transport }) => transport === name).length >= HALF);
}

export interface FirstEndpoints {
  readonly endpoints: readonly Endpoint[];
  /** Addresses of the list without any remaining endpoint. */
  readonly untried: number;
}

/**
 * The first endpoints of a list in its order; `named` is everything it was made from, if that is more. Neither
 * transport gets more than half of the places while the other one can use them, because endpoints not tried must not
 * look as if they did not answer.
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
