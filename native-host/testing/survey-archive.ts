// A small archive of a survey, with what real ones contain: three vantage points, one of which cannot use UDP, origins
// that differ, repeated results, and lines that are none.
import { mkdirSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { zstdCompressSync } from 'node:zlib';
import type {
  Attempt,
  AttemptError,
  DiscoveryEvidence,
  OriginRace,
  Trial,
} from '@photofinish/shared/race/outcome';
import {
  attempt,
  clearComparison,
  originRace,
  SAMPLE_ADDRESS,
  serviceRecord,
  trial,
} from '@photofinish/shared/testing/race-samples';
import { evidenceOfRace, verdictOf } from '@photofinish/shared/verdict/verdict';
import { type Origin, originParts } from '@photofinish/shared/web/origin';
import { RESULT_SCHEMA, SURVEY_SCHEMA, type Survey, type SurveyResult } from '../survey/schema.ts';

const DAY_MS = 86_400_000;
const SAMPLE_AT_MS = Date.UTC(2026, 0, 2, 3, 4, 5);
const H3 = 'h3=":443"; ma=86400';

export const SAMPLE_SURVEY: Survey = {
  schema: SURVEY_SCHEMA,
  survey: 'sample',
  createdAtMs: SAMPLE_AT_MS - DAY_MS,
  list: { jobs: 12, badLines: 1, sha256: 'a'.repeat(64) },
  seed: 'seed',
  mode: 'race',
  trials: null,
  timeoutMs: 3000,
  canaries: ['https://canary.test'],
  contact: 'mailto:survey@example.org',
  perNetworkPerSecond: 2,
  totalPerSecond: 0,
};

function failed(
  protocol: 'h3' | 'h2',
  error: Omit<AttemptError, 'message'>,
  at: Partial<Attempt> = {},
): Attempt {
  return attempt({ protocol, outcome: 'failed', error: { ...error, message: error.code }, ...at });
}

function reached(protocol: 'h3' | 'h2', ms: number, over: Partial<Attempt> = {}): Attempt {
  const times = { establishedMs: ms, firstByteMs: ms * 2, rttMs: ms / 2 };
  return attempt({ protocol, outcome: 'adopted', ...times, ...over });
}

const located = new Map<string, string>();

/** The address of a host: each has its own. */
export function surveyAddress(name: string): string {
  const address = located.get(name) ?? `192.0.2.${(located.size % 254) + 1}`;
  located.set(name, address);
  return address;
}

/** With the verdict that its evidence gives, and its own address in place of that of all samples. */
export function surveyRace(
  name: string,
  trials: Trial[],
  discovered: Partial<DiscoveryEvidence> = {},
  over: Partial<OriginRace> = {},
): OriginRace {
  const own = trials.map((each) => ({
    ...each,
    attempts: each.attempts.map((one) =>
      one.address === SAMPLE_ADDRESS ? { ...one, address: surveyAddress(name) } : one,
    ),
  }));
  const race = originRace(own, {
    origin: `https://${name}.test` as Origin,
    atMs: SAMPLE_AT_MS,
    ...over,
    discovered: { altSvc: null, knownRoot: true, ...discovered },
  });
  return { ...race, verdict: verdictOf(evidenceOfRace(race)) };
}

/** What DNS says of a host whose HTTPS record names these protocols; null: it has none. */
function names(name: string, alpn: string[] | null): Pick<DiscoveryEvidence, 'names'> {
  const host = `${name}.test`;
  const services = alpn === null ? [] : [serviceRecord(host, { alpn })];
  const outcome = alpn === null ? 'empty' : 'answered';
  const lookup = { name: host, kind: 'HTTPS', tookMs: 1, outcome, records: services.length } as const;
  return { names: { addresses: [], services, lookups: [lookup] } };
}

function compared(name: string, h3Ms: number, h2Ms: number, rttMs: number): OriginRace {
  const { trials, summary } = clearComparison(h3Ms, h2Ms);
  const timed = trials.map((each) => ({ ...each, attempts: each.attempts.map((a) => ({ ...a, rttMs })) }));
  return surveyRace(name, timed, { altSvc: H3 }, { mode: 'compare', summary });
}

const SILENT = failed('h3', { code: 'udp-timeout' });
const fallBack = (h3: Attempt, over: Partial<Attempt> = {}): Trial =>
  trial([h3, reached('h2', 40, { startedMs: 10, ...over })], 'h2');

/** Jobs 1 to 11 as a vantage point finds them that can use UDP; job 12 has no result. */
function openRaces(): OriginRace[] {
  const expired = { code: 'certificate-invalid', reason: 'expired' } as const;
  const other = { address: '2001:db8:7:8::9' };
  return [
    compared('near', 30, 60, 20),
    compared('far', 300, 450, 150),
    surveyRace('both', [trial([reached('h3', 20)]), trial([reached('h3', 22)])], {
      altSvc: H3,
      ...names('both', ['h3', 'h2']),
    }),
    surveyRace('silent', [fallBack(SILENT)], { altSvc: H3, ...names('silent', null) }),
    surveyRace('plain', [fallBack(SILENT)], names('plain', null)),
    surveyRace('record', [trial([reached('h3', 25)])], names('record', ['h3'])),
    surveyRace('expired', [trial([failed('h3', expired), failed('h2', expired)], null)]),
    surveyRace('gone', [], {}, { error: { code: 'dns-failed', message: 'no answer' } }),
    surveyRace('late', [{ ...fallBack(reached('h3', 50, { outcome: 'established-late' })), lateH3: true }], {
      altSvc: H3,
    }),
    surveyRace('differs', [trial([reached('h3', 30, other)])], { altSvc: H3 }),
    surveyRace('broken', [fallBack(failed('h3', { code: 'handshake-timeout' }, other), other)], {
      altSvc: H3,
    }),
  ];
}

/** The same without UDP. */
function blockedRaces(): OriginRace[] {
  return openRaces().map((race) => {
    const name = new URL(race.origin).hostname.replace('.test', '');
    if (race.trials.every(({ adopted }) => adopted === null)) {
      const overTcp = (trial: Trial) => trial.attempts.filter(({ protocol }) => protocol !== 'h3');
      const trials = race.trials.map((each) => ({ ...each, attempts: [SILENT, ...overTcp(each)] }));
      return surveyRace(name, trials, race.discovered, race.error === undefined ? {} : { error: race.error });
    }
    return surveyRace(name, [fallBack(SILENT)], race.discovered);
  });
}

export function surveyResult(vantage: string, job: number, race: OriginRace): SurveyResult {
  const { mode, memory, startDelayMs } = race;
  return {
    schema: RESULT_SCHEMA,
    survey: SAMPLE_SURVEY.survey,
    vantage,
    job,
    program: 'photofinish/1.0.0',
    document: { schema: 'photofinish.race/1', mode, memory, startDelayMs, races: [race] },
  };
}

/** Jobs 1 to 4 of a list that has a host, whose QUIC is silent, at two ports, at one of them twice, and by an alias. */
export function oneSilentHost(vantage: string): SurveyResult[] {
  const names = ['one.test', 'one.test:8443', 'one.test', 'alias.test'];
  const origins = names.map((name) => `https://${name}` as Origin);
  return origins.map((origin, i) => {
    const { port } = originParts(origin);
    const silent = fallBack({ ...SILENT, port }, { port });
    return surveyResult(vantage, i + 1, surveyRace('one', [silent], { altSvc: `h3=":${port}"` }, { origin }));
  });
}

/** A segment of one frame for each list of lines. */
export function writeSegment(dir: string, name: string, ...frames: readonly (readonly unknown[])[]): void {
  const written = frames.map((lines) =>
    zstdCompressSync(
      lines.map((line) => `${typeof line === 'string' ? line : JSON.stringify(line)}\n`).join(''),
    ),
  );
  writeFileSync(join(dir, name), Buffer.concat(written));
}

/** Writes the archive: `office` and `lab-2` differ in job 10, `no-udp` blocks UDP; job 12 was given up by two of the three. Returns the directory. */
export function writeSampleArchive(dir: string): string {
  mkdirSync(dir, { recursive: true });
  writeFileSync(join(dir, 'survey.json'), JSON.stringify(SAMPLE_SURVEY));
  const of = (vantage: string, races: readonly OriginRace[]) =>
    races.map((race, i) => surveyResult(vantage, i + 1, race));
  const office = of('office', openRaces());
  writeSegment(dir, 'results-office-1-2.ndjson.zst', office.slice(0, 4), office.slice(4, 8));
  // Delivered again, after a crash: the first result of a job counts.
  writeSegment(dir, 'results-office-10-12.ndjson.zst', [...office.slice(6)]);
  const differs = surveyRace('differs', [fallBack(SILENT)], { altSvc: H3 }, { atMs: SAMPLE_AT_MS + DAY_MS });
  const lab = openRaces().map((race) => ({ ...race, atMs: SAMPLE_AT_MS + DAY_MS }));
  writeSegment(dir, 'results-lab-2-3-5.ndjson.zst', of('lab-2', lab.with(9, differs)));
  writeSegment(dir, 'results-no-udp-6-6.ndjson.zst', of('no-udp', blockedRaces()));
  const dead = [
    { vantage: 'office', job: 12, origin: 'https://away.test', reason: 'opt-out' },
    // Given up, and then told again by the server.
    { vantage: 'office', job: 12, reason: 'max-deliveries' },
    // The last delivery had a result.
    { vantage: 'office', job: 3, reason: 'max-deliveries' },
    { vantage: 'no-udp', job: 12, reason: 'max-deliveries' },
  ];
  writeFileSync(join(dir, 'dead.ndjson'), dead.map((line) => `${JSON.stringify(line)}\n`).join(''));
  return dir;
}
