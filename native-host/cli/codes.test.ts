// The codes at the terminal: each has its row, and an unknown code is refused.
import '@photofinish/shared/language/english';
import assert from 'node:assert/strict';
import { test } from 'node:test';
import type { Attempt } from '@photofinish/shared/race/outcome';
import { ATTEMPT_ERROR_CODES } from '@photofinish/shared/race/terms';
import { VERDICT_CODES } from '@photofinish/shared/race/verdict-schema';
import { attempt, originRace, trial, verdictSaying } from '@photofinish/shared/testing/race-samples';
import { commandLine } from '../install/own-command.ts';
import { recordingTerminal } from '../testing/command.ts';
import { codeHint, codeToExplain, runCodes } from './codes.ts';
import { Complaint } from './usage.ts';

async function said(...args: readonly string[]): Promise<string> {
  const { terminal, results, errors } = recordingTerminal();
  assert.equal(await runCodes(args, terminal), 0);
  assert.deepEqual(errors, []);
  return results.join('\n');
}

for (const code of [...VERDICT_CODES, ...ATTEMPT_ERROR_CODES])
  test(`${code}: the command printed beside it explains only this code, in 80 columns`, async () => {
    const hint = codeHint(code);
    assert.ok(hint.startsWith(`${commandLine('codes')} `), hint);
    const text = await said(hint.slice(commandLine('codes').length + 1));
    assert.ok(text.startsWith(`${code}  `), text);
    assert.match(text, /\n {2}(What to do|Where to look): \S/);
    // A path is never wrapped.
    const lines = text.replaceAll(commandLine(), 'photofinish').split('\n');
    assert.ok(lines.every((line) => line.length <= 80));
    assert.equal(text.split('\n\n').length, 1);
  });

test('where both protocols failed alike, the failure is explained', () => {
  const error = { code: 'certificate-invalid', message: 'self-signed' } as const;
  const h3 = attempt({ protocol: 'h3', outcome: 'failed', error });
  const both = (tcp: Attempt) => originRace([trial([h3, tcp], null)]);
  const unknown = verdictSaying('unknown', 'Neither connects.');
  assert.equal(codeToExplain(unknown, both({ ...h3, protocol: 'h2' })), 'certificate-invalid');
  const refused = { code: 'tcp-refused', message: 'refused' } as const;
  assert.equal(codeToExplain(unknown, both({ ...h3, protocol: 'h2', error: refused })), 'unknown');
  const used = verdictSaying('h3-used', 'Reached.');
  assert.equal(codeToExplain(used, both({ ...h3, protocol: 'h2' })), 'h3-used');
});

test('a remedy that is a command can be pasted, and as JSON is that of every installation', async () => {
  const words = (text: string) => text.replaceAll(/\s+/g, ' ');
  assert.ok(words(await said('unknown')).includes(`run ${commandLine('explain')} ORIGIN`));
  const { codes } = JSON.parse(await said('unknown', '--json'));
  assert.match(codes[0].remedy, /run photofinish explain ORIGIN/);
});

test('without a code all are explained, as text and as one document', async () => {
  const count = VERDICT_CODES.length + ATTEMPT_ERROR_CODES.length;
  assert.equal((await said()).split('\n\n').length, count);
  const document = JSON.parse(await said('--json'));
  assert.equal(document.schema, 'photofinish.codes/1');
  assert.equal(document.codes.length, count);
});

test('an unknown code is refused', async () => {
  await assert.rejects(
    said('h3-nothing'),
    (error) => error instanceof Complaint && error.code === 'bad-code' && error.exitCode === 2,
  );
});
