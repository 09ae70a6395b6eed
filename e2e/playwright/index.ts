// The public entry point for other people's Playwright tests; `photofinish.d.ts` is its contract.
import '@photofinish/shared/language/english';

export { test } from './fixtures.ts';
export { adoption, expect } from './matchers.ts';
