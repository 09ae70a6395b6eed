// The export document, `photofinish.data/2`: its versions, why a file is rejected, and how one is read as a stream whose
// pieces are validated on entry.

import { originRaceSchema } from '@photofinish/shared/race/outcome';
import { VERDICT_CODES } from '@photofinish/shared/race/verdict-schema';
import { adoptionSchema } from '@photofinish/shared/report/adoption';
import {
  type Browser,
  browserSchema,
  ONLY_FULL,
  observationModesSchema,
} from '@photofinish/shared/web/observation';
import { originSchema, siteSchema } from '@photofinish/shared/web/origin';
import { knownProtocolSchema, unknownReasonSchema } from '@photofinish/shared/web/protocol';
import { count, isTooLate, MAX_ALT_SVC_CHARS, printableDeep } from '@photofinish/shared/web/untrusted';
import { JSONParser, TokenType } from '@streamparser/json';
import * as v from 'valibot';
import { namesSchema } from '../common/network-names.ts';
import { type Settings, settingsFromFile } from '../common/settings.ts';
import { siteOfHost } from '../common/site.ts';
import { NO_ROWS, SECTIONS, type Section, type Sections } from './merge.ts';

const NAME = 'photofinish.data';

/** `UPGRADES[n]` converts a row of version n + 1 to version n + 2. Never edited once released. */
const UPGRADES: readonly ((section: Section, row: unknown) => unknown)[] = [
  // Verdicts of races used to be text, which the schema of verdicts still accepts.
  (_, row) => row,
];
const NEWEST = UPGRADES.length + 1;
export const DATA_VERSION = `${NAME}/${NEWEST}`;

/** Why a file is rejected; append-only. */
export const DATA_ERRORS = [
  /** Not a Photofinish document. */
  'not-data',
  /** Written by a newer program. */
  'newer',
  /** Truncated or not JSON, or its sections are not what it declares. */
  'damaged',
  /** A row or the settings violate their schema. */
  'bad-row',
] as const;
export type DataErrorCode = (typeof DATA_ERRORS)[number];

/** A rejected file; nothing of it was imported. */
export class DataError extends Error {
  readonly code: DataErrorCode;
  constructor(code: DataErrorCode, message: string) {
    super(message);
    this.name = 'DataError';
    this.code = code;
  }
}

/** The version named by a document's `schema`. Throws a DataError for a foreign document and for a newer version. */
function versionOf(schema: unknown): number {
  const found = typeof schema === 'string' ? /^photofinish\.data\/([1-9]\d{0,8})$/.exec(schema) : null;
  if (found === null) throw new DataError('not-data', `the file is not a ${NAME} document`);
  const version = Number(found[1]);
  if (version > NEWEST)
    throw new DataError('newer', `the file has version ${version}; this program supports up to ${NEWEST}`);
  return version;
}

/** A row in the form of the newest version. */
function upgraded(section: Section, version: number, row: unknown): unknown {
  return UPGRADES.slice(version - 1).reduce((older, upgrade) => upgrade(section, older), row);
}

// The schemas of the ledger's rows in a file: validated here, and trusted from then on.

const instant = v.pipe(v.number(), v.finite(), v.minValue(0), v.maxValue(8.64e15));
const day = v.pipe(v.string(), v.isoDate());
const network = v.pipe(v.string(), v.minLength(1), v.maxLength(128));
const counts = v.object({ h3: count, h2: count, 'http/1.1': count, 'http/1.0': count, unknown: count });
const delivered = v.object({ 'http-cache': count, 'service-worker': count, prefetch: count });

type Counts = v.InferOutput<typeof counts>;

/** Navigations are requests too; moving counts later relies on that. */
function navigationsAmong(row: { readonly counts: Counts; readonly navigations: Counts }): boolean {
  return (Object.keys(row.counts) as (keyof Counts)[]).every(
    (key) => row.navigations[key] <= row.counts[key],
  );
}
const AMONG = 'more navigations than requests';

/** Missing in files from before there was a second mode. */
const modes = v.optional(observationModesSchema, ONLY_FULL);
const counted = { counts, navigations: counts, delivered, bytes: count, modes };
const forecastCounts = { lookups: count, hits: count, scored: count, right: count };

