// Who must not be raced in a survey: names with everything below them, addresses and networks; and how their list is
// stored in the control bucket: in parts, because it may be longer than a message, then a head that names their
// generation, so that no half of a list is ever in force.

import { isIP } from 'node:net';
import { parseOrigin } from '@photofinish/shared/web/origin';
import { count } from '@photofinish/shared/web/untrusted';
import * as v from 'valibot';
import { withoutZone } from '../address/address-bytes.ts';
import { blockList, carriedIpv4 } from '../address/guard.ts';
import { Complaint, EXIT_FAILED } from '../cli/usage.ts';
import type { KV } from './nats.ts';
import { valueIn } from './schema.ts';
import { isOvertaken } from './streams.ts';

export interface OptOut {
  /** `host` as in a parsed origin: a name in A-label form, or an address without brackets. */
  refusesHost(host: string): boolean;
  /**
   * An IPv4 address in an IPv6 address (NAT64, 6to4, mapped) is refused like itself; `nat64Prefix`: the network's own.
   * Throws a TypeError for what is not an address.
   */
  refusesAddress(address: string, nat64Prefix?: string | null): boolean;
}

type OptOutResult =
  | { readonly ok: true; readonly value: OptOut }
  /** Which entry is wrong, and how. */
  | { readonly ok: false; readonly message: string };

type Entry =
  | { readonly kind: 'name' | 'network'; readonly text: string }
  | { readonly kind: 'bad'; readonly why: string };

function readNetwork(text: string): Entry {
  const [address = '', prefix = '', more] = text.split('/');
  const bits = isIP(address) === 4 ? 32 : 128;
  if (isIP(address) === 0 || address.includes('%') || more !== undefined)
    return { kind: 'bad', why: 'a network is an address, a slash and a prefix length' };
  if (!/^\d{1,3}$/.test(prefix) || Number(prefix) > bits)
    return { kind: 'bad', why: `the prefix length is not from 0 to ${bits}` };
  return { kind: 'network', text };
}

