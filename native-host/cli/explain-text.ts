// An explanation for people: first the verdict, then its evidence in sections, 80 columns wide.
import { timedTrials } from '@photofinish/shared/race/conclusive';
import type {
  DiscoveredAddress,
  DiscoveredAlternative,
  DnsResults,
  ServiceRecord,
} from '@photofinish/shared/race/discovered';
import type { Attempt, OriginRace } from '@photofinish/shared/race/outcome';
import { attemptErrorText, failureText } from '@photofinish/shared/verdict/codes';
import {
  failuresOf,
  isAnswered,
  isFailed,
  NO_OTHERS,
  reachOfEach,
} from '@photofinish/shared/verdict/evidence';
import {
  type CacheKnowledge,
  discoveredIn,
  type Explanation,
  evidenceOfRaces,
  finished,
} from '@photofinish/shared/verdict/explanation';
import {
  leftOutText,
  otherFindings,
  sharedOutcomeText,
  verdictText,
} from '@photofinish/shared/verdict/verdict-text';
import { alternativeHost, h3Alternatives, parseAltSvc } from '@photofinish/shared/web/alt-svc';
import { hostPort, type OriginParts, originParts } from '@photofinish/shared/web/origin';
import { PROTOCOL_NAMES } from '@photofinish/shared/web/protocol';
import { withOwnCommand } from '../install/own-command.ts';
import { codeHint, codeToExplain } from './codes.ts';
import { firstVisitText } from './first-visit.ts';
import { drawPhotoFinish, unracedText } from './race-text.ts';
import {
  ago,
  type Cell,
  cellText,
  columnsOf,
  duration,
  LINE_COLUMNS,
  milliseconds,
  type NetworkNames,
  NO_NAMES,
  networkLabel,
  type Paint,
  paintProtocol,
  plain,
  plural,
  printable,
  table,
  wrapped,
} from './text.ts';

const INDENT = '  ';
const CONTINUED = '    ';

/** One line per text; long ones are wrapped and indented further. */
function lines(...texts: readonly string[]): string[] {
  return texts.flatMap((text) => wrapped(printable(text), INDENT, CONTINUED));
}

/** A table; if long names and addresses make it too wide, a sentence per row. */
function rows(head: readonly string[], body: readonly (readonly Cell[])[], paint: Paint): string[] {
  const columns = columnsOf(head);
  const narrow = table(columns, body, plain).every((line) => INDENT.length + line.length <= LINE_COLUMNS);
  if (narrow) return table(columns, body, paint).map((line) => INDENT + line);
  const sentence = (cells: readonly Cell[]): string =>
    cells.map((cell, index) => `${head[index]?.toLowerCase()} ${cellText(cell)}`).join(', ');
  return lines(...body.map(sentence));
}

const ADDRESS_SOURCES: Record<DiscoveredAddress['source'], string> = {
  a: 'A',
  aaaa: 'AAAA',
  hint: 'HTTPS record hint',
  pin: 'given, not looked up',
  literal: 'given, not looked up',
  nat64: 'synthesised for NAT64',
};

function ttl(seconds: number | null): string {
  return seconds === null ? '–' : duration(seconds * 1000);
}

function serviceText({ owner, canonical, priority, target, ...record }: ServiceRecord): string {
  const head = `HTTPS ${priority} ${owner}${canonical === undefined ? '' : ` (CNAME ${canonical})`}`;
  const life = `TTL ${ttl(record.ttlSeconds)}`;
  if (priority === 0) return `${head}: ${target === '.' ? 'no such service' : `alias of ${target}`}, ${life}`;
  const hints = [...record.ipv4Hints, ...record.ipv6Hints];
  const parts = [
    target === owner ? null : `at ${target}`,
    record.port === null ? null : `port ${record.port}`,
    `alpn ${record.alpn.length === 0 ? 'none' : record.alpn.join(', ')}`,
    record.noDefaultAlpn ? 'no-default-alpn' : null,
    hints.length === 0 ? null : `hints ${hints.join(', ')}`,
    record.ech ? 'ECH' : null,
    record.incompatible ? 'ignored: mandatory key not supported, or malformed' : null,
    life,
  ];
  return `${head}: ${parts.filter((part) => part !== null).join('; ')}`;
}

function lookupText(lookup: DnsResults['lookups'][number]): string {
  const { name, kind, tookMs, outcome, records, message } = lookup;
  const words = {
    answered: plural(records, 'record'),
    empty: message === undefined ? 'no such record' : `nothing to connect to: ${message}`,
    failed: `failed${message === undefined ? '' : `: ${message}`}`,
  };
  return `${kind} ${name}: ${words[outcome]}, after ${milliseconds(tookMs)}`;
}

