// The report of a survey: its counts, what differs between vantage points, and the page.
import assert from 'node:assert/strict';
import { mkdtempSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { after, test } from 'node:test';
import '@photofinish/shared/language/english';
import type { AttemptErrorCode } from '@photofinish/shared/race/terms';
import { attempt, trial } from '@photofinish/shared/testing/race-samples';
import { scratchDirectory } from '../testing/scratch.ts';
import {
  oneSilentHost,
  SAMPLE_SURVEY,
  surveyRace,
  surveyResult,
  writeSampleArchive,
  writeSegment,
} from '../testing/survey-archive.ts';
import { medianDifferenceMs, surveyReport } from './report.ts';
import { surveyReportHtml } from './report-page.ts';

const scratch = scratchDirectory({ after });
const report = await surveyReport(writeSampleArchive(join(scratch, 'sample')));
const html = surveyReportHtml(report);
const [lab, noUdp, office] = report.vantages;

/** The markup of a vantage point's section. */
function sectionOf(vantage: string): string {
  const [, after = ''] = html.split(new RegExp(`<h2 id="vantage-\\d">${vantage}</h2>`));
  return after.split('</section>')[0] ?? '';
}

function archiveOf(jobs: number): string {
  const dir = mkdtempSync(join(scratch, 'archive-'));
  const survey = { ...SAMPLE_SURVEY, list: { ...SAMPLE_SURVEY.list, jobs } };
  writeFileSync(join(dir, 'survey.json'), JSON.stringify(survey));
  return dir;
}

test('each origin counts once, with the best it was reached over', () => {
  assert.deepEqual(office?.reach, { h3: 6, h2: 3, 'http/1.1': 0, not: 2, unproven: 0 });
  assert.deepEqual(noUdp?.reach, { h3: 0, h2: 9, 'http/1.1': 0, not: 2, unproven: 0 });
  assert.deepEqual([office?.measured, office?.missing], [11, 1]);
  assert.deepEqual(
    lab?.causes,
    new Map([
      ['udp-timeout', 2],
      ['handshake-timeout', 1],
    ]),
  );
  assert.equal(office?.verdicts.get('h3-not-offered'), 1);
});

test('an origin that was reached once over HTTP/2 is, whatever came first', async () => {
  const dir = archiveOf(1);
  const over = (protocol: 'h2' | 'http/1.1') =>
    trial([attempt({ protocol, outcome: 'adopted', establishedMs: 9, firstByteMs: 9 })], protocol);
  const race = surveyRace('old', [over('http/1.1'), over('h2')]);
  writeSegment(dir, 'results-a-1-1.ndjson.zst', [surveyResult('a', 1, race)]);
  const { vantages } = await surveyReport(dir);
  assert.deepEqual(vantages[0]?.reach, { h3: 0, h2: 1, 'http/1.1': 0, not: 0, unproven: 0 });
});

test('a name without an address was not reached if both families were queried; otherwise that is unproven', async () => {
  const dir = archiveOf(2);
  const queried = (name: string, kinds: readonly ('A' | 'AAAA')[]) =>
    kinds.map((kind) => ({ name, kind, tookMs: 3, outcome: 'empty' as const, records: 0 }));
  const race = (name: string, kinds: readonly ('A' | 'AAAA')[]) =>
    surveyRace(
      name,
      [],
      { names: { addresses: [], services: [], lookups: queried(`${name}.test`, kinds) } },
      { error: { code: 'no-address', message: 'no address' } },
    );
  writeSegment(dir, 'results-a-1-1.ndjson.zst', [
    surveyResult('a', 1, race('half', ['A'])),
    surveyResult('a', 2, race('none', ['AAAA', 'A'])),
  ]);
  const { vantages } = await surveyReport(dir);
  assert.deepEqual(vantages[0]?.reach, { h3: 0, h2: 0, 'http/1.1': 0, not: 1, unproven: 1 });
});

test('gains are by round trip, with the median of all that were compared', () => {
  const measured = office?.gains.filter(({ differences }) => differences.size > 0) ?? [];
  assert.deepEqual(
    measured.map((each) => [
      each.fromMs,
      each.toMs,
      each.h3Quicker,
      each.h2Quicker,
      each.unclear,
      medianDifferenceMs(each),
    ]),
    [
      [10, 25, 1, 0, 0, 30],
      [100, 200, 1, 0, 0, 150],
    ],
  );
  assert.match(sectionOf('office'), /100 to 200 ms<\/th>.*<b>150 ms<\/b>/);
  const [one] = measured;
  assert.ok(one);
  const differences = new Map([
    [-20, 1],
    [5, 2],
    [-100, 1],
  ]);
  assert.equal(medianDifferenceMs({ ...one, differences }), -2);
});

test('gains are over HTTP over TCP, whichever version that was', () => {
  assert.match(sectionOf('office'), /connects than HTTP over TCP \(HTTP\/2 or HTTP\/1\.1\) where both/);
});

test('where UDP is blocked it is the network that is blamed, with the evidence, and no host', () => {
  const blocked = sectionOf('no-udp');
  assert.match(
    blocked,
    /UDP is blocked there\. QUIC was unanswered at 8 hosts .* says nothing about the hosts/,
  );
  assert.doesNotMatch(blocked, /no reply over UDP/);
  assert.doesNotMatch(sectionOf('lab-2'), /UDP is blocked/);
  assert.match(sectionOf('lab-2'), /5 hosts reached over HTTP\/3 from there/);
  assert.match(sectionOf('lab-2'), /no reply over UDP.*handshake timed out/);
});

test('where a host answers over UDP it is not the network that is blamed, although HTTP/3 failed there', async () => {
  const dir = archiveOf(3);
  const failing = (name: string, code: AttemptErrorCode) => {
    const h3 = attempt({ protocol: 'h3', outcome: 'failed', error: { code, message: '' } });
    const h2 = attempt({ protocol: 'h2', outcome: 'adopted', establishedMs: 9, firstByteMs: 9 });
    return surveyRace(name, [trial([h3, h2], 'h2')], { altSvc: 'h3=":443"' });
  };
  const races = [
    failing('a', 'udp-timeout'),
    failing('b', 'udp-timeout'),
    failing('c', 'certificate-invalid'),
  ];
  writeSegment(
    dir,
    'results-a-1-1.ndjson.zst',
    races.map((race, i) => surveyResult('a', i + 1, race)),
  );
  const page = surveyReportHtml(await surveyReport(dir));
  assert.doesNotMatch(page, /is blocked|too few/);
  assert.match(page, /1 host answered over UDP from there, though HTTP\/3 failed, so the network does not/);
});

test('silence of origins that do not advertise HTTP/3 blocks nothing', async () => {
  const dir = archiveOf(50);
  const silent = attempt({ protocol: 'h3', outcome: 'failed', error: { code: 'udp-timeout', message: '' } });
  const h2 = attempt({ protocol: 'h2', outcome: 'adopted', establishedMs: 9, firstByteMs: 9 });
  const plain = (i: number) => surveyRace(`plain${i}`, [trial([silent, h2], 'h2')]);
  writeSegment(
    dir,
    'results-a-1-1.ndjson.zst',
    Array.from({ length: 50 }, (_, i) => surveyResult('a', i + 1, plain(i))),
  );
  const page = surveyReportHtml(await surveyReport(dir));
  assert.doesNotMatch(page, /UDP is blocked/);
  assert.match(page, /50 origins measured\./);
});

test('one host at two ports, or twice in the list, is not the network', async () => {
  const dir = archiveOf(3);
  writeSegment(dir, 'results-a-1-1.ndjson.zst', oneSilentHost('a'));
  const { vantages, ...rest } = await surveyReport(dir);
  assert.deepEqual(vantages[0]?.network, { failedHosts: 1, reachedHosts: 0, answeredHosts: 0 });
  assert.deepEqual(vantages[0]?.causes, new Map([['udp-timeout', 3]]));
  const page = surveyReportHtml({ vantages, ...rest });
  assert.doesNotMatch(page, /UDP is blocked/);
  assert.match(page, /too few that advertise it were silent/);
});

test('origins that differ are listed without vantage points that block UDP', () => {
  assert.deepEqual(report.differences, {
    vantages: ['lab-2', 'office'],
    count: 1,
    named: [{ job: 10, origin: 'https://differs.test', states: ['h3-failed', 'h3'] }],
  });
  assert.match(html, /differs\.test<\/bdi><\/th><td>HTTP\/3 failed<\/td><td><b>HTTP\/3<\/b>/);
  assert.match(html, /Not compared, because UDP is blocked there: no-udp\./);
});

test('of many origins that differ the first 200 are listed, and the page says so', async () => {
  const dir = archiveOf(300);
  const reached = attempt({ protocol: 'h3', outcome: 'adopted', establishedMs: 9, firstByteMs: 9 });
  const error = { code: 'h3-error', message: '' } as const;
  const h2 = attempt({ protocol: 'h2', outcome: 'adopted', establishedMs: 9, firstByteMs: 9 });
  const of = (vantage: string, attempts: Parameters<typeof trial>[0], adopted: 'h3' | 'h2') =>
    Array.from({ length: 300 }, (_, i) =>
      surveyResult(vantage, 300 - i, surveyRace(`h${300 - i}`, [trial(attempts, adopted)])),
    );
  writeSegment(dir, 'results-a-1-1.ndjson.zst', of('a', [reached], 'h3'));
  writeSegment(
    dir,
    'results-b-2-2.ndjson.zst',
    of('b', [attempt({ protocol: 'h3', outcome: 'failed', error }), h2], 'h2'),
  );
  const { differences, ...rest } = await surveyReport(dir);
  assert.deepEqual(
    [differences.count, differences.named.length, differences.named[0]?.origin],
    [300, 200, 'https://h1.test'],
  );
  const page = surveyReportHtml({ differences, ...rest });
  assert.match(page, /300 origins: .*The first 200 are listed\./);
});

test('a trial spoiled by a busy worker, and a race of our own refusal, are no evidence', async () => {
  const dir = archiveOf(5);
  const silent = attempt({ protocol: 'h3', outcome: 'failed', error: { code: 'udp-timeout', message: '' } });
  const busy = surveyRace('busy', [{ ...trial([silent], null), disturbed: 'outcome' }]);
  const refused = surveyRace('private', [], {}, { error: { code: 'blocked', message: 'loopback' } });
  const port = surveyRace('port', [], {}, { error: { code: 'port-blocked', message: '' } });
  const ours = surveyRace('ours', [], {}, { error: { code: 'internal', message: '' } });
  const error = { code: 'internal', message: 'EMFILE' } as const;
  const half = surveyRace('half', [
    trial([silent, attempt({ protocol: 'h2', outcome: 'failed', error })], null),
  ]);
  writeSegment(dir, 'results-a-1-1.ndjson.zst', [
    surveyResult('a', 1, busy),
    surveyResult('a', 2, refused),
    surveyResult('a', 3, port),
    surveyResult('a', 4, ours),
    surveyResult('a', 5, half),
    'rubbish',
  ]);
  const found = await surveyReport(dir);
  assert.deepEqual(found.vantages[0]?.reach, { h3: 0, h2: 0, 'http/1.1': 0, not: 0, unproven: 5 });
  assert.match(surveyReportHtml(found), /results-a-1-1\.ndjson\.zst, line 6: Invalid JSON/);
});

test('the page runs and loads nothing, explains its codes, and an empty archive has one too', async () => {
  assert.match(html, /default-src 'none'/);
  assert.doesNotMatch(html, /<script|https?:\/\/(?!\S+\.test)/);
  for (const [, code = ''] of html.matchAll(/href="#means-([^"]+)"/g))
    assert.ok(html.includes(`id="means-${code}"`), code);
  const ids = [...html.matchAll(/ id="([^"]+)"/g)].map(([, id]) => id);
  assert.equal(new Set(ids).size, ids.length);
  assert.match(surveyReportHtml(await surveyReport(archiveOf(1))), /The archive holds no result/);
});
