// From what the observers saw to what is recorded: joins, writes the ledger, updates the page, and only then
// acknowledges. Order matters: a batch is acknowledged after it is durable, and each step tolerates repetition.

import type { Observation, ObservationMode } from '@photofinish/shared/web/observation';
import { type Origin, originOfUrl } from '@photofinish/shared/web/origin';
import { dropOldest } from '../../common/drop-oldest.ts';
import { applyBatch, type Page } from '../../common/page/model.ts';
import { siteOfHost, siteOfUrl } from '../../common/site.ts';
import { comparableUrl, type Timing, type TimingBatch } from '../../common/timing.ts';
import type { Ledger } from '../../ledger/ledger.ts';
import type { Batch, Score } from '../../ledger/writing.ts';
import type { EditionModule } from '../edition/edition.ts';
import type { Pages } from '../tab/pages.ts';
import type { BackfilledObservation, DevtoolsFeed, RecordedObservation } from './devtools.ts';
import { isUnfinished, missedObservation, observationOf } from './join.ts';
import type { Sender } from './recordable.ts';
import type { Claim, EndedRequest, RequestTable } from './requests.ts';

type BatchSender = Pick<Sender, 'tabId' | 'documentId' | 'url'>;

export interface RecorderDeps {
  readonly table: RequestTable;
  readonly ledger: Pick<Ledger, 'record'>;
  readonly pages: Pages;
  /** Since when webRequest events have arrived without gaps, milliseconds since the epoch. */
  readonly fullSinceMs: () => number;
  readonly nowMs: () => number;
  readonly later: (delayMs: number, run: () => void) => void;
  /** The label of the current network. */
  readonly network: () => string;
  /** Whether all requests go through a proxy, or none; null: the browser does not say, or says it of each request. */
  readonly proxied: () => boolean | null;
  /** How requests are observed at present. */
  readonly mode: () => ObservationMode;
  /** Whether a response of this origin may be recorded; request and site are given if no timing reported it. */
  readonly mayRecord: (subject: { origin: Origin; request?: EndedRequest; site?: string }) => boolean;
  /** Something new is in the ledger. */
  readonly onRecorded: (observations: readonly Observation[]) => void;
  /** A tab's outermost page came over the network, and reported that itself. */
  readonly onNavigation: (navigation: RecordedObservation) => void;
  /** What the developer tools know about requests that hide their protocol. */
  readonly devtoolsFeed: Pick<DevtoolsFeed, 'complete' | 'recorded'>;
  /** The developer tools have meanwhile reported these, which are in the ledger as unknown. */
  readonly onBackfill: (backfilled: readonly BackfilledObservation[]) => void;
}

type LateEvents = EditionModule['LATE_EVENTS'];

/** An observation, the URL that answered, and the request if webRequest saw it. */
interface JoinedObservation extends Pick<RecordedObservation, 'url' | 'observation'> {
  readonly request: EndedRequest | null;
}

type ProxiedOrigins = ReadonlyMap<Origin, boolean>;

interface PreparedBatch {
  readonly counted: {
    readonly observations: readonly Observation[];
    readonly scores: readonly Score[];
    readonly pageBegunMs: number | null;
    readonly proxied: ProxiedOrigins;
  };
  readonly recorded: readonly RecordedObservation[];
}

/** Responses that no timing reported, not yet in the ledger. */
interface UnsavedResponses {
  readonly recorded: readonly RecordedObservation[];
  readonly scores: readonly Score[];
  readonly proxied: ProxiedOrigins;
}

const NOTHING: UnsavedResponses = { recorded: [], scores: [], proxied: new Map() };

/** Origins of which the browser says whether their responses came through a proxy; one such response decides. */
function proxiedOrigins(
  joined: readonly Pick<JoinedObservation, 'observation' | 'request'>[],
  all: boolean | null,
): ProxiedOrigins {
  const proxied = new Map<Origin, boolean>();
  for (const { observation, request } of joined) {
    const isProxied = request?.proxied ?? all;
    if (isProxied !== null)
      proxied.set(observation.origin, isProxied || proxied.get(observation.origin) === true);
  }
  return proxied;
}
/** For timings that are on their way: pages send them within about a second. */
const SETTLE_WAIT_MS = 3000;
/** For timings that are here, and wait for their requests. */
const SETTLE_LATE_MS = 5000;
/** How often the table is checked for awaited requests. */
const STEP_MS = 100;
/** Batches in the ledger that are recognised if they are sent again, as after a page was gone back to. */
const MAX_RECORDED = 1000;
/** Batches joined and not yet in the ledger; if storage fails for longer, details are lost, but not counts. */
const MAX_PREPARED = 200;

