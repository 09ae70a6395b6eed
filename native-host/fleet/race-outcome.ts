// What of a race is shared: what the host cache itself would conclude from it about HTTP/3, if that lasts.
import { isAllDisturbed, soundTrials } from '@photofinish/shared/race/conclusive';
import type { OriginRace } from '@photofinish/shared/race/outcome';
import { blocksUdp } from '@photofinish/shared/verdict/verdict';
import { isLasting, LOSSY_RATE } from '../cache/back-off.ts';
import { foldRace } from '../cache/fold.ts';
import { type HostRecord, newHost, type SharedRecord } from '../cache/record.ts';
import { HOUR_MS } from './document.ts';

function failureOf({ h3Failure, h3LossRate }: HostRecord): SharedRecord['h3Failure'] {
  if (h3Failure === null || !isLasting(h3Failure)) return null;
  // On such a path silence may be chance.
  return (h3LossRate ?? 0) >= LOSSY_RATE ? null : h3Failure;
}

/**
 * The outcome to share under `key`; null if the race proves nothing about HTTP/3, or nothing that will still hold in an
 * hour.
 */
export function outcomeOf(key: string, race: OriginRace, nowMs: number): SharedRecord | null {
  if (race.memory === 'none' || race.error !== undefined || isAllDisturbed(race.trials)) return null;
  const sound = { ...race, trials: [...soundTrials(race.trials)] };
  const host = foldRace(newHost(race.origin, race.network, nowMs), { race: sound, heard: null }, nowMs);
  const { h3AtMs, tcpProtocol } = host;
  const failure = h3AtMs === null ? failureOf(host) : null;
  if (h3AtMs === null && failure === null) return null;
  // Then it is this machine's network that fails, not the host.
  if (failure !== null && race.otherHosts !== undefined && blocksUdp(race.otherHosts)) return null;
  const tcp = tcpProtocol === 'h3' ? null : tcpProtocol;
  return { key, atMs: nowMs - (nowMs % HOUR_MS), h3Failure: failure, tcpProtocol: tcp };
}
