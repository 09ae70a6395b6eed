// Which browser this edition is for. The build defines it; unit tests run as Chromium.
import type { Browser } from '@photofinish/shared/web/observation';

declare const EDITION: Browser | undefined;

/** The browser recorded in observations, forecasts and reports. */
export const BROWSER: Browser = typeof EDITION === 'undefined' ? 'chromium' : EDITION;
