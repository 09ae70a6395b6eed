// Reads and writes single records in the open tables, and deletes those that have expired.
import type { SQLInputValue, StatementSync } from 'node:sqlite';
import type { OriginRace } from '@photofinish/shared/race/outcome';
import type { AltSvc } from '@photofinish/shared/web/alt-svc';
import type { Browser } from '@photofinish/shared/web/observation';
import type { Origin } from '@photofinish/shared/web/origin';
import { foldAltSvc, isUnreadable, persistentPart, type Receipt } from './advertised.ts';
import { foldAddresses } from './fold.ts';
import { MEASURED_FRESH_MS, RETENTION_MS, SHARED_FRESH_MS } from './policy.ts';
import {
  type AddressRecord,
  ANY_NETWORK,
  type HostForecastRow,
  type HostRecord,
  idsOf,
  isSoundAddress,
  isSoundForecastRow,
  isSoundHost,
  isSoundShared,
  isSoundUse,
  newHost,
  recordId,
  type SharedRecord,
  type UseForecastRow,
  type UseRecord,
} from './record.ts';
import type { Statements } from './statements.ts';

/** A batch is resent within minutes; a week also covers a laptop that was closed in between. */
const FOLDED_ID_LIFE_MS = 7 * 24 * 3_600_000;

type Row = Record<string, SQLInputValue>;

/** The single number returned by a statement. */
export function onlyNumber(statement: StatementSync, parameters: Row): number {
  return Number(Object.values(statement.get(parameters) ?? {})[0]);
}

/** The rows of an origin that we could have written; notes the origin if there are others. */
function sound<T>(
  s: Statements,
  rows: readonly unknown[],
  isSound: (row: unknown) => row is T,
  origin: Origin,
): T[] {
  const good = rows.filter(isSound);
  if (good.length < rows.length) s.suspects.add(origin);
  return good;
}

/** Drops unsound rows of the origins where one was found; returns how many. */
export function dropUnsound(s: Statements): number {
  let dropped = 0;
  for (const origin of s.suspects) {
    const known = isKnown(s, origin);
    for (const row of s.rowsAbout.all({ ...idsOf(origin), origin })) {
      if (row.browser === '' ? isSoundHost(row) : isSoundUse(row)) continue;
      const { changes } = s.dropRow.run(row.rowId as string);
      s.count.run('rows', -Number(changes));
      dropped += Number(changes);
    }
    for (const row of s.addressesOf.all(origin))
      if (!isSoundAddress(row))
        dropped += Number(s.dropAddress.run(origin, row.network ?? '', row.address ?? '').changes);
    if (known && !isKnown(s, origin)) s.count.run('origins', -1);
  }
  s.suspects.clear();
  return dropped;
}

/** The record on this network, and the persistent one. */
interface HostRecords {
  readonly here: HostRecord | null;
  readonly anywhere: HostRecord | null;
}

/** What is known of an origin on a network. */
export function knownOf(s: Statements, origin: Origin, network: string): HostRecords {
  const ids = [recordId(origin, network), recordId(origin, ANY_NETWORK)];
  const rows = sound(s, s.hosts.all(...ids, origin), isSoundHost, origin);
  const of = (name: string): HostRecord | null => rows.find((row) => row.network === name) ?? null;
  return { here: of(network), anywhere: of(ANY_NETWORK) };
}

/** The input of a forecast. */
interface ForecastRows {
  readonly here: HostForecastRow | null;
  readonly anywhere: HostForecastRow | null;
  readonly use: UseForecastRow | null;
}

/** Everything that a forecast for an origin reads, in one look-up. */
export function forecastRowsOf(
  s: Statements,
  origin: Origin,
  { network, browser, site }: { network: string; browser: Browser; site: string },
): ForecastRows {
  const ids = [
    recordId(origin, network),
    recordId(origin, ANY_NETWORK),
    recordId(origin, network, browser, site),
  ];
  const rows = s.forecast.all(...ids, origin) as unknown as (HostForecastRow &
    UseForecastRow &
    Pick<UseRecord, 'network' | 'site'> & { readonly browser: Browser | '' })[];
  const of = (on: string, by: Browser | '', under: string) => {
    const found = rows.find((row) => row.network === on && row.browser === by && row.site === under);
    if (found === undefined || isSoundForecastRow(found)) return found ?? null;
    s.suspects.add(origin);
    return null;
  };
  return { here: of(network, '', ''), anywhere: of(ANY_NETWORK, '', ''), use: of(network, browser, site) };
}

/** What is known of an origin's addresses on a network. */
export function addressesOf(s: Statements, origin: Origin, network: string): AddressRecord[] {
  return sound(s, s.addresses.all({ origin, network }), isSoundAddress, origin);
}

