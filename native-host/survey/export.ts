// `photofinish survey export`: the archive of a survey as Parquet, for questions in SQL. Derived: it can be made again
// from the archive at any time, and the same archive gives the same files.

import { createHash } from 'node:crypto';
import {
  createReadStream,
  existsSync,
  mkdirSync,
  mkdtempSync,
  readdirSync,
  readFileSync,
  renameSync,
  rmSync,
  writeFileSync,
} from 'node:fs';
import { dirname, join, resolve } from 'node:path';
import { pipeline } from 'node:stream/promises';
import type { DuckDBAppender, DuckDBConnection } from '@duckdb/node-api';
import type { NetworkEvidence } from '@photofinish/shared/race/outcome';
import { blocksUdp } from '@photofinish/shared/verdict/verdict';
import { messageOf } from '@photofinish/shared/web/untrusted';
import * as v from 'valibot';
import { Complaint, EXIT_FAILED } from '../cli/usage.ts';
import { commandWord, ROOT } from '../install/own-command.ts';
import {
  type Archive,
  type BadLine,
  deadOf,
  emptyTally,
  missingFrom,
  openArchive,
  resultsOf,
  type Tally,
} from './archive.ts';
import { type Cell, type CellType, COLUMNS, DEAD_COLUMNS, rowsOf } from './export-columns.ts';
import { factsOf } from './facts.ts';
import type { Survey } from './schema.ts';

type DuckDb = typeof import('@duckdb/node-api');

const EXPORT_SCHEMA = 'photofinish.survey-export/1';
const CATALOG = 'export.json';
/** The jobs without a result that were given up. */
export const DEAD_PARQUET = 'dead.parquet';
const ROWS_HELD = 50_000;

export interface SurveyExport {
  readonly schema: typeof EXPORT_SCHEMA;
  readonly survey: Survey;
  readonly vantages: readonly {
    readonly vantage: string;
    /** Jobs with a result, and those without one. */
    readonly measured: number;
    readonly missing: number;
    /** Those of the latter that were given up, named in `dead.parquet`. */
    readonly givenUp: number;
    /** Results that were in the archive already, and are not exported again. */
    readonly repeated: number;
    /** Hosts that advertise HTTP/3 and whose QUIC was unanswered while TCP worked; hosts reached over HTTP/3. */
    readonly network: NetworkEvidence;
    readonly blocksUdp: boolean;
  }[];
  /** Lines of the archive that hold no result or job of the survey; not all are named. */
  readonly badLines: { readonly count: number; readonly named: readonly BadLine[] };
  /** Paths relative to the export. */
  readonly files: readonly { readonly path: string; readonly rows: number; readonly sha256: string }[];
}

/** The command that installs DuckDB for the helper in this directory. */
export function duckDbCommand(root: string): string {
  return `npm install --no-save --prefix ${commandWord(root, process.platform)} @duckdb/node-api@1.5.6-r.1`;
}

async function loadDuckDb(load: () => Promise<DuckDb>): Promise<DuckDb> {
  try {
    return await load();
  } catch (error) {
    const isAbsent = /MODULE_NOT_FOUND$/.test((error as NodeJS.ErrnoException).code ?? '');
    const why = isAbsent ? 'is not installed' : `does not load (${messageOf(error).split('\n')[0]})`;
    throw new Complaint('no-duckdb', `the export needs DuckDB, which ${why}; run: ${duckDbCommand(ROOT)}`);
  }
}

function append(appender: DuckDBAppender, duckDb: DuckDb, type: CellType, cell: Cell): void {
  if (cell === null) appender.appendNull();
  else if (typeof cell === 'bigint') appender.appendTimestamp(new duckDb.DuckDBTimestampValue(cell));
  else if (typeof cell === 'string') appender.appendVarchar(cell);
  else if (typeof cell === 'boolean') appender.appendBoolean(cell);
  else if (type === 'INTEGER') appender.appendInteger(cell);
  else appender.appendDouble(cell);
}

