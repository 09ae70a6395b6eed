// The public door for other people's Playwright tests; `photofinish.d.ts` beside it is the promise.
import '@photofinish/shared/language/english';

export { test } from './fixtures.ts';
export { adoption, expect } from './matchers.ts';
