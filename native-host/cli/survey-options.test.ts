// The command line of `survey`: accepted options, their values, and the one-line answer to every mistake.
import assert from 'node:assert/strict';
import { test } from 'node:test';
import * as v from 'valibot';
import { SURVEY_SCHEMA, surveySchema } from '../survey/schema.ts';
import { SURVEY_ACTIONS, SURVEY_OPTIONS } from './option-tables.ts';
import { onServer, type SurveyContext } from './survey-actions.ts';
import { ownName, parseSurveyCommand, readOptOut } from './survey-options.ts';
import { Complaint } from './usage.ts';

const LONGEST_NAME = 'n'.repeat(32);

/** `_` stands for a space within a word. */
function parse(line: string) {
  const words = line.split(' ').filter((word) => word !== '');
  return parseSurveyCommand(words.map((word) => word.replaceAll('_', ' ')));
}

const REFUSED: readonly (readonly [string, string, RegExp])[] = [
  ['', 'bad-usage', /^survey takes run, load, work, .* or doctor, not ""/],
  ['lod', 'bad-usage', /not "lod".*load/],
  ['load --no-such', 'bad-usage', /--no-such.*survey --help/],
  ['load --seed', 'bad-usage', /--seed/],
  [`load --seed ${'s'.repeat(129)}`, 'bad-survey', /--seed takes up to 128 characters/],
  ['work --creds a --nkey b', 'bad-usage', /--creds and --nkey cannot be combined/],
  ['load --survey -a', 'bad-usage', /--survey/],
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
    ...{ timeoutMs: 3000, canaries: [], contact: null, concurrency: null, caFiles: [], pins: new Map() },
    budget: { perNetworkPerSecond: 2, totalPerSecond: 0 },
    budgetChange: {},
    ...{ resolver: null, allowPrivate: false, fleet: false },
  });
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
    if (!isOfServer) assert.ok(help.join(' ').startsWith(`${actions.join(', ')}: `), option);
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