/** Makes a table, and returns what appends a row to it. */
async function newTable(
  connection: DuckDBConnection,
  duckDb: DuckDb,
  name: string,
  columns: readonly { readonly name: string; readonly type: CellType }[],
): Promise<{ add(row: readonly Cell[]): void; end(): void }> {
  await connection.run(
    `CREATE TABLE ${name} (${columns.map((column) => `"${column.name}" ${column.type}`).join(', ')})`,
  );
  const appender = await connection.createAppender(name);
  let held = 0;
  return {
    add(row) {
      for (const [i, { type }] of columns.entries()) append(appender, duckDb, type, row[i] ?? null);
      appender.endRow();
      held += 1;
      if (held < ROWS_HELD) return;
      appender.flushSync();
      held = 0;
    },
    end: () => appender.closeSync(),
  };
}

/** Puts the archive's rows into tables. */
async function fill(
  archive: Archive,
  connection: DuckDBConnection,
  duckDb: DuckDb,
  tally: Tally,
): Promise<void> {
  const races = await newTable(connection, duckDb, 'races', COLUMNS);
  for await (const result of resultsOf(archive, tally)) {
    const facts = factsOf(result.race);
    result.of.evidence.add(result.race, facts);
    for (const row of rowsOf(result, result.race, facts)) races.add(row);
  }
  races.end();
  const dead = await newTable(connection, duckDb, 'dead', DEAD_COLUMNS);
  for await (const job of deadOf(archive, tally))
    dead.add(DEAD_COLUMNS.map(({ of }) => of(job, archive.survey)));
  dead.end();
}

function quoted(path: string): string {
  return `'${path.replaceAll("'", "''")}'`;
}

async function sha256Of(path: string): Promise<string> {
  const hash = createHash('sha256');
  await pipeline(createReadStream(path), hash);
  return hash.digest('hex');
}

/** The Parquet files below a directory with their rows, by path. */
async function filesIn(directory: string, connection: DuckDBConnection): Promise<SurveyExport['files']> {
  const paths = readdirSync(directory, { recursive: true, encoding: 'utf8' })
    .filter((path) => path.endsWith('.parquet'))
    .toSorted();
  const files: SurveyExport['files'][number][] = [];
  for (const path of paths) {
    const whole = join(directory, path);
    const read = await connection.runAndReadAll(
      `SELECT num_rows FROM parquet_file_metadata(${quoted(whole)})`,
    );
    files.push({ path, rows: Number(read.value(0, 0)), sha256: await sha256Of(whole) });
  }
  return files;
}

/** Writes everything to the new directory `aside`; what it needs meanwhile is in the new directory `work`. */
async function write(
  archive: Archive,
  { aside, work }: { readonly aside: string; readonly work: string },
  duckDb: DuckDb,
): Promise<SurveyExport> {
  const tally = emptyTally(archive);
  mkdirSync(aside);
  mkdirSync(work);
  // A single thread keeps the order of rows; the table is on disk, so that memory does not grow with the archive.
  const instance = await duckDb.DuckDBInstance.create(join(work, 'rows.duckdb'), {
    threads: '1',
    memory_limit: '256MB',
    temp_directory: work,
    partitioned_write_flush_threshold: '20000',
    autoinstall_known_extensions: 'false',
  });
  using opened = new DisposableStack();
  opened.defer(() => instance.closeSync());
  const connection = await instance.connect();
  opened.defer(() => connection.closeSync());
  await fill(archive, connection, duckDb, tally);
  await connection.run(
    `COPY (SELECT *, CAST("at" AS DATE) AS day FROM races) TO ${quoted(aside)} (FORMAT parquet, COMPRESSION zstd,
     PARTITION_BY (vantage, day), WRITE_PARTITION_COLUMNS true, FILENAME_PATTERN 'races-{i}')`,
  );
  await connection.run(
    `COPY dead TO ${quoted(join(aside, DEAD_PARQUET))} (FORMAT parquet, COMPRESSION zstd)`,
  );
  const vantages = [...tally.vantages].map(([vantage, of]) => {
    const { measured, repeated, givenUp } = of;
    const network = of.evidence.all();
    return {
      vantage,
      measured,
      missing: missingFrom(archive, of),
      givenUp,
      repeated,
      network,
      blocksUdp: blocksUdp(network),
    };
  });
  const made: SurveyExport = {
    schema: EXPORT_SCHEMA,
    survey: archive.survey,
    vantages,
    badLines: { count: tally.bad, named: tally.badLines },
    files: await filesIn(aside, connection),
  };
  writeFileSync(join(aside, CATALOG), `${JSON.stringify(made, null, 2)}\n`);
  return made;
}

