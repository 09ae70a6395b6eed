import assert from 'node:assert/strict';
import { test } from 'node:test';
import type { Origin } from './origin.ts';
import { originParts } from './origin.ts';
import { type Evidence, verdictOf } from './verdict.ts';
import type { VerdictCode } from './verdict-schema.ts';

const origin = originParts('https://a.test' as Origin);
const base: Evidence = {
  origin,
  h3: 'established',
  h2: 'established',
  discovered: { altSvc: 'h3=":443"', knownRoot: true },
  gainMs: null,
};
const refused = { code: 'udp-refused', message: 'refused' } as const;
const silent = { code: 'udp-timeout', message: 'no answer' } as const;
const dead = { code: 'tcp-refused', message: 'connection refused' } as const;
const quiet = { altSvc: null, knownRoot: true };

const table: readonly [string, Partial<Evidence>, VerdictCode, VerdictCode[]][] = [
  ['advertised and reachable', {}, 'h3-available', []],
  ['reachable, unadvertised', { discovered: quiet }, 'h3-not-advertised', ['h3-available']],
  ['advertised, UDP refused', { h3: refused }, 'h3-advertised-unreachable', []],
  ['advertised, UDP silent', { h3: silent }, 'h3-advertised-unreachable', []],
  [
    'advertised on a port where nothing listens',
    { h3: refused, discovered: { altSvc: 'h3=":444"', knownRoot: true } },
    'h3-advertisement-wrong',
    ['h3-advertised-unreachable'],
  ],
  [
    'advertisement that cannot be parsed',
    { h3: silent, discovered: { altSvc: 'h3=443', knownRoot: true } },
    'h3-advertisement-wrong',
    ['h3-not-offered'],
  ],
  [
    'advertised on another host, which a race does not try',
    { h3: refused, discovered: { altSvc: 'h3="b.test:444"', knownRoot: true } },
    'unknown',
    [],
  ],
  [
    'advertised elsewhere first and here second',
    { h3: refused, discovered: { altSvc: 'h3="b.test:444", h3=":443"', knownRoot: true } },
    'h3-advertised-unreachable',
    [],
  ],
  ['no advertisement, no QUIC', { h3: silent, discovered: quiet }, 'h3-not-offered', []],
  [
    'private root',
    { discovered: { altSvc: 'h3=":443"', knownRoot: false } },
    'h3-private-root',
    ['h3-available'],
  ],
  [
    'private root and unadvertised',
    { discovered: { altSvc: null, knownRoot: false } },
    'h3-not-advertised',
    ['h3-private-root', 'h3-available'],
  ],
  ['both dead', { h3: silent, h2: dead, discovered: { altSvc: null, knownRoot: null } }, 'unknown', []],
  [
    'nothing tried',
    { h3: 'not-tried', h2: 'not-tried', discovered: { altSvc: null, knownRoot: null } },
    'unknown',
    [],
  ],
  [
    'the browser used it',
    { browser: { lastProtocol: 'h3', visitsSinceAdvertised: 4 } },
    'h3-used',
    ['h3-available'],
  ],
  [
    'the browser could not know yet',
    { browser: { lastProtocol: 'h2', visitsSinceAdvertised: 1 } },
    'h3-first-visit',
    ['h3-available'],
  ],
  [
    'the browser stays away',
    { browser: { lastProtocol: 'h2', visitsSinceAdvertised: 3 } },
    'h3-browser-avoids',
    ['h3-available'],
  ],
  [
    'the browser stays away because of the root',
    {
      discovered: { altSvc: 'h3=":443"', knownRoot: false },
      browser: { lastProtocol: 'h2', visitsSinceAdvertised: 9 },
    },
    'h3-private-root',
    ['h3-available'],
  ],
  [
    'the browser on h2, HTTP/3 unreachable',
    { h3: silent, browser: { lastProtocol: 'h2', visitsSinceAdvertised: 9 } },
    'h3-advertised-unreachable',
    [],
  ],
];

for (const [name, change, code, findings] of table)
  test(`${name}: ${code}`, () => {
    const verdict = verdictOf({ ...base, ...change });
    assert.equal(verdict.code, code);
    assert.deepEqual(
      verdict.findings.map((f) => f.code),
      findings,
    );
    for (const { text } of [verdict, ...verdict.findings]) {
      assert.match(text, /^[A-Z].*\.$|ma=86400$/, 'a sentence');
      assert.doesNotMatch(text, /[!{}]|undefined|null/);
    }
  });

test('the gain is told in milliseconds with three significant figures, whoever is quicker', () => {
  assert.match(verdictOf({ ...base, gainMs: 41.234 }).text, /HTTP\/2 takes 41\.2 ms longer/);
  assert.match(verdictOf({ ...base, gainMs: -0.5 }).text, /HTTP\/3 takes 0\.5 ms longer/);
  assert.doesNotMatch(verdictOf(base).text, /longer/);
});

test('a verdict names the place that was tried, and never one that was not', () => {
  const elsewhere = { altSvc: 'h3="b.test:444", h3=":8443"', knownRoot: true };
  assert.match(verdictOf({ ...base, h3: silent, discovered: elsewhere }).text, /on port 8443, but/);
  const only = { altSvc: 'h3="b.test:444"', knownRoot: true };
  assert.match(verdictOf({ ...base, h3: silent, discovered: only }).text, /b\.test:444, which was not tried/);
});

test('HTTP/3 that memory left out is said to be left out', () => {
  const verdict = verdictOf({ ...base, h3: 'not-tried', discovered: quiet, leftOut: true });
  assert.equal(verdict.code, 'unknown');
  assert.match(verdict.text, /host cache remembers/);
});
