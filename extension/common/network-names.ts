// The user's names for networks. The helper keeps the names, for every browser and the command line; this is the
// extension's copy, so that pages show them without a helper, together with changes not yet sent to the helper. The
// only owner of that part of the store.

import {
  isRecognisable,
  type NamedNetwork,
  NETWORK_UNKNOWN,
  networkLabelSchema,
  networkNameSchema,
} from '@photofinish/shared/web/network-name';
import * as v from 'valibot';
import { HelperError } from './helper/state.ts';
import { type Store, update } from './store/store.ts';

const KEY = 'network-names';

export const namesSchema = v.record(networkLabelSchema, networkNameSchema);
const NO_NAMES = { names: {}, untold: {} };
const storedSchema = v.fallback(
  v.object({
    names: v.fallback(namesSchema, {}),
    /** Changes made here that the helper has not received; null removes a name. */
    untold: v.fallback(v.record(networkLabelSchema, v.nullable(networkNameSchema)), {}),
  }),
  NO_NAMES,
);
type StoredNames = v.InferOutput<typeof storedSchema>;

/** Names by network key. */
export type NetworkNames = ReadonlyMap<string, string>;

/** Whether these labels certainly name two networks; nothing is certain of what has no label that could be recognised. */
export function areOtherNetworks(one: string, other: string): boolean {
  return one !== other && isRecognisable(one) && isRecognisable(other);
}

function read(stored: unknown): StoredNames {
  return v.parse(storedSchema, stored);
}

const namesOf = ({ names }: StoredNames): NetworkNames => new Map(Object.entries(names));

/** What an older version of the program stored elsewhere, as far as it is valid. */
export function namesOfOlder(stored: unknown): unknown {
  return read(stored);
}

/** The current names. */
export async function loadNames(store: Pick<Store, 'get'>): Promise<NetworkNames> {
  return namesOf(read((await store.get(KEY)).value));
}

/** Calls `listen` with the currently stored names after each change, whoever made it. */
export function onNames(store: Pick<Store, 'onChanged'>, listen: (names: NetworkNames) => void): void {
  store.onChanged(KEY, (stored) => listen(namesOf(read(stored))));
}

type ChangeableStore = Pick<Store, 'get' | 'replace'>;

async function change(store: ChangeableStore, change: (stored: StoredNames) => StoredNames): Promise<void> {
  await update(store, KEY, (stored) => {
    const before = read(stored);
    const after = change(before);
    return JSON.stringify(after) === JSON.stringify(before) ? undefined : after;
  });
}

function without<Value>(record: Readonly<Record<string, Value>>, key: string): Record<string, Value> {
  return Object.fromEntries(Object.entries(record).filter(([other]) => other !== key));
}

function withChanges(names: StoredNames['names'], changes: StoredNames['untold']): StoredNames['names'] {
  const changed = Object.entries({ ...names, ...changes });
  return Object.fromEntries(changed.flatMap(([key, name]) => (name === null ? [] : [[key, name]])));
}

/** Names a network, or removes its name; the helper is informed when it answers. Rejects for an invalid name. */
export async function nameNetwork(store: ChangeableStore, key: string, name: string | null): Promise<void> {
  const checked = name === null ? null : v.parse(networkNameSchema, name);
  await change(store, ({ names, untold }) => ({
    names: withChanges(names, { [key]: checked }),
    untold: { ...untold, [key]: checked },
  }));
}

/** Adopts names imported from a file, for networks that have none here. */
export async function addNames(
  store: ChangeableStore,
  added: Readonly<Record<string, string>>,
): Promise<void> {
  await change(store, ({ names, untold }) => {
    const fresh = Object.fromEntries(
      Object.entries(added).filter(([key]) => isRecognisable(key) && !(key in names)),
    );
    return { names: { ...names, ...fresh }, untold: { ...untold, ...fresh } };
  });
}

/** Forgets every name; the helper forgets its own when it is wiped. */
export async function forgetNames(store: ChangeableStore): Promise<void> {
  await change(store, () => NO_NAMES);
}

/** The part of the helper that is used. */
export interface NamingHelper {
  networks(): Promise<readonly NamedNetwork[]>;
  nameNetwork(network: string, name: string | null): Promise<readonly NamedNetwork[]>;
}

/**
 * Sends the helper pending changes, and then adopts its names: a name given elsewhere, in another browser or on the
 * command line, applies here too. Rejects if the helper cannot be reached, or is of a version that does not support
 * names.
 */
export async function agreeOnNames(store: ChangeableStore, helper: NamingHelper): Promise<void> {
  const { untold } = read((await store.get(KEY)).value);
  for (const [key, name] of Object.entries(untold)) {
    await helper.nameNetwork(key, name).catch((error) => {
      // The helper decides what can be named; retrying this one forever would block the others.
      if (!(error instanceof HelperError) || error.code !== 'bad-network') throw error;
    });
    await change(store, (stored) =>
      // It may have been renamed meanwhile.
      stored.untold[key] === name ? { ...stored, untold: without(stored.untold, key) } : stored,
    );
  }
  const networks = await helper.networks();
  const theirs = withChanges({}, Object.fromEntries(networks.map(({ network, name }) => [network, name])));
  const names = v.parse(namesSchema, theirs);
  await change(store, ({ untold }) => ({ names: withChanges(names, untold), untold }));
}

/** How a network is displayed: its name, with its key if another has the same name, or else its key. */
export function nameOrKey(names: NetworkNames, key: string): string {
  const name = names.get(key);
  if (name === undefined) return key;
  const shared = [...names].some(([other, theirs]) => other !== key && theirs === name);
  return shared ? `${name} (${key})` : name;
}

// The label of the network, which only the helper can determine, as kept in session storage.

const SESSION_KEY = 'network';

/** Stores what the helper reported. */
export async function rememberNetwork(label: string): Promise<void> {
  await chrome.storage.session.set({ [SESSION_KEY]: label });
}

/** What the helper last reported in this session, NETWORK_UNKNOWN without a helper. */
export async function rememberedNetwork(): Promise<string> {
  const saved = await chrome.storage.session.get(SESSION_KEY);
  return String(saved[SESSION_KEY] ?? NETWORK_UNKNOWN);
}
