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
    const pairs = (origin?.races[0]?.trials.length ?? 0) / 2;
    // Where one protocol fails there is nothing to go on for.
    if (kind === 'silent') expect([pairs >= 7, pairs <= 15]).toEqual([true, true]);
    else expect(pairs).toBe(3);
  });

test('both: pairs until they decide, flags and a gain where they do, else the range', async ({
  local,
  open,
  dir,
}) => {
  const session = await open();
  const tab = await session.newTab();
  await tab.goto(local.origins.both.origin);
  const popup = await session.openPopup(tab);
  const result = await popup.race();
  expect(result.ok, result.words).toBe(true);
  await expect(popup.tab.find('#finish-drawing desc')).toMention('HTTP/3');
  const report = await exportedReport(popup, dir);
  const race = report.sites[0]?.origins[0]?.races[0];
  const { adoption, gainMs, comparison } = race?.summary ?? {};
  const pairs = comparison?.pairs ?? 0;
  await expect(popup.part('finish-caption')).toMention(`median of ${pairs} `);
  const { h3 = 0, h2 = 0 } = adoption ?? {};
  // A pair that this machine was late for is raced and does not count.
  expect(h3).toBeGreaterThanOrEqual(Math.max(pairs, 7));
  expect([h2, h3 <= 15]).toEqual([h3, true]);
  // Loopback itself decides which it is.
  const clear = comparison?.quicker !== null;
  expect([gainMs !== null, h3 === 15 || clear]).toEqual([clear, true]);
  expect(result.words).toMatch(clear ? /^HTTP\/[23] connects [\d.]+ ms faster$/ : /^No clear difference: /);
  await expect(popup.part('verdict')).toSay(
    clear ? /\([\d.]+ ms (faster|slower)\)\.$/ : /no clear difference in \d+ pairs/,
  );
});