function namesSection({ names, race }: Explanation, paint: Paint): string[] {
  if (names === null) return lines('DNS was not queried.');
  const none =
    race.error?.code === 'blocked' ? 'No address that may be connected to.' : 'No address was found.';
  const { addresses, services, lookups, untried = 0 } = names;
  const found = addresses.map(({ address, host, source, ttlSeconds }) => [
    printable(address),
    printable(host),
    ADDRESS_SOURCES[source],
    ttl(ttlSeconds),
  ]);
  return [
    ...(found.length === 0 ? lines(none) : rows(['ADDRESS', 'NAME', 'FROM', 'VALID FOR'], found, paint)),
    ...lines(...services.map(serviceText)),
    ...lines(...lookups.filter(({ outcome }) => outcome !== 'answered').map(lookupText)),
    ...lines(...leftOutText(race)),
    ...(untried === 0
      ? []
      : lines(
          `${plural(untried, 'more address or alternative', 'more addresses or alternatives')} beyond what a race tries.`,
        )),
  ];
}

const ALTERNATIVE_SOURCES: Record<DiscoveredAlternative['source'], string> = {
  answer: 'from a response in these races',
  frame: 'from an ALTSVC frame in these races',
  memory: 'from the host cache',
};

function alternativeText(alternative: DiscoveredAlternative): string {
  const { alpn, host, port, persist, expiresInSeconds, source } = alternative;
  const place = host === '' ? `on port ${port}` : `at ${host}:${port}`;
  const life = expiresInSeconds > 0 ? `valid for ${ttl(expiresInSeconds)}` : 'expired';
  const lasting = persist ? ', on every network' : '';
  const from = ALTERNATIVE_SOURCES[source];
  return `${alpn} ${place}, ${life}${lasting}, ${from}`;
}

/** The HTTP/3 endpoints that a value names, without their lifetimes, in one order. */
function h3Places(value: string, ownHost: string): string {
  const places = h3Alternatives(parseAltSvc(value)).map((a) => hostPort(alternativeHost(a, ownHost), a.port));
  return [...new Set(places)].toSorted().join();
}

/** The Alt-Svc values that were received, by protocol if that makes a difference. */
function receivedTexts(explanation: Explanation): string[] {
  const { altSvc, altSvcOver, altSvcSource } = discoveredIn(explanation);
  const field = altSvcSource === 'frame' ? 'ALTSVC frame (RFC 7838 section 4)' : 'Alt-Svc';
  const { tcp, h3 } = altSvcOver ?? {};
  if (h3 == null || h3 === tcp) {
    const value = tcp ?? altSvc;
    return value === null ? [] : [`${field}: ${value}`];
  }
  const overH3 = `Alt-Svc over HTTP/3: ${h3}`;
  if (tcp === undefined) return [overH3];
  if (tcp === null) return ['No Alt-Svc was received over TCP.', overH3];
  const { host } = originParts(explanation.origin);
  const disagree =
    'They disagree. A browser that does not know of HTTP/3 yet follows the one over TCP; later, that of the newest response counts (RFC 7838).';
  return [
    `${field} over TCP: ${tcp}`,
    overH3,
    ...(h3Places(tcp, host) === h3Places(h3, host) ? [] : [disagree]),
  ];
}

/** Whether a response was received, or its header section, which could have had an Alt-Svc field; a 421 is one, too. */
function isHeard(attempt: Attempt): boolean {
  return isAnswered(attempt) || attempt.error?.code === 'misdirected';
}

function advertisementSection(explanation: Explanation): string[] {
  const attempts = explanation.race.trials.flatMap((trial) => trial.attempts);
  const ignored = attempts.find(({ error }) => error?.ignoredAltSvc !== undefined)?.error?.ignoredAltSvc;
  const received = receivedTexts(explanation);
  const all = finished(explanation).flatMap(({ trials }) => trials.flatMap((trial) => trial.attempts));
  const absent = all.some(isHeard)
    ? 'No Alt-Svc was received, neither in a response nor in a frame.'
    : 'No response was received, so it is unknown whether Alt-Svc is sent.';
  const none = ignored === undefined ? [absent] : [];
  return lines(
    ...(received.length === 0 ? none : received),
    ...(ignored === undefined
      ? []
      : [`Alt-Svc with a 421, which clients ignore (RFC 7838, section 6): ${ignored}`]),
    ...new Set(explanation.alternatives.map(alternativeText)),
  );
}

