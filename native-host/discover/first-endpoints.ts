// How much of what DNS and Alt-Svc name one race tries: a zone of thousands of addresses would else make of every race a
// flood of packets to hosts that never asked for it.
import { CONTENDERS } from '@photofinish/shared/outcome';
import type { Endpoint } from './endpoint.ts';

/** Endpoints of one list: HTTP/3 and TCP at six addresses of either family, more than a trial of 3 s comes to. */
export const MOST_ENDPOINTS = 24;

export interface FirstEndpoints {
  readonly endpoints: readonly Endpoint[];
  /** Addresses of the list of which no endpoint is left. */
  readonly untried: number;
}

/**
 * The first endpoints of a list in its order. Neither transport takes more than half of the places while the other one
 * has a use for them: what is not tried must not look as if it did not answer.
 */
export function firstEndpoints(sorted: readonly Endpoint[]): FirstEndpoints {
  if (sorted.length <= MOST_ENDPOINTS) return { endpoints: sorted, untried: 0 };
  const room = { h3: 0, h2: 0 };
  for (const { contender } of sorted) room[contender] += 1;
  const half = MOST_ENDPOINTS / 2;
  const [h3, h2] = CONTENDERS.map((name) => Math.min(room[name], half));
  room.h3 = Math.min(room.h3, MOST_ENDPOINTS - (h2 ?? 0));
  room.h2 = Math.min(room.h2, MOST_ENDPOINTS - (h3 ?? 0));
  const endpoints = sorted.filter(({ contender }) => {
    room[contender] -= 1;
    return room[contender] >= 0;
  });
  const kept = new Set(endpoints.map(({ address }) => address));
  const untried = new Set(sorted.map(({ address }) => address).filter((address) => !kept.has(address)));
  return { endpoints, untried: untried.size };
}
