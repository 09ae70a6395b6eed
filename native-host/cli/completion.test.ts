// The completion scripts in their shells, if installed: bash is available wherever the tests run.
import assert from 'node:assert/strict';
import { spawnSync } from 'node:child_process';
import { writeFileSync } from 'node:fs';
import { dirname, join } from 'node:path';
import { type TestContext, test } from 'node:test';
import { MODES } from '@photofinish/shared/race/terms';
import { BROWSER_NAMES } from '../install/browser-names.ts';
import { scratchDirectory } from '../testing/scratch.ts';
import { CACHE_ACTIONS, COMMANDS, SHELLS, type Shell, TABLE } from './command-table.ts';
import { completionScript } from './completion.ts';

/** Possible completions of the words so far; the last one is incomplete. */
type Complete = (...words: readonly string[]) => readonly string[];

/** Why the shell's test is skipped; false: the shell is available. */
function absent(shell: Shell): string | false {
  // Running a command would make fish write its settings into the user's home.
  return spawnSync(shell, ['--version']).status === 0 ? false : `${shell} is not installed`;
}

function scriptFile(t: TestContext, shell: Shell): string {
  const directory = scratchDirectory(t, 'pf completion ');
  const file = join(directory, 'script');
  writeFileSync(file, completionScript(shell));
  return file;
}

/** The output of a shell whose own files, which fish makes whatever it is told, belong to the test. */
function linesOf(shell: Shell, directory: string, args: readonly string[]): readonly string[] {
  const env = { ...process.env, XDG_CONFIG_HOME: directory, XDG_DATA_HOME: directory };
  const { status, stdout, stderr } = spawnSync(shell, args, { encoding: 'utf8', env });
  assert.equal(stderr, '');
  assert.equal(status, 0);
  return stdout.split('\n').filter((line) => line !== '');
}

const COMPLETIONS: Readonly<Partial<Record<Shell, (file: string) => Complete>>> = {
  bash:
    (file) =>
    (...words) =>
      linesOf('bash', dirname(file), [
        '--norc',
        '-c',
        // biome-ignore lint/suspicious/noTemplateCurlyInString: bash expands it.
        'source "$1"; shift; COMP_WORDS=("$@"); COMP_CWORD=$(($# - 1)); _photofinish; printf "%s\\n" "${COMPREPLY[@]}"',
        'bash',
        file,
        'photofinish',
        ...words,
      ]),
  fish:
    (file) =>
    (...words) =>
      linesOf('fish', dirname(file), [
        '--no-config',
        '-c',
        'source $argv[1]; complete -C (string join -- " " photofinish $argv[2..])',
        file,
        ...words,
      ]).map((line) => line.split('\t')[0] ?? ''),
};

for (const [shell, completer] of Object.entries(COMPLETIONS) as [Shell, (file: string) => Complete][])
  test(`${shell}: commands, actions, options and their values`, { skip: absent(shell) }, (t) => {
    const complete = completer(scriptFile(t, shell));
    const all = complete('');
    for (const command of COMMANDS) assert.ok(all.includes(command), command);
    assert.deepEqual(complete('unin'), ['uninstall']);
    assert.deepEqual([...complete('cache', '')].toSorted(), CACHE_ACTIONS.toSorted());
    for (const command of COMMANDS) {
      const options = complete(command, '--');
      for (const option of Object.keys(TABLE[command].options)) assert.ok(options.includes(`--${option}`));
    }
    assert.deepEqual([...complete('race', 'a.test', '--mode', '')].toSorted(), MODES.toSorted());
    assert.deepEqual(complete('install', '--browser', 'fire'), ['firefox']);
    assert.deepEqual([...complete('uninstall', '--browser', '')].toSorted(), BROWSER_NAMES.toSorted());
    assert.deepEqual([...complete('completion', '')].toSorted(), SHELLS.toSorted());
  });

test('bash: a file name with a space is one word', { skip: absent('bash') }, (t) => {
  const file = scriptFile(t, 'bash');
  const report = join(dirname(file), 'my report.json');
  writeFileSync(report, '{}');
  assert.deepEqual(COMPLETIONS.bash?.(file)('report', report.slice(0, -6)), [report]);
});

test('zsh: the script loads without errors and registers itself', { skip: absent('zsh') }, (t) => {
  const file = scriptFile(t, 'zsh');
  const registered = linesOf('zsh', dirname(file), [
    '-f',
    '-c',
    'autoload -Uz compinit && compinit -u -D && source "$1" && print $_comps[photofinish]',
    'zsh',
    file,
  ]);
  assert.deepEqual(registered, ['_photofinish']);
});
