// Verdicts as displayed: sentences on one code together, and never an unknown key.
import '../language/english.ts';
import assert from 'node:assert/strict';
import { test } from 'node:test';
import * as v from 'valibot';
import { type Message, message } from '../language/message.ts';
import { type OriginRace, RACE_SCHEMA, raceDocumentSchema } from '../race/outcome.ts';
import {
  type Verdict,
  type VerdictCode,
  verdictSchema,
  writtenVerdictSchema,
} from '../race/verdict-schema.ts';
import { originRace } from '../testing/race-samples.ts';
import { REPORT_1 } from '../testing/reports.ts';
import { MAX_VERDICT_CHARS } from '../web/untrusted.ts';
import {
  otherFindings,
  ownVerdict,
  sharedInRaceText,
  sharedOutcomeText,
  verdictAsText,
  verdictText,
} from './verdict-text.ts';

const UNHEARD: Message = { key: 'verdictFromTheFuture', params: {} };
const verdict = (code: VerdictCode, ...said: readonly (readonly [VerdictCode, Message])[]): Verdict => ({
  code,
  findings: said.map(([of, told]) => ({ code: of, ...told })),
});

test('consecutive sentences on one code are one paragraph', () => {
  const told = verdict(
    'h3-used',
    ['h3-used', message('verdictUsed')],
    ['h3-used', message('verdictUntriedAddresses', { count: 1 })],
    ['h3-available', message('verdictAvailable')],
    ['h3-advertisement-wrong', message('faultRecordWithout')],
    ['h3-advertisement-wrong', message('faultNoLifetime')],
  );
  assert.equal(
    verdictText(told),
    'Reached over HTTP/3. 1 more address or alternative was not tried: a race tries only a limited number.',
  );
  const [available, wrong, ...more] = otherFindings(told);
  assert.deepEqual(available, { code: 'h3-available', text: 'Supports HTTP/3 on this network.' });
  assert.match(wrong?.text ?? '', /^The HTTPS record does not list h3.* Advertises HTTP\/3 with max-age 0/);
  assert.deepEqual(more, []);
  assert.deepEqual(ownVerdict(told), { code: 'h3-used', findings: told.findings.slice(0, 2) });
});

test('that HTTP/3 is supported is said once', () => {
  const refused = message('verdictPrivateRoot');
  const available = ['h3-available', message('verdictAvailable')] as const;
  const told = verdict('h3-private-root', ['h3-private-root', refused], available);
  assert.match(verdictText(told), /^Supports HTTP\/3, but/);
  assert.deepEqual(otherFindings(told), []);
  assert.equal(verdictAsText(told).findings.length, 1, 'older programs find the code');
  const alone = message('verdictH3Alone', { failure: 'TCP refused', old: 'HTTP/2' });
  const [rest] = otherFindings({ ...told, findings: [...told.findings, { code: 'h3-available', ...alone }] });
  assert.match(rest?.text ?? '', /^HTTP\/2 fails/);
});

test('messages of another version are replaced by the name of their code, once', () => {
  const alone = verdict('h3-used', ['h3-used', UNHEARD], ['h3-available', UNHEARD]);
  assert.equal(verdictText(alone), 'HTTP/3 used.');
  assert.deepEqual(otherFindings(alone), [{ code: 'h3-available', text: 'HTTP/3 available.' }]);
  const among = verdict(
    'h3-used',
    ['h3-used', message('verdictUsed')],
    ['h3-used', UNHEARD],
    ['h3-used', UNHEARD],
  );
  assert.equal(verdictText(among), 'Reached over HTTP/3. HTTP/3 used.');
  assert.equal(verdictText(verdict('unknown')), 'Unknown.');
  for (const key of ['constructor', 'toString'])
    assert.equal(verdictText(verdict('unknown', ['unknown', { key, params: {} }])), 'Unknown.');
  assert.equal(verdictText(verdict('unknown', ['h3-available', message('verdictAvailable')])), 'Unknown.');
});