export class Recorder {
  readonly #deps: RecorderDeps;
  // Joining consumes the webRequest half, so its result is kept until the ledger has it.
  readonly #prepared = new Map<string, PreparedBatch>();
  /** In the ledger: one sent again would take the request of a later timing for the same URL. */
  readonly #recorded = new Set<string>();
  #unsaved = NOTHING;
  /** Batches that wait for their requests. */
  #unreported = 0;
  #deletions = 0;
  /** While the ledger is slow: a second run would take what is unsaved for its own, and count it twice. */
  #recordingMissed: Promise<void> | null = null;

  constructor(deps: RecorderDeps) {
    this.#deps = deps;
  }

  /**
   * Resolves once the requests of these timings are in the table, or would be late even for a busy browser (`LATE_EVENTS`):
   * a timing alone does not tell where a redirect led, or whether a stored copy was confirmed. False if everything was
   * deleted meanwhile, these timings with it.
   */
  async requestsReported(batch: TimingBatch, sender: BatchSender, late: LateEvents): Promise<boolean> {
    // A batch that could not be stored has its requests already.
    if (late.mostMs === 0 || this.#prepared.has(keyOf(batch))) return true;
    const deletions = this.#deletions;
    this.#unreported += 1;
    try {
      await this.#untilReported(batch, sender, late);
    } finally {
      this.#unreported -= 1;
    }
    return deletions === this.#deletions;
  }

  async #untilReported({ entries }: TimingBatch, sender: BatchSender, { usuallyMs, mostMs }: LateEvents) {
    const { table, nowMs, fullSinceMs, mayRecord } = this.#deps;
    // The page's clock may be ahead.
    const endedMs = Math.min(Math.max(...entries.map(({ endMs }) => endMs)), nowMs());
    const usualMs = endedMs + usuallyMs - nowMs();
    if (usualMs > 0) await this.#pause(usualMs);
    const expected = entries.filter((timing) => {
      const origin = originOfUrl(timing.url)?.origin;
      const hasEvent = crossedNetwork(timing) && timing.startMs >= fullSinceMs();
      return origin !== undefined && mayRecord({ origin }) && hasEvent;
    });
    const byUrl = [...Map.groupBy(expected, ({ navigation, url }) => `${navigation} ${url}`).values()];
    const isMissing = ([first, ...others]: readonly Timing[]) =>
      first !== undefined && table.known(claimOf(first, sender)) < 1 + others.length;
    while (nowMs() < endedMs + mostMs && byUrl.some(isMissing)) await this.#pause(STEP_MS);
  }

  #pause(delayMs: number): Promise<void> {
    return new Promise((resolve) => this.#deps.later(delayMs, resolve));
  }

  /** What was recorded is deleted, and with it what waits to be. */
  forget(): void {
    this.#deletions += 1;
    // Requests that have ended and still wait for their page's timing.
    this.#deps.table.expire(Number.POSITIVE_INFINITY);
  }

