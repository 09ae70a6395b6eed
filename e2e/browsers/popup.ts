// The popup as a user operates it: values are read from the page, controls are clicked.
import { copyFile } from 'node:fs/promises';
import { type Part, type Tab, until } from './browser.ts';

export type ReportFormat = 'html' | 'json' | 'csv';

/** A row of the popup's table of origins, as displayed. */
export interface OriginRow {
  readonly origin: string;
  readonly protocol: string;
  readonly requests: number;
  /** `h3`, `–`; see `scored`. */
  readonly forecast: string;
  /** Whether the popup marks the forecast as right or wrong; null if neither. */
  readonly scored: 'right' | 'wrong' | null;
  readonly race: string;
}

/** For connecting to the helper and three pairs of attempts that may all time out. */
const RACE_TIMEOUT_MS = 60_000;
/** How often a user clicks an unresponsive button, and how long they wait in between. */
const MENU_CLICKS = 3;
const MENU_TIMEOUT_MS = 2000;
const DRAWN_TIMEOUT_MS = 10_000;

export class Popup {
  readonly tab: Tab;

  constructor(tab: Tab) {
    this.tab = tab;
  }

  /** By its `data-testid`. */
  part(testId: string): Part {
    return this.tab.part(testId);
  }

  /** The table of origins, top to bottom. */
  async origins(): Promise<OriginRow[]> {
    return this.tab.evaluate(() =>
      [...document.querySelectorAll('#origin-table tbody[data-origin]')].map((body) => {
        const text = (selector: string) => body.querySelector(`tr.main ${selector}`)?.textContent ?? '';
        const sign = body.querySelector('tr.main .sign');
        return {
          origin: body.getAttribute('data-origin') ?? '',
          protocol: text('.protocol .name'),
          requests: Number(text('.requests .value')),
          // Only its symbol is visible; the protocol is for screen readers.
          forecast: text('.foretold') || text('.forecast .value'),
          scored: sign?.matches('.right') ? 'right' : sign?.matches('.wrong') ? 'wrong' : null,
          race: text('.race .value'),
        };
      }),
    );
  }

  /**
   * Clicks *Race now* for the page's own origin and waits for the race to end. Returns the text below the drawing, or
   * the popup's message about a race that could not be run.
   */
  async race(): Promise<{ ok: boolean; words: string }> {
    const button = this.part('race');
    await button.click({ timeoutMs: RACE_TIMEOUT_MS });
    const over = async () => (await button.isVisible()) && (await button.text()) !== 'Cancel';
    if ((await until(over, RACE_TIMEOUT_MS)) === null) throw new Error('the race did not end');
    const failure = await this.tab.find('#finish-words').look();
    if (failure.visible) return { ok: false, words: failure.text };
    return { ok: true, words: await this.tab.find('#finish-drawing title').text() };
  }

  /** Exports the report of all sites through the menu and saves the download as `file`. */
  async exportAllSites(format: ReportFormat, file: string): Promise<void> {
    const item = this.tab.find('[role=menuitem]', `All sites as ${format.toUpperCase()}`);
    // The menu's items are replaced when the page becomes known.
    const isDrawn = async () => (await this.tab.find('#view').attribute('aria-busy')) !== 'true';
    await until(isDrawn, DRAWN_TIMEOUT_MS);
    const download = await this.tab.download(async () => {
      // The footer moves when something above it changes, such as the notice that the helper is missing, and a click
      // then misses.
      for (let click = 0; click < MENU_CLICKS && !(await item.isVisible()); click += 1) {
        await this.part('export').click();
        await until(() => item.isVisible(), MENU_TIMEOUT_MS);
      }
      await item.click();
    });
    await copyFile(download.file, file);
  }
}