test('a verdict as text becomes data when read, with the same text; invisible characters are escaped', () => {
  const old = { code: 'h3-used', text: 'Reached.', findings: [{ code: 'unknown', text: 'And a\u202eb.' }] };
  const read = v.parse(verdictSchema, old);
  assert.deepEqual(read.findings[0], {
    code: 'h3-used',
    key: 'verdictAsWritten',
    params: { text: 'Reached.' },
  });
  assert.deepEqual(verdictAsText(read), {
    ...old,
    findings: [{ code: 'unknown', text: 'And a\\u202eb.' }],
  });
  assert.deepEqual(v.parse(verdictSchema, read), read, 'and stays as it is');
});

test('a race document from before verdicts were data is read as a current one', () => {
  const [race] = REPORT_1.sites[0]?.origins[0]?.races ?? [];
  const old = { schema: RACE_SCHEMA, mode: 'race', memory: 'none', startDelayMs: 10, races: [race] };
  const [read] = v.parse(raceDocumentSchema, old).races;
  assert.ok(read && v.is(writtenVerdictSchema, read.verdict));
  assert.deepEqual(verdictAsText(read.verdict), race?.verdict);
});

test('messages from others are bounded, and their texts safe to display', () => {
  const reads = (params: unknown, key = 'k'): boolean =>
    v.is(verdictSchema, { code: 'unknown', findings: [{ code: 'unknown', key, params }] });
  assert.ok(reads({ a: 'x', b: 1, c: { key: 'k', params: {} }, d: [{ key: 'k', params: { e: 'y' } }] }));
  for (const key of ['', 'Key', 'a key', '@@extension_id', 'k'.repeat(65), '__proto__']) {
    assert.equal(reads({}, key), false, key);
    if (key !== '__proto__') assert.equal(reads({ [key]: 1 }), false, key);
  }
  assert.equal(reads({ a: Number.NaN }), false);
  assert.equal(reads({ a: null }), false);
  assert.equal(reads({ a: 'x'.repeat(MAX_VERDICT_CHARS + 1) }), false);
  assert.equal(reads({ a: Array.from({ length: 17 }, () => ({ key: 'k', params: {} })) }), false);
  assert.equal(reads(Object.fromEntries(Array.from({ length: 17 }, (_, i) => [`p${i}`, 1]))), false);
  const [told] = v.parse(verdictSchema, {
    code: 'unknown',
    findings: [{ code: 'unknown', key: 'k', params: { a: '\u001b[31m' } }],
  }).findings;
  assert.deepEqual(told?.params, { a: '\\u001b[31m' });
});

test('a verdict as text for older programs respects their limits', () => {
  const long = message('verdictAsWritten', { text: 'x'.repeat(MAX_VERDICT_CHARS) });
  const codes = ['h3-used', 'h3-available'] as const;
  const said = Array.from({ length: 60 }, (_, i) => [codes[i % 2] ?? 'unknown', long] as const);
  const { text, findings } = verdictAsText(verdict('h3-used', ['h3-used', long], ...said));
  assert.deepEqual([text.length, findings.length], [MAX_VERDICT_CHARS, 12]);
});

const HOUR_MS = 3_600_000;
const WORKED = { atMs: 10 * HOUR_MS, h3Failure: null, tcpProtocol: null };
const FAILED = { ...WORKED, h3Failure: 'udp-timeout', tcpProtocol: 'h2' } as const;

test('the age of an outcome is told as far as its hour allows', () => {
  const aged = (ms: number): string => sharedOutcomeText(WORKED, WORKED.atMs + ms);
  assert.match(aged(0), /within the last hour\.$/);
  assert.match(aged(HOUR_MS), /within the last hour\.$/);
  assert.match(aged(HOUR_MS + 1), /within the last 2 hours\.$/);
});

test('a race says what the fleet cache told it, and that HTTP/3 had no head start only if it had none', () => {
  const words = (over: Partial<OriginRace>): string =>
    sharedInRaceText(originRace([], { atMs: FAILED.atMs, startDelayMs: 0, ...over })).join();
  assert.equal(words({}), '');
  const failed =
    'Fleet cache: on a machine of the organisation HTTP/3 failed within the last hour (no reply over UDP).';
  assert.equal(words({ sharedOutcome: FAILED }), `${failed} It had no head start in this race.`);
  assert.equal(words({ sharedOutcome: FAILED, startDelayMs: 10 }), failed, '--start-delay');
  assert.equal(words({ sharedOutcome: FAILED, mode: 'compare' }), failed);
  assert.doesNotMatch(words({ sharedOutcome: WORKED }), /head start/);
});
