// All messages within the extension: between its pages and the background (over a port named `popup`) and from content
// scripts to the background. One table of types, so that both ends are checked against the same definitions; what pages
// request is in `popup-requests.ts`.

import type { DoctorFinding, Forecast, Progress } from '@photofinish/shared/port/wire';
import type { OriginRace } from '@photofinish/shared/race/outcome';
import type { Verdict } from '@photofinish/shared/race/verdict-schema';
import type { ProtocolCounts } from '@photofinish/shared/report/adoption';
import type { ObservationMode } from '@photofinish/shared/web/observation';
import type { Origin } from '@photofinish/shared/web/origin';
import type { Delivery, Protocol, UnknownReason } from '@photofinish/shared/web/protocol';
import type { InspectedEvent } from './inspected-request.ts';
import type { StoredValue, StoreKey } from './store/store.ts';

/** The BroadcastChannel on which the options page tells other pages that an import has changed the ledger. */
export const IMPORT_CHANNEL = 'photofinish-import';

/** The state of the native helper, and thus what the user can do about it. */
export type HelperState =
  | { readonly state: 'connecting' }
  /** The browser requires the user's consent before it lets the extension contact a native program. */
  | { readonly state: 'not-asked' }
  | {
      readonly state: 'ready';
      readonly program: string;
      readonly network: string;
      /** The user's name for the network; null: none. */
      readonly networkName: string | null;
    }
  /** The browser found no native messaging manifest, or the launcher is gone. */
  | { readonly state: 'missing' }
  /** It started and exited; it is retried after a pause. */
  | { readonly state: 'crashed'; readonly message: string }
  /**
   * It speaks a version of the wire protocol that this extension does not support, or rejects ours; `older`: which of
   * the two must be updated, absent if that is not known; `foreign`: it is installed for another extension, whatever its
   * version.
   */
  | {
      readonly state: 'incompatible';
      readonly message: string;
      readonly older?: 'helper' | 'extension';
      readonly foreign?: true;
    };

/** What one origin did on the page in view. */
export interface OriginView {
  readonly origin: Origin;
  /** Its own registrable domain, whatever the site of the page. */
  readonly site: string;
  /**
   * The newest protocol known for it on this page, or for the page's own origin the document's; `unknown` comes with
   * its reason.
   */
  readonly protocol: Protocol;
  readonly reason: UnknownReason | null;
  /** Why the newest of its responses without a protocol has none, whatever others have; null: each has one. */
  readonly hiddenReason: UnknownReason | null;
  /** Network responses on this page by protocol. */
  readonly counts: ProtocolCounts;
  /** Responses that did not come over the network now, by source. */
  readonly delivered: Readonly<Record<Exclude<Delivery, 'network'>, number>>;
  /** What the helper forecast before the navigation; null without a helper. */
  readonly forecast: Forecast | null;
  /** Whether the browser used `expected`; null: not scored (hidden, cached, or nothing expected). */
  readonly forecastRight: boolean | null;
  /**
   * The newest race of this origin, whatever its mode and even if it could not be run; null if there is none, or if it
   * ran on another network.
   */
  readonly race: OriginRace | null;
  readonly verdict: Verdict;
}

/**
 * What a tab shows. `recorded`: an https page with a record. Each of the others is a reason why there is none (yet),
 * with its own message.
 */
export type PageState =
  | 'recorded'
  | 'loading'
  | 'failed'
  | 'not-https'
  | 'file'
  | 'browser-page'
  /** The source of a page, shown by the browser itself. */
  | 'source'
  /** https, but the browser keeps every extension away from it: its extension store and the like. */
  | 'guarded'
  /** https, and opened before Photofinish was running or recorded its site or window, or its data was deleted. */
  | 'not-recorded'
  | 'private'
  /** Its site is excluded from recording. */
  | 'excluded'
  /** The user's exclusions cannot be read, so nothing is recorded. */
  | 'no-options'
  /** The user has not given access to its site (Firefox). */
  | 'no-access';

/** How the tab came to show its document: loaded, restored from the back/forward cache, or prerendered. */
export type Arrival = 'loaded' | 'bfcache' | 'prerendered';

/** The recorded visits of the page's own origin on its site. */
export interface Visits {
  /** By the protocol of the page itself. */
  readonly navigations: ProtocolCounts;
  readonly sinceMs: number;
}

