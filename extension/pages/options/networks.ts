// The user's names for networks: one field for each known network, from the ledger, the helper or an existing name.

import { requestsIn } from '@photofinish/shared/report/adoption';
import {
  isRecognisable,
  MAX_NETWORK_NAME_CHARS,
  networkNameSchema,
} from '@photofinish/shared/web/network-name';
import { messageOf } from '@photofinish/shared/web/untrusted';
import * as v from 'valibot';
import { getMessage } from '../../common/catalog.ts';
import { loadNames, type NetworkNames, nameNetwork, onNames } from '../../common/network-names.ts';
import type { DayTotal } from '../../common/records/schema.ts';
import { pageStore } from '../../common/store/page-store.ts';
import { type Ledger, openLedger } from '../../ledger/ledger.ts';
import { dayText } from '../charts/days.ts';
import { byId, leftToRight, make, setLine, setText } from '../ui/elements.ts';
import { showNotSaved, showSaved } from '../ui/saving.ts';

/** Limits the unnamed ones, most of which are networks the user will not meet again. */
const UNNAMED_LISTED = 20;
const FIRST_DAY = '0';
const LAST_DAY = '9';

/** What is known of a network. */
export interface KnownNetwork {
  readonly network: string;
  /** The last day with recorded data, and the total number of requests; null: nothing was recorded. */
  readonly seen: { readonly day: string; readonly requests: number } | null;
  readonly now: boolean;
}

type NetworkDay = Pick<DayTotal, 'day' | 'network' | 'counts'>;

/** Every network that can be named: the current one first, then the most recently used. */
export function knownNetworks(
  totals: readonly NetworkDay[],
  names: NetworkNames,
  now: string | null,
): KnownNetwork[] {
  const seen = new Map<string, { day: string; requests: number }>();
  for (const { day, network, counts } of totals) {
    const before = seen.get(network) ?? { day, requests: 0 };
    seen.set(network, {
      day: day > before.day ? day : before.day,
      requests: before.requests + requestsIn(counts),
    });
  }
  const all = new Set([...(now === null ? [] : [now]), ...seen.keys(), ...names.keys()]);
  return [...all]
    .filter(isRecognisable)
    .map((network) => ({ network, seen: seen.get(network) ?? null, now: network === now }))
    .sort((a, b) => {
      if (a.now !== b.now) return a.now ? -1 : 1;
      return (b.seen?.day ?? '').localeCompare(a.seen?.day ?? '');
    });
}

/** The name that was entered: null for none; undefined if it is invalid. */
export function nameFromEntry(entry: string): string | null | undefined {
  if (entry.trim() === '') return null;
  const parsed = v.safeParse(networkNameSchema, entry);
  return parsed.success ? parsed.output : undefined;
}

let names: NetworkNames = new Map();
let now: string | null = null;
let totals: readonly NetworkDay[] = [];
/** The fields by network; a field is left alone while it is being edited. */
const fields = new Map<string, HTMLInputElement>();

async function keep(input: HTMLInputElement, network: string, error: HTMLElement): Promise<void> {
  const name = nameFromEntry(input.value);
  setText(
    error,
    name === undefined ? getMessage('optionsNetworkBadName', { most: MAX_NETWORK_NAME_CHARS }) : '',
  );
  input.setAttribute('aria-invalid', String(name === undefined));
  if (name === undefined || name === (names.get(network) ?? null)) return;
  await nameNetwork(pageStore, network, name).then(() => showSaved(input), showNotSaved);
}

function aboutText({ seen, now: connected }: KnownNetwork): string {
  const used =
    seen === null
      ? getMessage('optionsNetworkNothing')
      : getMessage('optionsNetworkSeen', { day: dayText(seen.day, true), count: seen.requests });
  return connected ? `${getMessage('optionsNetworkNow')}; ${used}` : used;
}

/** A new field for a network's name, and below it the place for what is wrong with that. */
function makeField(network: string, index: number): HTMLElement {
  const input = make('input');
  const error = make('p', 'error');
  error.id = `network-error-${index}-${fields.size}`;
  error.role = 'alert';
  input.type = 'text';
  input.dir = 'auto';
  input.autocomplete = 'off';
  input.spellcheck = false;
  input.placeholder = getMessage('optionsNetworkPlaceholder');
  input.ariaLabel = getMessage('optionsNetworkName', { network });
  input.setAttribute('aria-describedby', error.id);
  input.addEventListener('change', () => void keep(input, network, error));
  fields.set(network, input);
  return make('span', 'naming', input, error);
}

function row(known: KnownNetwork, index: number): HTMLElement {
  const { network } = known;
  const about = make('span', 'about', leftToRight(network, 'key'), make('span', 'aside', aboutText(known)));
  return make('li', 'row network', about, fields.get(network)?.parentElement ?? makeField(network, index));
}

function show(): void {
  const known = knownNetworks(totals, names, now);
  const unnamed = known.filter(({ network, now: connected }) => !names.has(network) && !connected);
  const left = new Set(unnamed.slice(UNNAMED_LISTED).map(({ network }) => network));
  const list = byId('networks-list');
  const focused = document.activeElement;
  list.replaceChildren(...known.filter(({ network }) => !left.has(network)).map(row));
  for (const [network, input] of fields)
    if (input !== focused && input.getAttribute('aria-invalid') !== 'true')
      input.value = names.get(network) ?? '';
  if (focused instanceof HTMLElement && list.contains(focused)) focused.focus();
  byId('networks-none').hidden = known.length > 0;
  const more = left.size === 0 ? '' : getMessage('optionsNetworksMore', { count: left.size });
  setLine(byId('networks-more'), more);
}

/** Sets the network reported by the helper; null without a helper. */
export function showNetworkNow(network: string | null): void {
  if (network === now) return;
  now = network;
  show();
}

let ledger: Pick<Ledger, 'totals'> | null = null;
/** Only the newest read counts: an older one that ends later is ignored. */
let reading = 0;

async function readTotals(): Promise<void> {
  // Firefox denies databases to pages in private windows.
  if (chrome.extension.inIncognitoContext) return;
  ledger ??= openLedger();
  reading += 1;
  const own = reading;
  const read = await ledger.totals(FIRST_DAY, LAST_DAY);
  if (own === reading) totals = read;
}

/** Says that what is shown could not be read. */
export function showNotRead(error: unknown): void {
  setText(byId('trouble'), getMessage('optionsNotRead', { message: messageOf(error) }));
}

/** Shows the networks anew, after what was recorded has been deleted or more has been imported. */
export async function rereadNetworks(): Promise<void> {
  await readTotals().then(show, showNotRead);
}

/** Shows every known network and saves the names that are entered. */
export function wireNetworks(): void {
  onNames(pageStore, (next) => {
    names = next;
    show();
  });
  void Promise.all([loadNames(pageStore), readTotals()]).then(([found]) => {
    names = found;
    show();
  }, showNotRead);
}
