// The export document, `photofinish.data/2`: its versions, and why a file is rejected.
import type { Section } from './merge.ts';

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
export function versionOf(schema: unknown): number {
  const found = typeof schema === 'string' ? /^photofinish\.data\/([1-9]\d{0,8})$/.exec(schema) : null;
  if (found === null) throw new DataError('not-data', `the file is not a ${NAME} document`);
  const version = Number(found[1]);
  if (version > NEWEST)
    throw new DataError('newer', `the file has version ${version}; this program supports up to ${NEWEST}`);
  return version;
}

/** A row in the form of the newest version. */
export function upgraded(section: Section, version: number, row: unknown): unknown {
  return UPGRADES.slice(version - 1).reduce((older, upgrade) => upgrade(section, older), row);
}
