// `photofinish explain`: looks up a host, races it in several modes, and explains why HTTP/3 is used there or not.
// These races ignore remembered decisions; their outcomes are stored in the host cache like those of any race.

import { NETWORK_CHANGED } from '@photofinish/shared/port/wire';
import type { OriginRace } from '@photofinish/shared/race/outcome';
import type { Mode } from '@photofinish/shared/race/terms';
import { advertisedAlternatives, isRecordUnanswered } from '@photofinish/shared/verdict/advertised';
import { isFailed, NO_OTHERS, reachOfEach } from '@photofinish/shared/verdict/evidence';
import {
  type CacheKnowledge,
  discoveredIn,
  EXPLAIN_SCHEMA,
  type Explanation,
  evidenceOfRaces,
  type Races,
  verdictOfRaces,
} from '@photofinish/shared/verdict/explanation';
import { originParts } from '@photofinish/shared/web/origin';
import { messageOf } from '@photofinish/shared/web/untrusted';
import { freshShared, freshUntilMs, sharedOutcome } from '../cache/policy.ts';
import type { HostRecord } from '../cache/record.ts';
import { type HostCache, openHostCache } from '../cache/store.ts';
import { systemClock } from '../clock.ts';
import { commandLine } from '../install/own-command.ts';
import { recordOnlyOn } from '../network/watch.ts';
import { PACED_BY_PATH } from '../race/pacing.ts';
import { type RunRace, storeOutcome } from '../racer.ts';
import { explanationText } from './explain-text.ts';
import { cacheComplaints, cachePath, copiedKeys } from './helper-caches.ts';
import { EXPLAIN_OPTIONS } from './option-tables.ts';
import { complainOfPins, networkOf, openRacerFor, stopOnMove } from './race.ts';
import { parseRaceCommand } from './race-options.ts';
import { stoppedByInterrupt, type Terminal } from './terminal.ts';
import { Complaint, EXIT_FAILED, EXIT_INTERRUPTED, EXIT_OK, parseCommand } from './usage.ts';

type ExplainCommand = Readonly<ReturnType<typeof parseExplainCommand>>;

/** The command, every value validated like those of `race`. Throws a Complaint for the first mistake. */
export function parseExplainCommand(args: readonly string[]) {
  const { positionals } = parseCommand('explain', args, EXPLAIN_OPTIONS);
  if (positionals.length !== 1 || positionals[0] === '-')
    throw new Complaint(
      'bad-usage',
      `explain takes one origin, for example: ${commandLine('explain', 'example.org')}`,
    );
  const race = parseRaceCommand(['--mode', 'compare', ...args]);
  const [origin] = race.origins;
  if (origin === undefined) throw new RangeError('a race without an origin is refused');
  return {
    ...race,
    origin,
    /** Maximum number of pairs in the comparison. */
    pairs: race.trials,
  };
}

function rememberedH3(host: HostRecord, nowMs: number): CacheKnowledge['h3'] {
  const { h3AtMs, h3FailedAtMs, h3Failure, h3Failures: failures } = host;
  const untilMs = freshUntilMs(host, nowMs);
  if (h3FailedAtMs !== null && h3FailedAtMs > (h3AtMs ?? 0))
    return { failure: h3Failure, atMs: h3FailedAtMs, untilMs, failures };
  return h3AtMs === null ? null : { failure: null, atMs: h3AtMs, untilMs, failures };
}

/** What the host cache contains about the origin on this network; null: nothing. */
function recalled(
  cache: HostCache,
  { origin }: ExplainCommand,
  { network, nowMs }: { readonly network: string; readonly nowMs: number },
): CacheKnowledge | null {
  const host = cache.show(origin.origin).hosts.find((record) => record.network === network);
  if (host === undefined) return null;
  const { tcpProtocol, tcpAtMs, altSvc, altSvcAtMs } = host;
  return {
    h3: rememberedH3(host, nowMs),
    tcp: tcpProtocol === null || tcpAtMs === null ? null : { protocol: tcpProtocol, atMs: tcpAtMs },
    altSvc:
      altSvc === null || altSvcAtMs === null
        ? null
        : { value: altSvc, atMs: altSvcAtMs, untilMs: host.altSvcUntilMs },
    races: host.races,
  };
}

interface ExplainContext {
  readonly command: ExplainCommand;
  readonly terminal: Terminal;
  readonly racing: RunRace;
  readonly network: string;
  readonly signal: AbortSignal;
  /** Stores an outcome; never rejects. */
  readonly store: (race: OriginRace) => void;
}

/** One race that ignores everything remembered. */
async function raceBy(context: ExplainContext, mode: Mode): Promise<OriginRace> {
  const { command, terminal, racing, network, signal } = context;
  terminal.progress(`racing ${command.origin.origin} in mode ${mode}`);
  try {
    return await racing({
      origin: command.origin,
      network,
      mode,
      memory: 'none',
      trials: 1,
      pairs: command.pairs,
      pacing: PACED_BY_PATH,
      timeoutMs: command.timeoutMs,
      signal,
    });
  } catch (error) {
    // Races report failures as data; the only exception is a transport that cannot be loaded.
    throw new Complaint('cannot-race', messageOf(error), EXIT_FAILED);
  }
}

