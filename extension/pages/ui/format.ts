// The popup's texts and numbers for what a page did, as pure functions of a PageView.

import { photoFinish } from '@photofinish/shared/drawing/photo-finish';
import { catalogLanguage, formatNumber } from '@photofinish/shared/language/catalog';
import { type Message, message, textOf } from '@photofinish/shared/language/message';
import { isAllDisturbed, isOurDoing } from '@photofinish/shared/race/conclusive';
import type { AttemptError, OriginRace } from '@photofinish/shared/race/outcome';
import { comparisonOf } from '@photofinish/shared/race/statistics';
import {
  type Adoption,
  adoptionByRequest,
  adoptionPercent,
  type ProtocolCounts,
  requestsIn,
} from '@photofinish/shared/report/adoption';
import { causeMessage } from '@photofinish/shared/verdict/causes';
import {
  hiddenCountText,
  lightNote,
  type ObservationMode,
  type ObservationModes,
} from '@photofinish/shared/web/observation';
import { type Origin, originParts } from '@photofinish/shared/web/origin';
import {
  KNOWN_PROTOCOLS,
  MARK_LABELS,
  type Mark,
  markOf,
  PROTOCOLS,
  type Protocol,
  protocolName,
  type UnknownReason,
} from '@photofinish/shared/web/protocol';
import { getMessage, type MessageKey, sentence } from '../../common/catalog.ts';
import type { OriginView, PageView, Visits } from '../../common/messages.ts';

/** An origin as usually written: https is the only scheme and 443 the default, so neither is shown. */
export function originLabel(origin: Origin): string {
  return origin.slice('https://'.length);
}

/** What is typed to find a host, in the form in which hosts are stored and shown: `bücher` as `xn--bcher-kva`. */
export function typedHost(text: string): string {
  const typed = text.trim().toLowerCase();
  const url = `https://${typed}`;
  // Of ASCII, a part of a name could become another: `10` an address.
  return /[^ -~]/.test(typed) && URL.canParse(url) ? new URL(url).hostname : typed;
}

/** Whether a race could show the gain of HTTP/3 at an origin but none has: no race failed, and no pairs were run. */
function isUnmeasured({ race }: OriginView): boolean {
  if (race === null || race.error !== undefined) return true;
  if (comparisonOf(race) !== null) return false;
  return photoFinish(race).lanes.every((lane) => lane.state !== 'failed');
}

/** Says that the gain of HTTP/3 at an origin is unknown and a race would show it; placed beside the race button. */
export function unmeasuredText(view: OriginView): string {
  // For an origin about which nothing is known, the verdict itself suggests a race.
  const suggestsRace = ['unknown', 'machine-too-busy'].includes(view.verdict.code);
  return !suggestsRace && isUnmeasured(view) ? getMessage('popupGainUnmeasured') : '';
}

const REASONS: Record<UnknownReason, MessageKey> = {
  'no-timing-allow-origin': 'popupHiddenBySite',
  'service-worker': 'popupByWorker',
  missed: 'popupMissed',
  revalidated: 'popupRevalidated',
  'not-exposed': 'popupNotExposed',
};

/** Why a protocol is not known, as a sentence; empty when it is known. */
export function reasonText(protocol: Protocol, reason: UnknownReason | null): string {
  if (protocol !== 'unknown') return '';
  return getMessage(reason === null ? 'popupNothingYet' : REASONS[reason]);
}

/** A protocol in a narrow column; "hidden" if the site hides it. */
export function protocolCell(protocol: Protocol, reason: UnknownReason | null): string {
  if (protocol !== 'unknown') return protocol;
  return reason === 'no-timing-allow-origin' ? getMessage('popupHidden') : getMessage('protocolUnknown');
}

/**
 * What the mark alone does not say about the protocols in these counts: that there were several, or that they are
 * hidden.
 */
