// What the specs on steering share: the switch in the options, a popup after a race, a visit's protocol.
import type { Popup } from '../browsers/popup.ts';
import type { Session } from '../browsers/session.ts';
import { storedSettings } from '../browsers/stored-settings.ts';
import { navigationProtocol, type Tab } from '../browsers/tab.ts';
import { expect } from './fixtures.ts';
import { expectStored } from './stored.ts';

/**
 * Visits within which a steered browser that heard the header must use HTTP/3: where TCP is quicker once more Firefox
 * keeps to it, and after so many the extension takes it that it does not follow.
 */
export const STEERED_VISITS = 4;

/** Turns the switch in the options, on or off. */
export async function turnSteering(session: Session): Promise<void> {
  const options = await session.openPage('options/options.html');
  const { steering = false } = await storedSettings(options);
  await options.find('#steering').click();
  // A page that is closed saves nothing more.
  await expectStored(options, { steering: !steering });
  await options.close();
}

/** The popup of a tab whose origin was raced. */
export async function racedPopup(session: Session, tab: Tab): Promise<Popup> {
  const popup = await session.openPopup(tab);
  const result = await popup.race();
  expect(result.ok, result.words).toBe(true);
  return popup;
}

/** Opens the page and tells what it came over. */
export async function protocolOfVisit(tab: Tab, url: string): Promise<string> {
  await tab.goto(url);
  return navigationProtocol(tab);
}
