// Races started by the extension, by click or by visit: limited to the helper's budget, both at once and per minute,
// one per origin; the others wait.
import { RACES_AT_ONCE, RACES_PER_MINUTE } from '@photofinish/shared/port/race-limits';
import { NETWORK_CHANGED, type Progress } from '@photofinish/shared/port/wire';
import type { OriginRace } from '@photofinish/shared/race/outcome';
import { type Origin, originOfUrl } from '@photofinish/shared/web/origin';
import type { Clock } from '../../common/browser.ts';
import { getMessage, type MessageKey } from '../../common/catalog.ts';
import { dropOldest } from '../../common/drop-oldest.ts';
import { BROWSER } from '../../common/edition.ts';
import type { createPageInitiated, Gestures } from '../../common/helper/page-initiated.ts';
import type { HelperError } from '../../common/helper/state.ts';
import type { RaceRequest } from '../../common/messages.ts';
import { proxyMode } from '../../common/permissions.ts';
import type { Settings } from '../../common/settings.ts';
import { siteOfHost } from '../../common/site.ts';
import type { BackgroundLedger } from '../../ledger/ledger.ts';
import type { DocumentVisit } from '../edition/edition.ts';
import type { Recordable } from '../observe/recordable.ts';
import type { RaceOrder, RunningRace } from './helper.ts';

export interface RacesDeps {
  readonly race: (order: RaceOrder, onProgress: (progress: Progress) => void) => RunningRace;
  readonly onProgress: (origin: Origin, progress: Progress) => void;
  readonly onDone: (race: OriginRace) => void;
  readonly onFailed: (origin: Origin, code: string, message: string) => void;
  /** Called whenever `requests` changed. */
  readonly onRequestsChanged: (requests: readonly RaceRequest[]) => void;
  readonly clock: Clock & { nowMs(): number };
}

const MINUTE_MS = 60_000;
/** The helper counts from when it receives a race, which is slightly later. */
const MARGIN_MS = 500;
const MAX_WAITING = 500;

/** What the codes mean to a user who clicked a button. The others, which only a defect causes, keep their messages. */
const ERROR_MESSAGES: Partial<Record<string, MessageKey>> = {
  blocked: 'popupRaceBlocked',
  cancelled: 'popupRaceCancelled',
  'network-changed': 'popupRaceNetworkChanged',
  internal: 'popupRaceInternal',
  'cache-unavailable': 'popupRaceCacheUnavailable',
  'helper-timeout': 'popupRaceTimeout',
  'too-many-races': 'popupRaceTooMany',
  'helper-missing': 'popupRaceHelperMissing',
  'helper-disconnected': 'popupRaceHelperGone',
  'race-failed': 'popupRaceHelperFailed',
  'bad-reply': 'popupRaceBadReply',
  'helper-bad-reply': 'popupRaceBadReply',
  'reply-too-large': 'popupRaceReplyTooLarge',
};

/** The code for the pages: unlike the port's, it distinguishes a race that nobody cancelled. */
function codeOf({ code, message }: HelperError): string {
  return code === 'cancelled' && message === NETWORK_CHANGED ? 'network-changed' : code;
}

function messageFor(code: string, message: string): string {
  const key = ERROR_MESSAGES[code];
  return key === undefined ? message : getMessage(key, { why: message });
}

interface WaitingRace {
  readonly order: RaceOrder;
  /** One of many that were requested at once. */
  readonly oneOfMany: boolean;
}

interface BegunRace {
  readonly order: RaceOrder;
  readonly race: RunningRace;
  /** Its result is not wanted any more. */
  discarded: boolean;
}

export class Races {
  readonly #deps: RacesDeps;
  readonly #running = new Map<Origin, BegunRace>();
  readonly #waiting = new Map<Origin, WaitingRace>();
  readonly #requests = new Map<Origin, RaceRequest['state']>();
  /** When the races of the last minute began. */
  #begunMs: number[] = [];
  #called = false;

  constructor(deps: RacesDeps) {
    this.#deps = deps;
  }

  /** Queues these; a race requested on its own goes before several that were requested at once. */
  start(...orders: readonly RaceOrder[]): void {
    for (const order of orders) this.#add(order, orders.length > 1);
    if (orders.some(({ reason }) => reason === 'click')) this.#deps.onRequestsChanged(this.requests);
    this.#next();
  }

