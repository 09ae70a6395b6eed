// The texts of reports and their comparisons, so that page, summary, table and terminal agree.

import { catalogLanguage, formatNumber, getMessage, type SharedMessageKey } from '../language/catalog.ts';
import { formatBytes, formatMsTo } from '../language/markup.ts';
import { gainStepMs, resultText } from '../verdict/gain.ts';
import { NETWORK_UNKNOWN } from '../web/network-name.ts';
import { hiddenCountText, modesText, type ObservationModes } from '../web/observation.ts';
import { protocolName } from '../web/protocol.ts';
import { type Adoption, adoptionPercent, wholePercent } from './adoption.ts';
import type { Value } from './document.ts';
import { networkLabels, type Report } from './report.ts';
import {
  type Change,
  type DiffCondition,
  type DiffGain,
  type OriginDiff,
  type ReportDiff,
  SHARE_CHANGES,
} from './report-diff.ts';

const BROWSER_NAMES: Record<Report['browser']['name'], string> = { chromium: 'Chromium', firefox: 'Firefox' };
/** `Chromium 156.0`. */
export function browserText({ name, version }: Report['browser']): string {
  return `${BROWSER_NAMES[name]} ${version}`;
}

/** Names of networks by their labels, if a report has them. */
export type NetworkNames = Report['networkNames'];

/** The name of a network; undefined: it has none. Its label may be the name of a property that every object has. */
export function networkName(network: string, names: NetworkNames = {}): string | undefined {
  return Object.hasOwn(names, network) ? names[network] : undefined;
}

/** A network by its name, with its label if another one has the same name, or else its label. */
export function networkText(network: string, names: NetworkNames = {}): string {
  const name = networkName(network, names);
  if (name !== undefined) {
    const isShared = Object.entries(names).some(([other, its]) => other !== network && its === name);
    return isShared ? `${name} (${network})` : name;
  }
  return network === NETWORK_UNKNOWN ? getMessage('reportNetworkUnknown') : network;
}

/** The names of a report's networks. */
export function networksText(report: Pick<Report, 'network' | 'networks' | 'networkNames'>): string {
  return networkLabels(report)
    .map((label) => networkText(label, report.networkNames))
    .join(', ');
}

/** To the minute, in UTC, or to the second: `2026-11-21 15:33 UTC`. */
export function instantText(at: string | number, seconds = false): string {
  const iso = new Date(at).toISOString();
  return `${iso.slice(0, 10)} ${iso.slice(11, seconds ? 19 : 16)} UTC`;
}

const HOUR_MS = 3_600_000;

/** Whether a period is written to the second: to the minute, both ends of one test's would be the same. */
export function isBrief({ from, to }: Report['period']): boolean {
  return Date.parse(to) - Date.parse(from) < HOUR_MS;
}

/** The share of HTTP/3, `unknown` if nothing is known. */
export function shareText(adoption: Adoption): string {
  const percent = adoptionPercent(adoption);
  return percent === null ? protocolName('unknown') : getMessage('percent', { value: percent });
}

/** `75 % (3 of 4, 2 hidden)`. */
export function shareCountsText(adoption: Adoption, modes: ObservationModes): string {
  const { h3: part, known: whole } = adoption;
  const hidden = hiddenCountText(adoption.hidden, modes);
  return getMessage('reportShareCounts', { share: shareText(adoption), part, whole, hidden });
}

/** `75 %`. */
export function percentText(part: number, whole: number): string {
  return getMessage('percent', { value: wholePercent(part, whole) });
}

/** `3 of 4 (75 %)`, or that there is none. */
export function ratioText(part: number, whole: number): string {
  return whole === 0
    ? getMessage('reportNone')
    : `${getMessage('countOf', { part, whole })} (${percentText(part, whole)})`;
}

/** A value as plain text. */
export function valueText(value: Value): string {
  if (typeof value === 'string') return value;
  switch (value.kind) {
    case 'text':
      return value.text;
    case 'sentence': {
      const params = Object.entries(value.params).map(([name, each]) => [name, valueText(each)]);
      return getMessage(value.key, Object.fromEntries(params));
    }
    case 'count':
      return formatNumber(value.count);
    case 'hidden':
      return hiddenCountText(value.hidden, value.modes);
    case 'share':
      return percentText(value.part, value.whole);
    case 'ratio':
      return ratioText(value.part, value.whole);
    case 'adoption':
      return shareCountsText(value.adoption, value.modes);
    case 'bytes':
      return formatBytes(value.bytes);
    case 'instant':
      return instantText(value.at, value.seconds);
    case 'host':
      return value.host;
    case 'side':
      return [
        `${shareCountsText(value.adoption, value.modes)}.`,
        value.why.text,
        value.gain && `${value.gain}.`,
      ]
        .filter((words) => words !== '')
        .join(' ');
  }
}

