// An explanation for people: the verdict first, then the evidence it rests on, section by section, 80 columns wide.
import { attemptErrorWords } from '@photofinish/shared/attempt-words';
import type {
  DiscoveredAddress,
  DiscoveredAlternative,
  Names,
  ServiceRecord,
} from '@photofinish/shared/discovered';
import { discoveredIn, type Explanation, type Remembered } from '@photofinish/shared/explanation';
import { hostPort, type OriginParts, originParts } from '@photofinish/shared/origin';
import type { Attempt, OriginRace } from '@photofinish/shared/outcome';
import { PROTOCOL_NAMES } from '@photofinish/shared/protocol';
import { drawPhotoFinish } from './photo-finish.ts';
import {
  type Cell,
  duration,
  LINE_COLUMNS,
  milliseconds,
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

/** A line for each text, those that are too long broken and indented further. */
function lines(...texts: readonly string[]): string[] {
  return texts.flatMap((text) => wrapped(printable(text), INDENT, CONTINUED));
}

/** A table; where long names and addresses make it too wide, a sentence for each row. */
function rows(head: readonly string[], body: readonly (readonly Cell[])[], paint: Paint): string[] {
  const columns = head.map((title) => ({ title, align: 'left' as const }));
  const narrow = table(columns, body, plain).every((line) => INDENT.length + line.length <= LINE_COLUMNS);
  if (narrow) return table(columns, body, paint).map((line) => INDENT + line);
  const sentence = (cells: readonly Cell[]): string =>
    cells.map(({ text }, index) => `${head[index]?.toLowerCase()} ${text}`).join(', ');
  return lines(...body.map(sentence));
}

const ADDRESS_SOURCES: Record<DiscoveredAddress['source'], string> = {
  a: 'A',
  aaaa: 'AAAA',
  hint: 'hint of an HTTPS record',
  pin: 'given, DNS was not asked',
  literal: 'given, DNS was not asked',
  nat64: 'made from IPv4 for NAT64',
};

function ttl(seconds: number | null): string {
  return seconds === null ? '–' : duration(seconds * 1000);
}

function serviceWords({ owner, priority, target, ...record }: ServiceRecord): string {
  const head = `HTTPS ${priority} ${owner}`;
  const life = `for ${ttl(record.ttlSeconds)}`;
  if (priority === 0) return `${head}: an alias of ${target}, ${life}`;
  const hints = [...record.ipv4Hints, ...record.ipv6Hints];
  const parts = [
    target === owner ? null : `at ${target}`,
    record.port === null ? null : `port ${record.port}`,
    `alpn ${record.alpn.length === 0 ? 'none' : record.alpn.join(', ')}`,
    record.noDefaultAlpn ? 'not http/1.1' : null,
    hints.length === 0 ? null : `hints ${hints.join(', ')}`,
    record.ech ? 'ECH' : null,
    record.incompatible ? 'ignored, for a mandatory key is not known' : null,
    life,
  ];
  return `${head}: ${parts.filter((part) => part !== null).join('; ')}`;
}

function lookupWords({ name, kind, tookMs, outcome, records, message }: Names['lookups'][number]): string {
  const said = {
    answered: plural(records, 'record'),
    empty: 'no such record',
    failed: `failed${message === undefined ? '' : `: ${message}`}`,
  };
  return `${kind} ${name}: ${said[outcome]}, after ${milliseconds(tookMs)}`;
}

function namesSection({ names, race }: Explanation, paint: Paint): string[] {
  if (names === null) return lines('DNS was not asked.');
  const none =
    race.error?.code === 'blocked' ? 'No address that may be connected to.' : 'No address was found.';
  const { addresses, services, lookups } = names;
  const found = addresses.map(({ address, host, source, ttlSeconds }): Cell[] => [
    { text: printable(address) },
    { text: printable(host) },
    { text: ADDRESS_SOURCES[source] },
    { text: ttl(ttlSeconds) },
  ]);
  return [
    ...(found.length === 0 ? lines(none) : rows(['ADDRESS', 'NAME', 'FROM', 'VALID FOR'], found, paint)),
    ...lines(...services.map(serviceWords)),
    ...lines(...lookups.filter(({ outcome }) => outcome !== 'answered').map(lookupWords)),
  ];
}

function alternativeWords({
  alpn,
  host,
  port,
  persist,
  expiresInSeconds,
  source,
}: DiscoveredAlternative): string {
  const place = host === '' ? `on port ${port}` : `at ${host}:${port}`;
  const life = expiresInSeconds > 0 ? `for ${ttl(expiresInSeconds)}` : 'expired';
  const lasting = persist ? ', on every network' : '';
  const from = source === 'answer' ? 'by an answer of these races' : 'by the host cache';
  return `${alpn} ${place}, ${life}${lasting}, named ${from}`;
}

function advertisementSection(explanation: Explanation): string[] {
  const { altSvc } = discoveredIn(explanation);
  return lines(
    altSvc === null ? 'No answer carried an Alt-Svc header.' : `Alt-Svc: ${altSvc}`,
    ...explanation.alternatives.map(alternativeWords),
  );
}

function outcomeWords({ outcome, error, establishedMs }: Attempt): string {
  if (outcome === 'adopted') return 'adopted';
  if (outcome === 'established-late') return 'late, still learnt';
  if (outcome === 'cancelled') return establishedMs === null ? 'cancelled' : 'established, not needed';
  return error === undefined ? 'failed' : attemptErrorWords(error.code);
}

const NAMED_BY = { 'https-record': 'an HTTPS record', 'alt-svc': 'Alt-Svc' } as const;

function attemptLines(race: OriginRace, { host: ownHost }: OriginParts, paint: Paint): string[] {
  const attempts = race.trials.flatMap((trial) => trial.attempts);
  const body = attempts.map(({ protocol, address, port, startedMs, establishedMs, ...attempt }): Cell[] => [
    { text: PROTOCOL_NAMES[protocol], paint: (text) => paintProtocol(paint, protocol, text) },
    { text: printable(hostPort(address, port)) },
    { text: milliseconds(startedMs) },
    { text: milliseconds(establishedMs) },
    { text: outcomeWords({ protocol, address, port, startedMs, establishedMs, ...attempt }) },
  ]);
  const elsewhere = attempts.flatMap(({ address, port, host = ownHost, source }) =>
    source === undefined ? [] : [`${hostPort(address, port)} is ${host}, named by ${NAMED_BY[source]}.`],
  );
  const messages = attempts.flatMap(({ protocol, address, port, error }) =>
    error === undefined || error.code === 'cancelled'
      ? []
      : [`${PROTOCOL_NAMES[protocol]} to ${hostPort(address, port)} failed, ${error.code}: ${error.message}`],
  );
  const afresh = attempts.flatMap(({ address, port, fresh }) =>
    fresh ? [`${hostPort(address, port)} was tried afresh: the first handshake over QUIC was overdue.`] : [],
  );
  return [
    ...rows(['PROTOCOL', 'ADDRESS', 'STARTED', 'ESTABLISHED', 'OUTCOME'], body, paint),
    ...lines(...new Set([...elsewhere, ...afresh, ...messages])),
  ];
}

function raceSection(race: OriginRace, origin: OriginParts, paint: Paint): string[] {
  if (race.error !== undefined && race.trials.length === 0) {
    const remedy = race.error.code === 'blocked' ? ' Allow it with --allow-private.' : '';
    return lines(`Not raced (${race.error.code}): ${race.error.message}.${remedy}`);
  }
  return attemptLines(race, origin, paint);
}

function firstVisitSection({ v3, names }: Explanation, origin: OriginParts, paint: Paint): string[] {
  if (v3 === null) return lines('Not raced: nothing was reached before.');
  const adopted = v3.trials[0]?.adopted ?? null;
  const recorded = names?.services.some((s) => !s.incompatible && s.priority > 0 && s.alpn.includes('h3'));
  const why =
    adopted === 'h3'
      ? 'its HTTPS record says so'
      : recorded
        ? 'HTTP/3 did not come first, though an HTTPS record names it'
        : 'no HTTPS record names HTTP/3, and Alt-Svc is learnt only from an answer';
  const said =
    adopted === null
      ? 'A client of Happy Eyeballs v3 reaches nothing on its first visit.'
      : `A client of Happy Eyeballs v3 uses ${PROTOCOL_NAMES[adopted]} on its first visit: ${why}.`;
  return [...lines(said), ...attemptLines(v3, origin, paint)];
}

function advertisedSection({ altSvc }: Explanation, origin: OriginParts, paint: Paint): string[] {
  if (altSvc === null) return [];
  return ['', paint('bold', 'A race that goes by Alt-Svc'), ...attemptLines(altSvc, origin, paint)];
}

function compareSection({ compare, race }: Explanation, paint: Paint): string[] {
  if (compare !== null) return drawPhotoFinish(compare, paint);
  const reached = race.trials.some((trial) => trial.adopted !== null);
  return lines(`Not compared: ${reached ? 'only one of the two works' : 'nothing was reached'}.`);
}

function rememberedWords(remembered: Remembered, nowMs: number): string[] {
  const { h3, tcp, altSvc, races } = remembered;
  const ago = (atMs: number): string => `${duration(Math.max(0, nowMs - atMs))} ago`;
  const left = (untilMs: number | null): string | null =>
    untilMs !== null && untilMs > nowMs ? duration(untilMs - nowMs) : null;
  const said: string[] = [`${plural(races, 'race')} on this network before these.`];
  if (h3 !== null && h3.failure !== null) {
    const more = h3.failures > 1 ? `, ${h3.failures} times in a row` : '';
    const until = left(h3.untilMs);
    const alone = until === null ? 'It may be tried again.' : `It is left alone for another ${until}.`;
    said.push(`HTTP/3 failed ${ago(h3.atMs)} (${attemptErrorWords(h3.failure)})${more}. ${alone}`);
  } else if (h3 !== null) {
    const fresh = left(h3.untilMs);
    said.push(
      `HTTP/3 worked ${ago(h3.atMs)}, ${fresh === null ? 'too long ago to count' : `fresh for ${fresh}`}.`,
    );
  }
  if (tcp !== null) said.push(`${PROTOCOL_NAMES[tcp.protocol]} worked ${ago(tcp.atMs)}.`);
  if (altSvc !== null) said.push(`Alt-Svc ${ago(altSvc.atMs)}: ${altSvc.value}`);
  return said;
}

function evidenceWords({ failedHosts, reachedHosts }: Explanation['evidence']): string {
  if (failedHosts + reachedHosts === 0) return 'In the last day no other host was tried over HTTP/3 here.';
  const reached = `In the last day HTTP/3 reached ${plural(reachedHosts, 'other host')} here`;
  return failedHosts === 0
    ? `${reached} and failed for none.`
    : `${reached} and failed for ${failedHosts} that TCP reached.`;
}

/** The whole page, without a final line break. */
export function explanationText(explanation: Explanation, paint: Paint = plain): string {
  const { verdict, remembered, atMs, network } = explanation;
  const origin = originParts(explanation.origin);
  const section = (title: string, body: readonly string[]): string[] => ['', paint('bold', title), ...body];
  return [
    paint('bold', explanation.origin),
    ...[verdict.text, ...verdict.findings.map(({ text }) => `Also: ${text}`)].flatMap((text) =>
      wrapped(printable(text), INDENT),
    ),
    ...lines(`(verdict ${verdict.code}, on network ${network})`).map((line) => paint('dim', line)),
    ...section('What DNS says', namesSection(explanation, paint)),
    ...section('What the server advertises', advertisementSection(explanation)),
    ...section('A race, nothing remembered', raceSection(explanation.race, origin, paint)),
    ...section('A first visit', firstVisitSection(explanation, origin, paint)),
    ...advertisedSection(explanation, origin, paint),
    ...section('Both compared', compareSection(explanation, paint)),
    ...section(
      'What the host cache remembers',
      lines(
        ...(remembered === null
          ? ['Nothing of this host on this network.']
          : rememberedWords(remembered, atMs)),
      ),
    ),
    ...section('Other hosts on this network', lines(evidenceWords(explanation.evidence))),
  ].join('\n');
}
