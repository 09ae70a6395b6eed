// Steering: Firefox uses HTTP/3 where the helper established it and nothing advertised it, and stops when that is
// undone. Chromium can only be informed, and the popup says so.
import { expect, exportedReport, test } from '../fixtures.ts';
import { pressSteer, protocolOfVisit, racedPopup, turnSteering, visitSteered } from '../steps.ts';

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