function ratiosHold(row: { lookups: number; hits: number; scored: number; right: number }): boolean {
  return row.hits <= row.lookups && row.right <= row.scored;
}
const RATIOS = 'more hits than lookups, or more right than scored';

export const recordSchema = v.pipe(
  v.object({
    origin: originSchema,
    site: siteSchema,
    firstSeenMs: instant,
    lastSeenMs: instant,
    protocol: v.nullable(knownProtocolSchema),
    protocolAtMs: v.nullable(instant),
    reason: v.nullable(unknownReasonSchema),
    address: v.nullable(v.pipe(v.string(), v.maxLength(64))),
    ...counted,
    h3SinceMs: v.optional(instant),
    newestPageMs: v.optional(instant),
    altSvc: v.nullable(v.pipe(v.string(), v.maxLength(MAX_ALT_SVC_CHARS))),
    altSvcAtMs: v.optional(instant),
    altSvcRead: v.optional(v.literal(true)),
    advertisedSinceMs: v.nullable(instant),
    visitsSinceAdvertised: count,
    visitsNetwork: v.optional(network),
    visitsProxied: v.optional(v.nullable(v.boolean())),
    proxied: v.optional(v.nullable(v.boolean())),
    visitedPageMs: v.nullable(instant),
    verdict: v.picklist(VERDICT_CODES),
  }),
  v.check((row) => navigationsAmong(row), AMONG),
);

export const daySchema = v.pipe(
  v.object({ day, site: siteSchema, origin: originSchema, network, ...counted, ...forecastCounts }),
  v.check((row) => navigationsAmong(row), AMONG),
  v.check((row) => ratiosHold(row), RATIOS),
);

export const totalSchema = v.pipe(
  v.object({ day, network, origins: adoptionSchema, ...counted, ...forecastCounts }),
  v.check((row) => navigationsAmong(row), AMONG),
  v.check((row) => ratiosHold(row), RATIOS),
);

/** A row of a section. */
export type RowPiece = {
  readonly [S in Section]: { readonly section: S; readonly row: Sections[S] };
}[Section];
export type Piece =
  | RowPiece
  | { readonly section: 'settings'; readonly row: Settings }
  /** Which browser exported the file; missing in files from before that was recorded. */
  | { readonly section: 'browser'; readonly row: Browser }
  /** Missing in files from before networks had names. */
  | { readonly section: 'networkNames'; readonly row: Readonly<Record<string, string>> }
  /** In place of a row dated later than tomorrow, by a clock that was wrong: it would never expire. */
  | { readonly section: 'future'; readonly row: null };

const SCHEMAS = { races: originRaceSchema, days: daySchema, totals: totalSchema, records: recordSchema };
/** The instants that a row contains. */
const INSTANTS: { readonly [S in Section]: (row: Sections[S]) => readonly (number | string | null)[] } = {
  races: ({ atMs }) => [atMs],
  days: ({ day }) => [day],
  totals: ({ day }) => [day],
  records: (row) => [
    row.firstSeenMs,
    row.lastSeenMs,
    row.protocolAtMs,
    row.h3SinceMs ?? null,
    row.newestPageMs ?? null,
    row.altSvcAtMs ?? null,
    row.advertisedSinceMs,
    row.visitedPageMs,
  ],
};
const PATHS = [
  '$.schema',
  '$.browser',
  '$.settings',
  '$.networkNames',
  ...SECTIONS.map((section) => `$.${section}.*`),
  '$.rows',
];

/** Several times what a race needs. A file of nothing but brackets would keep the parser busy for minutes. */
const MAX_DEPTH = 64;

/** Called with each token; throws if the document is nested deeper than any of ours. */
function createDepthGuard(): (token: { readonly token: TokenType }) => void {
  let depth = 0;
  return ({ token }) => {
    if (token === TokenType.LEFT_BRACE || token === TokenType.LEFT_BRACKET) depth += 1;
    else if (token === TokenType.RIGHT_BRACE || token === TokenType.RIGHT_BRACKET) depth -= 1;
    if (depth > MAX_DEPTH) throw new Error(`nested deeper than ${MAX_DEPTH} levels`);
  };
}

