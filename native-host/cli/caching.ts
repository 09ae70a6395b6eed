// `photofinish cache`: shows what the host cache holds, in words, and clears it.
import { existsSync } from 'node:fs';
import { resolve } from 'node:path';
import { ATTEMPT_ERROR_WORDS } from '@photofinish/shared/attempt-words';
import { formatMs, plural } from '@photofinish/shared/markup';
import { parseOrigin } from '@photofinish/shared/origin';
import { PROTOCOL_NAMES } from '@photofinish/shared/protocol';
import { CacheUnavailable } from '../cache/database.ts';
import { ANY_NETWORK, type HostRecord, type UseRecord } from '../cache/record.ts';
import { type HostCache, openHostCache } from '../cache/store.ts';
import { loadSettings, SettingsError } from '../config.ts';
import { systemClock } from '../race/clock.ts';
import type { Terminal } from './terminal.ts';
import { type Cell, type Paint, printable, table } from './text.ts';
import { Complaint, EXIT_FAILED, EXIT_OK, parseCommand } from './usage.ts';

export const CACHE_SCHEMA = 'photofinish.cache/1';

const OPTIONS = { cache: { type: 'string' }, json: { type: 'boolean' } } as const;

const UNITS = [
  ['d', 86_400_000],
  ['h', 3_600_000],
  ['min', 60_000],
  ['s', 1000],
] as const;

/** A length of time in its largest whole unit. */
export function duration(ms: number): string {
  const [unit, size] = UNITS.find(([, each]) => ms >= each) ?? UNITS[3];
  return `${Math.floor(ms / size)} ${unit}`;
}

/** The file asked for, else the one the helper's settings name. */
export function cachePath(asked: string | null): string {
  if (asked === '') throw new Complaint('bad-file', '--cache takes a file');
  if (asked !== null) return resolve(asked);
  try {
    return loadSettings().cachePath;
  } catch (error) {
    if (error instanceof SettingsError) throw new Complaint('bad-config', error.message);
    throw error;
  }
}

function h3Words(host: HostRecord, nowMs: number): string {
  const { h3AtMs, h3FailedAtMs, h3Failure, h3UntilMs, h3BackOffUntilMs } = host;
  if (h3FailedAtMs !== null && (h3AtMs === null || h3FailedAtMs > h3AtMs)) {
    const why = h3Failure === null ? 'failed' : ATTEMPT_ERROR_WORDS[h3Failure];
    const leftMs = (h3BackOffUntilMs ?? 0) - nowMs;
    return leftMs > 0
      ? `${why}, next try in ${duration(leftMs)}`
      : `${why} ${duration(nowMs - h3FailedAtMs)} ago`;
  }
  if (h3AtMs === null) return '–';
  const leftMs = (h3UntilMs ?? 0) - nowMs;
  return leftMs > 0 ? `works, fresh for ${duration(leftMs)}` : `worked ${duration(nowMs - h3AtMs)} ago`;
}

function tcpWords(host: HostRecord, nowMs: number): string {
  const { tcpProtocol, tcpAtMs, tcpFailedAtMs, tcpFailure } = host;
  if (tcpFailedAtMs !== null && tcpFailure !== null && tcpFailedAtMs > (tcpAtMs ?? 0))
    return `${ATTEMPT_ERROR_WORDS[tcpFailure]} ${duration(nowMs - tcpFailedAtMs)} ago`;
  return tcpProtocol === null ? '–' : PROTOCOL_NAMES[tcpProtocol];
}

function advertisedWords(host: HostRecord, nowMs: number): string {
  if (host.altSvcUntilMs === null) return '–';
  const leftMs = host.altSvcUntilMs - nowMs;
  return leftMs > 0 ? `for ${duration(leftMs)}` : 'expired';
}

function networkWords(network: string): string {
  return network === ANY_NETWORK ? 'any' : printable(network);
}

function hostsTable(hosts: readonly HostRecord[], nowMs: number, paint: Paint): string[] {
  const titles = ['ORIGIN', 'NETWORK', 'HTTP/3', 'OVER TCP', 'ADVERTISES H3', 'RACES', 'UPDATED'];
  const columns = titles.map((title) => ({
    title,
    align: title === 'RACES' ? ('right' as const) : ('left' as const),
  }));
  const rows = hosts.map((host): Cell[] => [
    { text: host.origin },
    { text: networkWords(host.network) },
    { text: h3Words(host, nowMs) },
    { text: tcpWords(host, nowMs) },
    { text: advertisedWords(host, nowMs) },
    { text: String(host.races) },
    { text: `${duration(Math.max(0, nowMs - host.updatedAtMs))} ago` },
  ]);
  return table(columns, rows, paint);
}

