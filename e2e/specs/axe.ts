// What axe finds on a page, in either theme, as short lines that name rule and place.
import axe from 'axe-core';
import type { Tab } from '../browsers/tab.ts';

/** Every violation in light and in dark; the rule on contrast must have had something to look at. */
export async function violations(tab: Tab): Promise<string[]> {
  await tab.inject(axe.source);
  const all: string[] = [];
  for (const colorScheme of ['light', 'dark'] as const) {
    await tab.emulateMedia({ colorScheme });
    const { found, passed } = await tab.evaluate(async () => {
      const result = await (globalThis as unknown as { axe: typeof axe }).axe.run();
      return {
        found: result.violations.flatMap(({ id, nodes }) =>
          nodes.map(({ target }) => `${id}: ${target.join(' ')}`),
        ),
        passed: result.passes.map(({ id }) => id),
      };
    });
    if (!passed.includes('color-contrast')) all.push(`${colorScheme}: no contrast was judged`);
    all.push(...found.map((line) => `${colorScheme}: ${line}`));
  }
  return all;
}