  /** Resolves once the batch is durable; rejects when storage fails, and the batch should be sent again. */
  async record(batch: TimingBatch, sender: BatchSender): Promise<void> {
    const site = siteOfUrl(batch.topOrigin ?? sender.url);
    // A frame inside another extension's page, or of a document without a URL, belongs to no visit.
    if (site === null) return;
    const key = keyOf(batch);
    if (this.#recorded.has(key)) return;
    const ready = this.#prepared.get(key) ?? this.#prepare(key, batch, sender, site);
    this.#prepared.set(key, ready);
    dropOldest(this.#prepared, MAX_PREPARED);
    const fresh = await this.#count({ key, ...ready.counted });
    this.#prepared.delete(key);
    this.#recorded.add(key);
    dropOldest(this.#recorded, MAX_RECORDED);
    // A full session area costs only the view after a restart; the batch is durable and must not be sent again for it.
    await this.#deps.pages.saved().catch(() => {});
    if (fresh) this.#done(ready.counted.observations, ready.recorded);
  }

  /** The same for a batch whose document, with this URL, is gone; it counts once, however it arrived. */
  async recordLeft(batch: TimingBatch, documentUrl: string): Promise<void> {
    const site = siteOfUrl(batch.topOrigin ?? documentUrl);
    if (site === null) return;
    const key = keyOf(batch);
    // The background that could have seen its requests was terminated during the batch, or the batch is in the ledger
    // already.
    const context = { site, outermost: batch.topOrigin === null, fullSinceMs: Number.POSITIVE_INFINITY };
    const observations = batch.entries
      .flatMap(
        (timing, i) =>
          observationOf(timing, null, { ...context, id: `${key}:${i}`, controlled: batch.controlled }) ?? [],
      )
      .filter(({ origin }) => this.#deps.mayRecord({ origin }));
    // What holds now may not have held then, and its page may be counted as a visit already.
    const left = { observations, scores: [], pageBegunMs: null, proxied: NOTHING.proxied };
    const fresh = await this.#count({ key, ...(this.#prepared.get(key)?.counted ?? left) });
    if (fresh) this.#deps.onRecorded(observations);
  }

  /** Records the responses that no timing reported; while that is under way, resolves with it. */
  recordMissed(isDue?: (request: EndedRequest) => boolean): Promise<void> {
    this.#recordingMissed ??= this.#recordMissed(isDue).finally(() => {
      this.#recordingMissed = null;
    });
    return this.#recordingMissed;
  }

  /** Records what is due now, even if it became so while a recording was under way. */
  async recordDue(isDue?: (request: EndedRequest) => boolean): Promise<void> {
    // Its failure is its caller's, and what it left is recorded now.
    await this.#recordingMissed?.catch(() => {});
    await this.recordMissed(isDue);
  }

  /** How many responses of a page wait for its timings, and are not counted yet. */
  pendingOf({ documentId }: Page): number {
    const { table, pages, mayRecord } = this.#deps;
    return table.pending((request) => {
      if (pageOfMissed(pages, request)?.documentId !== documentId) return false;
      const origin = originOfUrl(request.url)?.origin;
      return origin !== undefined && mayRecord({ origin });
    });
  }

  /** Records all that waits, for a report made now: a timing that comes later than usual is then too late. */
  async settle(): Promise<void> {
    const { table } = this.#deps;
    // Nothing claims a redirect.
    const isExpected = (waitedMs: number) => {
      if (this.#unreported > 0) return waitedMs < SETTLE_LATE_MS;
      return waitedMs < SETTLE_WAIT_MS && (this.#prepared.size > 0 || table.pending(({ hop }) => !hop) > 0);
    };
    for (let waitedMs = 0; isExpected(waitedMs); waitedMs += STEP_MS) await this.#pause(STEP_MS);
    // A request that failed may still be the one of a timing.
    await this.recordDue(({ answered, prerender }) => answered && !prerender);
  }

  async #recordMissed(isDue?: (request: EndedRequest) => boolean): Promise<void> {
    const missed = this.#deps.table.expire(this.#deps.nowMs(), isDue).flatMap((request) => {
      const recorded = this.#missed(request);
      return recorded === null ? [] : [{ request, recorded, observation: recorded.observation }];
    });
    const found = missed.map(({ recorded }) => recorded);
    const scores = found.flatMap(({ observation, documentId }) => {
      const current = documentId === null ? undefined : this.#deps.pages.get(documentId);
      if (current === undefined) return [];
      const applied = applyBatch(current, observation.id, [observation], null);
      this.#deps.pages.update(applied.page);
      return applied.scores.map((score) => ({ ...score, site: current.site }));
    });
    const recorded = [...this.#unsaved.recorded, ...found];
    if (recorded.length === 0) return;
    this.#unsaved = {
      recorded: recorded.slice(-MAX_PREPARED),
      scores: [...this.#unsaved.scores, ...scores].slice(-MAX_PREPARED),
      proxied: new Map([...this.#unsaved.proxied, ...proxiedOrigins(missed, this.#deps.proxied())]),
    };
    const observations = recorded.map(({ observation }) => observation);
    await this.#count({
      key: null,
      observations,
      scores: this.#unsaved.scores,
      // They belong to several pages.
      pageBegunMs: null,
      proxied: this.#unsaved.proxied,
    });
    this.#unsaved = NOTHING;
    this.#done(observations, recorded);
  }

  #count(batch: Omit<Batch, 'nowMs' | 'network' | 'mode'>): Promise<boolean> {
    const { ledger, nowMs, network, mode } = this.#deps;
    return ledger.record({ ...batch, nowMs: nowMs(), network: network(), mode: mode() });
  }

  #pageOf(batch: TimingBatch, { tabId, documentId, url }: BatchSender): Page | undefined {
    if (batch.topOrigin !== null) return this.#deps.pages.of(documentId) ?? this.#deps.pages.shown(tabId);
    const { pages } = this.#deps;
    const known = pages.get(documentId);
    if (known !== undefined) return known;
    // Nothing else says that the tab shows it: its commit was not seen, or what was known of it is forgotten.
    const page = pages.commit({
      documentId,
      tabId,
      url,
      startedMs: batch.startedMs,
      begunMs: batch.startedMs,
    });
    if (page !== null) pages.show(tabId, documentId);
    return page ?? undefined;
  }

