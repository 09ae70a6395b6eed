// `photofinish codes`: explains verdicts and failure codes at the terminal where they appeared, without a network.
import type { OriginRace } from '@photofinish/shared/race/outcome';
import type { Verdict } from '@photofinish/shared/race/verdict-schema';
import { type CodeRow, failureRows, verdictRows } from '@photofinish/shared/verdict/codes';
import { isFailed, reachOfEach } from '@photofinish/shared/verdict/evidence';
import { evidenceOfRace } from '@photofinish/shared/verdict/verdict';
import { commandLine, withOwnCommand } from '../install/own-command.ts';
import { CODES_OPTIONS } from './command-table.ts';
import type { Terminal } from './terminal.ts';
import { type Paint, wrapped } from './text.ts';
import { Complaint, didYouMean, EXIT_OK, parseCommand } from './usage.ts';

export const CODES_SCHEMA = 'photofinish.codes/1';

const INDENT = '  ';

/** The command that explains a code; printed beside the code. */
export function codeHint(code: CodeRow['code']): string {
  return commandLine('codes', code);
}

/**
 * The code to look up about a race: where both protocols failed alike, their failure says more than a verdict that is
 * unknown.
 */
export function codeToExplain({ code }: Verdict, race: OriginRace): CodeRow['code'] {
  const { h3, tcp } = reachOfEach(evidenceOfRace(race).attempts);
  const isAlike = code === 'unknown' && isFailed(h3) && isFailed(tcp) && h3.code === tcp.code;
  return isAlike ? h3.code : code;
}

function rowText({ kind, code, name, means, remedy }: CodeRow, paint: Paint): string {
  const label = kind === 'verdict' ? 'What to do' : 'Where to look';
  return [
    `${paint('bold', code)}  ${name}`,
    ...wrapped(means, INDENT),
    ...wrapped(`${label}: ${withOwnCommand(remedy)}`, INDENT),
  ].join('\n');
}

function chosen(codes: readonly string[]): readonly CodeRow[] {
  const all = [...verdictRows(), ...failureRows()];
  if (codes.length === 0) return all;
  const known = all.map(({ code }) => code);
  return codes.map((wanted) => {
    const row = all.find(({ code }) => code === wanted);
    if (row === undefined)
      throw new Complaint(
        'bad-code',
        `"${wanted}" is not a code${didYouMean(wanted, known) || `; "${commandLine('codes')}" lists them all`}`,
      );
    return row;
  });
}

/** Runs `codes`; 0 unless a code is unknown. */
export async function runCodes(args: readonly string[], terminal: Terminal): Promise<number> {
  const { values, positionals } = parseCommand('codes', args, CODES_OPTIONS);
  const rows = chosen(positionals);
  if (values.json) terminal.result(JSON.stringify({ schema: CODES_SCHEMA, codes: rows }));
  else terminal.result(rows.map((row) => rowText(row, terminal.paint)).join('\n\n'));
  return EXIT_OK;
}
