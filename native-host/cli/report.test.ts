// Reports in a terminal: foreign text is printed as text, and every line of prose fits.
import '@photofinish/shared/language/english';
import assert from 'node:assert/strict';
import { spawn, spawnSync } from 'node:child_process';
import { writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { test } from 'node:test';
import { diffListing } from '@photofinish/shared/report/diff-document';
import type { Report } from '@photofinish/shared/report/report';
import { compareReports } from '@photofinish/shared/report/report-compare';
import { reportListing } from '@photofinish/shared/report/report-document';
import { report, reportOrigin, verdictSaying } from '@photofinish/shared/testing/race-samples';
import { CLI, COMPILE_CACHE, ended } from '../testing/command.ts';
import { scratchDirectory } from '../testing/scratch.ts';
import { documentText } from './report.ts';
import { LINE_COLUMNS, plain } from './text.ts';

const HOSTILE = '\u001b[2Jgone\n\u202eend';

function hostile(): Report {
  const origin = reportOrigin({ verdict: verdictSaying('unknown', HOSTILE), races: [] });
  const base = report([origin], { network: HOSTILE, browser: { name: 'firefox', version: HOSTILE } });
  return { ...base, sites: base.sites.map((site) => ({ ...site, site: HOSTILE })) };
}

test('escape sequences and line breaks are printed as text, in every document', () => {
  for (const document of [
    reportListing(hostile()),
    diffListing(compareReports(report(), hostile())),
    diffListing(compareReports(hostile(), report([]))),
  ]) {
    const text = documentText(document, plain);
    assert.doesNotMatch(text.replaceAll('\n', ''), /[\p{Cc}\p{Cf}]/u);
    assert.match(text, /\\u001b\[2Jgone\\u000a\\u202eend/);
  }
});

test('what a document lacks is named', (t) => {
  const file = join(scratchDirectory(t), 'report.json');
  const { sites: _, ...rest } = report();
  writeFileSync(file, JSON.stringify(rest));
  const { status, stderr } = spawnSync(process.execPath, [CLI, 'report', file], {
    encoding: 'utf8',
    env: { PATH: '/usr/bin:/bin', ...COMPILE_CACHE },
  });
  assert.match(stderr, /: bad-report: \S+ is not a photofinish\.report\/2 document: sites is missing\n$/);
  assert.equal(status, 2);
});

test('a file of nothing but errors needs no more memory than any other', async (t) => {
  const home = scratchDirectory(t);
  const file = join(home, 'report.json');
  writeFileSync(file, JSON.stringify({ ...report(), sites: Array(2_000_000).fill(0) }));
  const child = spawn(process.execPath, ['--max-old-space-size=200', CLI, 'report', file], {
    env: { HOME: home, PATH: '/usr/bin:/bin', ...COMPILE_CACHE },
  });
  const { code, stderr } = await ended(child);
  assert.match(stderr, /^photofinish: bad-report: [^\n]+\n$/);
  assert.equal(code, 2);
});

test('an origin used on two sites is listed under the name of each, and a single site needs none', () => {
  const base = report();
  const [site] = base.sites;
  assert.ok(site);
  const sites = [site, { ...site, site: 'other.test' }];
  const marked = (colour: string, text: string) => (colour === 'bold' ? `!${text}` : text);
  const headed = (of: Report) =>
    documentText(reportListing(of), marked)
      .split('\n')
      .filter((line) => /^!(example\.org|other\.test|https:)/.test(line));
  const origin = '!https://example.org';
  assert.deepEqual(headed({ ...base, sites }), ['!example.org', origin, '!other.test', origin]);
  assert.deepEqual(headed(base), [origin]);
});

test('a comparison shows each origin with both sides, and what makes it unfair in colour', () => {
  const verdict = verdictSaying('h3-not-offered', 'Does not offer HTTP/3. '.repeat(8).trim());
  const after = report([reportOrigin({ verdict, races: [] })], { network: 'work' });
  const marked = (colour: string, text: string) => (colour === 'yellow' ? `!${text}` : text);
  const lines = documentText(diffListing(compareReports(report(), after)), marked).split('\n');
  assert.ok(lines.includes('!- Different network: net, then work.'));
  const at = lines.indexOf('example.org · https://example.org · verdict changed');
  assert.match(
    lines[at + 1] ?? '',
    /^ {2}before {2}75 % \(3 of 4, 2 hidden\)\. Reached over HTTP\/3\. HTTP\/3 11/,
  );
  assert.ok(lines.some((line) => /^ {2}after {3}75 % \(3 of 4, 2 hidden\)\. Does not offer/.test(line)));
  for (const line of lines.slice(at)) assert.ok(line.length <= LINE_COLUMNS, line);
});

test('of overlapping periods of one browser it is said that requests may be in both', () => {
  const longer = report(undefined, {
    period: { ...report().period, to: '2026-01-03T00:00:00.000Z' },
  });
  const text = documentText(diffListing(compareReports(report(), longer)), plain);
  assert.match(text, /The periods overlap, so requests may be counted in both: /);
});

test('a report counted in light mode says so, and gives hidden counts as upper bounds', () => {
  const text = documentText(reportListing(report([reportOrigin({ modes: ['light'] })])), plain);
  assert.match(text, /^Counted in light mode,/m);
  assert.match(text, /at most 2/);
  assert.doesNotMatch(documentText(reportListing(report()), plain), /light|at most/);
});

test('where every protocol is hidden, the share of HTTP/3 is unknown and not none', () => {
  const hidden = { h3: 0, known: 0, hidden: 5 };
  const base = report();
  const sites = base.sites.map((site) => ({
    ...site,
    adoption: { ...site.adoption, byRequest: hidden, byOrigin: hidden },
  }));
  const lines = documentText(reportListing({ ...base, sites }), plain).split('\n');
  const row = lines.find((line) => /^example\.org {2}/.test(line)) ?? '';
  assert.match(row, /^example\.org +1 of 2 \(50 %\) +unknown +unknown +2 /);
});
