// The welcome page from a missing helper to a working one: its command is run, and the page changes to ready by itself
// with the doctor's findings.
import { installHelper } from '../../browsers/session.ts';
import { storedSettings } from '../../browsers/stored.ts';
import type { BrowserKind } from '../../run/find-browser.mjs';
import { expect, test } from '../fixtures.ts';
import { violations } from '../steps.ts';

const WELCOME = 'welcome/welcome.html';
const WELL = 'No problems found.';
const COMMANDS: Readonly<Record<BrowserKind, string>> = {
  chromium: 'npx @photofinish/helper@1 install --browser chromium',
  firefox: 'npx @photofinish/helper@1 install --browser firefox',
};
/** Chromium loads it from a folder, and a checkout has the helper's Node.js; Firefox installs its archive. */
const NEEDS: Readonly<Record<BrowserKind, RegExp>> = {
  chromium: /^It needs no administrator rights/,
  firefox: /^It needs Node\.js 26 or newer, .* It needs no administrator rights/,
};

test('the page shows the command, notices the helper, and shows the doctor’s findings', async ({
  local,
  open,
  kind,
}) => {
  const session = await open({ helper: false });
  const welcome = await session.openPage(WELCOME);
  if (kind === 'firefox') {
    await expect(welcome.part('helper')).toSay(/^The helper is off: it needs your consent first/);
    await expect(welcome.find('#consent')).toMention('sharing browsing activity');
    await welcome.find('#consent-ask').click();
  }
  await expect(welcome.part('helper')).toSay('The browser found no helper.');
  await expect(welcome.find('#command code')).toSay(COMMANDS[kind]);
  await expect(welcome.find('#install-needs')).toSay(NEEDS[kind]);
  const opened = await welcome.evaluate(() => performance.timeOrigin);

  await installHelper(session.files, local);
  await expect(welcome.part('helper')).toSay(/^Helper running: photofinish/);
  await expect(welcome.find('#install')).not.toBeSeen();
  // The profile is not in the default location: the request itself proves that this browser can reach the helper.
  const findings = welcome.find('#findings');
  await expect(async () => {
    // The doctor waits some seconds for a helper to answer; a machine may pause longer.
    const found = await findings.text();
    if (found !== '' && !found.startsWith(WELL)) await welcome.find('#examine').click();
    await expect(welcome.part('findings-summary')).toSay(WELL, { timeoutMs: 10_000 });
  }).toPass();
  await expect(findings).toMention('This browser');
  await expect(findings).toMention('QUIC addon');
  expect(await welcome.evaluate(() => performance.timeOrigin), 'nothing was loaded again').toBe(opened);
});

test('the choice of races says what a race reveals, and is what the options show', async ({ open }) => {
  const session = await open({ helper: false });
  const welcome = await session.openPage(WELCOME);
  await expect(welcome.part('reveals')).toSay(/bypassing the browser’s secure DNS/);
  // The page removes its message after a moment, possibly before it was read.
  await welcome.evaluate(() => {
    const place = document.querySelector('.saved');
    new MutationObserver(() => {
      if (place?.textContent) document.body.dataset['said'] = place.textContent;
    }).observe(place ?? document, { childList: true, characterData: true, subtree: true });
  });
  await welcome.find('input[value=never]').click();
  await expect.poll(() => welcome.find('body').attribute('data-said')).toMatch(/Saved/);
  const options = await session.openPage('options/options.html');
  await expect
    .poll(() =>
      options.evaluate(
        () => document.querySelector<HTMLInputElement>('input[name=race-when]:checked')?.value,
      ),
    )
    .toBe('never');
});

test('every permission of the edition has its reason, and axe finds no violation in either theme', async ({
  open,
}) => {
  const session = await open({ helper: false });
  const welcome = await session.openPage(WELCOME);
  await expect(welcome.part('helper')).toSay(/./);
  await welcome.evaluate(() => {
    for (const details of document.querySelectorAll('details')) details.open = true;
  });
  const { asked, explained } = await welcome.evaluate(() => {
    const { permissions = [], host_permissions = [] } = chrome.runtime.getManifest();
    const terms = [...document.querySelectorAll('#permissions dt')].map((term) => term.textContent);
    return { asked: [...host_permissions, ...permissions], explained: terms };
  });
  expect(explained).toEqual(asked);

  expect(await violations(welcome)).toEqual([]);
});

test('it opens by itself once, when Photofinish is installed', async ({ open }) => {
  const session = await open({ own: true, helper: false });
  const shown = async () => {
    const options = await session.openPage('options/options.html');
    const tabs = await options.evaluate(async () => {
      const open = await chrome.tabs.query({ url: chrome.runtime.getURL('welcome/welcome.html') });
      return open.length;
    });
    return { tabs, welcomed: (await storedSettings(options)).welcomed };
  };
  // The session has already seen it open and closed it.
  expect(await shown()).toEqual({ tabs: 0, welcomed: true });
  await session.restart();
  expect(await shown()).toEqual({ tabs: 0, welcomed: true });
});