/** What other machines shared under a key; null: nothing. */
export function sharedOf(s: Statements, key: string): SharedRecord | null {
  const row = s.shared.get(key);
  return row !== undefined && isSoundShared(row) ? row : null;
}

/** A browser's own history with an origin under a site on a network. */
export function useOf(
  s: Statements,
  browser: Browser,
  origin: Origin,
  site: string,
  network: string,
): UseRecord | null {
  const id = recordId(origin, network, browser, site);
  return sound(s, s.use.all(id, origin, site, browser, network), isSoundUse, origin)[0] ?? null;
}

/** Stores a browser's use of an origin; `old`: the record it replaces, null if there is none. */
export function keepUse(s: Statements, use: UseRecord, old: UseRecord | null): void {
  const { browser, origin, site, network } = use;
  if (old === null) s.count.run('rows', 1);
  s.putUse.run({ ...(use as unknown as Row), id: recordId(origin, network, browser, site) });
}

/** Whether any browser's use of an origin is stored, under any site. */
export function isUsed(s: Statements, origin: Origin): boolean {
  const { first, last } = idsOf(origin);
  return s.usedBy.get(first, last, origin) !== undefined;
}

function isKnown(s: Statements, origin: Origin): boolean {
  return s.anyOf.get({ ...idsOf(origin), origin }) !== undefined;
}

/** Deletes everything about an origin; returns whether there was anything. */
export function forgetOrigin(s: Statements, origin: Origin): boolean {
  const counted = isKnown(s, origin);
  const { changes } = s.forgetOrigin.run({ ...idsOf(origin), origin });
  s.forgetAddresses.run(origin);
  if (counted) s.count.run('origins', -1);
  s.count.run('rows', -Number(changes));
  return Number(changes) > 0;
}

/** Stores a record; `old`: the one it replaces, null if there is none. Updates the count of origins. */
export function keepHost(s: Statements, host: HostRecord, old: HostRecord | null): void {
  if (old === null && !isKnown(s, host.origin)) s.count.run('origins', 1);
  if (old === null) s.count.run('rows', 1);
  s.putHost.run({ ...(host as unknown as Row), id: recordId(host.origin, host.network) });
}

/** Alternatives with `persist=1` are stored a second time, under `ANY_NETWORK`. */
export function keepPersistent(
  s: Statements,
  { origin, altSvc, known }: { origin: Origin; altSvc: AltSvc; known: HostRecord | null },
  receipt: Receipt,
): void {
  // Its persistent part would be the `clear` of a header that names none.
  if (isUnreadable(altSvc)) return;
  const lasting = persistentPart(altSvc);
  if (known === null && lasting.clear) return;
  const next = foldAltSvc(known ?? newHost(origin, ANY_NETWORK, receipt.atMs), lasting, receipt);
  keepHost(s, { ...next, updatedAtMs: receipt.atMs }, known);
}

/** The addresses that answered in a race; if there are too many, only the newest are kept. */
export function keepAddresses(s: Statements, race: Omit<OriginRace, 'verdict'>, nowMs: number): void {
  const { origin, network } = race;
  const known = new Map(addressesOf(s, origin, network).map((record) => [record.address, record]));
  const used = foldAddresses(known, race, nowMs);
  for (const record of used) s.putAddress.run(record as unknown as Row);
  if (used.length > 0) s.trimAddresses.run({ origin, network });
}

/** Deletes a batch of expired records, and every shared outcome that is too old to be used. */
export function expire(s: Statements, nowMs: number): void {
  const gone = s.expireHosts.all(nowMs - RETENTION_MS) as unknown as { origin: Origin }[];
  for (const origin of new Set(gone.map((row) => row.origin)))
    if (!isKnown(s, origin)) s.count.run('origins', -1);
  const uses = s.expireUses.run(nowMs - RETENTION_MS).changes;
  const rows = gone.length + Number(uses);
  if (rows > 0) s.count.run('rows', -rows);
  s.expireAddresses.run(nowMs - MEASURED_FRESH_MS);
  s.expireShared.run(nowMs - SHARED_FRESH_MS);
  const folded = Number(s.expireFolded.run(nowMs - FOLDED_ID_LIFE_MS).changes);
  if (folded > 0) s.count.run('folded', -folded);
}

/** The stored counters by name. */
export function countersOf(s: Statements): Map<string, number> {
  const rows = s.counters.all().map((row) => Object.values(row) as [string, number]);
  return new Map(rows.filter(([, value]) => Number.isSafeInteger(value) && value >= 0));
}
