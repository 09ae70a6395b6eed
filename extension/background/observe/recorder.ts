// From what the observers saw to what is recorded: joins, writes the ledger, updates the page, and only then
// acknowledges. Order matters: a batch is acknowledged after it is durable, and each step tolerates a repetition.

import type { Observation } from '@photofinish/shared/web/observation';
import { originOfUrl } from '@photofinish/shared/web/origin';
import { dropOldest } from '../../common/drop-oldest.ts';
import { applyBatch, type Page } from '../../common/page/model.ts';
import { siteOfHost, siteOfUrl } from '../../common/site.ts';
import { comparableUrl, type TimingBatch } from '../../common/timing.ts';
import type { Batch, Ledger, Score } from '../../ledger/ledger.ts';
import type { Pages } from '../tab/pages.ts';
import type { BackfilledObservation, DevtoolsFeed, RecordedObservation } from './devtools-feed.ts';
import { isUnfinished, missedObservation, observationOf } from './join.ts';
import type { EndedRequest, RequestTable } from './requests.ts';

/** The sender of a batch, as the browser vouches for it. */
interface BatchSender {
  readonly tabId: number;
  readonly documentId: string;
  readonly url: string;
}

export interface RecorderDeps {
  readonly table: RequestTable;
  readonly ledger: Pick<Ledger, 'record'>;
  readonly pages: Pages;
  /** Since when webRequest events arrive without gaps, milliseconds since the epoch. */
  readonly witnessSinceMs: number;
  readonly nowMs: () => number;
  /** The label of the network now. */
  readonly network: () => string;
  /** Whether an answer that no timing told of, on this site, may be recorded. */
  readonly mayRecord: (subject: { request: EndedRequest; site: string }) => boolean;
  /** Something new is in the ledger. */
  readonly onRecorded: (observations: readonly Observation[]) => void;
  /** What the developer tools know of requests that hide their protocol. */
  readonly devtoolsFeed: Pick<DevtoolsFeed, 'complete' | 'recorded'>;
  /** The developer tools told of these meanwhile: they are in the ledger as unknown. */
  readonly onBackfill: (backfilled: readonly BackfilledObservation[]) => void;
}

/** An observation, and where its answer came from. */
type Joined = Pick<RecordedObservation, 'url' | 'observation'>;

interface Prepared {
  readonly counted: {
    readonly observations: readonly Observation[];
    readonly scores: readonly Score[];
    readonly pageStartedMs: number;
  };
  readonly recorded: readonly RecordedObservation[];
}

/** Answers that no timing told of, not yet in the ledger. */
interface Unsaved {
  readonly recorded: readonly RecordedObservation[];
  readonly scores: readonly Score[];
}

const NOTHING: Unsaved = { recorded: [], scores: [] };
/** Batches joined and not yet in the ledger; storage that fails for longer costs details, not counts. */
const MAX_PREPARED = 200;

export interface Recorder {
  /** Resolves once the batch is durable; rejects when storage fails, and the batch should come again. */
  record(batch: TimingBatch, sender: BatchSender): Promise<void>;
  /** The same for a batch whose document, of this URL, is gone; it counts once, however it came. */
  recordLeft(batch: TimingBatch, documentUrl: string): Promise<void>;
  /** Records the answers that no timing told of. */
  recordMissed(): Promise<void>;
}