/** The values at PATHS, each with its name, chunk by chunk of the file. */
async function* valuesOf(file: Blob): AsyncGenerator<(readonly [name: string, value: unknown])[]> {
  const parser = new JSONParser({ paths: PATHS, keepStack: false });
  let found: (readonly [string, unknown])[] = [];
  parser.onToken = createDepthGuard();
  parser.onValue = ({ key, value, stack }) => {
    found.push([String(stack[1]?.key ?? key), value]);
  };
  const reader = file.stream().getReader();
  for (let read = await reader.read(); !read.done; read = await reader.read()) {
    try {
      parser.write(read.value);
    } catch (error) {
      throw new DataError('damaged', `the file is not valid JSON: ${(error as Error).message}`);
    }
    yield found;
    found = [];
  }
  if (!parser.isEnded) throw new DataError('damaged', 'the file ends too early');
}

function checkedSettings(value: unknown): Settings {
  const read = settingsFromFile(value);
  if (read === 'newer') throw new DataError('newer', 'the settings are from a newer version');
  if (read === 'unreadable') throw new DataError('bad-row', 'the settings cannot be read');
  return { ...read, neverRecord: [...new Set(read.neverRecord.map(siteOfHost))] };
}

function checkedBrowser(value: unknown): Browser {
  if (v.is(browserSchema, value)) return value;
  throw new DataError('bad-row', 'the browser is none that is known');
}

function checkedNames(value: unknown): Record<string, string> {
  const parsed = v.safeParse(namesSchema, value, { abortEarly: true });
  if (parsed.success) return parsed.output;
  throw new DataError('bad-row', `the names of networks: ${parsed.issues[0].message}`);
}

/** Validates the values of one document in order. */
function createValidator(nowMs: number) {
  let version: number | null = null;
  let sectionIndex = 0;
  let counted = false;
  const rows = { ...NO_ROWS };

  const checkedRow = (section: Section, value: unknown, version: number): Piece => {
    const at = SECTIONS.indexOf(section);
    if (at < sectionIndex || counted)
      throw new DataError('damaged', `the section ${section} is out of order`);
    sectionIndex = at;
    rows[section] += 1;
    const parsed = v.safeParse(SCHEMAS[section], upgraded(section, version, value), { abortEarly: true });
    if (parsed.success) {
      const instants = INSTANTS[section](parsed.output as never);
      if (instants.some((instant) => instant !== null && isTooLate(instant, nowMs)))
        return { section: 'future', row: null };
      const row = printableDeep(parsed.output);
      // Escaped, invisible characters take more space than before.
      if (!v.is(SCHEMAS[section], row))
        throw new DataError(
          'bad-row',
          `row ${rows[section]} of ${section} has a text that is too long once its invisible characters are escaped`,
        );
      return { section, row } as Piece;
    }
    const [issue] = parsed.issues;
    const where = v.getDotPath(issue) ?? 'row';
    throw new DataError('bad-row', `row ${rows[section]} of ${section}, ${where}: ${issue.message}`);
  };

  return {
    validate(name: string, value: unknown): Piece | null {
      if (name === 'schema') {
        version = versionOf(value);
        return null;
      }
      if (version === null) throw new DataError('not-data', 'the file does not begin with a schema');
      if (name === 'browser') return { section: 'browser', row: checkedBrowser(value) };
      if (name === 'settings') return { section: 'settings', row: checkedSettings(value) };
      if (name === 'networkNames') return { section: 'networkNames', row: checkedNames(value) };
      if (name !== 'rows') return checkedRow(name as Section, value, version);
      const declared = v.safeParse(v.record(v.picklist(SECTIONS), v.number()), value);
      counted = declared.success && SECTIONS.every((section) => declared.output[section] === rows[section]);
      if (!counted) throw new DataError('damaged', 'the file has a different number of rows than it states');
      return null;
    },
    end(): void {
      if (!counted) throw new DataError('damaged', 'the file does not state its row counts');
    },
  };
}

/** The pieces of a file, a few at a time. Throws a DataError at the first that is invalid. */
export async function* piecesOf(file: Blob, nowMs: number): AsyncGenerator<Piece[]> {
  const validator = createValidator(nowMs);
  for await (const values of valuesOf(file))
    yield values.flatMap(([name, value]) => validator.validate(name, value) ?? []);
  validator.end();
}