  cancel(origin: Origin): void {
    this.#cancelWaiting(origin);
    this.#running.get(origin)?.race.cancel();
  }

  /** Cancels every race started by a click, running or waiting. */
  stop(): void {
    this.withdraw(({ reason }) => reason === 'click');
    for (const { order, race: started } of this.#running.values())
      if (order.reason === 'click') started.cancel();
  }

  /** Cancels all races, and drops the results of those that end nevertheless. */
  discard(): void {
    this.withdraw(() => true);
    for (const begun of this.#running.values()) {
      begun.discarded = true;
      begun.race.cancel();
    }
  }

  /** Cancels the waiting races that `which` selects; running ones end within seconds. */
  withdraw(which: (order: RaceOrder) => boolean): void {
    for (const [origin, { order }] of [...this.#waiting]) if (which(order)) this.#cancelWaiting(origin);
  }

  /** The races started by a click, since the last time that none was in progress. */
  get requests(): readonly RaceRequest[] {
    return [...this.#requests].map(([origin, state]) => ({ origin, state }));
  }

  #askFor({ origin, reason }: RaceOrder): void {
    if (reason !== 'click') return;
    if ([...this.#requests.values()].every((state) => state === 'over')) this.#requests.clear();
    this.#requests.set(origin, 'waiting');
  }

  /** Records the progress of a race that a user requested; other races are not reported. */
  #note(origin: Origin, state: RaceRequest['state']): void {
    if ((this.#requests.get(origin) ?? 'over') === 'over') return;
    this.#requests.set(origin, state);
    this.#deps.onRequestsChanged(this.requests);
  }

  /**
   * Whether another race may begin now; if only the limit per minute forbids it, `next` is called again once it allows
   * one.
   */
  #mayBegin(): boolean {
    if (this.#running.size >= RACES_AT_ONCE) return false;
    const nowMs = this.#deps.clock.nowMs();
    // A clock that was set back must not delay races.
    this.#begunMs = this.#begunMs.filter((atMs) => atMs <= nowMs && nowMs - atMs < MINUTE_MS + MARGIN_MS);
    const [oldestMs] = this.#begunMs;
    if (oldestMs === undefined || this.#begunMs.length < RACES_PER_MINUTE) return true;
    if (!this.#called) {
      this.#called = true;
      this.#deps.clock.later(oldestMs + MINUTE_MS + MARGIN_MS - nowMs, () => {
        this.#called = false;
        this.#next();
      });
    }
    return false;
  }

  #next(): void {
    while (this.#waiting.size > 0 && this.#mayBegin()) {
      const all = [...this.#waiting.values()].filter(({ order: { origin } }) => !this.#running.has(origin));
      if (all.length === 0) return;
      const { order } = all.find(({ oneOfMany }) => !oneOfMany) ?? (all[0] as WaitingRace);
      this.#waiting.delete(order.origin);
      this.#run(order);
    }
  }

  #run(order: RaceOrder): void {
    const { origin } = order;
    this.#begunMs.push(this.#deps.clock.nowMs());
    const started = this.#deps.race(order, (progress) => this.#deps.onProgress(origin, progress));
    const begun: BegunRace = { order, race: started, discarded: false };
    this.#running.set(origin, begun);
    this.#note(origin, 'racing');
    // Over before it is reported: many races may end at once, and none that has failed may still be listed as racing.
    const end = (report: () => void): void => {
      this.#running.delete(origin);
      // A page that cannot be reached must cost neither the result nor the races that wait.
      try {
        this.#note(origin, 'over');
      } finally {
        try {
          if (begun.discarded) this.#deps.onFailed(origin, 'cancelled', getMessage('popupRaceCancelled'));
          else report();
        } finally {
          this.#next();
        }
      }
    };
    started.result.then(
      (race) => end(() => this.#deps.onDone(race)),
      (error: HelperError) => {
        const code = codeOf(error);
        end(() => this.#deps.onFailed(origin, code, messageFor(code, error.message)));
      },
    );
  }

  #add(order: RaceOrder, oneOfMany: boolean): void {
    const { origin } = order;
    const waiting = this.#waiting.get(origin);
    const running = this.#running.get(origin);
    // The result of a discarded race is not reported, and a visit triggers one only because the origin has none
    // yet: the user's race is reported, and yields the gain.
    const follows = running?.order.reason === 'navigation' && order.reason === 'click';
    if (running?.discarded === false && !follows) return;
    const requested = waiting?.order.reason === 'click';
    if (requested && (oneOfMany || order.reason === 'navigation')) return;
    if (waiting === undefined && this.#waiting.size >= MAX_WAITING) {
      this.#deps.onFailed(
        origin,
        'too-many-races',
        getMessage('popupRaceQueueFull', { number: MAX_WAITING }),
      );
      return;
    }
    this.#waiting.set(origin, { order, oneOfMany });
    this.#askFor(order);
  }

  #cancelWaiting(origin: Origin): void {
    if (!this.#waiting.delete(origin)) return;
    this.#deps.onFailed(origin, 'cancelled', getMessage('popupRaceCancelledEarly'));
    this.#note(origin, 'over');
  }
}

// Races that nobody clicked for: one for each top-level origin, on its first visit to a recorded page, and only if the
// user enabled them. A race bypasses the browser's proxy and is outside its private windows and containers, so any of
// these, and any doubt about them, forbids it.

export interface VisitDeps {
  readonly settings: () => Settings;
  readonly gestures: Pick<Gestures, 'had'>;
  readonly recordable: Pick<Recordable, 'mayRecord' | 'isPrivateTab'>;
  readonly ledger: () => Promise<Pick<BackgroundLedger, 'recordsOf' | 'newestRaces'>>;
  /** Whether the helper answers, once that is known: waits for a connection that is being opened. */
  readonly helperReady: () => Promise<boolean>;
  /** Whether a visit without a user action may be raced; each call counts against the limit. */
  readonly mayRacePageInitiated: ReturnType<typeof createPageInitiated>;
  readonly race: (order: RaceOrder) => void;
}

/** A page is requested at most this long before its response, so an older record belongs to an earlier visit. */
const FIRST_VISIT_MS = 60_000;
/** Origins that need not be looked up again while this background lives. */
const MAX_REMEMBERED = 1000;

/**
 * Returns the function to call for each document that was answered; it races the origin on a first visit. Rejects when
 * the ledger cannot be read.
 */
export function createVisits(deps: VisitDeps): (visited: DocumentVisit) => Promise<void> {
  const { settings, gestures, recordable } = deps;
  const seen = new Set<Origin>();
  const wanted = () => settings().raceWhen === 'first-visit';

  /** Whether the origin was raced, or visited before this page began. */
  const isKnown = async (origin: Origin, site: string, startedMs: number): Promise<boolean> => {
    const { recordsOf, newestRaces } = await deps.ledger();
    const [records, raced] = await Promise.all([recordsOf([origin], site), newestRaces([origin])]);
    return raced.has(origin) || (records.get(origin)?.firstSeenMs ?? startedMs) < startedMs - FIRST_VISIT_MS;
  };

  return async ({ tabId, url, atMs, byPage, privateWindow, container, proxied }) => {
    const parts = originOfUrl(url);
    if (parts === null || !wanted() || !recordable.mayRecord({ tabId, pageUrl: url })) return;
    if (container || (privateWindow ?? recordable.isPrivateTab(tabId))) return;
    const { origin } = parts;
    const site = siteOfHost(parts.host);
    const pageInitiated = byPage && !gestures.had(tabId);
    // Chromium reports the proxy for the whole browser, not per request.
    const isProxied = proxied ?? (BROWSER === 'chromium' ? (await proxyMode()) !== 'direct' : null);
    if (isProxied !== false || !wanted() || seen.has(origin)) return;
    seen.add(origin);
    dropOldest(seen, MAX_REMEMBERED);
    if (await isKnown(origin, site, atMs)) return;
    const ready = await deps.helperReady();
    // At a later visit the helper may be available.
    if (!ready) seen.delete(origin);
    if (!ready || !wanted()) return;
    if (pageInitiated && !(await deps.mayRacePageInitiated({ tabId, site, atMs }))) {
      // The user may still visit it.
      seen.delete(origin);
      return;
    }
    const { raceMode: mode, startDelayMs } = settings();
    deps.race({ origin, mode, reason: 'navigation', startDelayMs, share: true });
  };
}
