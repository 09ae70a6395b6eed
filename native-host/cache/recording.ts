// What an observation and a race change in the tables: each is folded into the records it concerns, within the caller's
// transaction.
import type { OriginRace } from '@photofinish/shared/race/outcome';
import type { Browser, Observation } from '@photofinish/shared/web/observation';
import { isAhead } from '@photofinish/shared/web/untrusted';
import { foldMisdirected, type Receipt, receivedAltSvc } from './advertised.ts';
import { foldObservation, foldRace, foldUse, parseObservation } from './fold.ts';
import { admitOrigin, type CacheLimits } from './limits.ts';
import { ANY_NETWORK, type HostRecord, newHost, newUse, type SharedRecord } from './record.ts';
import { keepAddresses, keepHost, keepPersistent, keepUse, knownOf, type Statements, useOf } from './rows.ts';

/** Whose observations they are, and on which network. */
interface Observer {
  readonly network: string;
  readonly browser: Browser;
}

/**
 * A record, unless it was written by a clock that was ahead: a record newer than everything could not be updated for
 * that long, and acknowledged data would be missing.
 */
function notAhead<T>(record: T | null, atMs: number | undefined, nowMs: number): T | null {
  return isAhead(atMs ?? 0, nowMs) ? null : record;
}

/** The persistent record to fold into, anew if the stored one was ahead; null: none is stored. */
function persistentBase(stored: HostRecord | null, nowMs: number): HostRecord | null {
  return (
    stored && (notAhead(stored, stored.updatedAtMs, nowMs) ?? newHost(stored.origin, ANY_NETWORK, nowMs))
  );
}

function recordObservation(
  s: Statements,
  { network, browser }: Observer,
  o: Observation,
  { nowMs, limits }: { readonly nowMs: number; readonly limits: CacheLimits },
): void {
  // Nothing else shows what the network does, and it creates no record.
  if (o.delivery !== 'network') return;
  // A clock that runs ahead must not create a record that nothing can update.
  const atMs = Math.min(o.atMs, nowMs);
  const known = useOf(s, browser, o.origin, o.site, network);
  if (known === null && !admitOrigin(s, o.site, nowMs, limits)) return;
  const oldUse = notAhead(known, known?.seenAtMs, nowMs) ?? newUse(browser, o.origin, o.site, network);
  const { here, anywhere } = knownOf(s, o.origin, network);
  const oldHost = notAhead(here, here?.updatedAtMs, nowMs) ?? newHost(o.origin, network, atMs);
  const parsed = parseObservation(o);
  const host = foldObservation(oldHost, parsed, atMs);
  if (host !== oldHost) keepHost(s, host, here);
  const use = foldUse(oldUse, parsed, atMs);
  if (use !== oldUse) keepUse(s, use, known);
  const { altSvc } = parsed;
  if (altSvc === null) return;
  const lasting = persistentBase(anywhere, nowMs);
  keepPersistent(s, { origin: o.origin, altSvc, known: lasting }, { atMs, by: 'browser' });
}

/** Stores what a browser saw, each observation once; returns how many were new. */
export function recordObservations(
  s: Statements,
  observer: Observer,
  observations: readonly Observation[],
  when: { readonly nowMs: number; readonly limits: CacheLimits },
): number {
  let stored = 0;
  for (const o of observations.toSorted((a, b) => a.atMs - b.atMs)) {
    if (s.putFolded.run(`${observer.browser}:${o.id}`, when.nowMs).changes === 0) continue;
    recordObservation(s, observer, o, when);
    stored += 1;
  }
  // A batch that was sent again writes nothing.
  if (stored > 0) s.count.run('folded', stored);
  return stored;
}

/** A change to what other machines share; `outcome` null: it was withdrawn. */
export interface SharedChange {
  readonly key: string;
  readonly outcome: SharedRecord | null;
}

/** Stores what other machines share, of each key the newest outcome that is not from the future. */
export function recordShared(s: Statements, changes: readonly SharedChange[], nowMs: number): void {
  for (const { key, outcome } of changes) {
    if (outcome === null) s.dropShared.run(key);
    else s.putShared.run({ ...outcome, key, nowMs });
  }
  s.trimShared.run();
}

/** Stores a race that finished now, or earlier at `atMs` unless the record of its origin has changed since. */
export function recordRace(
  s: Statements,
  race: Omit<OriginRace, 'verdict'>,
  nowMs: number,
  atMs: number = nowMs,
): void {
  const { here, anywhere } = knownOf(s, race.origin, race.network);
  const received = receivedAltSvc(race.discovered, [here, anywhere], atMs);
  const host = notAhead(here, here?.updatedAtMs, nowMs) ?? newHost(race.origin, race.network, atMs);
  if (atMs < nowMs && host.updatedAtMs > atMs) return;
  keepHost(s, foldRace(host, { race, received }, atMs), here);
  keepAddresses(s, race, atMs);
  const attempts = race.trials.flatMap((t) => t.attempts);
  const base = persistentBase(anywhere, nowMs);
  const known = base && foldMisdirected(base, attempts, atMs);
  if (known !== null && known !== base) keepHost(s, known, anywhere);
  if (received === null) return;
  const receipt: Receipt = { atMs, by: 'race', ageMs: received.ageMs };
  keepPersistent(s, { origin: race.origin, altSvc: received.altSvc, known }, receipt);
}
