// `photofinish cache`: shows what the host cache holds, and clears it.
import { existsSync } from 'node:fs';
import { resolve } from 'node:path';
import { parseOrigin } from '@photofinish/shared/origin';
import { alternativesOf } from '../cache/advertised.ts';
import { CacheUnavailable } from '../cache/database.ts';
import { type HostCache, type OriginRecords, openHostCache } from '../cache/store.ts';
import { loadSettings, SettingsError } from '../config.ts';
import { systemClock } from '../race/clock.ts';
import { hostsTable, originText } from './cache-text.ts';
import type { Terminal } from './terminal.ts';
import { plural } from './text.ts';
import { Complaint, EXIT_FAILED, EXIT_OK, parseCommand } from './usage.ts';

export const CACHE_SCHEMA = 'photofinish.cache/1';

const OPTIONS = { cache: { type: 'string' }, json: { type: 'boolean' } } as const;

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

function originDocument(path: string, origin: string, records: OriginRecords): object {
  const hosts = records.hosts.map((host) => ({ ...host, alternatives: alternativesOf(host) }));
  return { schema: CACHE_SCHEMA, file: path, origin, ...records, hosts };
}

function show(path: string, text: string, json: boolean, terminal: Terminal): number {
  const parsed = parseOrigin(text);
  if (!parsed.ok) throw new Complaint('bad-origin', parsed.message);
  const { origin } = parsed.value;
  const cache = existsSync(path) ? open(path) : null;
  const records: OriginRecords = cache?.show(origin) ?? { hosts: [], uses: [], addresses: [] };
  cache?.close();
  if (records.hosts.length + records.uses.length === 0) {
    terminal.error('no-record', `nothing is known about ${origin}; race it with: photofinish race ${origin}`);
    return EXIT_FAILED;
  }
  if (json) terminal.result(JSON.stringify(originDocument(path, origin, records)));
  else terminal.result(originText(records, systemClock.epochMs(), terminal.paint).join('\n'));
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