function outcomeText(attempt: Attempt): string {
  const { outcome, establishedMs } = attempt;
  if (outcome === 'adopted') return 'adopted';
  if (outcome === 'established-late') return 'late, remembered';
  if (outcome === 'cancelled') return establishedMs === null ? 'cancelled' : 'established, not needed';
  return failuresOf(attempt).map(failureText)[0] ?? 'failed';
}

const NAMED_BY = { 'https-record': 'an HTTPS record', 'alt-svc': 'Alt-Svc' } as const;

function attemptLines(race: OriginRace, { host: ownHost }: OriginParts, paint: Paint): string[] {
  const attempts = race.trials.flatMap((trial) => trial.attempts);
  const body = attempts.map((attempt): Cell[] => [
    {
      text: PROTOCOL_NAMES[attempt.protocol],
      paint: (text) => paintProtocol(paint, attempt.protocol, text),
    },
    printable(hostPort(attempt.address, attempt.port)),
    milliseconds(attempt.startedMs),
    milliseconds(attempt.establishedMs),
    outcomeText(attempt),
  ]);
  const each = (words: (attempt: Attempt, peer: string) => string | null): string[] =>
    attempts
      .map((attempt) => words(attempt, hostPort(attempt.address, attempt.port)))
      .filter((text) => text !== null);
  const elsewhere = each(({ host = ownHost, source }, peer) =>
    source === undefined ? null : `${peer} is ${host}, from ${NAMED_BY[source]}.`,
  );
  const afresh = each(({ fresh }, peer) =>
    fresh ? `${peer} was tried again: the first QUIC handshake was overdue.` : null,
  );
  const repeated = each(({ http11Required }, peer) =>
    http11Required
      ? `${peer} asked for HTTP/1.1 (HTTP_1_1_REQUIRED); the request was repeated over it, as in browsers.`
      : null,
  );
  const messages = each(({ protocol, error, firstByteMs }, peer) => {
    if (error === undefined || error.code === 'cancelled') return null;
    const began = firstByteMs == null ? '' : ` (its response began at ${milliseconds(firstByteMs)})`;
    return `${PROTOCOL_NAMES[protocol]} to ${peer} failed, ${error.code}: ${error.message}${began}`;
  });
  return [
    ...rows(['PROTOCOL', 'ADDRESS', 'STARTED', 'ESTABLISHED', 'OUTCOME'], body, paint),
    ...lines(...new Set([...elsewhere, ...afresh, ...repeated, ...messages])),
  ];
}

/**
 * That trials were disturbed. The comparison's own caption reports its part; if no trials are left, the verdict says
 * so.
 */
function busyText({ verdict, race, v3, altSvc, h3 }: Explanation): string[] {
  const trials = [race, v3, altSvc, h3].flatMap((each) => each?.trials ?? []);
  const busy = trials.length - timedTrials(trials).length;
  if (busy === 0 || verdict.code === 'machine-too-busy') return [];
  return [
    `This machine was too busy in ${busy} of ${plural(trials.length, 'trial')}; results that this may have distorted are left out.`,
  ];
}

function raceSection(race: OriginRace, origin: OriginParts, paint: Paint): string[] {
  return race.error !== undefined && race.trials.length === 0
    ? lines(unracedText(race.error))
    : attemptLines(race, origin, paint);
}

function firstVisitSection(explanation: Explanation, origin: OriginParts, paint: Paint): string[] {
  const { v3 } = explanation;
  return [...lines(firstVisitText(explanation)), ...(v3 === null ? [] : attemptLines(v3, origin, paint))];
}

function advertisedSection({ altSvc, h3 }: Explanation, origin: OriginParts, paint: Paint): string[] {
  const raceLines = (title: string, race: OriginRace | null) =>
    race === null ? [] : ['', paint('bold', title), ...attemptLines(race, origin, paint)];
  return [
    ...raceLines('Race to the advertised alternative', altSvc),
    ...raceLines('HTTP/3 alone, wherever it is advertised', h3),
  ];
}

/** Only failures that are no doing of ours show that a protocol does not work. */
function whyNotCompared(explanation: Explanation): string {
  const { attempts, error, offline, tooBusy } = evidenceOfRaces(explanation, NO_OTHERS);
  const { h3, tcp } = reachOfEach(attempts);
  const counts = error === undefined && !offline && !tooBusy;
  if (counts && isFailed(h3) && isFailed(tcp)) return 'neither protocol works';
  if (counts && (isFailed(h3) || isFailed(tcp)) && (h3 === 'established' || tcp === 'established'))
    return 'only one of the two protocols works';
  // The comparison was left out although the first race reached both.
  const first = reachOfEach(explanation.race.trials.flatMap((trial) => trial.attempts));
  if (first.h3 === 'established' && !isFailed(first.tcp))
    return 'HTTP/3 works at an alternative service only, and a comparison does not follow Alt-Svc';
  return 'the race above does not show that both protocols work';
}

