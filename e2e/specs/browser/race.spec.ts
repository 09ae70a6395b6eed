// Races on a click: real attempts against real servers, drawn as a photo finish, with a verdict an operator can act on.
import { expect, exportedReport, test } from '../fixtures.ts';

const CASES = [
  ['silent', 'h2', /does not advertise/],
  ['advertiseOnly', 'h2', /the UDP port is closed/],
  ['h2only', 'h2', /Does not offer HTTP\/3/],
  ['h1only', 'http/1.1', /Does not offer HTTP\/3/],
] as const;

for (const [kind, protocol, words] of CASES)
  test(`${kind}: the race explains ${protocol}`, async ({ local, open, dir }) => {
    const session = await open();
    const tab = await session.newTab();
    await tab.goto(local.origins[kind].origin);
    const popup = await session.openPopup(tab);
    const result = await popup.race();
    expect(result.ok, result.words).toBe(true);
    await expect(popup.part('verdict')).toSay(words);
    const report = await exportedReport(popup, dir);
    const [origin] = report.sites[0]?.origins ?? [];
    expect(origin?.races[0]).toMatchObject({ mode: 'compare', origin: local.origins[kind].origin });
    expect(origin?.races[0]?.trials).toHaveLength(6);
  });

test('both: three pairs give two flags, a margin and a gain', async ({ local, open, dir }) => {
  const session = await open();
  const tab = await session.newTab();
  await tab.goto(local.origins.both.origin);
  const popup = await session.openPopup(tab);
  const result = await popup.race();
  expect(result.ok, result.words).toBe(true);
  await expect(popup.part('finish-caption')).toMention('median of 3 pairs');
  await expect(popup.tab.find('#finish-drawing desc')).toMention('HTTP/3');
  const report = await exportedReport(popup, dir);
  const race = report.sites[0]?.origins[0]?.races[0];
  expect(race?.summary.adoption).toEqual({ h3: 3, h2: 3, 'http/1.1': 0 });
  expect(race?.summary.gainMs).not.toBeNull();
});