/**
 * Whether HTTP/3 works and TCP was not seen to fail; it may have been cancelled when HTTP/3 was first. A comparison
 * does not follow Alt-Svc, so HTTP/3 at an alternative would fail in it, and that failure be stored.
 */
function isComparable(race: OriginRace): boolean {
  const attempts = race.trials.flatMap((trial) => trial.attempts);
  const { h3, tcp } = reachOfEach(attempts.filter(({ source }) => source !== 'alt-svc'));
  return h3 === 'established' && !isFailed(tcp);
}

/** Whether an advertised endpoint was not attempted, for example because HTTP/3 at the origin's own port was first. */
function leavesOpen(races: Races): boolean {
  // Other hosts do not influence what is still to be tried.
  return advertisedAlternatives(evidenceOfRaces(races, NO_OTHERS)).some(({ reach }) => reach === 'not-tried');
}

/** Whether the races so far ended before DNS had answered for its HTTPS record. */
function hasUnansweredRecord(races: Races): boolean {
  return isRecordUnanswered(discoveredIn(races).names, originParts(races.race.origin));
}

/**
 * A dead host is not raced again, and a protocol that does not work is not compared: each would only time out again.
 */
async function raceAll(context: ExplainContext): Promise<Races> {
  const race = await raceBy(context, 'race');
  context.store(race);
  const first = { race, v3: null, altSvc: null, h3: null, compare: null };
  if (race.trials.every((trial) => trial.adopted === null)) return first;
  const second = { ...first, v3: await raceBy(context, 'v3') };
  const third = { ...second, altSvc: leavesOpen(second) ? await raceBy(context, 'alt-svc') : null };
  // An endpoint of an HTTPS record is not in Alt-Svc, and HTTP/2 may have been first where the record was followed or
  // queried.
  const isOpen = leavesOpen(third) || hasUnansweredRecord(third);
  const fourth = { ...third, h3: isOpen ? await raceBy(context, 'h3') : null };
  if (!isComparable(race)) return fourth;
  const compare = await raceBy(context, 'compare');
  context.store(compare);
  const fifth = { ...fourth, compare };
  // It may have had the first response over TCP, which can name other endpoints than those over HTTP/3.
  const isNamedSince = fifth.altSvc === null && leavesOpen(fifth);
  return isNamedSince ? { ...fifth, altSvc: await raceBy(context, 'alt-svc') } : fifth;
}

async function explain(
  command: ExplainCommand,
  terminal: Terminal,
  cache: HostCache,
  stop: AbortController,
): Promise<Explanation> {
  const where = networkOf(
    { network: command.network, memory: 'full' },
    cachePath(command.cacheFile),
    cache.networkNames(),
    terminal,
  );
  const cacheHere = recordOnlyOn(where, cache);
  const racing = await openRacerFor(command, cacheHere);
  const network = await where.settled();
  const atMs = systemClock.epochMs();
  const remembered = recalled(cache, command, { network, nowMs: atMs });
  const shared = freshShared(cache.shared(command.origin.origin), atMs);
  const store = (race: OriginRace): void => storeOutcome(cacheHere, race);
  const watch = stopOnMove(where, network, stop);
  const context = { command, terminal, racing, network, signal: stop.signal, store };
  const races = await raceAll(context).finally(watch.end);
  // They would be evidence of two networks for one verdict.
  if (watch.moved())
    throw new Complaint('network-changed', `${NETWORK_CHANGED}; run the command again`, EXIT_FAILED);
  // The races have found the origin's addresses, which tell other hosts from other names of this one.
  const evidence = cache.udpEvidence(network, command.origin.origin);
  const { names = null, alternatives = [] } = discoveredIn(races);
  return {
    ...{ schema: EXPLAIN_SCHEMA, origin: command.origin.origin, network, atMs, names, alternatives },
    ...races,
    shared: shared && sharedOutcome(shared),
    ...{ remembered, evidence, verdict: verdictOfRaces(races, evidence) },
  };
}

/** Runs `explain`; 0 when any protocol was adopted, 1 when none was. */
export async function runExplain(args: readonly string[], terminal: Terminal): Promise<number> {
  const command = parseExplainCommand(args);
  const { stop, forget } = stoppedByInterrupt();
  const path = cachePath(command.cacheFile);
  const cache = openHostCache({
    path,
    clock: systemClock,
    ...cacheComplaints(terminal),
    sharedKey: copiedKeys(terminal),
  });
  try {
    const explanation = await explain(command, terminal, cache, stop);
    if (stop.signal.aborted) throw new Complaint('cancelled', 'interrupted', EXIT_INTERRUPTED);
    terminal.result(
      command.json
        ? JSON.stringify(explanation)
        : explanationText(explanation, terminal.paint, cache.networkNames()),
    );
    complainOfPins(command.pins, terminal);
    const adopted = explanation.race.trials.some((trial) => trial.adopted !== null);
    return adopted ? EXIT_OK : EXIT_FAILED;
  } finally {
    forget();
    cache.close();
  }
}