function timesWords(host: HostRecord): string | null {
  const times = [
    host.h3HandshakeMs === null ? null : `HTTP/3 handshake ${formatMs(host.h3HandshakeMs)}`,
    host.tcpHandshakeMs === null ? null : `TCP and TLS ${formatMs(host.tcpHandshakeMs)}`,
    host.h3RttMs === null ? null : `QUIC round trip ${formatMs(host.h3RttMs)}`,
    host.tcpRttMs === null ? null : `TCP round trip ${formatMs(host.tcpRttMs)}`,
  ].filter((words) => words !== null);
  return times.length === 0 ? null : `  on ${networkWords(host.network)}: ${times.join(', ')}`;
}

function useWords(use: UseRecord, nowMs: number): string {
  const protocol = use.protocol === null ? 'an unknown protocol' : PROTOCOL_NAMES[use.protocol];
  const age = duration(Math.max(0, nowMs - use.seenAtMs));
  return `  ${use.browser} under ${printable(use.site)} on ${networkWords(use.network)}: ${protocol}, ${age} ago`;
}

function open(path: string): HostCache {
  const cache = openHostCache({ path, clock: systemClock, say: () => {} });
  const { store, storeReason } = cache.stats();
  if (store === 'sqlite') return cache;
  cache.close();
  throw new Complaint('cache-unavailable', `${path} cannot be used: ${storeReason}`, EXIT_FAILED);
}

function list(path: string, json: boolean, terminal: Terminal): number {
  // Looking must not make a file.
  const cache = existsSync(path) ? open(path) : null;
  const hosts = cache?.list() ?? [];
  cache?.close();
  if (json) terminal.result(JSON.stringify({ schema: CACHE_SCHEMA, file: path, hosts }));
  else if (hosts.length === 0) terminal.result(`The host cache ${path} is empty.`);
  else terminal.result(hostsTable(hosts, systemClock.epochMs(), terminal.paint).join('\n'));
  return EXIT_OK;
}

function show(path: string, text: string, json: boolean, terminal: Terminal): number {
  const parsed = parseOrigin(text);
  if (!parsed.ok) throw new Complaint('bad-origin', parsed.message);
  const { origin } = parsed.value;
  const cache = existsSync(path) ? open(path) : null;
  const { hosts, uses } = cache?.show(origin) ?? { hosts: [], uses: [] };
  cache?.close();
  if (hosts.length + uses.length === 0) {
    terminal.error('no-record', `nothing is known about ${origin}; race it with: photofinish race ${origin}`);
    return EXIT_FAILED;
  }
  const nowMs = systemClock.epochMs();
  if (json) terminal.result(JSON.stringify({ schema: CACHE_SCHEMA, file: path, origin, hosts, uses }));
  else {
    const lines = [
      ...hostsTable(hosts, nowMs, terminal.paint),
      ...hosts.map(timesWords).filter((line) => line !== null),
      ...(uses.length === 0 ? [] : ['', 'What browsers used:', ...uses.map((use) => useWords(use, nowMs))]),
    ];
    terminal.result(lines.join('\n'));
  }
  return EXIT_OK;
}

function clear(path: string, json: boolean, terminal: Terminal): number {
  let cleared = 0;
  if (existsSync(path)) {
    const cache = open(path);
    try {
      cleared = cache.wipe();
    } catch (error) {
      if (!(error instanceof CacheUnavailable)) throw error;
      throw new Complaint('cache-unavailable', `${path}: ${error.message}`, EXIT_FAILED);
    } finally {
      cache.close();
    }
  }
  if (json) terminal.result(JSON.stringify({ schema: CACHE_SCHEMA, file: path, cleared }));
  else terminal.result(`Cleared ${plural(cleared, 'origin')} from ${path}.`);
  return EXIT_OK;
}

/** Runs `cache list`, `cache show ORIGIN` and `cache clear`. */
export function runCache(args: readonly string[], terminal: Terminal): number {
  const { values, positionals } = parseCommand('cache', args, OPTIONS);
  const [action, origin, ...more] = positionals;
  if (action !== 'list' && action !== 'show' && action !== 'clear')
    throw new Complaint(
      'bad-usage',
      action === undefined
        ? 'cache takes list, show ORIGIN or clear'
        : `cache has no "${action}"; it takes list, show ORIGIN or clear`,
    );
  if ((action === 'show') !== (origin !== undefined) || more.length > 0)
    throw new Complaint(
      'bad-usage',
      action === 'show' ? 'cache show takes one ORIGIN' : `cache ${action} takes no argument`,
    );
  const path = cachePath(values.cache ?? null);
  const json = values.json ?? false;
  if (action === 'list') return list(path, json, terminal);
  if (action === 'clear') return clear(path, json, terminal);
  return show(path, origin ?? '', json, terminal);
}
