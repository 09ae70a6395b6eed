// The command `survey` at the terminal: accepted options, their values, and the one-line answer to every mistake; what
// the monitoring address of a server tells about lost messages, and what is said if it tells nothing; the archive.
import '@photofinish/shared/language/english';
import assert from 'node:assert/strict';
import { once } from 'node:events';
import { existsSync, readFileSync, writeFileSync } from 'node:fs';
import { createServer } from 'node:http';
import type { AddressInfo } from 'node:net';
import { join } from 'node:path';
import { after, type TestContext, test } from 'node:test';
import * as v from 'valibot';
import { writeSurvey } from '../survey/archive.ts';
import type { SurveyExport } from '../survey/export.ts';
import { SURVEY_SCHEMA, surveySchema } from '../survey/schema.ts';
import { recordingTerminal } from '../testing/command.ts';
import { scratchDirectory } from '../testing/scratch.ts';
import { SAMPLE_SURVEY, writeSampleArchive, writeSegment } from '../testing/survey-archive.ts';
import { SURVEY_ACTIONS, SURVEY_OPTIONS } from './option-tables.ts';
import { Pins } from './race-options.ts';
import { countJobs, onServer, optOutText, type SurveyContext, syncing } from './survey-actions.ts';
import { runExport, runSurveyReport } from './survey-archive.ts';
import { ownName, parseSurveyCommand, readOptOut } from './survey-options.ts';
import { Complaint } from './usage.ts';

const LONGEST_NAME = 'n'.repeat(32);

/** `_` stands for a space within a word. */
function parse(line: string) {
  const words = line.split(' ').filter((word) => word !== '');
  return parseSurveyCommand(words.map((word) => word.replaceAll('_', ' ')));
}

