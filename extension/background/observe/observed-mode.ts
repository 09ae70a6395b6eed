// Whether webRequest reports here, and since when: the owner of the observation mode. Holding the permission proves
// nothing: Chromium counts the extensions that hold it when it loads and unloads them, so for one that was given the
// permission later no request passes through its events until the browser starts again (measured on 156). The first
// event is the proof, and session storage keeps it until the browser exits.
import type { ObservationMode } from '@photofinish/shared/web/observation';
import type { SessionArea } from '../../common/browser.ts';
import { BROWSER } from '../../common/edition.ts';
import { FULL_MODE_KEY } from '../../common/permissions.ts';

export interface ObservedModeDeps {
  readonly area: SessionArea;
  /** When this background started, milliseconds since the epoch. */
  readonly startedMs: number;
  readonly nowMs: () => number;
  /** The mode has changed. */
  readonly onChange: () => void;
}

/** In Firefox events arrive from the start, so it is always `full`. */
export class ObservedMode {
  readonly #deps: ObservedModeDeps;
  #sinceMs: number;

  constructor(deps: ObservedModeDeps) {
    this.#deps = deps;
    this.#sinceMs = BROWSER === 'firefox' ? deps.startedMs : Number.POSITIVE_INFINITY;
  }

  /** `light` until an event has arrived since the browser started or the extension was loaded. */
  get mode(): ObservationMode {
    return this.#sinceMs === Number.POSITIVE_INFINITY ? 'light' : 'full';
  }

  /** Since when events have arrived without gaps, milliseconds since the epoch; infinite in light mode. */
  get sinceMs(): number {
    return this.#sinceMs;
  }

  /** The proof of full mode. */
  eventArrived(): void {
    if (this.mode === 'full') return;
    this.#begin(this.#deps.nowMs());
    // If it cannot be stored, the next background waits for an event of its own.
    this.#deps.area.set({ [FULL_MODE_KEY]: true }).catch(() => {});
  }

  /** The permission was given up, so no more events will arrive. */
  lost(): void {
    if (BROWSER === 'firefox') return;
    this.#deps.area.remove(FULL_MODE_KEY).catch(() => {});
    if (this.mode === 'light') return;
    this.#sinceMs = Number.POSITIVE_INFINITY;
    this.#deps.onChange();
  }

  /** Takes what the background knew before it was terminated. */
  async recall(): Promise<void> {
    const stored = await this.#deps.area.get(FULL_MODE_KEY).catch(() => ({}));
    // An event wakes the background that it is for, so none was lost since it started.
    if (this.mode === 'light' && FULL_MODE_KEY in stored) this.#begin(this.#deps.startedMs);
  }

  #begin(sinceMs: number): void {
    this.#sinceMs = sinceMs;
    this.#deps.onChange();
  }
}
