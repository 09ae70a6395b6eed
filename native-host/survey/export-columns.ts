// The columns of a survey's Parquet files: one row for each trial of each origin, or one for an origin without trials.
import { altSvcForNewClients } from '@photofinish/shared/race/alt-svc-over';
import type { Attempt, OriginRace, Trial } from '@photofinish/shared/race/outcome';
import { isH3 } from '@photofinish/shared/verdict/evidence';
import { gainMsOf } from '@photofinish/shared/verdict/gain';
import { originParts } from '@photofinish/shared/web/origin';
import { addressPrefix } from '../address/address-bytes.ts';
import { decisiveAttempt, type Facts } from './facts.ts';
import type { DeadLine, Survey, SurveyResult } from './schema.ts';

interface Row {
  readonly result: SurveyResult;
  readonly race: OriginRace;
  readonly facts: Facts;
  readonly trial: Trial | null;
  /** From 1; null without a trial. */
  readonly number: number | null;
  readonly h3: Attempt | undefined;
  readonly h2: Attempt | undefined;
}

/** Timestamps are microseconds since the epoch. */
export type Cell = string | number | boolean | bigint | null;

export type CellType = 'VARCHAR' | 'INTEGER' | 'DOUBLE' | 'BOOLEAN' | 'TIMESTAMP';

export interface ExportColumn {
  readonly name: string;
  readonly type: CellType;
  /** In Markdown, for docs/survey.md. */
  readonly means: string;
  readonly of: (row: Row) => Cell | undefined;
}

function column(name: string, type: CellType, means: string, of: ExportColumn['of']): ExportColumn {
  return { name, type, means, of };
}

function attemptColumns(name: 'h3' | 'h2', protocol: string): ExportColumn[] {
  return [
    column(
      `${name}_attempted`,
      'BOOLEAN',
      `whether ${protocol} was attempted; the other \`${name}_\` columns are about the attempt that says most`,
      (r) => (r.trial === null ? null : r[name] !== undefined),
    ),
    column(
      `${name}_outcome`,
      'VARCHAR',
      '`adopted`, `established-late`, `cancelled` or `failed`',
      (r) => r[name]?.outcome,
    ),
    column(
      `${name}_error`,
      'VARCHAR',
      'with `failed`: the [code](verdicts.md#failure-codes)',
      (r) => r[name]?.error?.code,
    ),
    column(
      `${name}_certificate`,
      'VARCHAR',
      'with `certificate-invalid`: the reason',
      (r) => r[name]?.error?.reason,
    ),
    column(
      `${name}_established_ms`,
      'DOUBLE',
      'when its secure handshake was complete',
      (r) => r[name]?.establishedMs,
    ),
    column(`${name}_rtt_ms`, 'DOUBLE', "the transport's own round-trip estimate then", (r) => r[name]?.rttMs),
    column(`${name}_address`, 'VARCHAR', 'the address attempted', (r) => r[name]?.address),
  ];
}

