import {
  clearComparison,
  comparison,
  originRace,
  report,
  reportOrigin,
  verdictSaying,
} from '../testing/race-samples.ts';
import '@photofinish/shared/language/english';
import assert from 'node:assert/strict';
import { test } from 'node:test';
import fc from 'fast-check';
import type { OriginRace } from '../race/outcome.ts';
import type { Origin } from '../web/origin.ts';
import { reportDiffToCsv, reportToCsv } from './csv.ts';
import { compareReports } from './report-compare.ts';

/** A strict RFC 4180 parser: quoted or bare fields, CRLF after every record. */
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

test('each row has the networks of its counts beside the one at the export', () => {
  const networks = { network: 'net-9', networks: ['net-1', 'net-2'], networkNames: { 'net-1': 'Home' } };
  const [row] = records(reportToCsv(report([reportOrigin()], networks)));
  assert.deepEqual(
    [row?.['network'], row?.['networks'], row?.['network_names']],
    ['net-9', 'net-1 net-2', 'Home'],
  );
  const [odd] = records(reportToCsv(report([reportOrigin()], { ...networks, networks: ['constructor'] })));
  assert.equal(odd?.['network_names'], '', 'no property of every object is a name');
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

/** The same race with an origin that speaks no HTTP/2. */
function withoutHttp2(race: OriginRace): OriginRace {
  const trials = race.trials.map((trial) =>
    trial.adopted === 'h2' ? { ...trial, adopted: 'http/1.1' as const } : trial,
  );
  return { ...race, trials };
}

test('a gain names the protocol that it is against, in a comparison on each side', () => {
  const cells = (row: Record<string, string> | undefined, side = '') =>
    ['gain_ms', 'quicker', 'compared_with'].map((name) => row?.[`${name}${side}`]);
  const slow = withoutHttp2(clearComparison(30, 20));
  const [older, newer, none] = [
    report([reportOrigin()]),
    report([reportOrigin({ races: [slow], verdict: verdictSaying('unknown', '') })]),
    report([reportOrigin({ races: [] })]),
  ];
  const [first, second, third] = [older, newer, none].map((each) => records(reportToCsv(each))[0]);
  assert.deepEqual(cells(first), ['10', 'h3', 'h2']);
  assert.deepEqual(cells(second), ['-10', 'http/1.1', 'http/1.1']);
  assert.deepEqual(cells(third), ['', '', '']);
  const [diff] = records(reportDiffToCsv(compareReports(older, newer)));
  assert.deepEqual(cells(diff, '_before'), cells(first));
  assert.deepEqual(cells(diff, '_after'), cells(second));
});

/**
 * As read by a spreadsheet: a quote at the beginning of a cell quotes, and what follows its end is part of the cell.
 */
function cellsOf(csv: string, separator: ',' | ';' | '\t'): string[] {
  const cells: string[] = [];
  let cell = '';
  let quoted = false;
  for (let at = 0; at < csv.length; at += 1) {
    const char = csv[at] ?? '';
    if (quoted && char === '"' && csv[at + 1] === '"') {
      cell += '"';
      at += 1;
    } else if (quoted) {
      if (char === '"') quoted = false;
      else cell += char;
    } else if (char === '"' && cell === '') quoted = true;
    else if (char === separator || char === '\r' || char === '\n') {
      cells.push(cell);
      cell = '';
    } else cell += char;
  }
  return [...cells, cell];
}

test('no text begins a cell that a spreadsheet would run, whatever its separator', () => {
  const harmful = fc.constantFrom(
    '=',
    '+',
    '-',
    '@',
    '|',
    '\uff1d',
    '\t',
    '\r',
    '\n',
    ' ',
    ';',
    ',',
    '"',
    "'",
    'a',
    '1',
  );
  fc.assert(
    fc.property(fc.array(harmful, { maxLength: 12 }), fc.string({ unit: 'grapheme' }), (start, tail) => {
      const text = `${start.join('')}${tail}`;
      const verdict = verdictSaying('unknown', text);
      const csv = reportToCsv(report([reportOrigin({ verdict })]));
      for (const separator of [',', ';', '\t'] as const)
        for (const cell of cellsOf(csv, separator)) {
          if (/^-?\d+(\.\d+)?$/.test(cell)) continue;
          assert.doesNotMatch(cell, /^[\s"]*[=+\-@|\uff1d]/u, `at ${separator} in ${csv}`);
        }
    }),
    { numRuns: 500 },
  );
});

test('a text is read back unchanged, except for what is invisible or would run', () => {
  const read = (text: string) => {
    const verdict = verdictSaying('unknown', text);
    const [row] = records(reportToCsv(report([reportOrigin({ verdict })])));
    return row?.['verdict_text'];
  };
  for (const text of ['plain, "quoted"; done', 'Zürich 東京', 'a = b', 'x;y']) assert.equal(read(text), text);
  assert.equal(read("=HYPERLINK('x')"), "'=HYPERLINK('x')");
  assert.equal(read('h3%3B;=1+1'), "h3%3B;'=1+1");
  assert.equal(read('a\n=1\u202e'), 'a\\u000a=1\\u202e');
});

test('a report without sites is only a header', () => {
  assert.equal(parse(reportToCsv(report([], { sites: [] }))).length, 1);
});