/** What the popup shows about an origin's steering. */
export interface SteerView {
  /** The master switch in the options. */
  readonly enabled: boolean;
  readonly chosen: boolean;
  /** The steering in force or being withdrawn. */
  readonly active: {
    readonly direction: Direction;
    readonly undoing: boolean;
    readonly untilMs: number;
  } | null;
  /** What steering could do for it now. */
  readonly possible: Direction | null;
  /** The newest race saw a certificate under a private root, under which Firefox refuses QUIC by default. */
  readonly privateRoot?: boolean;
  /** Why it was last undone; null if it was not, or by the user. */
  readonly undone: UndoReason | null;
}

/** What the popup shows for a tab. */
export interface PageView {
  readonly tabId: number;
  readonly state: PageState;
  readonly origin: Origin | null;
  readonly site: string | null;
  /** Of the document, or if that is not known, of the newest response of its origin that revealed one. */
  readonly protocol: Protocol;
  readonly reason: UnknownReason | null;
  readonly delivery: Delivery;
  /** Of the document itself: unknown unless it came over the network; null until it has reported that. */
  readonly documentProtocol: Protocol | null;
  readonly arrival: Arrival;
  readonly verdict: Verdict | null;
  /** Network responses of the whole page. */
  readonly counts: ProtocolCounts;
  /** Its responses that are not counted yet, because they wait for their timings. */
  readonly pending: number;
  /** Null when there are none. */
  readonly visits: Visits | null;
  /** Whether the ledger has been queried; until then verdicts and races may still change. */
  readonly complete: boolean;
  /** The page's own origin first, then by number of requests. */
  readonly origins: readonly OriginView[];
  /** For the page's own origin; null if the browser cannot be steered. */
  readonly steer: SteerView | null;
  /** The browser's own name for why the page failed to load; null if it did not fail or the browser gives none. */
  readonly error: string | null;
  readonly helper: HelperState;
  /** How requests are observed at present. */
  readonly mode: ObservationMode;
  /** Why nothing can be recorded or looked up now (the storage cannot be opened); null if recording works. */
  readonly trouble: string | null;
}

/** What changed in a page's view since the preceding view or delta. */
export interface PageDelta {
  readonly fields: Partial<Omit<PageView, 'origins'>>;
  /** Origins that are new or look different now. */
  readonly changed: readonly OriginView[];
  readonly removed: readonly Origin[];
}

/** A race that the user requested. */
export interface RaceRequest {
  readonly origin: Origin;
  /** It waits while the maximum number that the helper allows are running, or began within the last minute. */
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
  /**
   * The races started by a click since the last time that none was in progress: sent at `watch`, and whenever one is
   * queued, begins or ends.
   */
  | { readonly type: 'races'; readonly races: readonly RaceRequest[] }
  | { readonly type: 'steer-failed'; readonly message: string }
  | { readonly type: 'helper'; readonly helper: HelperState }
  /** `null`: the helper could not be asked, and its state says why. */
  | { readonly type: 'doctor'; readonly findings: readonly DoctorFinding[] | null }
  /** How many records of its host cache the helper deleted; null: it was not reached, and keeps what it has. */
  | { readonly type: 'wiped'; readonly helperRecords: number | null; readonly trouble: string | null }
  /** `trouble`: why what waited could not be recorded; null if it was. */
  | { readonly type: 'settled'; readonly trouble: string | null };

export const POPUP_PORT = 'popup';
/** Requests of a tab that the developer tools' page keeps, and whoever receives them; the oldest are dropped. */
export const MAX_REQUESTS = 5000;

/** From a page of the extension to the background: reads a value, or replaces the value of the given revision. */
export type StoreRequest =
  | { readonly type: 'stored'; readonly key: StoreKey }
  | {
      readonly type: 'store';
      readonly key: StoreKey;
      readonly revision: number;
      readonly value: unknown;
    };

/** What is stored afterwards, or why that cannot be determined. */
export type StoreAnswer = { readonly stored: StoredValue } | { readonly error: string };

/** From the background to every page of the extension: a stored value changed. */
export interface StoreEvent {
  readonly type: 'store-changed';
  readonly key: StoreKey;
}

/** `to-h3`: advertises HTTP/3 if the server does not. `from-h3`: withdraws the server's own advertisement. */
export type Direction = 'to-h3' | 'from-h3';

/** Why a steering was last undone. */
export type UndoReason = 'network' | 'failed' | 'expired' | 'changed';
