// `photofinish cache`: shows the contents of the host cache, as text or JSON, and deletes from it.
import { existsSync } from 'node:fs';
import { formatMs } from '@photofinish/shared/language/markup';
import { attemptErrorText } from '@photofinish/shared/verdict/codes';
import type { Origin } from '@photofinish/shared/web/origin';
import { PROTOCOL_NAMES } from '@photofinish/shared/web/protocol';
import { alternativesOf, type KnownAlternative } from '../cache/advertised.ts';
import { advertisedUntilMs, freshUntilMs } from '../cache/policy.ts';
import { type AddressRecord, ANY_NETWORK, type HostRecord, type UseRecord } from '../cache/record.ts';
import type { OriginRecords } from '../cache/store.ts';
import { systemClock } from '../clock.ts';
import { commandLine } from '../install/own-command.ts';
import { CACHE_ACTIONS, CACHE_OPTIONS } from './command-table.ts';
import { cachePath, changing, openCache } from './helper-caches.ts';
import type { Terminal } from './terminal.ts';
import {
  ago,
  type Cell,
  columnsOf,
  duration,
  type NetworkNames,
  NO_NAMES,
  networkLabel,
  type Paint,
  plural,
  printable,
  table,
  wrapped,
} from './text.ts';
import { Complaint, EXIT_FAILED, EXIT_OK, listed, oneOf, parseCommand, readOrigin } from './usage.ts';

const CACHE_SCHEMA = 'photofinish.cache/1';

function list(path: string, json: boolean, terminal: Terminal): number {
  // Reading must not create a file.
  const cache = existsSync(path) ? openCache(path, terminal) : null;
  const hosts = cache?.list() ?? [];
  const names = cache?.networkNames() ?? NO_NAMES;
  cache?.close();
  if (json) terminal.result(JSON.stringify({ schema: CACHE_SCHEMA, file: path, hosts }));
  else if (hosts.length === 0) terminal.result(`The host cache ${path} is empty.`);
  else terminal.result(hostsTable(hosts, { nowMs: systemClock.epochMs(), names }, terminal.paint).join('\n'));
  return EXIT_OK;
}

function originDocument(path: string, origin: string, records: OriginRecords): object {
  const hosts = records.hosts.map((host) => ({ ...host, alternatives: alternativesOf(host) }));
  return { schema: CACHE_SCHEMA, file: path, origin, ...records, hosts };
}

function show(path: string, origin: Origin, json: boolean, terminal: Terminal): number {
  const cache = existsSync(path) ? openCache(path, terminal) : null;
  const records: OriginRecords = cache?.show(origin) ?? { hosts: [], uses: [], addresses: [] };
  const names = cache?.networkNames() ?? NO_NAMES;
  cache?.close();
  if (records.hosts.length + records.uses.length === 0) {
    terminal.error(
      'no-record',
      `nothing is known about ${origin}; race it with: ${commandLine('race', origin)}`,
    );
    return EXIT_FAILED;
  }
  if (json) terminal.result(JSON.stringify(originDocument(path, origin, records)));
  else
    terminal.result(originText(records, { nowMs: systemClock.epochMs(), names }, terminal.paint).join('\n'));
  return EXIT_OK;
}

async function forget(
  path: string,
  origins: readonly Origin[],
  json: boolean,
  terminal: Terminal,
): Promise<number> {
  const forgotten = existsSync(path)
    ? await changing(path, terminal, (cache) => origins.filter((origin) => cache.forget(origin)))
    : [];
  const unknown = origins.filter((origin) => !forgotten.includes(origin));
  if (json) terminal.result(JSON.stringify({ schema: CACHE_SCHEMA, file: path, forgotten }));
  else for (const origin of forgotten) terminal.result(`Forgot ${origin}.`);
  for (const origin of unknown) terminal.error('no-record', `nothing is known about ${origin}`);
  return unknown.length === 0 ? EXIT_OK : EXIT_FAILED;
}