/** In the order of the files. */
export const COLUMNS: readonly ExportColumn[] = [
  column('survey', 'VARCHAR', 'the survey', (r) => r.result.survey),
  column('vantage', 'VARCHAR', 'the vantage point', (r) => r.result.vantage),
  column(
    'job',
    'INTEGER',
    "the origin's number in the survey, the same from every vantage point",
    (r) => r.result.job,
  ),
  column('origin', 'VARCHAR', 'scheme, host, port', (r) => r.race.origin),
  column('host', 'VARCHAR', 'the host alone', (r) => originParts(r.race.origin).host),
  column('port', 'INTEGER', 'the port alone', (r) => originParts(r.race.origin).port),
  column('mode', 'VARCHAR', 'the [mode](cli.md#modes) of the race', (r) => r.race.mode),
  column('trial', 'INTEGER', 'from 1; null: the origin could not be raced', (r) => r.number),
  column('at', 'TIMESTAMP', "when the origin's first trial began, in UTC", (r) =>
    BigInt(Math.round(r.race.atMs * 1000)),
  ),
  column('adopted', 'VARCHAR', '`h3`, `h2` or `http/1.1`; null: nothing was', (r) => r.trial?.adopted),
  column(
    'established_ms',
    'DOUBLE',
    'from the start of the trial to the secure handshake of what was adopted',
    (r) => r.trial?.establishedMs,
  ),
  column('first_byte_ms', 'DOUBLE', 'and to the first byte of its response', (r) => r.trial?.firstByteMs),
  column(
    'late_h3',
    'BOOLEAN',
    'HTTP/3 was established after another protocol had been adopted',
    (r) => r.trial?.lateH3,
  ),
  column(
    'disturbed',
    'VARCHAR',
    'what the worker being busy may have affected: `times`, or also the `outcome`; null: nothing',
    (r) => r.trial?.disturbed,
  ),
  ...attemptColumns('h3', 'HTTP/3'),
  ...attemptColumns('h2', 'TCP with TLS'),
  column(
    'verdict',
    'VARCHAR',
    'the [code](verdicts.md) of the verdict on the origin',
    (r) => r.race.verdict.code,
  ),
  column(
    'alt_svc',
    'VARCHAR',
    'the Alt-Svc field that the origin sent, over TCP if it responded over it',
    (r) => altSvcForNewClients(r.race.discovered),
  ),
  column(
    'alt_svc_h3',
    'BOOLEAN',
    'whether it offers HTTP/3; null: there was none, and no response over TCP',
    (r) => r.facts.altSvcH3,
  ),
  column(
    'https_record_h3',
    'BOOLEAN',
    'whether an HTTPS record of the origin offers it, not one of an Alt-Svc host; null: not queried, or no answer',
    (r) => r.facts.recordH3,
  ),
  column(
    'pairs',
    'INTEGER',
    'in mode `compare`: whole pairs; null: fewer than three, so no gain was measured',
    (r) => r.facts.gain?.pairs,
  ),
  column(
    'gain_ms',
    'DOUBLE',
    'the clear [gain](glossary.md) of HTTP/3, a loss if negative; null: no clear difference, or not measured',
    (r) => r.facts.gain && gainMsOf(r.facts.gain),
  ),
  column('rtt_ms', 'DOUBLE', 'the shortest round trip of any attempt to the origin', (r) => r.facts.rttMs),
  column(
    'address_prefix',
    'VARCHAR',
    'the /24 or /48 of the first address raced in the trial',
    (r) => r.trial?.attempts[0] && addressPrefix(r.trial.attempts[0].address),
  ),
  column(
    'error',
    'VARCHAR',
    'the [code](verdicts.md#failure-codes) of what kept the origin from being raced, or cut it short',
    (r) => r.race.error?.code,
  ),
  column('program', 'VARCHAR', "the worker's program", (r) => r.result.program),
  column(
    'shared_h3',
    'VARCHAR',
    'what the race knew from other machines ([`--fleet`](#crawlers)): `works`, or the code of a failure; null: nothing',
    ({ race: { sharedOutcome } }) => sharedOutcome && (sharedOutcome.h3Failure ?? 'works'),
  ),
];

interface DeadColumn {
  readonly name: string;
  readonly type: CellType;
  readonly of: (dead: DeadLine, survey: Survey) => Cell;
}

/** The same for jobs that were given up: one row for each. */
export const DEAD_COLUMNS: readonly DeadColumn[] = [
  { name: 'survey', type: 'VARCHAR', of: (_, { survey }) => survey },
  { name: 'vantage', type: 'VARCHAR', of: ({ vantage }) => vantage },
  { name: 'job', type: 'INTEGER', of: ({ job }) => job },
  { name: 'origin', type: 'VARCHAR', of: ({ origin }) => origin ?? null },
  { name: 'reason', type: 'VARCHAR', of: ({ reason }) => reason },
];

/** The rows of a result, each with one cell for every column. */
export function* rowsOf(result: SurveyResult, race: OriginRace, facts: Facts): Generator<Cell[]> {
  for (const [i, trial] of (race.trials.length === 0 ? [null] : race.trials).entries()) {
    const attempts = trial?.attempts ?? [];
    const row: Row = {
      result,
      race,
      facts,
      trial,
      number: trial === null ? null : i + 1,
      h3: decisiveAttempt(attempts, isH3),
      h2: decisiveAttempt(attempts, (attempt) => !isH3(attempt)),
    };
    yield COLUMNS.map(({ of }) => of(row) ?? null);
  }
}
