// How the forms of a comparison say what changed, so that page, summary, table and terminal agree.

import { formatMsTo } from '../language/markup.ts';
import { type SharedWordKey, say } from '../language/words.ts';
import { gainStepMs, resultWords } from '../verdict/gain.ts';
import { type Adoption, adoptionPercent } from './adoption.ts';
import type { Change, DiffCondition, DiffGain, OriginDiff, ReportDiff } from './report-diff.ts';
import { browserWords, instantWords } from './report-words.ts';

const CHANGES: Record<Change, SharedWordKey> = {
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

const CONDITIONS: Record<DiffCondition['condition'], SharedWordKey> = {
  browser: 'diffConditionBrowser',
  version: 'diffConditionVersion',
  network: 'diffConditionNetwork',
  length: 'diffConditionLength',
  overlap: 'diffConditionOverlap',
  order: 'diffConditionOrder',
};

/** What changed at an origin, in few words each. */
export function changesWords({ changes, few }: OriginDiff): string {
  return changes
    .map((change) => say(few && change === 'share' ? 'diffShareFew' : CHANGES[change]))
    .join(', ');
}

/** A condition that differs, as a sentence; `diff` is where it is of. */
export function conditionWords({ condition, before, after }: DiffCondition, diff: ReportDiff): string {
  const key = CONDITIONS[condition];
  if (condition === 'browser')
    return say(key, { before: browserWords(diff.before.browser), after: browserWords(diff.after.browser) });
  if (condition === 'version' || condition === 'network') return say(key, { before, after });
  const period = (side: ReportDiff['before']) =>
    say('reportFromTo', { from: instantWords(side.period.from), to: instantWords(side.period.to) });
  return say(key, { before: period(diff.before), after: period(diff.after) });
}

/** The change of a share in percentage points, as the shares beside it are written. */
export function pointsWords(before: Adoption | null, after: Adoption | null): string {
  const [a, b] = [before, after].map((side) => (side === null ? null : adoptionPercent(side)));
  if (a == null || b == null) return say('diffUntold');
  if (a === b) return say('diffSame');
  return say('diffPoints', { count: Math.abs(b - a), sign: b > a ? '+' : '−' });
}

/** How many origins changed, and how many of them came and went. */
export function summaryWords({ total, sites }: ReportDiff): string {
  const { changed, unchanged } = total.origins;
  if (changed === 0) return say('diffNothing');
  const all = sites.flatMap(({ origins }) => origins);
  const count = (change: Change) => all.filter(({ changes }) => changes.includes(change)).length;
  return say('diffSummary', {
    count: changed,
    unchanged,
    appeared: count('appeared'),
    disappeared: count('disappeared'),
  });
}

/** A comparison's medians and what they show, with its pairs. */
export function gainWords({ h3Ms, h2Ms, gainMs, pairs, quicker = null, ...range }: DiffGain): string {
  const { lowMs = gainMs, highMs = gainMs } = range;
  const gain = { pairs, h3Ms, h2Ms, quicker, lowMs, highMs };
  const stepMs = gainStepMs(gain);
  return say('diffGainWords', {
    h3: formatMsTo(h3Ms, stepMs),
    h2: formatMsTo(h2Ms, stepMs),
    gain: resultWords(gain),
    pairs: say('finishPairs', { count: pairs }),
  });
}