async function clear(
  path: string,
  { json, yes }: { readonly json: boolean; readonly yes: boolean },
  terminal: Terminal,
): Promise<number> {
  let cleared = 0;
  if (existsSync(path)) {
    const { origins } = await changing(path, terminal, (cache) => cache.stats());
    const question = `Delete all that is known about ${plural(origins, 'origin')}, in ${path}?`;
    if (!yes && !(await terminal.confirm(question))) {
      terminal.error('cancelled', 'nothing was deleted; --yes clears without asking');
      return EXIT_FAILED;
    }
    cleared = await changing(path, terminal, (cache) => cache.wipe());
  }
  if (json) terminal.result(JSON.stringify({ schema: CACHE_SCHEMA, file: path, cleared }));
  else terminal.result(`Cleared ${plural(cleared, 'origin')} from ${path}.`);
  return EXIT_OK;
}

/** Runs `cache list`, `cache show ORIGIN`, `cache forget ORIGIN...` and `cache clear`. */
export async function runCache(args: readonly string[], terminal: Terminal): Promise<number> {
  const { values, positionals } = parseCommand('cache', args, CACHE_OPTIONS);
  const [word, ...texts] = positionals;
  if (word === undefined) throw new Complaint('bad-usage', `cache takes ${listed(CACHE_ACTIONS)}`);
  const action = oneOf('bad-usage', 'cache', word, CACHE_ACTIONS);
  if ((action === 'list' || action === 'clear') && texts.length > 0)
    throw new Complaint('bad-usage', `cache ${action} takes no argument`);
  if (values.yes && action !== 'clear') throw new Complaint('bad-usage', '--yes is for cache clear only');
  const [origin, ...others] = texts.map((text) => readOrigin(text).origin);
  const path = cachePath(values.cache ?? null);
  const { json = false, yes = false } = values;
  if (action === 'list') return list(path, json, terminal);
  if (action === 'clear') return clear(path, { json, yes }, terminal);
  if (origin === undefined) throw new Complaint('bad-usage', `cache ${action} takes an ORIGIN`);
  if (action === 'forget') return forget(path, [origin, ...others], json, terminal);
  if (others.length > 0) throw new Complaint('bad-usage', 'cache show takes one ORIGIN');
  return show(path, origin, json, terminal);
}

function h3Text(host: HostRecord, nowMs: number): string {
  const { h3AtMs, h3FailedAtMs, h3Failure } = host;
  const leftMs = (freshUntilMs(host, nowMs) ?? 0) - nowMs;
  if (h3FailedAtMs !== null && (h3AtMs === null || h3FailedAtMs > h3AtMs)) {
    const why = h3Failure === null ? 'failed' : attemptErrorText(h3Failure);
    return leftMs > 0 ? `${why}, next try in ${duration(leftMs)}` : `${why} ${ago(h3FailedAtMs, nowMs)}`;
  }
  if (h3AtMs === null) return '–';
  return leftMs > 0 ? `works, fresh for ${duration(leftMs)}` : `worked ${ago(h3AtMs, nowMs)}`;
}

function tcpText(host: HostRecord, nowMs: number): string {
  const { tcpProtocol, tcpAtMs, tcpFailedAtMs, tcpFailure } = host;
  if (tcpFailedAtMs !== null && tcpFailure !== null && tcpFailedAtMs > (tcpAtMs ?? 0))
    return `${attemptErrorText(tcpFailure)} ${ago(tcpFailedAtMs, nowMs)}`;
  return tcpProtocol === null ? '–' : PROTOCOL_NAMES[tcpProtocol];
}

function advertisedText(host: HostRecord, nowMs: number): string {
  const untilMs = advertisedUntilMs(host, nowMs);
  if (untilMs !== null) return `for ${duration(untilMs - nowMs)}`;
  return host.altSvcUntilMs === null && host.serviceUntilMs === null ? '–' : 'expired';
}

/** Input of the text: the current time since the epoch, and the user's names for networks. */
interface TextContext {
  readonly nowMs: number;
  readonly names: NetworkNames;
}

function networkText(network: string, { names }: TextContext): string {
  return network === ANY_NETWORK ? 'any' : networkLabel(network, names);
}

/** The records of hosts, one line each. */
function hostsTable(hosts: readonly HostRecord[], context: TextContext, paint: Paint): string[] {
  const { nowMs } = context;
  const titles = ['ORIGIN', 'NETWORK', 'HTTP/3', 'OVER TCP', 'ADVERTISES H3', 'RACES', 'UPDATED'];
  const rows = hosts.map((host): Cell[] => [
    host.origin,
    networkText(host.network, context),
    h3Text(host, nowMs),
    tcpText(host, nowMs),
    advertisedText(host, nowMs),
    String(host.races),
    ago(host.updatedAtMs, nowMs),
  ]);
  return table(columnsOf(titles, ['RACES']), rows, paint);
}

