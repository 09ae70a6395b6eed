// Periods in reports and their comparisons: a test's lasts seconds, and both of its ends must be told apart.
import '@photofinish/shared/language/english';
import assert from 'node:assert/strict';
import { test } from 'node:test';
import { report } from '../testing/race-samples.ts';
import { REPORT_FORMATS } from './formats.ts';
import { compareReports } from './report-compare.ts';
import { conditionTexts } from './report-text.ts';

const during = (from: string, to: string) =>
  report([], { period: { from: `2026-01-01T${from}.000Z`, to: `2026-01-01T${to}.000Z` } });

test('a period of less than an hour is written to the second, a longer one to the minute', () => {
  const diff = compareReports(during('10:54:03', '10:54:05'), during('10:54:20', '10:54:58'));
  assert.deepEqual(conditionTexts(diff).unfair, [
    'Different length of period: 2026-01-01 10:54:03 UTC to 2026-01-01 10:54:05 UTC, then 2026-01-01 10:54:20 UTC to 2026-01-01 10:54:58 UTC.',
  ]);
  const longer = compareReports(during('10:54:03', '10:54:05'), during('11:00:00', '12:00:00'));
  assert.match(
    conditionTexts(longer).unfair.join(),
    /10:54:05 UTC, then 2026-01-01 11:00 UTC to .* 12:00 UTC/,
  );
});

test('a report says its own period alike, on its page and in its summary', () => {
  const brief = during('10:54:03', '10:54:05');
  assert.match(REPORT_FORMATS.markdown(brief), /10:54:03 UTC to 2026-01-01 10:54:05 UTC/);
  assert.match(
    REPORT_FORMATS.html(brief),
    />2026-01-01 10:54:03 UTC<\/time> to <time [^>]*>2026-01-01 10:54:05 UTC</,
  );
});
