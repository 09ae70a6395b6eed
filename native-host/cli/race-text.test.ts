// The text of a race: aligned columns, lanes that end where the race ended them, and nothing that moves a cursor.
import { verdictSaying } from '@photofinish/shared/testing/race-samples';
import '@photofinish/shared/language/english';
import assert from 'node:assert/strict';
import { test } from 'node:test';
import type { Attempt, OriginRace, Trial } from '@photofinish/shared/race/outcome';
import { ATTEMPT_ERROR_CODES, type Mode } from '@photofinish/shared/race/terms';
import { parseOrigin } from '@photofinish/shared/web/origin';
import { commandLine } from '../install/own-command.ts';
import { summaryOf } from '../race/race-record.ts';
import { raceText } from './race-text.ts';
import { plain, printable, table } from './text.ts';

const H3: Attempt = {
  protocol: 'h3',
  address: '127.0.0.1',
  port: 443,
  startedMs: 0,
  transportMs: 10,
  establishedMs: 20,
  firstByteMs: 40,
  outcome: 'adopted',
};
const H2: Attempt = { ...H3, protocol: 'h2', establishedMs: 40, transportMs: 20, firstByteMs: 60 };

function trial(attempts: Attempt[]): Trial {
  const won = attempts.find((attempt) => attempt.outcome === 'adopted');
  return {
    adopted: won?.protocol ?? null,
    establishedMs: won?.establishedMs ?? null,
    firstByteMs: won?.firstByteMs ?? null,
    lateH3: false,
    cacheHit: false,
    attempts,
  };
}

function race(mode: Mode, trials: Trial[], verdict = 'Speaks HTTP/3.'): OriginRace {
  const parsed = parseOrigin('a.test');
  assert.ok(parsed.ok);
  return {
    origin: parsed.value.origin,
    network: 'n',
    mode,
    memory: 'none',
    startDelayMs: 10,
    atMs: 0,
    trials,
    summary: summaryOf(mode, trials),
    discovered: { altSvc: null, knownRoot: null },
    verdict: verdictSaying('h3-available', verdict),
  };
}

function textOf(mode: Mode, races: OriginRace[]): string {
  return raceText({ schema: 'photofinish.race/1', mode, memory: 'none', startDelayMs: 10, races }, plain);
}

test('a cancelled lane is cut off and there is no margin', () => {
  const cancelled: Attempt = {
    ...H2,
    startedMs: 10,
    transportMs: null,
    establishedMs: null,
    firstByteMs: null,
    outcome: 'cancelled',
  };
  const text = textOf('race', [race('race', [trial([H3, cancelled])])]);
  const [h3 = '', h2 = ''] = text.split('\n').filter((line) => line.includes('▕'));
  assert.match(h3, /HTTP\/3 +▕▓+⚑─+● +20 ms$/);
  assert.match(h2, /HTTP\/2 +▕·+░+╳ +cancelled$/);
  assert.ok(h2.indexOf('╳') === h3.indexOf('⚑'), 'the loser stops where the winner was established');
  assert.doesNotMatch(text, /faster/);
});

test('compare draws two flags and the margin', () => {
  const pair = [trial([H3]), trial([H2])];
  const text = textOf('compare', [race('compare', Array(8).fill(pair).flat())]);
  assert.equal(text.split('⚑').length - 1, 3, 'two flags and the legend');
  assert.match(text, /HTTP\/3 connects 20\.0 ms faster/);
});

test('compare has a time for each protocol, never one for both', () => {
  const pair = [trial([H3]), trial([H2])];
  const [head = '', row = ''] = textOf('compare', [race('compare', Array(8).fill(pair).flat())]).split('\n');
  assert.match(head, /^ORIGIN +PAIRS +FAILED +HTTP\/3 +TCP \+ TLS +HTTP\/3 VS TCP$/);
  assert.match(row, / 8 +0 +20\.0 ms +40\.0 ms +20\.0 ms faster$/);
});