const REFUSED: readonly (readonly [string, string, RegExp])[] = [
  ['', 'bad-usage', /^survey takes run, load, work, .* or doctor$/],
  ['lod', 'bad-usage', /not "lod".*load/],
  ['load --no-such', 'bad-usage', /--no-such.*survey --help/],
  ['load --seed', 'bad-usage', /--seed/],
  [`load --seed ${'s'.repeat(129)}`, 'bad-survey', /--seed takes up to 128 characters/],
  ['work --creds a --nkey b', 'bad-usage', /--creds and --nkey cannot be combined/],
  ['load --survey -a', 'bad-usage', /--survey takes a value; .* --survey=VALUE/],
  ['load --survey=-a', 'bad-survey', /--survey takes up to 32 letters, digits and hyphens, not "-a"/],
  ['load --survey a.b', 'bad-survey', /--survey/],
  ['load --survey=', 'bad-survey', /--survey/],
  ['work --vantage a/b', 'bad-survey', /--vantage takes/],
  [`work --vantage ${LONGEST_NAME}n`, 'bad-survey', /--vantage/],
  ['work --vantage a*', 'bad-survey', /--vantage/],
  ['work --worker a>', 'bad-survey', /--worker takes/],
  ['load --replicas 0', 'bad-number', /--replicas .* 1 to 5/],
  ['load --replicas 6', 'bad-number', /--replicas/],
  ['load --mode v3', 'bad-mode', /--mode takes race, alt-svc, naive, compare, h3 or h2, not "v3"/],
  ['load --trials 0', 'bad-number', /--trials .* 1 to 100000/],
  ['load --trials 100001', 'bad-number', /--trials/],
  ['load --timeout 0', 'bad-number', /--timeout .* 1 to 600000/],
  ['load --timeout 600001', 'bad-number', /--timeout/],
  ['work --concurrency 0', 'bad-number', /--concurrency .* 1 to 256/],
  ['work --concurrency 257', 'bad-number', /--concurrency/],
  ['load --canary http://a.test', 'bad-origin', /not https/],
  ['load --canary a.test/path', 'bad-origin', /path/],
  ['load --canary a.test --canary a.test:0', 'bad-origin', /port 0/],
  ['budget --per-network 0', 'bad-number', /--per-network takes 0\.001 to 1000/],
  ['budget --per-network 1000.001', 'bad-number', /--per-network takes 0\.001 to 1000/],
  ['budget --per-network 0.0001', 'bad-number', /--per-network takes races a second, .* not "0\.0001"/],
  ['budget --per-network 1e3', 'bad-number', /--per-network takes races a second/],
  ['budget --per-network=-1', 'bad-number', /--per-network takes races a second/],
  ['budget --per-network=', 'bad-number', /--per-network takes races a second/],
  ['budget --total 100001', 'bad-number', /--total 0 \(no limit\) to 100000/],
  ['budget --total many', 'bad-number', /--total takes races a second/],
  ['load --contact ab', 'bad-usage', /--contact takes an address or a URL/],
  [`load --contact ${'c'.repeat(201)}`, 'bad-usage', /--contact/],
  ['load --contact me@a.test)', 'bad-usage', /--contact/],
  ['load --contact me\\@a.test', 'bad-usage', /--contact/],
  ['load --contact me_@a.test', 'bad-usage', /--contact/],
  ['load --contact me@a.test\r\nX:1', 'bad-usage', /--contact/],
  ['load --contact mé@a.test', 'bad-usage', /--contact/],
  ['work --resolve a.test:443:b.test', 'bad-resolve', /"b\.test" is not an IP address/],
  ['work --resolver localhost:53', 'bad-resolver', /localhost:53/],
  ['work --per-network 0.1', 'bad-usage', /^survey work does not take --per-network, .* run, load, budget$/],
  ['load --json', 'bad-usage', /^survey load does not take --json, which belongs to status, export$/],
  ['pause census', 'bad-usage', /^survey pause takes no argument "census"; --survey names the survey$/],
  ['work list.txt --vantage a', 'bad-usage', /^survey work takes no argument "list\.txt"/],
  ['doctor --monitor 127.0.0.1:8222', 'bad-usage', /--monitor takes a URL, for example http:.* not "127/],
  ['doctor --monitor nats.test:8222', 'bad-usage', /--monitor takes a URL/],
  ['doctor --monitor nats://a.test:4222', 'bad-usage', /--monitor takes a URL/],
  ['doctor --monitor http://u:p@a.test:8222', 'bad-usage', /--monitor takes a URL/],
  ['doctor --monitor=', 'bad-usage', /--monitor takes a URL/],
  ['status --drain', 'bad-usage', /^survey status does not take --drain, which belongs to work, collect$/],
  ['export d --server nats://a', 'bad-usage', /^survey export does not take --server/],
  [
    'run l --out d --creds c',
    'bad-usage',
    /^survey run takes --creds, --nkey and --tls-ca only with --server/,
  ],
];

for (const [line, code, words] of REFUSED)
  test(`survey ${line.slice(0, 60)}: ${code}`, () => {
    assert.throws(
      () => parse(line),
      (error: unknown) => {
        assert.ok(error instanceof Complaint);
        assert.equal(error.code, code);
        assert.equal(error.exitCode, 2);
        assert.match(error.message, words);
        assert.ok(!error.message.includes('\n'));
        return true;
      },
    );
  });

test('what is not given', () => {
  const { worker, ...rest } = parse('load list.txt');
  assert.equal(worker, null);
  assert.match(ownName(), /^[A-Za-z0-9][A-Za-z0-9-]{0,31}$/);
  assert.deepEqual(rest, {
    ...{
      action: 'load',
      rest: ['list.txt'],
      survey: 'survey',
      vantage: null,
      out: undefined,
      html: undefined,
    },
    server: { servers: ['nats://127.0.0.1:4222'], credsFile: null, nkeyFile: null, caFile: null },
    ...{
      json: false,
      monitor: null,
      drain: false,
      replicas: 1,
      seed: 'photofinish',
      mode: 'race',
      trials: null,
    },
    ...{ timeoutMs: 3000, canaries: [], contact: null, concurrency: null, caFiles: [], pins: new Pins() },
    budget: { perNetworkPerSecond: 2, totalPerSecond: 0 },
    budgetChange: {},
    ...{ resolver: null, allowPrivate: false, fleet: false },
  });
});

test('a monitoring address is taken as it was given', () => {
  for (const url of ['http://127.0.0.1:8222', 'https://nats.test/', 'HTTP://[::1]:8222'])
    assert.equal(parse(`doctor --monitor ${url}`).monitor, url);
});

test('the largest and smallest values are taken', () => {
  const least = parse('load --replicas 1 --trials 1 --timeout 1 --per-network 0.001 --total 0');
  assert.deepEqual(least.budget, { perNetworkPerSecond: 0.001, totalPerSecond: 0 });
  const most = parse(
    `load --survey ${LONGEST_NAME} --replicas 5 --trials 100000 --timeout 600000 --per-network 1000 --total 100000`,
  );
  assert.equal(most.survey, LONGEST_NAME);
  assert.deepEqual(most.budget, { perNetworkPerSecond: 1000, totalPerSecond: 100_000 });
  assert.deepEqual([most.replicas, most.trials, most.timeoutMs], [5, 100_000, 600_000]);
  for (const concurrency of [1, 256])
    assert.equal(parse(`work --concurrency ${concurrency}`).concurrency, concurrency);
});

test('an option applies to the actions that its help names', () => {
  for (const [option, { actions, type, help }] of Object.entries(SURVEY_OPTIONS)) {
    const isOfServer = actions.length === SURVEY_ACTIONS.length - 2;
    if (!isOfServer) assert.ok(help.startsWith(`${actions.join(', ')}: `), option);
    for (const action of SURVEY_ACTIONS) {
      const refused = new RegExp(`^survey ${action} does not take --${option},`);
      const words = [action, `--${option}`, ...(type === 'string' ? ['-'] : [])];
      const why = (): string => {
        try {
          parseSurveyCommand(words.map((word) => (word === '-' ? 'a.test' : word)));
          return '';
        } catch (error) {
          return (error as Error).message;
        }
      };
      assert.equal(refused.test(why()), !actions.some((name) => name === action), `${action} --${option}`);
    }
  }
});

test('a worker is withdrawn by its whole name, never by that of this host', async () => {
  for (const line of ['withdraw --vantage a', 'withdraw --worker b'])
    await assert.rejects(onServer({ command: parse(line) } as SurveyContext, 'withdraw'), {
      code: 'bad-usage',
      message: 'survey withdraw takes --vantage and --worker',
    });
});

test('one of two budgets is changed alone', () => {
  assert.deepEqual(parse('budget --total 5').budgetChange, { totalPerSecond: 5 });
  assert.deepEqual(parse('budget --per-network 0.5').budgetChange, { perNetworkPerSecond: 0.5 });
  assert.deepEqual(parse('load list --total 5').budget, { perNetworkPerSecond: 2, totalPerSecond: 5 });
});

test('only run has a server of its own, unless it is given one', () => {
  assert.equal(parse('run list --out d').server, null);
  const given = parse('run list --server nats://a:1 --server nats://b:2 --creds c --tls-ca d').server;
  const files = { credsFile: 'c', nkeyFile: null, caFile: 'd' };
  assert.deepEqual(given, { servers: ['nats://a:1', 'nats://b:2'], ...files });
  assert.equal(parse('status --nkey n').server?.nkeyFile, 'n');
});

test('canaries are origins, however they are written', () => {
  const { canaries } = parse('load l --canary A.test --canary https://b.test:8443/');
  assert.deepEqual(canaries, ['https://a.test', 'https://b.test:8443']);
});

test('what the options allow fits into a survey', () => {
  const host = `${'a'.repeat(63)}.${'b'.repeat(63)}.${'c'.repeat(63)}.test`;
  const contact = 'c'.repeat(200);
  const command = parse(`load l --seed ${'s'.repeat(128)} --contact ${contact} --canary ${host}:65535`);
  const { survey, seed, mode, trials, timeoutMs, canaries, budget } = command;
  const list = { jobs: 1, badLines: 0, sha256: 'a'.repeat(64) };
  const whole = {
    schema: SURVEY_SCHEMA,
    createdAtMs: 0,
    survey,
    list,
    seed,
    mode,
    trials,
    timeoutMs,
    canaries,
  };
  assert.ok(v.is(surveySchema, { ...whole, contact, ...budget }));
});

async function* input(...pieces: readonly string[]) {
  yield* pieces;
}

test('entries are arguments, or lines of standard input without blank ones and comments', async () => {
  assert.deepEqual(await readOptOut(['a.test', '192.0.2.0/24'], input), ['a.test', '192.0.2.0/24']);
  assert.deepEqual(await readOptOut([], input), []);
  const lines = () => input('# who asked\n\na.te', 'st\r\n 192.0.2.0/24\n2001:db8::/32');
  assert.deepEqual(await readOptOut(['-'], lines), ['a.test', '192.0.2.0/24', '2001:db8::/32']);
});

const WRONG: readonly (readonly [words: readonly string[], text: string, message: RegExp])[] = [
  [['-', 'a.test'], '', /not both/],
  [['-'], '# nobody\n', /standard input names nothing/],
  [['-'], 'a.test\nhttps://b.test\n', /^"https:\/\/b\.test" is not a name, an address or a network/],
  [['a.test', '*.b.test'], '', /^"\*\.b\.test" is not/],
];

for (const [words, text, message] of WRONG)
  test(`opt-out ${words.join(' ')} with ${JSON.stringify(text)} is refused`, async () => {
    await assert.rejects(
      readOptOut(words, () => input(text)),
      { code: 'bad-usage', message },
    );
  });

/** A server on loopback that answers `/varz` with this body, and nothing else. */
async function monitor(t: TestContext, body: string): Promise<string> {
  const server = createServer(({ url }, answer) => {
    answer.statusCode = url === '/varz' ? 200 : 404;
    answer.end(url === '/varz' ? body : '{}');
  });
  server.listen(0, '127.0.0.1');
  await once(server, 'listening');
  t.after(() => {
    server.close();
    server.closeAllConnections();
  });
  return `http://127.0.0.1:${(server.address() as AddressInfo).port}`;
}

const varz = (config: object) => JSON.stringify({ version: '2.15.2', jetstream: { config } });

test('a server that syncs every message', async (t) => {
  const { state, text } = await syncing(await monitor(t, varz({ sync_interval: 120e9, sync_always: true })));
  assert.equal(state, 'ok');
  assert.match(text, /^nats-server 2\.15\.2 syncs every message/);
});

test('a server that does not is a problem, with its remedy', async (t) => {
  for (const config of [{ sync_interval: 120e9 }, { sync_always: false }]) {
    const { state, text } = await syncing(await monitor(t, varz(config)));
    assert.equal(state, 'problem');
    assert.match(text, /may lose acknowledged messages.*"jetstream \{ sync_interval: always \}"/);
  }
});

test('another answer proves neither', async (t) => {
  for (const body of ['', '<html>', '{}', '{"version":7}', varz({ sync_always: 'yes' })]) {
    const url = await monitor(t, body);
    const { state, text } = await syncing(url);
    assert.equal(state, 'unknown', body);
    assert.ok(text.startsWith(`${url} does not respond like a NATS server: `));
    assert.ok(!text.includes('\n'), 'one line');
  }
});

test('nothing that a server sends is an escape sequence on the terminal', async (t) => {
  const version = '2\u001b[2J';
  const jetstream = { config: { sync_always: true } };
  for (const body of ['\u001b[2J', JSON.stringify({ version, jetstream })])
    assert.match((await syncing(await monitor(t, body))).text, /\\u001b\[2J/);
  assert.equal(optOutText(['a.test', '\u001b[2Jb.test']), 'a.test\n\\u001b[2Jb.test');
});

test('without an address, or with none that is one, nothing is known', async () => {
  assert.match((await syncing(null)).text, /cannot be seen from here: give --monitor/);
  for (const url of ['no address', 'localhost:8222'])
    assert.equal((await syncing(url)).state, 'unknown', url);
});

const scratch = scratchDirectory({ after });

test('what a line of a list has beyond its origin is reported, and each line that holds none', async () => {
  const list = join(scratch, 'list.txt');
  const again = 'https://A.test\na.test:443\n{"origin": "a.test", "mode": "h3"}\n';
  writeFileSync(list, `# pages\nhttps://a.test/\nhttps://b.test/page?q#f\nhttp://c.test\nd.test\n${again}`);
  const { terminal, errors } = recordingTerminal();
  // The same origin in another mode is another job.
  const { repeated, ...counted } = await countJobs(list, 8, 'race', terminal);
  assert.deepEqual(counted, { jobs: 4, badLines: 1 });
  assert.deepEqual(
    Array.from({ length: 8 }, (_, index) => index).filter((index) => repeated.has(index)),
    [5, 6],
  );
  assert.equal(repeated.size, 2);
  assert.equal(errors[0], 'path-left-out: line 3: racing https://b.test, ignoring /page?q#f');
  assert.match(errors[1] ?? '', /^bad-origin: line 4: /);
  assert.equal(errors.length, 2);
});

test('export says what each vantage point measured, and writes below the archive unless told where', async () => {
  const dir = writeSampleArchive(join(scratch, 'whole'));
  const { terminal, results, errors } = recordingTerminal();
  assert.equal(await runExport(dir, {}, terminal), 0);
  assert.deepEqual(errors, []);
  assert.equal(
    results.join('\n'),
    `VANTAGE  MEASURED  MISSING  GIVEN UP  REPEATED
lab-2          11        1         0         0
no-udp         11        1         1         0  UDP is blocked there
office         11        1         1         2

111 rows of the survey sample in 3 files below ${join(dir, 'parquet')}`,
  );
  assert.ok(existsSync(join(dir, 'parquet', 'export.json')));
});

const noneFrom = (dir: string, names: string): string =>
  `bad-directory: ${dir} has no result from ${names}; it may be in another directory, or not collected yet`;

test('a directory that got only the rest of a survey tells whose results it lacks', async () => {
  const dir = writeSampleArchive(join(scratch, 'rest'));
  writeSurvey(dir, { ...SAMPLE_SURVEY, vantages: ['office', 'west', 'east'] });
  const { terminal, results, errors } = recordingTerminal();
  assert.equal(await runExport(dir, { json: true }, terminal), 0);
  assert.deepEqual(errors.splice(0), [noneFrom(dir, 'west, east')]);
  const { vantages } = JSON.parse(results.join('\n')) as SurveyExport;
  assert.deepEqual(
    vantages.filter(({ measured }) => measured === 0).map(({ vantage, missing }) => [vantage, missing]),
    [
      ['west', 12],
      ['east', 12],
    ],
  );
  assert.equal(await runSurveyReport(dir, {}, terminal), 0);
  assert.deepEqual(errors, [noneFrom(dir, 'west, east')]);
  assert.match(readFileSync(join(dir, 'report.html'), 'utf8'), /<h2 id="vantage-\d">west<\/h2>/);
});

test('export ends with 1 if lines hold no result, and says which', async () => {
  const dir = writeSampleArchive(join(scratch, 'bad'));
  writeSegment(dir, 'results-x-1-1.ndjson.zst', Array<string>(12).fill('rubbish'));
  const { terminal, results, errors } = recordingTerminal();
  assert.equal(await runExport(dir, { out: join(scratch, 'out'), json: true }, terminal), 1);
  assert.equal(JSON.parse(results.join('\n')).schema, 'photofinish.survey-export/1');
  assert.equal(errors.length, 12);
  assert.equal(errors.shift(), noneFrom(dir, 'x'));
  assert.match(errors[0] ?? '', /^bad-line: results-x-1-1\.ndjson\.zst, line 1: Invalid JSON/);
  assert.equal(errors.at(-1), 'bad-line: 2 more lines hold no result of this survey');
  writeSegment(dir, 'results-x-1-1.ndjson.zst', Array<string>(11).fill('rubbish'));
  await runExport(dir, { out: join(scratch, 'out'), json: true }, terminal);
  assert.equal(errors.at(-1), 'bad-line: 1 more line holds no result of this survey');
});

test('a damaged frame is named by its place in the file, on the terminal and on the page', async () => {
  const dir = writeSampleArchive(join(scratch, 'frame'));
  writeFileSync(join(dir, 'results-x-1-1.ndjson.zst'), 'rubbish');
  const { terminal, errors } = recordingTerminal();
  assert.equal(await runSurveyReport(dir, {}, terminal), 1);
  const named = 'results-x-1-1.ndjson.zst: the zstd frame at byte 0 is damaged';
  assert.deepEqual(errors, [noneFrom(dir, 'x'), `bad-line: ${named}`]);
  assert.ok(readFileSync(join(dir, 'report.html'), 'utf8').includes(named));
});

test('report writes one page, beside the archive unless told where', async () => {
  const dir = writeSampleArchive(join(scratch, 'report'));
  const { terminal, results } = recordingTerminal();
  assert.equal(await runSurveyReport(dir, {}, terminal), 0);
  assert.deepEqual(results, [`The report is in ${join(dir, 'report.html')}`]);
  const page = readFileSync(join(dir, 'report.html'), 'utf8');
  await runSurveyReport(dir, { html: '-' }, terminal);
  assert.equal(results[1], page.trimEnd());
  await assert.rejects(runSurveyReport(dir, { html: dir }, terminal), {
    code: 'cannot-write',
    message: /EISDIR$/,
    exitCode: 1,
  });
});
