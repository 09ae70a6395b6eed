// `photofinish doctor`: prints the doctor's findings by subject, each problem with a remedy.
import type { DoctorFinding as Finding } from '@photofinish/shared/port/wire';
import { allFindings } from '../install/examination.ts';
import { DOCTOR_OPTIONS } from './command-table.ts';
import { noArguments, readExtensionIds, readUserDataDirectory } from './install.ts';
import type { Terminal } from './terminal.ts';
import { type Paint, plural, printable, wrapped } from './text.ts';
import { EXIT_FAILED, EXIT_OK, parseCommand } from './usage.ts';

const DOCTOR_SCHEMA = 'photofinish.doctor/1';

const MARKS = { ok: ['ok', 'green'], problem: ['!!', 'red'], note: ['--', 'dim'] } as const;

function findingsText(findings: readonly Finding[], paint: Paint): string {
  const lines: string[] = [];
  let subject = '';
  for (const finding of findings) {
    if (finding.subject !== subject) {
      subject = finding.subject;
      lines.push(...(lines.length === 0 ? [] : ['']), paint('bold', subject));
    }
    const [mark, colour] = MARKS[finding.state];
    const [first = '', ...rest] = wrapped(printable(finding.text), ' '.repeat(16));
    lines.push(`  ${paint(colour, mark)}  ${finding.check.padEnd(10)}${first.trimStart()}`, ...rest);
    if (finding.remedy !== null) lines.push(...wrapped(printable(finding.remedy), ' '.repeat(16)));
  }
  const problems = findings.filter(({ state }) => state === 'problem').length;
  const verdict = problems === 0 ? 'No problems found.' : `${plural(problems, 'problem')} found.`;
  return [...lines, '', verdict].join('\n');
}

/** Runs `doctor`; 0 when nothing is wrong. */
export async function runDoctor(args: readonly string[], terminal: Terminal): Promise<number> {
  const { values, positionals } = parseCommand('doctor', args, DOCTOR_OPTIONS);
  noArguments('doctor', positionals);
  const findings = await allFindings({
    userDataDirectory: readUserDataDirectory(values['user-data-dir']),
    extensionIds: readExtensionIds(values['extension-id']),
    config: null,
    caller: null,
  });
  const healthy = findings.every(({ state }) => state !== 'problem');
  if (values.json) terminal.result(JSON.stringify({ schema: DOCTOR_SCHEMA, healthy, findings }));
  else terminal.result(findingsText(findings, terminal.paint));
  return healthy ? EXIT_OK : EXIT_FAILED;
}
