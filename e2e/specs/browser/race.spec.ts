// Races on a click: real attempts against real servers, drawn as a photo finish, with a verdict that an operator can
// act on. And what may follow from one: Firefox is steered to HTTP/3 where the helper established it and nothing
// advertised it, and no longer once that is undone; Chromium can only be informed, and the popup says so.
import type { Trial } from '@photofinish/shared/race/outcome';
import { visitUntil } from '../../browsers/browser.ts';
import { startOrigins } from '../../origins/start.ts';
import { expect, exportedReport, test } from '../fixtures.ts';
import { pressSteer, protocolOfVisit, racedPopup, turnSteering, visitSteered } from '../steps.ts';

const CASES = [
  ['silent', 'h2', /private root/],
  ['advertiseOnly', 'h2', /UDP is refused there/],
  ['h2only', 'h2', /unknown whether the origin offers HTTP\/3: .* DNS was not queried/],
  ['h1only', 'http/1.1', /unknown whether the origin offers HTTP\/3: .* DNS was not queried/],
] as const;

/** How many pairs decide a comparison of two protocols that work; three disturbed by a busy machine end it, too. */
const leastPairs = (trials: readonly Trial[]): number =>
  trials.some(({ disturbed }) => disturbed !== undefined) ? 3 : 7;

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
    const trials = origin?.races[0]?.trials ?? [];
    const pairs = trials.length / 2;
    // If one protocol fails, further pairs are pointless.
    if (kind === 'silent') expect([pairs >= leastPairs(trials), pairs <= 15]).toEqual([true, true]);
    else expect(pairs).toBe(3);
  });

test('both: pairs until they decide, markers and a gain if they do, otherwise the range', async ({
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
  // A pair disturbed by a busy machine is raced but does not count.
  expect(h3).toBeGreaterThanOrEqual(Math.max(pairs, leastPairs(race?.trials ?? [])));
  expect([h2, h3 <= 15]).toEqual([h3, true]);
  // On loopback either may happen.
  const clear = comparison?.quicker !== null;
  expect([gainMs !== null, h3 === 15 || clear]).toEqual([clear, true]);
  expect(result.words).toMatch(clear ? /^HTTP\/[23] connects [\d.]+ ms faster$/ : /^No clear difference: /);
  await expect(popup.part('verdict')).toSay(
    clear ? /\([\d.]+ ms (faster|slower)\)\.$/ : /no clear difference in \d+ pairs/,
  );
});

test('no warning of a private root if the browser used HTTP/3; a race that reaches nothing says so', async ({
  open,
  authority,
}) => {
  const site = { host: 'both.test', h3: true, altSvc: 'auto' } as const;
  const running = await startOrigins({ origins: { a: site }, certifiedBy: authority });
  const { origin } = running.origins.a;
  const session = await open({ local: running });
  const tab = await session.newTab();
  await visitUntil(tab, origin, 'h3');
  const popup = await session.openPopup(tab);
  expect((await popup.race()).ok).toBe(true);
  await expect(popup.part('verdict')).toSay(/^Reached over HTTP\/3\./);
  expect(await popup.tab.evaluate(() => document.body.textContent)).not.toContain('private root');
  await running.stop();
  await popup.race();
  await expect(popup.part('verdict')).toSay(
    /A later race could not reach it: Neither HTTP\/3 .* nor HTTP\/2/,
  );
});

test('a page over h2 is over h3 on a later navigation, and over h2 again once that is undone', async ({
  kind,
  local,
  open,
  dir,
}) => {
  const session = await open();
  const { origin } = local.origins.silent;
  const tab = await session.newTab();
  expect(await protocolOfVisit(tab, origin)).toBe('h2');
  const popup = await racedPopup(session, tab);

  if (kind === 'chromium') {
    await expect(popup.part('steer')).not.toBeSeen();
    // Shown once, where a user would look for the switch.
    const options = await session.openPage('options/options.html');
    await expect(options.part('informs')).toMention('Alt-Svc');
    await options.close();
    expect(await protocolOfVisit(tab, origin)).toBe('h2');
    return;
  }

  await expect(popup.part('steer')).toMention('steering is off in the options');
  await expect(popup.part('steer-press')).toSay('Open options');
  await turnSteering(session);
  await pressSteer(popup, 'the server has not advertised it');
  await expect(popup.part('steer')).toMention('Steered to HTTP/3 by Photofinish');
  // The visible page gets the header with its next response.
  await tab.reload();
  await visitSteered(tab, origin);
  await expect(popup.part('page-protocol')).toSay('HTTP/3');
  const report = await exportedReport(popup, dir);
  const [seen] = report.sites[0]?.origins ?? [];
  expect(
    seen?.verdict.findings.map(({ key }) => key),
    'our header is no word of the server',
  ).toContain('verdictPerhapsNotAdvertised');

  await pressSteer(popup, 'Steered to HTTP/3');
  await expect(popup.part('steer')).toMention('Being undone');
  await tab.goto(origin);
  await expect(popup.part('steer')).not.toMention('Being undone');
  // The existing connection may stay in use for a while; once closed, it is not reopened.
  await expect.poll(() => protocolOfVisit(tab, origin)).toBe('h2');
  for (let visit = 0; visit < 3; visit += 1) expect(await protocolOfVisit(tab, origin)).toBe('h2');
});
