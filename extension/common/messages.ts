// Everything that crosses inside the extension: between the extension's pages and the background (over a port named `popup`) and
// from content scripts to the background. One table of types, so that both ends are checked against the same words; what
// pages ask for is in `popup-requests.ts`.

import type { DoctorFinding } from '@photofinish/shared/port/doctor';
import type { Forecast } from '@photofinish/shared/port/forecast';
import type { Progress } from '@photofinish/shared/port/wire';
import type { OriginRace } from '@photofinish/shared/race/outcome';
import type { Verdict } from '@photofinish/shared/race/verdict-schema';
import type { ProtocolCounts } from '@photofinish/shared/report/adoption';
import type { Origin } from '@photofinish/shared/web/origin';
import type { Delivery, Protocol, UnknownReason } from '@photofinish/shared/web/protocol';
import type { InspectedEvent } from './inspected/devtools-messages.ts';
import type { StoredValue, StoreKey } from './store/store.ts';

/** Where the native helper stands, and so what the user can do about it. */
export type HelperState =
  | { readonly state: 'connecting' }
  /** The browser wants the user's word first before it lets the extension speak to a program of the system. */
  | { readonly state: 'not-asked' }
  | {
      readonly state: 'ready';
      readonly program: string;
      readonly network: string;
      /** What the user calls the network; null: nothing. */
      readonly networkName: string | null;
    }
  /** The browser found no native messaging manifest, or the launcher is gone. */
  | { readonly state: 'missing' }
  /** It started and went away; it is tried again after a pause. */
  | { readonly state: 'crashed'; readonly message: string }
  /**
   * It answers in a version of the wire that this extension does not speak, or refuses ours; `foreign`: it is installed
   * for another extension, whatever its version.
   */
  | { readonly state: 'incompatible'; readonly message: string; readonly foreign?: true };

/** What one origin did on the page in view. */
export interface OriginView {
  readonly origin: Origin;
  /** Its own registrable domain, whatever the site of the page. */
  readonly site: string;
  /** The newest protocol known for it on this page; `unknown` comes with its reason. */
  readonly protocol: Protocol;
  readonly reason: UnknownReason | null;
  /** Network answers on this page by protocol. */
  readonly counts: ProtocolCounts;
  /** Answers that did not come over the network now, by where they came from. */
  readonly delivered: Readonly<Record<Exclude<Delivery, 'network'>, number>>;
  /** What the helper said before the navigation; null without a helper. */
  readonly forecast: Forecast | null;
  /** Whether `expected` was what the browser used; null: not scored (hidden, cached, or nothing expected). */
  readonly forecastRight: boolean | null;
  /** The newest race of this origin, whatever its mode. */
  readonly race: OriginRace | null;
  readonly verdict: Verdict;
}

/**
 * What a tab shows. `recorded`: an https page with a record. Each of the others is a reason why there is none (yet), and
 * has words of its own.
 */
export type PageState =
  | 'recorded'
  | 'loading'
  | 'failed'
  | 'not-https'
  | 'file'
  | 'browser-page'
  /** The source of a page, which the browser shows by itself. */
  | 'source'
  /** https, and the browser keeps every extension away from it: its store of extensions and the like. */
  | 'guarded'
  /** https, and opened before Photofinish was there. */
  | 'not-recorded'
  | 'private'
  /** Its site is among those never recorded. */
  | 'excluded'
  /** What the user excluded cannot be read, so nothing is recorded. */
  | 'no-options'
  /** The user has not given access to its site (Firefox). */
  | 'no-access';

/** How the tab came to show its document: by loading it, from the memory of pages left, or rendered ahead of time. */
export type Arrival = 'loaded' | 'bfcache' | 'prerendered';

/** The visits of the page's own origin on its site that are in the ledger. */
export interface Visits {
  /** By the protocol of the page itself. */
  readonly navigations: ProtocolCounts;
  readonly sinceMs: number;
}