export function protocolTag(
  counts: ProtocolCounts,
  protocol: Protocol,
  reason: UnknownReason | null,
  mode: ObservationMode,
): { text: string; title: string } {
  const several = KNOWN_PROTOCOLS.filter((each) => counts[each] > 0).length > 1;
  if (several)
    return {
      text: getMessage('popupMixed'),
      title: getMessage('popupBar', { list: countsText(counts, [mode]) }),
    };
  if (protocol === 'unknown' && reason === 'no-timing-allow-origin')
    return { text: getMessage('popupHidden'), title: reasonText(protocol, reason) };
  return { text: '', title: '' };
}

/** Requests by protocol as a list in words: "21 × HTTP/3, 12 × HTTP/2". */
function countsText(counts: ProtocolCounts, modes: ObservationModes): string {
  const parts = PROTOCOLS.filter((protocol) => counts[protocol] > 0).map((protocol) => {
    const count = counts[protocol];
    const number = protocol === 'unknown' ? hiddenCountText(count, modes) : formatNumber(count);
    return getMessage('popupCounted', { protocol: protocolName(protocol), number });
  });
  return new Intl.ListFormat(catalogLanguage(), { type: 'unit' }).format(parts);
}

export interface AdoptionText {
  readonly share: string;
  readonly of: string;
  readonly hidden: string;
  /** Why the hidden ones are no more than an upper bound; empty if they are exact. */
  readonly bound: string;
  readonly bar: readonly { readonly mark: Mark; readonly count: number }[];
  /** The bar in words. */
  readonly label: string;
}

function barOf(counts: ProtocolCounts): AdoptionText['bar'] {
  const sums = new Map<Mark, number>();
  for (const protocol of PROTOCOLS) {
    const mark = markOf(protocol);
    sums.set(mark, (sums.get(mark) ?? 0) + counts[protocol]);
  }
  return [...sums].filter(([, count]) => count > 0).map(([mark, count]) => ({ mark, count }));
}

function shareText(adoption: Adoption): { share: string; of: string } {
  const percent = adoptionPercent(adoption);
  if (percent !== null)
    return {
      share: getMessage('popupShare', { percent }),
      of: getMessage('popupShareOf', { number: formatNumber(adoption.known) }),
    };
  if (adoption.hidden > 0)
    return { share: getMessage('popupShareUnknown'), of: getMessage('popupShareUnknownOf') };
  return { share: getMessage('popupNoRequests'), of: getMessage('popupNoRequestsOf') };
}

function hiddenText(
  { known, hidden }: Adoption,
  origins: readonly OriginView[],
  mode: ObservationMode,
): string {
  if (known + hidden === 0) return '';
  if (hidden === 0) return getMessage('popupNoneHidden');
  const otherReason = origins.some(
    (o) => o.counts.unknown > 0 && o.hiddenReason !== 'no-timing-allow-origin',
  );
  const number = hiddenCountText(hidden, [mode]);
  return otherReason
    ? getMessage('popupSomeUnknown', { number })
    : getMessage('popupSomeHidden', { count: hidden, number });
}

/** The page's adoption with its denominator and its hidden part. */
export function adoptionText(page: Pick<PageView, 'counts' | 'origins' | 'mode'>): AdoptionText {
  const { counts, origins, mode } = page;
  const adoption = adoptionByRequest(counts);
  const list = countsText(counts, [mode]);
  return {
    ...shareText(adoption),
    hidden: hiddenText(adoption, origins, mode),
    bound: lightNote([mode]) ?? '',
    bar: barOf(counts),
    label: getMessage('popupBar', { list: list || getMessage('popupBarNone') }),
  };
}

/** The earlier visits in one line; empty if this is the first one. */
export function visitsText(visits: Visits | null): string {
  if (visits === null) return '';
  const { navigations, sinceMs } = visits;
  if (requestsIn(navigations) < 2) return '';
  const date = new Intl.DateTimeFormat(catalogLanguage(), { dateStyle: 'medium' }).format(sinceMs);
  // Pages themselves report their own timing, so in no mode do cached ones count as hidden.
  const list = countsText(navigations, []);
  return getMessage('popupVisits', { date, list });
}

export interface ForecastScore {
  /** `right` and `wrong` are drawn as tick and cross. */
  readonly result: 'right' | 'wrong' | 'open' | 'none';
  readonly text: string;
  /** The full sentence. */
  readonly title: string;
}

