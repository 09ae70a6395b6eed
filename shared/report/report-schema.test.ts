import { attempt, originRace, report, reportOrigin, trial, verdictSaying } from '../testing/race-samples.ts';
import '@photofinish/shared/language/english';
import assert from 'node:assert/strict';
import { readFile } from 'node:fs/promises';
import { test } from 'node:test';
import { Ajv, type ValidateFunction } from 'ajv';
import formats from 'ajv-formats';
import * as v from 'valibot';
import type { Message, MessageParams } from '../language/message.ts';
import type { Finding, Verdict } from '../race/verdict-schema.ts';
import { REPORT_1 } from '../testing/reports.ts';
import { verdictAsText } from '../verdict/verdict-text.ts';
import { type Report, reportDocumentSchema, reportSchema } from './report.ts';
import { compareReports } from './report-compare.ts';
import { reportDiffSchema } from './report-diff.ts';
import { DOCUMENTS, jsonSchemaText } from './report-schema.ts';

const committed = await Promise.all(DOCUMENTS.map(({ file }) => readFile(file, 'utf8')));
const ajv = new Ajv({ allErrors: true });
formats.default(ajv);
const [fits, fitsDiff] = committed.map((text) => ajv.compile(JSON.parse(text))) as [
  ValidateFunction,
  ValidateFunction,
];

const finding = (key: string, params: MessageParams = {}): Finding => ({ code: 'unknown', key, params });
const nested = (depth: number): Finding =>
  finding('k', depth === 0 ? {} : { inner: nestedMessage(depth - 1) });
const nestedMessage = (depth: number): Message => ({
  key: 'k',
  params: depth === 0 ? {} : { inner: nestedMessage(depth - 1) },
});

function both(document: unknown): [boolean, boolean] {
  return [fits(document) as boolean, v.safeParse(reportSchema, document).success];
}

for (const [i, document] of DOCUMENTS.entries())
  test(`${document.head.title}: the committed schema is the code's; else run: node shared/report/report-schema.ts`, () => {
    assert.equal(committed[i], jsonSchemaText(document));
  });

test('a comparison of two reports fits both schemas of its own', () => {
  const other = report([reportOrigin({ races: [], protocols: { h3: 0, h2: 9, 'http/1.1': 0, unknown: 0 } })]);
  const diff: unknown = JSON.parse(JSON.stringify(compareReports(report(), other)));
  assert.ok(v.is(reportDiffSchema, diff));
  assert.ok(fitsDiff(diff), ajv.errorsText(fitsDiff.errors));
  assert.equal(fitsDiff({ ...(diff as object), schema: 'photofinish.report-diff/1' }), false);
});

test('a full report fits both schemas', () => {
  const failed = originRace([
    trial(
      [attempt({ protocol: 'h3', outcome: 'failed', error: { code: 'udp-refused', message: 'm' } })],
      null,
    ),
  ]);
  const origins = [reportOrigin({ modes: ['full', 'light'] }), reportOrigin({ races: [failed] })];
  const full = report(origins, { modes: ['full', 'light'] });
  assert.deepEqual(both(JSON.parse(JSON.stringify(full))), [true, true], ajv.errorsText(fits.errors));
});

const breaks: Record<string, (r: ReturnType<typeof report>) => unknown> = {
  'another schema': (r) => ({ ...r, schema: 'photofinish.report/3' }),
  'a verdict in a key that is none': () =>
    report([reportOrigin({ verdict: { code: 'unknown', findings: [finding('not a key')] } })]),
  'a verdict that goes too deep': () =>
    report([reportOrigin({ verdict: { code: 'unknown', findings: [nested(5)] } })]),
  'no conditions': ({ network: _, ...r }) => r,
  'a day instead of an instant': (r) => ({ ...r, createdAt: '2026-01-02' }),
  'an offset without minutes': (r) => ({ ...r, createdAt: '2026-01-02T00:00:00+14' }),
  'a count beyond counting': () => report([reportOrigin({ bytes: 1e308 })]),
  'packets beyond counting': () => {
    const lossy = attempt({ protocol: 'h3', outcome: 'failed', packets: { sent: 1e308, lost: 0 } });
    return report([reportOrigin({ races: [originRace([trial([lossy], null)])] })]);
  },
  'a race beyond all time': () => report([reportOrigin({ races: [{ ...originRace([]), atMs: 1e300 }] })]),
  'an unknown browser': (r) => ({ ...r, browser: { name: 'lynx', version: '2' } }),
  'an origin that is not https': () => report([reportOrigin({ origin: 'http://example.org' as never })]),
  'an origin with a path': () => report([reportOrigin({ origin: 'https://example.org/x' as never })]),
  'a negative count': () => report([reportOrigin({ hidden: -1 })]),
  'half a request': () =>
    report([reportOrigin({ protocols: { h3: 0.5, h2: 0, 'http/1.1': 0, unknown: 0 } })]),
  'an unknown verdict': () => report([reportOrigin({ verdict: verdictSaying('fine' as never, '') })]),
  'a mode that does not exist': () => report([reportOrigin({ modes: ['dim' as never] })]),
  'a mode twice': (r) => ({ ...r, modes: ['light', 'light'] }),
  'a bare ratio': (r) => ({ ...r, sites: r.sites.map((s) => ({ ...s, accuracy: 0.5 })) }),
  'a race without an origin': () =>
    report([reportOrigin({ races: [{ ...originRace([]), origin: undefined as never }] })]),
};
for (const [name, broken] of Object.entries(breaks))
  test(`both schemas reject ${name}`, () => {
    assert.deepEqual(both(JSON.parse(JSON.stringify(broken(report())))), [false, false]);
  });

test('nested messages fit as deeply as verdicts nest them', () => {
  const deep = report([reportOrigin({ verdict: { code: 'unknown', findings: [nested(4)] } })]);
  assert.deepEqual(both(JSON.parse(JSON.stringify(deep))), [true, true]);
});

const older = JSON.parse(await readFile(new URL('report-1.schema.json', import.meta.url), 'utf8'));

test('a report of version 1 fits its own schema, and is read as an equivalent one of this version', () => {
  assert.ok(ajv.compile(older)(REPORT_1), ajv.errorsText());
  assert.deepEqual(both(REPORT_1), [false, false], 'what is written now has another shape');
  const read = v.parse(reportDocumentSchema, REPORT_1);
  assert.deepEqual([read.schema, read.language], ['photofinish.report/2', 'en']);
  assert.ok(fits(JSON.parse(JSON.stringify(read))), ajv.errorsText(fits.errors));
  const verdicts = ({ sites }: Pick<typeof REPORT_1 | Report, 'sites'>) =>
    sites.flatMap(({ origins }) =>
      origins.flatMap(({ verdict, races }) => [verdict, ...races.map((r) => r.verdict)]),
    );
  assert.deepEqual(
    verdicts(read).map((verdict) => verdictAsText(verdict as Verdict)),
    verdicts(REPORT_1),
  );
  const { language: _, ...untold } = REPORT_1;
  assert.equal(v.parse(reportDocumentSchema, untold).language, 'en', 'reports of before told no language');
});

test('a report of version 1 with an invalid verdict is rejected', () => {
  const [site] = REPORT_1.sites;
  const [origin] = site?.origins ?? [];
  const broken = {
    ...REPORT_1,
    sites: [{ ...site, origins: [{ ...origin, verdict: { code: 'unknown' } }] }],
  };
  assert.equal(v.is(reportDocumentSchema, broken), false);
});
