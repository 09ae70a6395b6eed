// Periods in reports and their comparisons: a test's lasts seconds, and both of its ends must be told apart. And changes
// of shares, which agree with the shares as displayed.
import '@photofinish/shared/language/english';
import assert from 'node:assert/strict';
import { test } from 'node:test';
import { report } from '../testing/race-samples.ts';
import { REPORT_FORMATS } from './formats.ts';
import { compareReports } from './report-compare.ts';
import { conditionTexts, pointsText } from './report-text.ts';

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

test('a change of a share agrees with the shares beside it, also where it is less than a point', () => {
  const share = (h3: number) => ({ h3, known: 1000, hidden: 0 });
  const change = (before: number, after: number) => pointsText(share(before), share(after));
  assert.equal(change(500, 523), '+2 points');
  assert.equal(change(14, 16), '+1 point', 'from 1 % to 2 %');
  assert.equal(change(996, 990), '−1 point', 'from > 99 % to 99 %');
  assert.equal(change(0, 4), 'up by less than 1 point', 'from 0 % to < 1 %');
  assert.equal(change(1000, 998), 'down by less than 1 point');
  assert.equal(change(1, 4), 'no change', 'both are < 1 %');
  assert.equal(pointsText({ h3: 0, known: 0, hidden: 3 }, share(4)), 'unknown');
});
