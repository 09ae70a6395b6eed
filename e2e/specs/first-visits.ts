// What the specs on races by first visits share: the choice in the options, and what was raced.
import type { Session } from '../browsers/session.ts';
import type { Tab } from '../browsers/tab.ts';
import { expect, exportedReport } from './fixtures.ts';
import { expectStored } from './stored.ts';

/** The options after that choice was made, stored and shown. */
export async function choose(session: Session, when: 'never' | 'click' | 'first-visit'): Promise<Tab> {
  const options = await session.openPage('options/options.html');
  await options.find(`input[value=${when}]`).click();
  await expectStored(options, { raceWhen: when });
  await expect(options.part('helper')).toSay(/^Helper running/);
  if (when === 'first-visit') await expect(options.part('proxy')).toSay(/./);
  return options;
}

/** The modes of the races of each origin that has any, oldest first, by the report. */
export async function racedModes(session: Session, dir: string): Promise<Record<string, string[]>> {
  const popup = await session.openPopup(null);
  const { sites } = await exportedReport(popup, dir);
  await popup.tab.close();
  const raced = sites.flatMap(({ origins }) => origins).filter(({ races }) => races.length > 0);
  return Object.fromEntries(raced.map(({ origin, races }) => [origin, races.map(({ mode }) => mode)]));
}
