// What the user chose, as the browser keeps it. A page shows a choice before it is stored; once it is stored, whoever acts
// on it is told of it before of anything that begins afterwards.
import { storedSettings } from '../browsers/stored-settings.ts';
import type { Tab } from '../browsers/tab.ts';
import { expect } from './fixtures.ts';

/** Waits until these settings are stored. */
export async function expectStored(page: Tab, wanted: Readonly<Record<string, unknown>>): Promise<void> {
  await expect.poll(() => storedSettings(page)).toMatchObject(wanted);
}
