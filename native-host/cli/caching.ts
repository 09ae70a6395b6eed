// `photofinish cache`: shows the contents of the host cache, and deletes from it.
import { existsSync } from 'node:fs';
import { resolve } from 'node:path';
import type { Origin } from '@photofinish/shared/web/origin';
import { alternativesOf } from '../cache/advertised.ts';
import { CacheUnavailable } from '../cache/database.ts';
import { whyForeign } from '../cache/schema.ts';
import { type HostCache, type OriginRecords, openHostCache } from '../cache/store.ts';
import { systemClock } from '../clock.ts';
import { loadSettings, type Settings, SettingsError } from '../config.ts';
import { commandLine } from '../install/own-command.ts';
import { readSalt, saltPath } from '../network/key.ts';
import { hostsTable, originText } from './cache-text.ts';
import { CACHE_ACTIONS, CACHE_OPTIONS } from './command-table.ts';
import type { Terminal } from './terminal.ts';
import { NO_NAMES, plural } from './text.ts';
import { Complaint, EXIT_FAILED, EXIT_OK, listed, notOneOf, parseCommand, readOrigin } from './usage.ts';

export const CACHE_SCHEMA = 'photofinish.cache/1';

/** The helper's settings. Throws a Complaint if they cannot be used. */
export function helperSettings(): Settings {
  try {
    return loadSettings();
  } catch (error) {
    if (error instanceof SettingsError) throw new Complaint('bad-config', error.message);
    throw error;
  }
}

/** The given file, or the one in the helper's settings. */
export function cachePath(path: string | null): string {
  if (path === '') throw new Complaint('bad-file', '--cache takes a file');
  return path === null ? helperSettings().cachePath : resolve(path);
}

/** The salt beside a cache, created if necessary; reports one that was unusable and has been replaced. */
export function networkSalt(cachePath: string, terminal: Pick<Terminal, 'error'>): Uint8Array {
  return readSalt(saltPath(cachePath), (message) => terminal.error('salt-damaged', message));
}

/** The cache in that file. Throws a Complaint if it cannot be used; files of other programs are not touched. */
export function openCache(path: string): HostCache {
  const cache = openHostCache({ path, clock: systemClock, log: () => {} });
  const { store, storeReason } = cache.store();
  if (store === 'sqlite') return cache;
  cache.close();
  const foreign = whyForeign(path);
  if (foreign !== null)
    throw new Complaint(
      'not-a-cache',
      `${path} is not a host cache and was left alone: ${foreign}`,
      EXIT_FAILED,
    );
  throw new Complaint('cache-unavailable', `${path} cannot be used: ${storeReason}`, EXIT_FAILED);
}

function list(path: string, json: boolean, terminal: Terminal): number {
  // Reading must not create a file.
  const cache = existsSync(path) ? openCache(path) : null;
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
  const cache = existsSync(path) ? openCache(path) : null;
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

/** Changes the cache in that file, and closes it. Throws a Complaint if it cannot be used or written. */
export async function changing<T>(path: string, change: (cache: HostCache) => T | Promise<T>): Promise<T> {
  const cache = openCache(path);
  try {
    return await change(cache);
  } catch (error) {
    if (!(error instanceof CacheUnavailable)) throw error;
    throw new Complaint('cache-unavailable', `${path}: ${error.message}`, EXIT_FAILED);
  } finally {
    cache.close();
  }
}

async function forget(
  path: string,
  origins: readonly Origin[],
  json: boolean,
  terminal: Terminal,
): Promise<number> {
  const forgotten = existsSync(path)
    ? await changing(path, (cache) => origins.filter((origin) => cache.forget(origin)))
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
    const { origins } = await changing(path, (cache) => cache.stats());
    const question = `Delete all that is known about ${plural(origins, 'origin')}, in ${path}?`;
    if (!yes && !(await terminal.confirm(question))) {
      terminal.error('cancelled', 'nothing was deleted; --yes clears without asking');
      return EXIT_FAILED;
    }
    cleared = await changing(path, (cache) => cache.wipe());
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
  const action = CACHE_ACTIONS.find((each) => each === word);
  if (action === undefined) throw notOneOf('bad-usage', 'cache', word, CACHE_ACTIONS);
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