test('undecided pairs have no flag, no margin and nothing bold', () => {
  const h3 = (establishedMs: number) => trial([{ ...H3, establishedMs }]);
  const h2 = (establishedMs: number) => trial([{ ...H2, establishedMs }]);
  const undecided = race('compare', [h3(20), h2(21), h2(19), h3(22), h3(20), h2(24)]);
  const bold = (style: string, text: string): string => (style === 'bold' ? `*${text}*` : text);
  const document = {
    schema: 'photofinish.race/1',
    mode: 'compare',
    memory: 'none',
    startDelayMs: 10,
  } as const;
  const text = raceText({ ...document, races: [undecided] }, bold);
  assert.doesNotMatch(text, /⚑/);
  assert.match(text, /│ established/);
  assert.match(text, / no clear difference$/m);
  assert.match(text, /^ +No clear difference: from HTTP\/2 3\.0 ms faster to HTTP\/3\s+4\.0 ms\s+faster$/m);
  assert.doesNotMatch(text, /\*[Nn]o clear/);
});

test('a failed lane gives the reason in words', () => {
  const failed: Attempt = {
    ...H3,
    transportMs: null,
    establishedMs: null,
    firstByteMs: null,
    outcome: 'failed',
    error: { code: 'udp-refused', message: 'refused' },
  };
  assert.match(textOf('race', [race('race', [trial([failed, H2])])]), /▕╳ +UDP refused/);
});

for (const code of ATTEMPT_ERROR_CODES)
  test(`a photo finish stays within 80 columns: ${code}`, () => {
    const cut = { transportMs: null, establishedMs: null, firstByteMs: null, outcome: 'failed' } as const;
    const failed = trial([
      { ...H3, ...cut, error: { code, message: 'seen' } },
      { ...H2, startedMs: 10 },
    ]);
    const [, ...drawn] = textOf('alt-svc', [race('alt-svc', Array(1000).fill(failed))]).split('\n\n');
    // A command is as long as the path to it.
    for (const line of drawn.join('\n').split('\n'))
      assert.ok(line.replace(commandLine(), 'photofinish').length <= 80, line);
    assert.match(drawn.join(), /· waiting.+╳ cut off/s, 'the legend is whole');
  });

test('a mode that tries only a part names the command that tries everything, if the cause remains open', () => {
  const open = (mode: Mode): OriginRace => ({
    ...race(mode, [trial([H2])]),
    verdict: verdictSaying('unknown', 'Not enough was seen.'),
  });
  const hint = `\n  For the whole picture: ${commandLine('explain', 'https://a.test')}`;
  assert.ok(textOf('v3', [open('v3')]).endsWith(hint));
  assert.doesNotMatch(textOf('race', [open('race')]), /For the whole picture/);
});

test('an origin that was not raced says why, and how to allow it', () => {
  const blocked = {
    ...race('race', []),
    error: { code: 'blocked' as const, message: '127.0.0.1 is loopback' },
  };
  const text = textOf('race', [blocked]);
  assert.match(text, /Not raced \(blocked\): 127\.0\.0\.1 is loopback\. Allow it with --allow-private\./);
});

test('control characters from a server do not reach the terminal', () => {
  const text = textOf('race', [race('race', [trial([H3, H2])], 'x\u001b[2Jy\u202ez\u0007')]);
  // biome-ignore lint/suspicious/noControlCharactersInRegex: they are what must not be there
  assert.doesNotMatch(text, /[\u0000-\u0009\u000b-\u001f\u202e]/);
  assert.equal(printable('a\u001bb'), 'a\\u001bb');
});

test('columns line up and no line ends in blanks', () => {
  const lines = table(
    [
      { title: 'A', align: 'left' },
      { title: 'LONG', align: 'right' },
      { title: '', align: 'left' },
    ],
    [
      ['longer', '1', ''],
      ['x', '12345', 'end'],
    ],
    plain,
  );
  assert.deepEqual(lines, ['A        LONG', 'longer      1', 'x       12345  end']);
});

test('host cache hits and their accuracy are separate, if there is more than one trial', () => {
  const one = race('race', [trial([H3])]);
  const withCache = (lookups: number, hits: number, scored: number, right: number): OriginRace => ({
    ...race('race', [trial([H3]), trial([H3])]),
    summary: { ...summaryOf('race', [trial([H3])]), cache: { lookups, hits, scored, right } },
  });
  assert.match(
    textOf('race', [withCache(10, 8, 7, 6)]),
    /\n {2}Host cache: 8 of 10 lookups hit \(80 %\); the remembered protocol was adopted in\n {2}6 of 7 \(86 %\)\.\n/,
  );
  assert.match(textOf('race', [withCache(3, 0, 0, 0)]), /Host cache: 0 of 3 lookups hit \(0 %\)\.\n/);
  assert.doesNotMatch(textOf('race', [one]), /Host cache/);
});
