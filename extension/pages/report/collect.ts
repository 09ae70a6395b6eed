// Collects from the ledger the data of a report.

import type { OriginRace } from '@photofinish/shared/race/outcome';
import type { Report } from '@photofinish/shared/report/report';
import type { Origin } from '@photofinish/shared/web/origin';
import { DAY_MS, type DayRow, dayOf, type OriginRecord, RETENTION_MS } from '../../common/records/schema.ts';
import type { browsingOn, DaySpan } from '../../ledger/browsing.ts';
import { addDays, buildReport, noDays, type ReportInput } from './build.ts';

export type Conditions = Pick<ReportInput, 'browser' | 'network' | 'networkNames'> & {
  readonly nowMs: number;
};

/** The part of the ledger that a report reads. */
type ReportedLedger = ReturnType<typeof browsingOn>;

/** Which part of the ledger a report covers. */
export interface ReportSelection {
  /** `null`: every site. */
  readonly sites: readonly string[] | null;
  /** UTC days such as `2026-11-21`, both included; absent: the full range of the ledger. */
  readonly fromDay?: string | undefined;
  readonly toDay?: string | undefined;
}

/** Progress of a report: rows read, sites built, files written. */
export interface Progress {
  readonly stage: 'reading' | 'building' | 'writing';
  readonly done: number;
  readonly of: number;
}

/** With more origins than this, reading all races is faster than reading those of each origin. */
const ORIGINS_ASKED_SINGLY = 200;

type Take<Row> = (rows: readonly Row[]) => void;

/** The rows of the selected sites, and their expected number. */
interface Rows {
  readonly expected: number;
  days(take: Take<DayRow>): Promise<void>;
  records(take: Take<OriginRecord>): Promise<void>;
}

async function ofEverySite(ledger: ReportedLedger, span: DaySpan): Promise<Rows> {
  const [days, counts] = await Promise.all([ledger.countDays(span), ledger.countRows()]);
  return {
    expected: days + counts.records,
    days: (take) => ledger.eachDay(span, take),
    records: (take) => ledger.eachRecord(take),
  };
}

async function ofSites(ledger: ReportedLedger, sites: readonly string[], span: DaySpan): Promise<Rows> {
  const each = <Row>(read: (site: string) => Promise<Row[]>) =>
    Promise.all([...new Set(sites)].map(read)).then((rows) => rows.flat());
  const [days, records] = await Promise.all([
    each((site) => ledger.days(site, span.fromDay, span.toDay)),
    each((site) => ledger.records(site)),
  ]);
  return {
    expected: days.length + records.length,
    days: async (take) => take(days),
    records: async (take) => take(records),
  };
}

async function racesOf(
  ledger: ReportedLedger,
  origins: ReadonlySet<Origin>,
): Promise<Map<Origin, readonly OriginRace[]>> {
  if (origins.size <= ORIGINS_ASKED_SINGLY)
    return new Map(
      await Promise.all([...origins].map(async (origin) => [origin, await ledger.races(origin)] as const)),
    );
  const races: OriginRace[] = [];
  await ledger.eachRace((rows) => {
    for (const race of rows) if (origins.has(race.origin)) races.push(race);
  });
  return Map.groupBy(races, ({ origin }) => origin);
}

/** A race of a page's first visit may begin before the page is recorded, by less than this. */
const RACED_BEFORE_MS = 60_000;

/**
 * Since when the ledger has data on the reported sites. Older races of the origins of some sites were begun on others;
 * of every site, all belong to the report.
 */
function beginning(
  seenMs: number,
  races: ReadonlyMap<Origin, readonly OriginRace[]>,
  ofEverySite: boolean,
): number {
  const notBeforeMs = ofEverySite ? 0 : seenMs - RACED_BEFORE_MS;
  return [...races.values()]
    .flat()
    .reduce((first, { atMs }) => (atMs < notBeforeMs ? first : Math.min(first, atMs)), seenMs);
}

/**
 * The report on the selected sites, or on every site, over the selected days as far as the ledger still has them. Its
 * period is what is covered: it never begins before the first data nor ends after now.
 */
export async function collectReport(
  ledger: ReportedLedger,
  { sites, fromDay, toDay }: ReportSelection,
  { nowMs, ...conditions }: Conditions,
  onProgress: (progress: Progress) => void = () => {},
): Promise<Report> {
  const kept = dayOf(nowMs - RETENTION_MS);
  const wanted = fromDay === undefined || fromDay < kept ? kept : fromDay;
  // IndexedDB rejects ranges that end before they begin.
  const firstDay = toDay !== undefined && toDay < wanted ? toDay : wanted;
  const span = { fromDay: firstDay, toDay };
  const rows = sites === null ? await ofEverySite(ledger, span) : await ofSites(ledger, sites, span);
  let done = 0;
  const advance = (count: number): void => {
    done += count;
    // More may have been recorded since the rows were counted.
    onProgress({ stage: 'reading', done, of: Math.max(done, rows.expected) });
  };
  advance(0);

  const sums = noDays();
  await rows.days((some) => {
    addDays(sums, some);
    advance(some.length);
  });
  const records = new Map<string, Map<Origin, OriginRecord>>();
  let seenMs = nowMs;
  await rows.records((some) => {
    for (const record of some) {
      const own = records.get(record.site) ?? new Map<Origin, OriginRecord>();
      records.set(record.site, own.set(record.origin, record));
      seenMs = Math.min(seenMs, record.firstSeenMs);
    }
    advance(some.length);
  });
  const origins = new Set([...sums.sites.values()].flatMap((site) => [...site.origins.keys()]));
  const races = await racesOf(ledger, origins);

  const toMs = toDay === undefined ? nowMs : Math.min(nowMs, Date.parse(toDay) + DAY_MS);
  // An origin's record is kept as long as it is visited, the counts of its first days are not.
  const oldestDay = (await ledger.oldestDay()) ?? firstDay;
  const fromMs = Math.max(
    beginning(seenMs, races, sites === null),
    Date.parse(oldestDay),
    Date.parse(firstDay),
  );
  const input = { ...conditions, nowMs, sums, records, races, fromMs: Math.min(fromMs, toMs), toMs };
  return buildReport(input, (built, of) => onProgress({ stage: 'building', done: built, of }));
}
