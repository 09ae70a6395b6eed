import '@photofinish/shared/english';
import assert from 'node:assert/strict';
import { test } from 'node:test';
import fc from 'fast-check';
import type { Origin } from './origin.ts';
import { clearComparison, comparison, originRace, report, reportOrigin } from './race-samples.fixture.ts';
import { reportToCsv } from './report-csv.ts';

/** RFC 4180 read strictly: quoted or bare fields, CRLF after every record. */
function parse(csv: string): string[][] {
  const rows: string[][] = [];
  let row: string[] = [];
  let at = 0;
  while (at < csv.length) {
    const field = /("(?:[^"]|"")*"|[^",\r\n]*)(,|\r\n)/y;
    field.lastIndex = at;
    const found = field.exec(csv);
    assert.ok(found, `not RFC 4180 at ${at}: ${csv.slice(at, at + 40)}`);
    const text = found[1] ?? '';
    row.push(text.startsWith('"') ? text.slice(1, -1).replaceAll('""', '"') : text);
    if (found[2] === '\r\n') {
      rows.push(row);
      row = [];
    }
    at = field.lastIndex;
  }
  return rows;
}

function records(csv: string): Record<string, string>[] {
  const [head = [], ...rows] = parse(csv);
  return rows.map((row) => {
    assert.equal(row.length, head.length);
    return Object.fromEntries(row.map((value, i) => [head[i] ?? '', value]));
  });
}

test('one row per site and origin, with counts, gain and conditions', () => {
  const other = reportOrigin({ origin: 'https://cdn.test' as Origin, races: [originRace([])] });
  const [first, second, ...rest] = records(reportToCsv(report([reportOrigin(), other])));
  assert.equal(rest.length, 0);
  assert.deepEqual(
    [first?.['site'], first?.['origin'], first?.['h3'], first?.['h2'], first?.['unknown'], first?.['hidden']],
    ['example.org', 'https://example.org', '3', '1', '2', '2'],
  );
  assert.deepEqual([first?.['gain_ms'], first?.['gain_pairs'], first?.['verdict']], ['10', '10', 'h3-used']);
  assert.deepEqual([second?.['gain_ms'], second?.['races']], ['', '1']);
  assert.equal(first?.['period_from'], '2026-01-01T00:00:00.000Z');
});

test('a comparison that decided nothing has a range and no gain, unlike one that was not made', () => {
  const unclear = reportOrigin({ races: [comparison([10, 11, 12], [11, 10, 14])] });
  const rows = records(reportToCsv(report([unclear, reportOrigin({ races: [] }), reportOrigin()])));
  assert.deepEqual(
    rows.map((row) =>
      ['gain_ms', 'gain_pairs', 'quicker', 'gain_low_ms', 'gain_high_ms'].map((name) => row[name]),
    ),
    [
      ['', '3', 'none', '-1', '2'],
      ['', '', '', '', ''],
      ['10', '10', 'h3', '8', '12'],
    ],
  );
});

test('the gain is the newest measured one, and may be negative', () => {
  const older = { ...clearComparison(10, 20), atMs: 1 };
  const newer = { ...clearComparison(30, 20), atMs: 2 };
  const [row] = records(reportToCsv(report([reportOrigin({ races: [newer, older] })])));
  assert.equal(row?.['gain_ms'], '-10');
});

test('text that a spreadsheet would run is defused, and every text comes back otherwise unchanged', () => {
  const start = fc.constantFrom('=', '+', '-', '@', '\t', '\r', ' =', 'a', '"', ',', '\n', "'", '');
  fc.assert(
    fc.property(start, fc.string({ unit: 'grapheme' }), (prefix, tail) => {
      const text = `${prefix}${tail}`;
      const verdict = { code: 'unknown' as const, text, findings: [] };
      const [row] = records(reportToCsv(report([reportOrigin({ verdict })])));
      const read = row?.['verdict_text'] ?? '';
      assert.doesNotMatch(read, /^\s*[=+\-@]/);
      assert.equal(read.startsWith("'") && !text.startsWith("'") ? read.slice(1) : read, text);
    }),
  );
});

test('a report without sites is its header', () => {
  assert.equal(parse(reportToCsv(report([], { sites: [] }))).length, 1);
});