const FORECAST_TITLES = {
  right: { observed: 'popupForecastRightObserved', advertised: 'popupForecastRightAdvertised' },
  wrong: { observed: 'popupForecastWrongObserved', advertised: 'popupForecastWrongAdvertised' },
  open: { observed: 'popupForecastOpenObserved', advertised: 'popupForecastOpenAdvertised' },
  unscored: { observed: 'popupForecastUnscoredObserved', advertised: 'popupForecastUnscoredAdvertised' },
} as const;

/** Whether the forecast for an origin was right. */
export function forecastText(
  view: Pick<OriginView, 'forecast' | 'forecastRight' | 'protocol'>,
): ForecastScore {
  const { forecast, forecastRight } = view;
  if (forecast === null) return { result: 'none', text: '–', title: getMessage('popupForecastNotAsked') };
  const { protocol, basis } = forecast.expected;
  if (basis === 'none' || protocol === 'unknown')
    return { result: 'none', text: '–', title: getMessage('popupForecastUnseen') };
  const result = forecastRight === null ? 'open' : forecastRight ? 'right' : 'wrong';
  const titles = FORECAST_TITLES[result === 'open' && view.protocol !== 'unknown' ? 'unscored' : result];
  const title = getMessage(titles[basis], { protocol: protocolName(protocol) });
  return { result, text: protocol, title };
}

function raceCause(error: AttemptError, origin: Origin): Message {
  const { host, port } = originParts(origin);
  return causeMessage(error, { host, port, advertiser: 'nothing' });
}

/** Why a race has no trial, or fewer than it was to have, and what to do; null: it has all. */
export function raceCauseText({ origin, error }: OriginRace): string | null {
  return error === undefined ? null : capitalSentence(textOf(raceCause(error, origin)));
}

/** The same where nothing else says that there was no race. */
export function raceErrorText(race: OriginRace): string | null {
  const { origin, trials, error } = race;
  return error !== undefined && trials.length === 0
    ? textOf(message('verdictUntried', { cause: raceCause(error, origin) }))
    : raceCauseText(race);
}

/** The newest race in a narrow column, and as a sentence. */
export function raceText(race: OriginRace | null): { text: string; title: string } {
  if (race === null) return { text: '–', title: getMessage('popupRaceNone') };
  if (race.trials.length === 0) {
    const why = getMessage('popupRaceImpossible', { why: getMessage('popupRaceNoTrial') });
    return { text: getMessage('popupRaceCellNotRaced'), title: raceErrorText(race) ?? why };
  }
  if (isAllDisturbed(race.trials))
    return { text: getMessage('popupRaceNoResult'), title: getMessage('verdictTooBusy') };
  const finish = photoFinish(race);
  const title = getMessage('popupRaceResult', { result: finish.title, caption: finish.caption });
  if (finish.result !== null) {
    const { winner, gain } = finish.result;
    if (winner === null || gain === null) return { text: getMessage('popupRaceUnclear'), title };
    return { text: getMessage('popupRaceGain', { mark: MARK_LABELS[winner], time: gain }), title };
  }
  // Our own fault or limit is no failure of the protocol.
  const failed = finish.lanes.filter(
    ({ state, error }) => state === 'failed' && (error === null || !isOurDoing({ error: { code: error } })),
  );
  if (failed.length === 2) return { text: getMessage('popupRaceBothFailed'), title };
  if (failed[0])
    return { text: getMessage('popupRaceFailed', { mark: MARK_LABELS[failed[0].transport] }), title };
  // Without a margin a time would be mistaken for one: a race only shows which protocol was first.
  const winner = finish.lanes.find((lane) => lane.adopted);
  const text = winner
    ? getMessage('popupRaceFirst', { mark: MARK_LABELS[markOf(winner.protocol)] })
    : getMessage('popupRaceNoResult');
  return { text, title };
}

/** Another program's message as a sentence. */
export function capitalSentence(text: string): string {
  return sentence(text.charAt(0).toUpperCase() + text.slice(1));
}
