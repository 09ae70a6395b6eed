// What the specs on steering share: the switch in the options, a popup after a race, a visit's protocol.
import type { Popup } from '../browsers/popup.ts';
import type { Session } from '../browsers/session.ts';
import { navigationProtocol, type Tab } from '../browsers/tab.ts';
import { expect } from './fixtures.ts';

/** Turns the switch in the options, on or off. */
export async function turnSteering(session: Session): Promise<void> {
  const options = await session.openPage('options/options.html');
  await options.find('#steering').click();
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