/** The language of a report's verdicts, if it is not the reader's. */
export function foreignLanguage({ language }: Pick<Report, 'language'>): string | undefined {
  return language === catalogLanguage() ? undefined : language;
}

const CHANGES: Record<Change, SharedMessageKey> = {
  appeared: 'diffAppeared',
  disappeared: 'diffDisappeared',
  'h3-began': 'diffH3Began',
  'h3-ended': 'diffH3Ended',
  share: 'diffShare',
  protocols: 'diffProtocols',
  visibility: 'diffVisibility',
  verdict: 'diffVerdict',
  gain: 'diffGain',
};

const CONDITIONS: Record<DiffCondition['condition'], SharedMessageKey> = {
  browser: 'diffConditionBrowser',
  version: 'diffConditionVersion',
  network: 'diffConditionNetwork',
  length: 'diffConditionLength',
  overlap: 'diffConditionOverlap',
  order: 'diffConditionOrder',
  modes: 'diffConditionModes',
  'unknown-network': 'diffConditionUnknownNetwork',
};

/** What changed at an origin, in a few words each. */
export function changesText({ changes, few }: OriginDiff): string {
  return changes
    .map((change) => {
      const words = getMessage(CHANGES[change]);
      return few && SHARE_CHANGES.has(change) ? getMessage('diffFew', { change: words }) : words;
    })
    .join(', ');
}

/** A condition that differs, as a sentence. */
function conditionText({ condition, before, after }: DiffCondition, diff: ReportDiff): string {
  const key = CONDITIONS[condition];
  if (condition === 'browser')
    return getMessage(key, {
      before: browserText(diff.before.browser),
      after: browserText(diff.after.browser),
    });
  if (condition === 'modes')
    return getMessage(key, { before: modesText(diff.before.modes), after: modesText(diff.after.modes) });
  if (condition === 'network' || condition === 'unknown-network') {
    // A name may stand for another network in the other report.
    const networkNames = { ...diff.before.networkNames, ...diff.after.networkNames };
    const of = (side: ReportDiff['before']) => networksText({ ...side, networkNames });
    return getMessage(key, { before: of(diff.before), after: of(diff.after) });
  }
  if (condition === 'version') return getMessage(key, { before, after });
  const periodText = ({ period }: ReportDiff['before']) => {
    const textOf = (at: string) => instantText(at, isBrief(period));
    return getMessage('reportFromTo', { from: textOf(period.from), to: textOf(period.to) });
  };
  return getMessage(key, { before: periodText(diff.before), after: periodText(diff.after) });
}

/** The conditions that differ, as sentences: those that make the comparison unfair, and the others. */
export function conditionTexts(diff: ReportDiff): {
  readonly unfair: readonly string[];
  readonly others: readonly string[];
} {
  const textsOf = (unfair: boolean) =>
    diff.conditions.filter((each) => each.unfair === unfair).map((each) => conditionText(each, diff));
  return { unfair: textsOf(true), others: textsOf(false) };
}

/** The change of a share in percentage points, consistent with the displayed shares. */
export function pointsText(before: Adoption, after: Adoption): string {
  const [a, b] = [adoptionPercent(before), adoptionPercent(after)];
  if (a === null || b === null) return getMessage('diffUntold');
  if (a === b) return getMessage('diffSame');
  const [from, to] = [before, after].map(({ h3, known }) => (100 * h3) / known) as [number, number];
  const points = Math.round(to) - Math.round(from);
  // Such as from 0 % to < 1 %.
  if (points === 0) return getMessage(to > from ? 'diffRose' : 'diffFell');
  return getMessage('diffPoints', { count: Math.abs(points), sign: points > 0 ? '+' : '−' });
}

/** How many origins changed, and how many of them appeared or disappeared. */
export function summaryText({ total, sites }: ReportDiff): string {
  const { changed, unchanged } = total.origins;
  if (changed === 0) return getMessage('diffNothing');
  const all = sites.flatMap(({ origins }) => origins);
  const count = (change: Change) => all.filter(({ changes }) => changes.includes(change)).length;
  return getMessage('diffSummary', {
    count: changed,
    unchanged,
    appeared: count('appeared'),
    disappeared: count('disappeared'),
  });
}

/** A comparison's medians and result, with its number of pairs. */
export function gainText({ h3Ms, h2Ms, gainMs, old, pairs, quicker = null, ...range }: DiffGain): string {
  const { lowMs = gainMs, highMs = gainMs } = range;
  const gain = { pairs, h3Ms, h2Ms, quicker, lowMs, highMs, ...(old && { old }) };
  const stepMs = gainStepMs(gain);
  return getMessage('diffGainText', {
    h3: formatMsTo(h3Ms, stepMs),
    h2: formatMsTo(h2Ms, stepMs),
    old: protocolName(old ?? 'h2'),
    gain: resultText(gain),
    pairs: getMessage('finishPairs', { count: pairs }),
  });
}