/** As much of an earlier export as says what it wrote. */
const catalogSchema = v.object({
  schema: v.literal(EXPORT_SCHEMA),
  files: v.array(v.object({ path: v.string() })),
});

/** What an export wrote to a directory, by its catalog, with the directories on the way; null: it has no catalog. */
function exportedTo(out: string): ReadonlySet<string> | null {
  try {
    const { files } = v.parse(catalogSchema, JSON.parse(readFileSync(join(out, CATALOG), 'utf8')));
    const paths = new Set([CATALOG]);
    for (const { path } of files)
      for (let at = path; at !== dirname(at) && !paths.has(at); at = dirname(at)) paths.add(at);
    return paths;
  } catch {
    return null;
  }
}

/**
 * Throws a Complaint unless there is nothing at the path, or exactly what an earlier export wrote: replacing it removes
 * everything there.
 */
function checkReplaceable(out: string): void {
  if (!existsSync(out)) return;
  let entries: readonly string[] | null = null;
  try {
    entries = readdirSync(out, { recursive: true, encoding: 'utf8' });
  } catch {
    // Not a directory, or one that cannot be read.
  }
  if (entries?.length === 0) return;
  const exported = exportedTo(out);
  if (entries === null || exported === null)
    throw new Complaint(
      'bad-directory',
      `${out} exists and is not an earlier export; name another directory`,
    );
  const foreign = entries.find((entry) => !exported.has(entry));
  if (foreign !== undefined)
    throw new Complaint(
      'bad-directory',
      `${out} contains ${foreign}, which no export wrote and a new one would remove; move it, or name another directory`,
    );
}

/**
 * Writes the archive in `dir` as Parquet to the directory `out`, which holds nothing else, and lists the files in
 * `export.json`. An earlier export is replaced once the new one is complete. Throws a Complaint.
 */
export async function exportParquet(
  dir: string,
  out: string,
  load: () => Promise<DuckDb> = () => import('@duckdb/node-api'),
): Promise<SurveyExport> {
  const archive = openArchive(dir);
  checkReplaceable(out);
  const duckDb = await loadDuckDb(load);
  const target = resolve(out);
  let scratch: string | null = null;
  try {
    if (!existsSync(dirname(target))) mkdirSync(dirname(target), { recursive: true });
    // Beside it, to be renamed; with a name of its own, because what has a fixed one may be somebody else's.
    scratch = mkdtempSync(`${target}.part-`);
    const aside = join(scratch, 'made');
    const made = await write(archive, { aside, work: join(scratch, 'work') }, duckDb);
    // It may have got other files meanwhile.
    checkReplaceable(out);
    rmSync(target, { recursive: true, force: true });
    renameSync(aside, target);
    return made;
  } catch (error) {
    if (error instanceof Complaint) throw error;
    const { code, message } = error as NodeJS.ErrnoException;
    const full = code === 'ENOSPC' || /no space left/i.test(message);
    const why = full ? 'the disk is full' : (code ?? message.split('\n')[0]);
    throw new Complaint('cannot-write', `cannot write ${out}: ${why}; the archive is unchanged`, EXIT_FAILED);
  } finally {
    if (scratch !== null) rmSync(scratch, { recursive: true, force: true });
  }
}