  #joined(batch: TimingBatch, { tabId, documentId }: BatchSender, site: string): JoinedObservation[] {
    return batch.entries.flatMap((timing, i) => {
      const claim = claimOf(timing, { tabId, documentId });
      const request = this.#deps.table.claim(claim);
      if (request === 'counted') return [];
      const observation = observationOf(timing, request, {
        id: `${keyOf(batch)}:${i}`,
        site,
        outermost: batch.topOrigin === null,
        controlled: batch.controlled,
        fullSinceMs: this.#deps.fullSinceMs(),
      });
      if (observation === null) return [];
      // In light mode no request will be reported later.
      if (request === null && this.#deps.mode() === 'full')
        this.#deps.table.countUnmatched(claim, observation.delivery !== 'network');
      if (!this.#deps.mayRecord({ origin: observation.origin })) return [];
      const answered = comparableUrl(request?.url ?? timing.url);
      const completed = this.#deps.devtoolsFeed.complete(tabId, answered, observation);
      return [{ url: answered, observation: completed, request }];
    });
  }

  #prepare(key: string, batch: TimingBatch, sender: BatchSender, site: string): PreparedBatch {
    const all = this.#joined(batch, sender, site);
    const observations = all.map(({ observation }) => observation);
    const page = this.#pageOf(batch, sender);
    const { tabId } = sender;
    const documentId = page?.documentId ?? null;
    const recorded = all.map(({ url, observation }) => ({ url, observation, tabId, documentId }));
    const proxied = proxiedOrigins(all, this.#deps.proxied());
    if (page === undefined)
      return { counted: { observations, scores: [], pageBegunMs: null, proxied }, recorded };
    const navigation = batch.topOrigin === null ? batch.entries.find((e) => e.navigation) : undefined;
    const applied = applyBatch(page, key, observations, navigation?.firstByteMs || null);
    if (applied.page !== page) this.#deps.pages.update(applied.page);
    const scores = applied.scores.map((score) => ({ ...score, site }));
    return { counted: { observations, scores, pageBegunMs: page.begunMs, proxied }, recorded };
  }

  #done(observations: readonly Observation[], recorded: readonly RecordedObservation[]): void {
    this.#deps.onRecorded(observations);
    for (const each of recorded)
      if (each.observation.kind === 'navigation' && each.observation.delivery === 'network')
        this.#deps.onNavigation(each);
    const backfilled = this.#deps.devtoolsFeed.recorded(recorded);
    if (backfilled.length > 0) this.#deps.onBackfill(backfilled);
  }

  #missed(request: EndedRequest): RecordedObservation | null {
    const parts = originOfUrl(request.url);
    if (parts === null) return null;
    const page = pageOfMissed(this.#deps.pages, request);
    // A worker's own request names its initiator; nothing better is known about the page behind it.
    const site =
      (request.kind === 'navigation' ? siteOfHost(parts.host) : page?.site) ??
      siteOfUrl(request.initiator ?? '') ??
      siteOfHost(parts.host);
    if (!this.#deps.mayRecord({ origin: parts.origin, request, site })) return null;
    // Pages are also requested by downloads and, ahead of time, by other pages: those were not navigations.
    const document = request.kind === 'navigation' && !request.hop && request.documentId === null;
    const kind = document && page !== undefined ? 'navigation' : 'resource';
    const id = `missed:${request.id}:${request.atMs}`;
    const observation = missedObservation(request, { id, site, kind });
    if (observation === null) return null;
    const { tabId } = request;
    const url = comparableUrl(request.url);
    const documentId = page?.documentId ?? null;
    return { tabId, url, documentId, observation: this.#deps.devtoolsFeed.complete(tabId, url, observation) };
  }
}

const keyOf = ({ source, seq }: TimingBatch) => `${source}:${seq}`;

function claimOf(timing: Timing, { tabId, documentId }: Pick<BatchSender, 'tabId' | 'documentId'>): Claim {
  const { navigation, url, firstByteMs, endMs } = timing;
  const unfinished = isUnfinished(timing);
  const crossed = crossedNetwork(timing);
  const answeredAtMs = (navigation && firstByteMs) || endMs;
  return { tabId, documentId, navigation, url, unfinished, crossed, answeredAtMs };
}

/** Whether the timing alone says that its response crossed the network. */
function crossedNetwork({ alpn, transferBytes, worker }: Timing): boolean {
  return alpn !== '' && transferBytes > 0 && !worker;
}

function pageOfMissed(pages: Pages, request: EndedRequest): Page | undefined {
  const own = request.documentId === null ? undefined : pages.of(request.documentId);
  if (own !== undefined || request.tabId < 0) return own;
  const shown = pages.shown(request.tabId);
  // The document itself, if its page never reported how it arrived (no content script runs in it).
  if (request.kind === 'navigation' && !request.hop)
    return shown?.delivery === null && originOfUrl(request.url)?.origin === shown.origin ? shown : undefined;
  return shown !== undefined && shown.startedMs <= request.atMs ? shown : undefined;
}
