// Both directions of the native port and the two documents that users open: for any JSON, the schema accepts or rejects
// it, and accepts its own output again.
import '../language/english.ts';
import assert from 'node:assert/strict';
import { test } from 'node:test';
import fc from 'fast-check';
import { micromark } from 'micromark';
import { gfm, gfmHtml } from 'micromark-extension-gfm';
import * as v from 'valibot';
import { REPORT_FORMATS } from '../report/formats.ts';
import { reportSchema } from '../report/report.ts';
import { inputs, mutatedJson, placesOf } from '../testing/hostile.ts';
import { comparison } from '../testing/race-samples.ts';
import { anyReport } from '../testing/reports.ts';
import { REQUESTS } from '../testing/requests.ts';
import { replySchema } from './reply.ts';
import { requestSchema } from './wire.ts';

const forecast = {
  origin: 'https://a.test',
  reachable: { protocol: 'h3', basis: 'raced', ageMs: 5, fresh: true },
  expected: { protocol: 'h2', basis: 'observed' },
  hit: true,
};
const REPLIES = [
  { id: 1, type: 'hello', protocol: 1, program: 'x/1' },
  { id: 2, type: 'forecast', forecasts: [forecast, forecast], network: 'net-1d44ea1a8671e8f3' },
  { id: 3, type: 'progress', event: 'adopted', contender: 'h3', trial: 1, trials: 3, atMs: 1.5 },
  { id: 3, type: 'race', ...comparison([1, 2, 3], [4, 5, 6]) },
  { id: 4, type: 'observed', stored: 2 },
  {
    id: 7,
    type: 'doctor',
    findings: [{ subject: 'Helper', check: 'addon', state: 'ok', text: 'x', remedy: null }],
  },
  { id: 8, type: 'networks', networks: [{ network: 'net-1d44ea1a8671e8f3', name: 'Home', current: true }] },
  { id: 0, type: 'error', code: 'bad-json', message: 'x' },
  { id: 9, type: 'chunk', seq: 0, last: false, data: '{' },
];

const REPORTS = fc.sample(anyReport, { seed: 1, numRuns: 20 });

/** The schema's output for a value that it accepts; null: it rejects the value. */
function admitted<S extends v.GenericSchema>(schema: S, value: unknown): v.InferOutput<S> | null {
  const read = v.safeParse(schema, value);
  if (!read.success) return null;
  const again = v.safeParse(schema, read.output);
  assert.ok(again.success, 'what was let through is refused the second time');
  assert.deepEqual(again.output, read.output);
  return read.output;
}

for (const [what, schema, corpus] of [
  ['request', requestSchema, REQUESTS],
  ['reply', replySchema, REPLIES],
] as const) {
  test(`every ${what} of the corpus is valid, so that mutations of it reach every check`, () => {
    for (const each of corpus) assert.ok(v.is(schema, each), JSON.stringify(each));
  });

  test(`any input as a ${what} is accepted or rejected, and never throws`, () => {
    fc.assert(
      fc.property(mutatedJson(corpus), (value) => void admitted<v.GenericSchema>(schema, value)),
      inputs(12_000),
    );
  });
}

test('a tampered report is rejected, or can be shown in every format', () => {
  fc.assert(
    fc.property(mutatedJson(REPORTS), (value) => {
      const report = admitted(reportSchema, value);
      if (report !== null) for (const form of Object.values(REPORT_FORMATS)) form(report);
    }),
    inputs(3000),
  );
});

test('whichever text of a report is markup, the report is rejected, or its text stays text', () => {
  const shown = { html: 0, markdown: 0 };
  fc.assert(
    fc.property(fc.constantFrom(...REPORTS), fc.nat(), (valid, at) => {
      const value = structuredClone(valid);
      const texts = placesOf(value).filter(({ parent, key }) => typeof parent[key] === 'string');
      const text = texts[at % texts.length];
      assert.ok(text);
      text.parent[text.key] = '<img src=x onerror=1>';
      const report = admitted(reportSchema, value);
      if (report === null) return;
      const markdown = micromark(REPORT_FORMATS.markdown(report), {
        ...{ extensions: [gfm()], htmlExtensions: [gfmHtml()] },
        allowDangerousHtml: true,
      });
      for (const [form, html] of [
        ['html', REPORT_FORMATS.html(report)],
        ['markdown', markdown],
      ] as const) {
        assert.doesNotMatch(html, /<img/);
        if (html.includes('&lt;img')) shown[form] += 1;
      }
    }),
    inputs(1000),
  );
  assert.ok(shown.html > 0 && shown.markdown > 0, `it is shown somewhere: ${JSON.stringify(shown)}`);
});
