// A click of Firefox's driver reaches the element that is meant, though the page moves just before it.
import { expect, test } from '../fixtures.ts';

interface Clicks {
  meant?: number;
  others?: number;
}

test('a button that moves away from the pointer is clicked once, and nothing else is', async ({
  local,
  open,
}) => {
  const session = await open({ helper: false });
  const tab = await session.newTab();
  await tab.goto(local.origins.h2only.origin);
  await tab.evaluate(() => {
    const clicks: Clicks = Object.assign(globalThis, { meant: 0, others: 0 });
    const button = document.createElement('button');
    button.id = 'moving';
    button.textContent = 'Moving';
    button.style.cssText = 'position: fixed; left: 200px; top: 200px';
    const move = () => {
      button.style.left = '500px';
    };
    button.addEventListener('mouseenter', move, { once: true });
    addEventListener('click', ({ target }) => {
      if (target === button) clicks.meant = (clicks.meant ?? 0) + 1;
      else clicks.others = (clicks.others ?? 0) + 1;
    });
    document.body.append(button);
  });
  await tab.find('#moving').click();
  const clicks = await tab.evaluate(() => {
    const { meant, others } = globalThis as Clicks;
    return { meant, others };
  });
  expect(clicks).toEqual({ meant: 1, others: 0 });
});
