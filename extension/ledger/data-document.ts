// The document that all data travels in, `photofinish.data/2`: its versions, and why a file is refused.
import type { Section } from './merge.ts';

const NAME = 'photofinish.data';

/** `UPGRADES[n]` makes a row of version n + 1 one of version n + 2. Never edited once released. */
const UPGRADES: readonly ((section: Section, row: unknown) => unknown)[] = [
  // Verdicts of races came in words, which the schema of verdicts still reads.
  (_, row) => row,
];
const NEWEST = UPGRADES.length + 1;
export const DATA_VERSION = `${NAME}/${NEWEST}`;

/** Why a file is refused; append-only. */
export const DATA_ERRORS = [
  /** It is not a document of ours. */
  'not-data',
  /** A newer program wrote it. */
  'newer',
  /** It is cut off or no JSON, or its sections are not what it says they are. */
  'damaged',
  /** A row or the settings break their schema. */
  'bad-row',
  /** Something in it happened later than tomorrow. */
  'future-date',
] as const;
export type DataErrorCode = (typeof DATA_ERRORS)[number];

/** A file that is refused; nothing of it was brought in. */
export class DataError extends Error {
  readonly code: DataErrorCode;
  constructor(code: DataErrorCode, message: string) {
    super(message);
    this.name = 'DataError';
    this.code = code;
  }
}

/** The version that a document's `schema` names. Throws a DataError for another's document and for a newer one. */
export function versionOf(schema: unknown): number {
  const found = typeof schema === 'string' ? /^photofinish\.data\/([1-9]\d{0,8})$/.exec(schema) : null;
  if (found === null) throw new DataError('not-data', `the file is not a ${NAME} document`);
  const version = Number(found[1]);
  if (version > NEWEST)
    throw new DataError('newer', `the file has version ${version}; this program supports up to ${NEWEST}`);
  return version;
}

/** A row as the newest version has it. */
export function upgraded(section: Section, version: number, row: unknown): unknown {
  return UPGRADES.slice(version - 1).reduce((older, upgrade) => upgrade(section, older), row);
}