/** A smoothed round trip with its variance (RFC 6298). */
function rttText(name: string, srttMs: number | null, rttvarMs: number | null): string | null {
  if (srttMs === null) return null;
  return `${name} ${formatMs(srttMs)}${rttvarMs === null ? '' : ` ± ${formatMs(rttvarMs)}`}`;
}

function timesText(host: HostRecord, context: TextContext): string | null {
  const times = [
    host.h3HandshakeMs === null ? null : `HTTP/3 handshake ${formatMs(host.h3HandshakeMs)}`,
    host.tcpHandshakeMs === null ? null : `TCP and TLS ${formatMs(host.tcpHandshakeMs)}`,
    rttText('QUIC RTT', host.h3RttMs, host.h3RttVarMs),
    rttText('TCP RTT', host.tcpRttMs, host.tcpRttVarMs),
    host.h3LossRate === null ? null : `QUIC loss ${(100 * host.h3LossRate).toFixed(1)} %`,
  ].filter((words) => words !== null);
  return times.length === 0 ? null : `on ${networkText(host.network, context)}: ${times.join(', ')}`;
}

const TELLERS: Record<NonNullable<KnownAlternative['said']>, string> = {
  browser: 'a header that a browser received',
  race: 'a header that a race received',
  'https-record': 'an HTTPS record',
};

function alternativeText(alternative: KnownAlternative, network: string, context: TextContext): string {
  const { nowMs } = context;
  const { alpn, host, port, said, saidAtMs, untilMs, persist } = alternative;
  const place = host === '' ? `port ${port}` : `${host}:${port}`;
  const teller = said === null ? 'a header' : TELLERS[said];
  const left = untilMs > nowMs ? `valid for ${duration(untilMs - nowMs)}` : 'expired';
  const where = persist ? 'any network' : networkText(network, context);
  return `${printable(alpn)} at ${printable(place)} on ${where}: ${teller}, ${ago(saidAtMs, nowMs)}, ${left}`;
}

/** Every alternative once: a persistent one is also stored under `ANY_NETWORK`. */
function alternativesText(hosts: readonly HostRecord[], context: TextContext): string[] {
  const { nowMs } = context;
  const lines = hosts.flatMap((host) =>
    alternativesOf(host).map((alternative) => alternativeText(alternative, host.network, context)),
  );
  const refused = hosts.flatMap((host) => {
    if (host.misdirected === null || (host.misdirectedUntilMs ?? 0) <= nowMs) return [];
    const left = duration((host.misdirectedUntilMs ?? 0) - nowMs);
    return [
      `not h3 at ${printable(host.misdirected)} on ${networkText(host.network, context)}: it responded with 421, skipped for another ${left}`,
    ];
  });
  return [...new Set([...lines, ...refused])];
}

function addressLine(address: AddressRecord, context: TextContext): string {
  const network = networkText(address.network, context);
  const age = ago(address.usedAtMs, context.nowMs);
  return `${printable(address.address)} on ${network}: ${formatMs(address.srttMs)}, ${age}`;
}

function useText(use: UseRecord, context: TextContext): string {
  const protocol = use.protocol === null ? 'an unknown protocol' : PROTOCOL_NAMES[use.protocol];
  const network = networkText(use.network, context);
  return `${use.browser} under ${printable(use.site)} on ${network}: ${protocol}, ${ago(use.seenAtMs, context.nowMs)}`;
}

/** Everything known of one origin, as lines. */
export function originText(
  { hosts, uses, addresses }: OriginRecords,
  context: TextContext,
  paint: Paint,
): string[] {
  const indented = (lines: readonly string[]) => lines.flatMap((line) => wrapped(line, '  ', '    '));
  const section = (title: string, lines: readonly string[]) =>
    lines.length === 0 ? [] : ['', title, ...indented(lines)];
  return [
    ...hostsTable(hosts, context, paint),
    ...indented(hosts.map((host) => timesText(host, context)).filter((line) => line !== null)),
    ...section('Advertised alternatives:', alternativesText(hosts, context)),
    ...section(
      'Addresses, with their round-trip times:',
      addresses.map((address) => addressLine(address, context)),
    ),
    ...section(
      'What browsers used:',
      uses.map((use) => useText(use, context)),
    ),
  ];
}
