// The popup as a user handles it: what it says is read from the page, what it offers is pressed.
import type { Locator, Page } from '@playwright/test';

export type ReportFormat = 'html' | 'json' | 'csv';

/** A row of the popup's table of origins, in the popup's own words. */
export interface OriginRow {
  readonly origin: string;
  readonly protocol: string;
  readonly requests: number;
  /** `h3`, `–`; see `scored`. */
  readonly forecast: string;
  /** Whether the popup marks the forecast as right or wrong; null while it does neither. */
  readonly scored: 'right' | 'wrong' | null;
  readonly race: string;
}

/** Connecting to the helper and three pairs of attempts, the slowest of them running into their time-outs. */
const RACE_TIMEOUT_MS = 60_000;

export class Popup {
  readonly page: Page;

  constructor(page: Page) {
    this.page = page;
  }

  /** The first answer's words. */
  async answer(): Promise<{ host: string; protocol: string; verdict: string }> {
    const text = async (id: string) => (await this.page.getByTestId(id).textContent()) ?? '';
    return {
      host: await text('page-host'),
      protocol: await text('page-protocol'),
      verdict: await text('verdict'),
    };
  }

  helper(): Locator {
    return this.page.getByTestId('helper');
  }

  /** The table of origins, top to bottom. */
  async origins(): Promise<OriginRow[]> {
    return this.page.locator('#origin-table tbody[data-origin]').evaluateAll((bodies) =>
      bodies.map((body) => {
        const cells = Array.from(body.querySelectorAll('tr.main td'));
        const [protocol, requests, forecast, race] = cells;
        const sign = forecast?.querySelector('.sign');
        return {
          origin: body.getAttribute('data-origin') ?? '',
          protocol: protocol?.textContent ?? '',
          requests: Number(requests?.textContent),
          // The sign comes first; its words are for screen readers.
          forecast: forecast?.lastChild?.textContent ?? '',
          scored: sign?.matches('.right') ? 'right' : sign?.matches('.wrong') ? 'wrong' : null,
          race: race?.textContent ?? '',
        };
      }),
    );
  }

  /**
   * Presses *Race now* for the page's own origin and waits for the end of the race. Gives the words under the drawing,
   * or what the popup says about a race that could not be run.
   */
  async race(): Promise<{ ok: boolean; words: string }> {
    const button = this.page.getByTestId('race');
    await button.click({ timeout: RACE_TIMEOUT_MS });
    await this.page.locator('[data-testid=race]:not(:text("Cancel"))').waitFor({ timeout: RACE_TIMEOUT_MS });
    const failure = this.page.locator('#finish-words');
    if (await failure.isVisible()) return { ok: false, words: (await failure.textContent()) ?? '' };
    return {
      ok: true,
      words: (await this.page.locator('#finish-drawing title').first().textContent()) ?? '',
    };
  }

  /** Exports the report of all sites through the menu and saves the download as `file`. */
  async exportAllSites(format: ReportFormat, file: string): Promise<void> {
    await this.page.getByTestId('export').click();
    const item = this.page.getByRole('menuitem', { name: `All sites as ${format.toUpperCase()}` });
    const [download] = await Promise.all([this.page.waitForEvent('download'), item.click()]);
    await download.saveAs(file);
  }
}
