// Which browser this edition is for. The build writes it in; unit tests run as Chromium.
import type { Browser } from '@photofinish/shared/web/observation';

declare const EDITION: Browser | undefined;

/** The browser that observations, forecasts and reports are named after. */
export const BROWSER: Browser = typeof EDITION === 'undefined' ? 'chromium' : EDITION;