function readName(text: string): Entry {
  if (/[:?#@\\]/.test(text)) return { kind: 'bad', why: 'give a name without scheme, port and path' };
  if (text.startsWith('*.'))
    return { kind: 'bad', why: `"${text.slice(2)}" is enough: it covers every name below it` };
  const origin = parseOrigin(text);
  if (!origin.ok) return { kind: 'bad', why: origin.message };
  // "127.1" is an address to a URL, but not to whoever reads the list.
  if (isIP(origin.value.host) !== 0) return { kind: 'bad', why: `write the address as ${origin.value.host}` };
  return { kind: 'name', text: withoutDot(origin.value.host) };
}

function readEntry(text: string): Entry {
  if (text.includes('/') && !text.includes('://')) return readNetwork(text);
  if (isIP(text) === 0) return readName(text);
  if (text.includes('%')) return { kind: 'bad', why: 'an address of a survey has no zone' };
  return { kind: 'network', text };
}

/** A name with the dot of the root is the same name. */
function withoutDot(name: string): string {
  return name.endsWith('.') ? name.slice(0, -1) : name;
}

/** The name, then the names above it. */
function* upwards(name: string): Generator<string> {
  for (let at = 0; at !== -1; ) {
    yield name.slice(at);
    const dot = name.indexOf('.', at);
    at = dot === -1 ? -1 : dot + 1;
  }
}

/** Reads a list of names (`example.org`: it and everything below it), addresses and CIDRs. Never throws. */
export function optOut(entries: readonly string[]): OptOutResult {
  const names = new Set<string>();
  const networks: string[] = [];
  for (const entry of entries) {
    const read = readEntry(entry.trim());
    if (read.kind === 'bad')
      return { ok: false, message: `"${entry}" is not a name, an address or a network: ${read.why}` };
    if (read.kind === 'name') names.add(read.text);
    else networks.push(read.text);
  }
  const refused = blockList(networks);

  function refusesAddress(address: string, nat64Prefix: string | null = null): boolean {
    const bare = withoutZone(address);
    const family = isIP(bare);
    if (family === 0) throw new TypeError(`not an address: ${address}`);
    if (family === 4) return refused.check(bare, 'ipv4');
    const carried = carriedIpv4(bare, nat64Prefix);
    return refused.check(bare, 'ipv6') || (carried !== null && refused.check(carried, 'ipv4'));
  }

  const value: OptOut = {
    refusesHost(host) {
      if (isIP(host) !== 0) return refusesAddress(host);
      return upwards(withoutDot(host)).some((name) => names.has(name));
    },
    refusesAddress,
  };
  return { ok: true, value };
}

const HEAD = 'opt-out';
const PART = /^opt-out\.([0-9a-f-]{36})\.(\d{1,3})$/;

/** A server refuses messages of more than 1 MiB unless it is configured otherwise. */
const PART_BYTES = 256 * 1024;
/** About 10 MB, which a worker reads in two seconds. */
const MAX_ENTRIES = 500_000;
/** As many as the index of a key can tell. */
const MAX_PARTS = 1000;
/** Another operator may replace a list while it is read. */
const READINGS = 5;

const headSchema = v.object({
  generation: v.pipe(v.string(), v.uuid()),
  parts: v.pipe(count, v.maxValue(MAX_PARTS)),
  entries: v.pipe(count, v.maxValue(MAX_ENTRIES)),
});
type Head = v.InferOutput<typeof headSchema>;
const partSchema = v.array(v.pipe(v.string(), v.maxLength(253)));

/** What a reader of the bucket knows of the list. */
export interface OptOutList {
  /** In force: those of the last head whose parts were all there. */
  readonly entries: readonly string[];
  /** The last head; null: there is no list. */
  readonly head: Head | null;
  /** Whether `entries` are those of `head`. */
  readonly isWhole: boolean;
  /** Parts of a list that is not whole, by key. */
  readonly parts: ReadonlyMap<string, readonly string[]>;
}

export const NO_LIST: OptOutList = { entries: [], head: null, isWhole: true, parts: new Map() };

export function isOptOutKey(key: string): boolean {
  return key === HEAD || PART.test(key);
}

function partKey(generation: string, index: number): string {
  return `${HEAD}.${generation}.${index}`;
}

/** The entries of a head from its parts; null: one is missing, or has not what the head says. */
function joined(
  { generation, parts, entries }: Head,
  partOf: (key: string) => readonly string[] | undefined,
) {
  const all: string[] = [];
  for (let index = 0; index < parts; index += 1) {
    const part = partOf(partKey(generation, index));
    if (part === undefined) return null;
    for (const entry of part) all.push(entry);
  }
  return all.length === entries ? all : null;
}

function completed(list: OptOutList): OptOutList {
  const { head, parts } = list;
  const entries = head === null || list.isWhole ? null : joined(head, (key) => parts.get(key));
  return entries === null ? list : { entries, head, isWhole: true, parts: new Map() };
}

/**
 * The list after a change of one of its keys, null for a removed value. A value that does not fit changes nothing, and
 * until a new list is whole the one before it is in force.
 */
export function optOutChanged(list: OptOutList, key: string, bytes: Uint8Array | null): OptOutList {
  if (key !== HEAD) return partChanged(list, key, bytes);
  if (bytes === null) return NO_LIST;
  const head = valueIn(headSchema, bytes);
  if (head === null || head.generation === list.head?.generation) return list;
  // Whoever is still writing another generation began before this head, and will find that it was overtaken.
  const own = [...list.parts].filter(([part]) => part.startsWith(`${HEAD}.${head.generation}.`));
  return completed({ ...list, head, isWhole: false, parts: new Map(own) });
}

function partChanged(list: OptOutList, key: string, bytes: Uint8Array | null): OptOutList {
  const [, generation] = PART.exec(key) ?? [];
  const isInForce = list.isWhole && generation === list.head?.generation;
  const part = bytes === null ? null : valueIn(partSchema, bytes);
  return part === null || isInForce
    ? list
    : completed({ ...list, parts: new Map([...list.parts, [key, part]]) });
}

/** Messages that hold the entries in their order. */
export function partsOf(entries: readonly string[]): readonly string[] {
  const parts: string[] = [];
  let texts: string[] = [];
  let bytes = 0;
  const end = (): void => {
    if (texts.length > 0) parts.push(`[${texts.join(',')}]`);
    texts = [];
    bytes = 0;
  };
  for (const entry of entries) {
    const text = JSON.stringify(entry);
    const length = Buffer.byteLength(text) + 1;
    if (bytes + length > PART_BYTES) end();
    texts.push(text);
    bytes += length;
  }
  end();
  return parts;
}

/** A list that lacks a part: whoever reads it for the first time must not go on without it. */
export function brokenList(): Complaint {
  return new Complaint(
    'bad-survey',
    `the opt-out list on the server is incomplete, and nothing may be raced without it: remove the key "${HEAD}" from the survey's bucket, and give the whole list again`,
    EXIT_FAILED,
  );
}

/** The bucket, as far as the list needs it. */
export interface ListStore {
  readonly bucket: Pick<KV, 'get' | 'put' | 'create' | 'update' | 'keys'>;
  /** Removes the values under these keys, `*` for any part of a key, without a trace. */
  remove(filter: string): Promise<unknown>;
}

async function generationsIn({ bucket }: ListStore): Promise<ReadonlySet<string>> {
  const generations = new Set<string>();
  for await (const key of await bucket.keys(`${HEAD}.>`)) generations.add(PART.exec(key)?.[1] ?? '');
  generations.delete('');
  return generations;
}

type StoredEntry = Awaited<ReturnType<KV['get']>>;

/** The entries that a head stands for; null: they are not all there. */
async function entriesOf({ bucket }: ListStore, entry: StoredEntry): Promise<readonly string[] | null> {
  if (entry?.operation !== 'PUT') return [];
  const head = valueIn(headSchema, entry.value);
  if (head === null) return null;
  const parts = new Map<string, readonly string[]>();
  for (let index = 0; index < head.parts; index += 1) {
    const key = partKey(head.generation, index);
    const stored = await bucket.get(key);
    const part = stored?.operation === 'PUT' ? valueIn(partSchema, stored.value) : null;
    if (part !== null) parts.set(key, part);
  }
  return joined(head, (key) => parts.get(key));
}

/**
 * Adds entries to the list and returns all of them. A concurrent addition by another operator is kept. Rejects with the
 * server's error, and with a Complaint for a list that is too long.
 */
export async function addToOptOut(store: ListStore, more: readonly string[]): Promise<readonly string[]> {
  const { bucket } = store;
  for (let unread = 0; ; ) {
    // Before the head is read: what is there then is of this head, of an earlier one, or of somebody who will be
    // overtaken by this change.
    const left = await generationsIn(store);
    const head = await bucket.get(HEAD);
    const before = await entriesOf(store, head);
    if (before === null) {
      unread += 1;
      if (unread === READINGS) throw brokenList();
      continue;
    }
    const entries = [...new Set([...before, ...more])];
    if (await write(store, head, entries)) {
      // In force already; what cannot be removed now is by the next change.
      await removeAll(store, left).catch(() => {});
      return entries;
    }
  }
}

/** Writes the list in place of the one under `before`; false: somebody else wrote first. */
async function write(store: ListStore, before: StoredEntry, entries: readonly string[]): Promise<boolean> {
  const { bucket } = store;
  const parts = partsOf(entries);
  if (entries.length > MAX_ENTRIES || parts.length > MAX_PARTS)
    throw new Complaint(
      'bad-survey',
      `the opt-out list would have ${entries.length} entries, more than the limit of ${MAX_ENTRIES}; use networks, or a parent domain of many names`,
    );
  const generation = crypto.randomUUID();
  for (const [index, part] of parts.entries()) await bucket.put(partKey(generation, index), part);
  const head: Head = { generation, parts: parts.length, entries: entries.length };
  const value = JSON.stringify(head);
  try {
    if (before === null) await bucket.create(HEAD, value);
    else await bucket.update(HEAD, value, before.revision);
    return true;
  } catch (error) {
    // After any other error the head may have been stored.
    if (!isOvertaken(error)) throw error;
    await removeAll(store, [generation]).catch(() => {});
    return false;
  }
}

async function removeAll(store: ListStore, generations: Iterable<string>): Promise<void> {
  for (const generation of generations) await store.remove(`${HEAD}.${generation}.*`);
}