/** What the popup says of an origin's steering. */
export interface SteerView {
  /** The master switch in the options. */
  readonly enabled: boolean;
  readonly chosen: boolean;
  /** The steering in force, or being taken back. */
  readonly active: {
    readonly direction: Direction;
    readonly undoing: boolean;
    readonly untilMs: number;
  } | null;
  /** What steering could do for it now. */
  readonly possible: Direction | null;
  /** Why it was undone last; null when it was not, or by the user. */
  readonly undone: UndoReason | null;
}

/** What the popup shows for a tab. */
export interface PageView {
  readonly tabId: number;
  readonly state: PageState;
  readonly origin: Origin | null;
  readonly site: string | null;
  readonly protocol: Protocol;
  readonly reason: UnknownReason | null;
  readonly delivery: Delivery;
  readonly arrival: Arrival;
  readonly verdict: Verdict | null;
  /** Network answers of the whole page. */
  readonly counts: ProtocolCounts;
  /** Null when there are none. */
  readonly visits: Visits | null;
  /** Whether the ledger has been asked; until then verdicts and races may still change. */
  readonly complete: boolean;
  /** The page's own origin first, then by number of requests. */
  readonly origins: readonly OriginView[];
  /** Of the page's own origin; null where the browser cannot be steered. */
  readonly steer: SteerView | null;
  /** Why the page failed to load, by the browser's own name for it; null where it did not fail or the browser is silent. */
  readonly error: string | null;
  readonly helper: HelperState;
  /** Why nothing can be recorded or looked up now (the storage cannot be opened); null when all is well. */
  readonly trouble: string | null;
}

/** What of a page's view changed since the view, or the delta, before it. */
export interface PageDelta {
  readonly fields: Partial<Omit<PageView, 'origins'>>;
  /** Origins that are new or look different now. */
  readonly changed: readonly OriginView[];
  readonly removed: readonly Origin[];
}

/** A race that somebody asked for. */
export interface RaceAsked {
  readonly origin: Origin;
  /** It waits while as many run, or began within the minute, as the helper allows. */
  readonly state: 'waiting' | 'racing' | 'over';
}

/** From the background to a page of the extension. */
export type PopupEvent =
  /** Once for each `watch`; what follows are deltas. */
  | { readonly type: 'page'; readonly page: PageView }
  | { readonly type: 'page-delta'; readonly delta: PageDelta }
  | ({ readonly type: 'requests' } & InspectedEvent)
  | { readonly type: 'race-progress'; readonly origin: Origin; readonly progress: Progress }
  | { readonly type: 'race-failed'; readonly origin: Origin; readonly code: string; readonly message: string }
  /** The races asked for by a press since none was under way: at `watch`, and whenever one begins to wait, begins or is over. */
  | { readonly type: 'races'; readonly races: readonly RaceAsked[] }
  | { readonly type: 'steer-failed'; readonly message: string }
  | { readonly type: 'helper'; readonly helper: HelperState }
  /** `null`: the helper could not be asked, and its state says why. */
  | { readonly type: 'doctor'; readonly findings: readonly DoctorFinding[] | null }
  /** What the helper forgot, in records of its host cache; null: it was not reached, and keeps what it has. */
  | { readonly type: 'wiped'; readonly helperRecords: number | null; readonly trouble: string | null };

export const POPUP_PORT = 'popup';

/** From a page of the extension to the background: asks what is stored, or stores a value in place of that revision's. */
export type StoreRequest =
  | { readonly type: 'stored'; readonly key: StoreKey }
  | {
      readonly type: 'store';
      readonly key: StoreKey;
      readonly revision: number;
      readonly value: unknown;
    };

/** What is stored by then, or why that cannot be told. */
export type StoreAnswer = { readonly stored: StoredValue } | { readonly error: string };

/** From the background to every page of the extension: something else is stored now. */
export interface StoreEvent {
  readonly type: 'store-changed';
  readonly key: StoreKey;
}

/** `to-h3`: names HTTP/3 where the server does not. `from-h3`: takes the server's own advertisement back. */
export type Direction = 'to-h3' | 'from-h3';

/** Why a steering was undone last. */
export type UndoReason = 'network' | 'failed' | 'expired' | 'changed';
