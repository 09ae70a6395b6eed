// Container tabs, a Firefox feature: visits in them never start automatic races.
import { ORIGIN_KINDS } from '../../origins/start.ts';
import { expect } from '../fixtures.ts';
import { chooseRaceTime, racedModes, servedTest } from '../steps.ts';

const { both, h2only } = ORIGIN_KINDS;
const test = servedTest({ both, h2only });

test('no container starts a race', async ({ open, served, dir }) => {
  const session = await open({ own: true, local: served, proxy: 'none' });
  if (session.newContainerTab === null) throw new Error('this browser has containers');
  await chooseRaceTime(session, 'first-visit');
  const { both, h2only } = served.origins;
  const contained = await session.newContainerTab();
  await contained.goto(`${both.origin}/page?resources=1`);
  await (await session.newTab()).goto(`${h2only.origin}/page?resources=1`);
  await expect.poll(() => racedModes(session, dir)).toEqual({ [h2only.origin]: ['race'] });
  expect(served.seen.filter(({ origin, path }) => origin === both.origin && path === '/')).toEqual([]);
});
