// `photofinish network`: lists the networks known to the helper, and names them.
import { existsSync } from 'node:fs';
import { networkNameSchema } from '@photofinish/shared/web/network-name';
import * as v from 'valibot';
import type { HostCache, NetworkRecord } from '../cache/store.ts';
import { systemClock } from '../clock.ts';
import { commandLine } from '../install/own-command.ts';
import { keptSalt, mayBeNamed, saltPath } from '../network/key.ts';
import { systemSource, watchNetwork } from '../network/watch.ts';
import { NETWORK_ACTIONS, NETWORK_OPTIONS } from './command-table.ts';
import { cachePath, changing, networkSalt, openCache } from './helper-caches.ts';
import type { Terminal } from './terminal.ts';
import { ago, type Cell, columnsOf, keyNamed, type Paint, printable, table } from './text.ts';
import { Complaint, EXIT_FAILED, EXIT_OK, listed, oneOf, parseCommand } from './usage.ts';

const NETWORKS_SCHEMA = 'photofinish.networks/1';

const KEY = /^net-[0-9a-f]{16}$/;

type NetworkRow = ReturnType<typeof listedNetworks>[number];

/** The key of the current network; null without a salt, or if it cannot be identified. */
async function currentNetwork(salt: Uint8Array | null): Promise<string | null> {
  if (salt === null) return null;
  const source = systemSource(process.platform, systemClock);
  const key = await watchNetwork({ source, salt, clock: systemClock }).settled();
  return mayBeNamed(key) ? key : null;
}

/** Every network that is known, named, or current. */
function listedNetworks(cache: HostCache | null, current: string | null) {
  const names = cache?.networkNames() ?? new Map<string, string>();
  const records = new Map((cache?.networks() ?? []).map((record) => [record.network, record]));
  const keys = new Set([...(current === null ? [] : [current]), ...records.keys(), ...names.keys()]);
  return [...keys].map((network) => {
    const record: NetworkRecord | undefined = records.get(network);
    return {
      network,
      name: names.get(network) ?? null,
      current: network === current,
      origins: record?.origins ?? 0,
      /** When one of them was last raced or seen; null: never. */
      updatedAtMs: record?.updatedAtMs ?? null,
    };
  });
}

function networksText(networks: readonly NetworkRow[], paint: Paint): string {
  const columns = columnsOf(['NAME', 'NETWORK', 'ORIGINS', 'UPDATED', ''], ['ORIGINS']);
  const nowMs = systemClock.epochMs();
  const rows = networks.map(({ network, name, current, origins, updatedAtMs }): Cell[] => [
    name === null ? '–' : printable(name),
    printable(network),
    String(origins),
    updatedAtMs === null ? '–' : ago(updatedAtMs, nowMs),
    { text: current ? 'you are here' : '', paint: (text) => paint('green', text) },
  ]);
  return table(columns, rows, paint).join('\n');
}

async function list(path: string, json: boolean, terminal: Terminal): Promise<number> {
  // Reading must not create a file.
  const kept = keptSalt(saltPath(path));
  const current = await currentNetwork(kept.state === 'kept' ? kept.salt : null);
  const cache = existsSync(path) ? openCache(path, terminal) : null;
  const networks = listedNetworks(cache, current);
  cache?.close();
  if (json) terminal.result(JSON.stringify({ schema: NETWORKS_SCHEMA, file: path, networks }));
  else if (networks.length === 0) terminal.result('No network is known yet. Race something first.');
  else terminal.result(networksText(networks, terminal.paint));
  return EXIT_OK;
}

/** The key of the network that a word refers to, by default the current one. Throws a Complaint. */
async function meant(
  word: string | undefined,
  path: string,
  cache: HostCache,
  terminal: Terminal,
): Promise<string> {
  if (word === undefined) {
    const current = await currentNetwork(networkSalt(path, terminal));
    if (current !== null) return current;
    throw new Complaint(
      'bad-network',
      'you are offline, or this network cannot be distinguished from others; specify a NETWORK',
      EXIT_FAILED,
    );
  }
  const key = keyNamed(word, cache.networkNames());
  if (key !== null) return key;
  const known = KEY.test(word) || cache.networks().some(({ network }) => network === word);
  if (known && mayBeNamed(word)) return word;
  throw new Complaint(
    'bad-network',
    `there is no network "${word}"; "${commandLine('network', 'list')}" shows them`,
    EXIT_FAILED,
  );
}

function readName(text: string): string {
  const name = v.safeParse(networkNameSchema, text);
  if (!name.success) throw new Complaint('bad-network', name.issues[0].message);
  return name.output;
}

interface NameChange {
  /** null: remove the name. */
  readonly name: string | null;
  /** Its key or name; undefined: the current network. */
  readonly network: string | undefined;
}

async function rename({ name, network }: NameChange, path: string, json: boolean, terminal: Terminal) {
  const key = await changing(path, terminal, async (cache) => {
    const key = await meant(network, path, cache, terminal);
    cache.nameNetwork(key, name);
    return key;
  });
  if (json) terminal.result(JSON.stringify({ schema: NETWORKS_SCHEMA, file: path, network: key, name }));
  else terminal.result(name === null ? `${key} no longer has a name.` : `${key} is now "${name}".`);
  return EXIT_OK;
}

/** Runs `network list`, `network name [NETWORK] NAME` and `network unname [NETWORK]`. */
export async function runNetwork(args: readonly string[], terminal: Terminal): Promise<number> {
  const { values, positionals } = parseCommand('network', args, NETWORK_OPTIONS);
  const [word, ...rest] = positionals;
  if (word === undefined) throw new Complaint('bad-usage', `network takes ${listed(NETWORK_ACTIONS)}`);
  const action = oneOf('bad-usage', 'network', word, NETWORK_ACTIONS);
  const json = values.json ?? false;
  const path = cachePath(values.cache ?? null);
  switch (action) {
    case 'list':
      if (rest.length > 0) throw new Complaint('bad-usage', 'network list takes no argument');
      return list(path, json, terminal);
    case 'name': {
      const name = rest.at(-1);
      if (name === undefined || rest.length > 2)
        throw new Complaint('bad-usage', 'network name takes a NAME, or a NETWORK and a NAME');
      const network = rest.length === 2 ? rest[0] : undefined;
      return rename({ name: readName(name), network }, path, json, terminal);
    }
    case 'unname':
      if (rest.length > 1) throw new Complaint('bad-usage', 'network unname takes one NETWORK at most');
      return rename({ name: null, network: rest[0] }, path, json, terminal);
  }
}
