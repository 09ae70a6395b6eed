// Batches that pages leave behind when they close before an acknowledgement. They wait in session storage, which no
// page can read or write: each is recorded, unless its message was, then removed.

import type { TimingBatch } from '../../common/timing.ts';
import type { Sender } from './sender.ts';

/** What a document left, and what the browser confirms about it. */
export interface LeftBatches {
  readonly sender: Sender;
  readonly batches: readonly TimingBatch[];
}

/** The part of `storage.session` that this needs. */
export interface LeftArea {
  get(keys: string[] | null): Promise<Record<string, unknown>>;
  set(items: Record<string, unknown>): Promise<void>;
  remove(keys: string | string[]): Promise<void>;
}

const LEFT_PREFIX = 'left:';
/** What one document may leave; most of the session's 10 MB is needed for the pages in view. */
const MAX_LEFT_CHARS = 256 * 1024;
/**
 * Documents whose batches wait at a time; beyond it the oldest are dropped, and webRequest still counts those requests.
 */
const MAX_LEFT = 16;

/** Nothing more than the origin is needed to count; an address without one belongs to no visit. */
function originOnly(url: string): string {
  return URL.canParse(url) ? new URL(url).origin : '';
}

/**
 * Stores what a document left, its addresses reduced to origins, and returns its key; null if it exceeds the limit.
 */
export async function keepLeft(area: LeftArea, left: LeftBatches): Promise<string | null> {
  const { url, tabUrl } = left.sender;
  const sender = {
    ...left.sender,
    url: originOnly(url),
    tabUrl: tabUrl === null ? null : originOnly(tabUrl),
  };
  const batches = [...left.batches];
  while (batches.length > 0 && JSON.stringify(batches).length > MAX_LEFT_CHARS) batches.shift();
  if (batches.length === 0) return null;
  // One slot per document: if it leaves batches repeatedly, the newest counts.
  const key = `${LEFT_PREFIX}${left.sender.documentId}`;
  await area.set({ [key]: { sender, batches } });
  const kept = Object.keys(await area.get(null)).filter((each) => each.startsWith(LEFT_PREFIX));
  const surplus = kept.filter((each) => each !== key).slice(0, Math.max(kept.length - MAX_LEFT, 0));
  if (surplus.length > 0) await area.remove(surplus);
  return key;
}

/**
 * Passes what was left, all of it or that of the keys, to `record` batch by batch, and deletes each document's batches
 * once that has resolved.
 */
export async function takeLeft(
  area: LeftArea,
  record: (batch: TimingBatch, sender: Sender) => Promise<void>,
  keys: string[] | null = null,
): Promise<void> {
  const stored = await area.get(keys);
  for (const [key, value] of Object.entries(stored)) {
    if (!key.startsWith(LEFT_PREFIX)) continue;
    const { sender, batches } = value as LeftBatches;
    for (const batch of batches) await record(batch, sender);
    await area.remove(key);
  }
}
