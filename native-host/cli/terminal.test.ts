// What all commands share: what interrupts one that ends with what it has, and what ends it at once; tables and the
// names of networks in a terminal; and the word that a typing error meant.
import assert from 'node:assert/strict';
import { test } from 'node:test';
import { MODES } from '@photofinish/shared/race/terms';
import { COMMANDS } from './command-table.ts';
import { stoppedByInterrupt } from './terminal.ts';
import { keyNamed, networkLabel, plain, table } from './text.ts';
import { nearest } from './usage.ts';

const SIGNALS = ['SIGINT', 'SIGTERM', 'SIGHUP'] as const;

const listening = (): readonly number[] => SIGNALS.map((name) => process.listenerCount(name));

for (const name of SIGNALS)
  test(`the first ${name} interrupts, and every further signal has its default effect`, () => {
    const before = listening();
    const { stop, forget } = stoppedByInterrupt();
    process.emit(name);
    assert.ok(stop.signal.aborted);
    assert.deepEqual(listening(), before);
    forget();
  });

test('without a signal the default is restored at the end', () => {
  const before = listening();
  const { stop, forget } = stoppedByInterrupt();
  forget();
  assert.deepEqual(listening(), before);
  assert.ok(!stop.signal.aborted);
});

test('the number of table rows is unlimited: rows from a file or a server are not put on the stack', () => {
  const rows = Array.from({ length: 300_000 }, (_, i) => [String(i)]);
  const lines = table([{ title: 'N', align: 'right' }], rows, plain);
  assert.deepEqual([lines.length, lines[0], lines.at(-1)], [300_001, '     N', '299999']);
});

const NAMES = new Map([
  ['net-1', 'Home'],
  ['net-2', 'Cafe'],
  ['net-3', 'Cafe'],
]);

test('a network is shown by its name, or by its key if the name is ambiguous', () => {
  assert.equal(networkLabel('net-1', NAMES), 'Home');
  assert.equal(networkLabel('net-2', NAMES), 'Cafe (net-2)');
  assert.equal(networkLabel('net-9', NAMES), 'net-9');
});

test('a name refers to its network, and one that several have is refused', () => {
  assert.equal(keyNamed(' Home ', NAMES), 'net-1');
  assert.equal(keyNamed('net-2', NAMES), null);
  assert.throws(() => keyNamed('Cafe', NAMES), { code: 'bad-network', message: /"Cafe": use its key/ });
});

test('typing errors find the word that was meant', () => {
  for (const [typed, meant] of [
    ['rcae', 'race'],
    ['raec', 'race'],
    ['explian', 'explain'],
    ['Doctor', 'doctor'],
    ['instal', 'install'],
    ['unistall', 'uninstall'],
    ['caches', 'cache'],
    ['comp', 'completion'],
  ] as const)
    assert.equal(nearest(typed, COMMANDS), meant, typed);
  assert.equal(nearest('comapre', MODES), 'compare');
  assert.equal(nearest('altsvc', MODES), 'alt-svc');
});

test('a different word is not guessed', () => {
  for (const typed of ['', 'x', 'sprint', 'frobnicate', 'example.org'])
    assert.equal(nearest(typed, COMMANDS), null, typed);
  assert.equal(nearest('tcsh', ['bash', 'zsh', 'fish']), null);
  // As near to h2 as to h3: the first wins, never a longer word.
  assert.equal(nearest('h1', MODES)?.startsWith('h'), true);
});