function compareSection(explanation: Explanation, paint: Paint): string[] {
  return explanation.compare === null
    ? lines(`Not compared: ${whyNotCompared(explanation)}.`)
    : drawPhotoFinish(explanation.compare, paint);
}

function rememberedText(remembered: CacheKnowledge, nowMs: number): string[] {
  const { h3, tcp, altSvc, races } = remembered;
  const left = (untilMs: number | null): string | null =>
    untilMs !== null && untilMs > nowMs ? duration(untilMs - nowMs) : null;
  const history: string[] = [`${plural(races, 'earlier race')} on this network.`];
  if (h3 !== null && h3.failure !== null) {
    const more =
      h3.failures > 1
        ? ` The back-off grows with each failure (${h3.failures} so far); each success halves that count.`
        : '';
    const until = left(h3.untilMs);
    const alone =
      until === null ? 'It may be tried again now.' : `It is not tried again for another ${until}.`;
    history.push(`HTTP/3 failed ${ago(h3.atMs, nowMs)} (${attemptErrorText(h3.failure)}). ${alone}${more}`);
  } else if (h3 !== null) {
    const fresh = left(h3.untilMs);
    history.push(
      `HTTP/3 worked ${ago(h3.atMs, nowMs)}, ${fresh === null ? 'too long ago to rely on' : `fresh for ${fresh}`}.`,
    );
  }
  if (tcp !== null) history.push(`${PROTOCOL_NAMES[tcp.protocol]} worked ${ago(tcp.atMs, nowMs)}.`);
  if (altSvc !== null) history.push(`Alt-Svc, received ${ago(altSvc.atMs, nowMs)}: ${altSvc.value}`);
  return history;
}

function evidenceText({ failedHosts, reachedHosts, answeredHosts = 0 }: Explanation['evidence']): string {
  const reached =
    failedHosts + reachedHosts === 0
      ? 'In the last 24 hours no other host was reached over HTTP/3 here, and'
      : `In the last 24 hours HTTP/3 reached ${plural(reachedHosts, 'other host')} here;`;
  const failed =
    failedHosts === 0
      ? 'none that advertises it was silent over UDP.'
      : `${plural(failedHosts, 'host that advertises', 'hosts that advertise')} it did not respond over UDP, but did over TCP.`;
  const answered =
    answeredHosts === 0
      ? ''
      : ` ${plural(answeredHosts, 'other host')} answered over UDP, but failed over HTTP/3.`;
  return `${reached} ${failed}${answered}`;
}

const SHARED_RANK =
  'The verdict does not rest on it: it rests on the races above, and races that this machine remembers take precedence.';

/** The whole page, without a final line break. */
export function explanationText(
  explanation: Explanation,
  paint: Paint = plain,
  names: NetworkNames = NO_NAMES,
): string {
  const { verdict, remembered, shared, atMs, network } = explanation;
  const origin = originParts(explanation.origin);
  const section = (title: string, body: readonly string[]): string[] => ['', paint('bold', title), ...body];
  return [
    paint('bold', explanation.origin),
    ...[
      verdictText(verdict),
      ...otherFindings(verdict).map(({ text }) => `Also: ${text}`),
      ...busyText(explanation),
    ].flatMap((text) => wrapped(printable(withOwnCommand(text)), INDENT)),
    ...[
      ...lines(`(verdict ${verdict.code}, on network ${networkLabel(network, names)})`),
      // Not wrapped, so that the command can be copied.
      `${INDENT}What this means: ${codeHint(codeToExplain(verdict, explanation.race))}`,
    ].map((line) => paint('dim', line)),
    ...section('What DNS says', namesSection(explanation, paint)),
    ...section('What the server advertises', advertisementSection(explanation)),
    ...section('Race, ignoring the host cache', raceSection(explanation.race, origin, paint)),
    ...section('First visit', firstVisitSection(explanation, origin, paint)),
    ...advertisedSection(explanation, origin, paint),
    ...section('Comparison', compareSection(explanation, paint)),
    ...section(
      'Host cache',
      lines(
        ...(remembered === null
          ? ['Nothing about this origin on this network.']
          : rememberedText(remembered, atMs)),
      ),
    ),
    ...(shared === null
      ? []
      : section('Fleet cache', lines(`${sharedOutcomeText(shared, atMs)} ${SHARED_RANK}`))),
    ...section('Other hosts on this network', lines(evidenceText(explanation.evidence))),
  ].join('\n');
}