export function createRecorder(deps: RecorderDeps): Recorder {
  const { table, pages, nowMs } = deps;
  // Joining consumes the webRequest half, so its result is kept until the ledger has it.
  const prepared = new Map<string, Prepared>();
  let unsaved = NOTHING;

  const count = (batch: Omit<Batch, 'nowMs' | 'network'>): Promise<boolean> =>
    deps.ledger.record({ ...batch, nowMs: nowMs(), network: deps.network() });

  const pageOf = (batch: TimingBatch, { tabId, documentId, url }: BatchSender): Page | undefined => {
    if (batch.topOrigin !== null) return pages.of(documentId) ?? pages.shown(tabId);
    const page = pages.commit({ documentId, tabId, url, startedMs: batch.startedMs });
    if (page !== null) pages.show(tabId, documentId);
    return page ?? undefined;
  };

  const joined = (batch: TimingBatch, { tabId, documentId }: BatchSender, site: string): Joined[] =>
    batch.entries.flatMap((timing, i) => {
      const { navigation, url } = timing;
      const claim = {
        tabId,
        documentId,
        navigation,
        url,
        unfinished: isUnfinished(timing),
        answeredAtMs: timing.firstByteMs || timing.endMs,
      };
      const request = table.claim(claim);
      if (request === 'counted') return [];
      const observation = observationOf(timing, request, {
        id: `${batch.source}:${batch.seq}:${i}`,
        site,
        outermost: batch.topOrigin === null,
        controlled: batch.controlled,
        witnessSinceMs: deps.witnessSinceMs,
      });
      if (observation === null) return [];
      if (request === null) table.countUnmatched(claim, observation.delivery !== 'network');
      const answered = comparableUrl(request?.url ?? url);
      return [{ url: answered, observation: deps.devtoolsFeed.complete(tabId, answered, observation) }];
    });

  const prepare = (key: string, batch: TimingBatch, sender: BatchSender, site: string): Prepared => {
    const all = joined(batch, sender, site);
    const observations = all.map(({ observation }) => observation);
    const page = pageOf(batch, sender);
    const { tabId } = sender;
    const recorded = all.map((each) => ({ ...each, tabId, documentId: page?.documentId ?? null }));
    if (page === undefined)
      return { counted: { observations, scores: [], pageStartedMs: batch.startedMs }, recorded };
    const navigation = batch.topOrigin === null ? batch.entries.find((e) => e.navigation) : undefined;
    const applied = applyBatch(page, key, observations, navigation?.firstByteMs || null);
    if (applied.page !== page) pages.update(applied.page);
    const scores = applied.scores.map((score) => ({ ...score, site }));
    return { counted: { observations, scores, pageStartedMs: page.startedMs }, recorded };
  };

  const done = (observations: readonly Observation[], recorded: readonly RecordedObservation[]): void => {
    deps.onRecorded(observations);
    const backfilled = deps.devtoolsFeed.recorded(recorded);
    if (backfilled.length > 0) deps.onBackfill(backfilled);
  };

  const missed = (request: EndedRequest): RecordedObservation | null => {
    const parts = originOfUrl(request.url);
    if (parts === null) return null;
    const page = pageOfMissed(pages, request);
    // A worker's own request names who asked; nothing better is known of the page behind it.
    const site =
      (request.kind === 'navigation' ? siteOfHost(parts.host) : page?.site) ??
      siteOfUrl(request.initiator ?? '') ??
      siteOfHost(parts.host);
    if (!deps.mayRecord({ request, site })) return null;
    // Pages are also asked for by downloads and, ahead of time, by other pages: those were no navigations.
    const document = request.kind === 'navigation' && !request.hop && request.documentId === null;
    const kind = document && page !== undefined ? 'navigation' : 'resource';
    const id = `missed:${request.id}:${request.atMs}`;
    const observation = missedObservation(request, { id, site, kind });
    if (observation === null) return null;
    const { tabId } = request;
    const url = comparableUrl(request.url);
    const documentId = page?.documentId ?? null;
    return { tabId, url, documentId, observation: deps.devtoolsFeed.complete(tabId, url, observation) };
  };

  return {
    async record(batch, sender) {
      const site = siteOfUrl(batch.topOrigin ?? sender.url);
      // A frame inside another extension's page, or of a document without an address: nobody's visit.
      if (site === null) return;
      const key = `${batch.source}:${batch.seq}`;
      const ready = prepared.get(key) ?? prepare(key, batch, sender, site);
      prepared.set(key, ready);
      dropOldest(prepared, MAX_PREPARED);
      const fresh = await count({ key, ...ready.counted });
      prepared.delete(key);
      // A full session area costs the view after a restart; the batch is durable, and must not come again for it.
      await pages.saved().catch(() => {});
      if (fresh) done(ready.counted.observations, ready.recorded);
    },

    async recordLeft(batch, documentUrl) {
      const site = siteOfUrl(batch.topOrigin ?? documentUrl);
      if (site === null) return;
      const key = `${batch.source}:${batch.seq}`;
      // Whoever could have seen its requests died over the batch, or the batch is in the ledger already.
      const context = { site, outermost: batch.topOrigin === null, witnessSinceMs: Number.POSITIVE_INFINITY };
      const observations = batch.entries.flatMap(
        (timing, i) =>
          observationOf(timing, null, { ...context, id: `${key}:${i}`, controlled: batch.controlled }) ?? [],
      );
      const left = { observations, scores: [], pageStartedMs: batch.startedMs };
      const fresh = await count({ key, ...(prepared.get(key)?.counted ?? left) });
      if (fresh) deps.onRecorded(observations);
    },

    async recordMissed() {
      const found = table.expire(nowMs()).flatMap((request) => missed(request) ?? []);
      const scores = found.flatMap(({ observation, documentId }) => {
        const current = documentId === null ? undefined : pages.get(documentId);
        if (current === undefined) return [];
        const applied = applyBatch(current, observation.id, [observation], null);
        pages.update(applied.page);
        return applied.scores.map((score) => ({ ...score, site: current.site }));
      });
      const recorded = [...unsaved.recorded, ...found];
      if (recorded.length === 0) return;
      unsaved = {
        recorded: recorded.slice(-MAX_PREPARED),
        scores: [...unsaved.scores, ...scores].slice(-MAX_PREPARED),
      };
      const observations = recorded.map(({ observation }) => observation);
      await count({ key: null, observations, scores: unsaved.scores, pageStartedMs: nowMs() });
      unsaved = NOTHING;
      done(observations, recorded);
    },
  };
}

function pageOfMissed(pages: Pages, request: EndedRequest): Page | undefined {
  const own = request.documentId === null ? undefined : pages.of(request.documentId);
  if (own !== undefined || request.tabId < 0) return own;
  const shown = pages.shown(request.tabId);
  // The document itself, if its page never told how it came (no content script runs in it).
  if (request.kind === 'navigation' && !request.hop)
    return shown?.delivery === null && originOfUrl(request.url)?.origin === shown.origin ? shown : undefined;
  return shown !== undefined && shown.startedMs <= request.atMs ? shown : undefined;
}
