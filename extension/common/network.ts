// The label of the network, which the helper alone can tell, as the browser's session remembers it.
import { NETWORK_UNKNOWN } from './records/schema.ts';

const KEY = 'network';

/** Remembers what the helper said. */
export async function rememberNetwork(label: string): Promise<void> {
  await chrome.storage.session.set({ [KEY]: label });
}

/** What the helper said last in this session, NETWORK_UNKNOWN without a helper. */
export async function rememberedNetwork(): Promise<string> {
  const saved = await chrome.storage.session.get(KEY);
  return String(saved[KEY] ?? NETWORK_UNKNOWN);
}
