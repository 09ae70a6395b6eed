import assert from 'node:assert/strict';
import { readFile } from 'node:fs/promises';
import { test } from 'node:test';
import { Ajv } from 'ajv';
import formats from 'ajv-formats';
import * as v from 'valibot';
import { attempt, originRace, report, reportOrigin, trial } from './race-samples.fixture.ts';
import { reportSchema } from './report.ts';
import { REPORT_SCHEMA_FILE, reportJsonSchema } from './report-schema.ts';

const committed = await readFile(REPORT_SCHEMA_FILE, 'utf8');
const ajv = new Ajv({ allErrors: true });
formats.default(ajv);
const fits = ajv.compile(JSON.parse(committed));

function both(document: unknown): [boolean, boolean] {
  return [fits(document) as boolean, v.safeParse(reportSchema, document).success];
}

test('the committed schema is the one that the code gives; else run: node shared/report-schema.ts', () => {
  assert.equal(committed, reportJsonSchema());
});

test('a full report fits both schemas', () => {
  const failed = originRace([
    trial(
      [attempt({ protocol: 'h3', outcome: 'failed', error: { code: 'udp-refused', message: 'm' } })],
      null,
    ),
  ]);
  const full = report([reportOrigin(), reportOrigin({ races: [failed] })]);
  assert.deepEqual(both(JSON.parse(JSON.stringify(full))), [true, true], ajv.errorsText(fits.errors));
});

const breaks: Record<string, (r: ReturnType<typeof report>) => unknown> = {
  'another schema': (r) => ({ ...r, schema: 'photofinish.report/2' }),
  'no conditions': ({ network: _, ...r }) => r,
  'a day instead of an instant': (r) => ({ ...r, createdAt: '2026-01-02' }),
  'an unknown browser': (r) => ({ ...r, browser: { name: 'lynx', version: '2' } }),
  'an origin that is not https': () => report([reportOrigin({ origin: 'http://example.org' as never })]),
  'an origin with a path': () => report([reportOrigin({ origin: 'https://example.org/x' as never })]),
  'a negative count': () => report([reportOrigin({ hidden: -1 })]),
  'half a request': () =>
    report([reportOrigin({ protocols: { h3: 0.5, h2: 0, 'http/1.1': 0, unknown: 0 } })]),
  'an unknown verdict': () =>
    report([reportOrigin({ verdict: { code: 'fine' as never, text: '', findings: [] } })]),
  'a bare ratio': (r) => ({ ...r, sites: r.sites.map((s) => ({ ...s, accuracy: 0.5 })) }),
  'a race without an origin': () =>
    report([reportOrigin({ races: [{ ...originRace([]), origin: undefined as never }] })]),
};
for (const [name, broken] of Object.entries(breaks))
  test(`both schemas refuse ${name}`, () => {
    assert.deepEqual(both(JSON.parse(JSON.stringify(broken(report())))), [false, false]);
  });
