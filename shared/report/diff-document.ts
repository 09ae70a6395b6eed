// A comparison of two reports as a document: conditions first, then the totals, then every changed origin before and
// after. The summary fits a ticket, the listing has every origin, the page has them by site.

import { formatNumber, getMessage } from '../language/catalog.ts';
import { verdictName } from '../verdict/codes.ts';
import { verdictText } from '../verdict/verdict-text.ts';
import { ONLY_FULL } from '../web/observation.ts';
import type { Adoption } from './adoption.ts';
import {
  adoptionValue,
  type Block,
  type Column,
  columns,
  count,
  host,
  type List,
  ORIGINS_UNFOLDED,
  type PageBlock,
  type Paragraph,
  paragraph,
  type ReportDocument,
  type Row,
  type Section,
  type Side,
  section,
  type Table,
  type Text,
  table,
  text,
  type Value,
  type Warning,
} from './document.ts';
import { modesOfBoth, modesOfSide, type OriginDiff, type ReportDiff, type SiteDiff } from './report-diff.ts';
import { conditionsOf, lightNotes, madeCondition } from './report-document.ts';
import {
  changesText,
  conditionTexts,
  foreignLanguage,
  gainText,
  instantText,
  isBrief,
  pointsText,
  shareText,
  summaryText,
  valueText,
} from './report-text.ts';

const SUMMARY_ORIGINS = 12;

type SideName = 'before' | 'after';

/** A version that fits a ticket: at most 40 lines of Markdown. */
export function diffSummary(diff: ReportDiff): ReportDocument {
  return inLines(diff, SUMMARY_ORIGINS);
}

/** Every changed origin. */
export function diffListing(diff: ReportDiff): ReportDocument {
  return inLines(diff, Number.POSITIVE_INFINITY);
}

function inLines(diff: ReportDiff, most: number): ReportDocument {
  const side = (name: SideName, title: string) =>
    `${title}: ${conditionsOf(diff[name])
      .map(([, value]) => valueText(value))
      .join(' · ')}`;
  const sides = [side('before', getMessage('diffBefore')), side('after', getMessage('diffAfter'))];
  return {
    ...head(diff),
    blocks: [
      { kind: 'list', items: [...sides, verdictsAsOf(diff)] },
      ...fairness(diff),
      totalTable(diff),
      paragraph(summaryText(diff)),
      ...changed(diff, most),
    ],
  };
}

/** Verdicts are not of a report's period: each is as of when its report was generated. */
function verdictsAsOf({ before, after }: ReportDiff): string {
  const asOf = ({ createdAt, period }: ReportDiff[SideName]) => instantText(createdAt, isBrief(period));
  return getMessage('diffVerdictsAsOf', { before: asOf(before), after: asOf(after) });
}

function head(diff: ReportDiff): Omit<ReportDocument, 'blocks'> {
  const footer = getMessage('diffFooter', { verdicts: verdictsAsOf(diff), schema: diff.schema });
  return { title: getMessage('diffTitle'), conditions: [], footer };
}

/** What makes the comparison unfair, or that nothing does, and what else differs. */
function fairness(diff: ReportDiff): (Warning | Paragraph | List)[] {
  const { unfair: reasons, others } = conditionTexts(diff);
  return [
    reasons.length === 0
      ? paragraph(getMessage('diffFair'), 'aside')
      : { kind: 'warning', words: getMessage('diffUnfair'), reasons },
    ...(others.length === 0 ? [] : [{ kind: 'list', items: others } as const]),
    ...lightNotes(modesOfBoth(diff)),
  ];
}

function changeHeads(first: string): Column[] {
  const titles = [getMessage('diffBefore'), getMessage('diffAfter'), getMessage('diffChange')];
  return [...columns('text', first), ...columns('number', ...titles)];
}

function totalTable(diff: ReportDiff): Table {
  const { adoption, common } = diff.total;
  const modes = { before: diff.before.modes ?? ONLY_FULL, after: diff.after.modes ?? ONLY_FULL };
  const row = (name: string, before: Adoption, after: Adoption): Row => {
    const points = text(pointsText(before, after), 'strong');
    const sides = [adoptionValue(before, modes.before), adoptionValue(after, modes.after)];
    return [name, ...sides, points];
  };
  const { before, after } = adoption;
  const origins = getMessage('reportSiteOrigins', { count: common.origins });
  return table('total', changeHeads(getMessage('diffMeasure')), [
    row(getMessage('reportByRequest'), before.byRequest, after.byRequest),
    row(getMessage('diffByOrigin'), before.byOrigin, after.byOrigin),
    row(getMessage('reportByNavigation'), before.byNavigation, after.byNavigation),
    row(getMessage('diffCommon', { origins }), common.before, common.after),
  ]);
}

function sideValue(origin: OriginDiff, side: SideName, diff: ReportDiff): Side | Text {
  const [counts, adoption, verdict] = [origin.protocols[side], origin.adoption[side], origin.verdict[side]];
  if (counts === null || adoption === null || verdict === null)
    return text(getMessage('diffAbsent'), 'muted');
  const gain = origin.gain[side];
  return {
    kind: 'side',
    counts,
    adoption,
    modes: modesOfSide(origin, side),
    verdict: verdictName(verdict.code),
    why: text(verdictText(verdict), undefined, foreignLanguage(diff[side])),
    gain: gain === null ? '' : gainText(gain),
  };
}

type OriginCells = readonly [name: Value, changes: string, before: Side | Text, after: Side | Text];

function originCells(origin: OriginDiff, diff: ReportDiff): OriginCells {
  const sides = [sideValue(origin, 'before', diff), sideValue(origin, 'after', diff)] as const;
  return [host(origin.origin), changesText(origin), ...sides];
}

function originHeads(): Column[] {
  return [
    ...columns('text', getMessage('reportOrigin')),
    ...columns('changes', getMessage('diffWhat')),
    ...columns('side', getMessage('diffBefore'), getMessage('diffAfter')),
  ];
}

/** In lists, repeated text is dropped; it is kept on the side of the newer report. */
function withoutRepeats([name, changes, before, after]: OriginCells): Value[] {
  if (before.kind !== 'side' || after.kind !== 'side') return [name, changes, before, after];
  const why = before.why.text === after.why.text ? { ...before.why, text: '' } : before.why;
  const gain = before.gain === after.gain ? '' : before.gain;
  return [name, changes, { ...before, why, gain }, after];
}

/** Every changed origin, or the first of them and the number of others. */
function changed(diff: ReportDiff, most: number): Block[] {
  const all = diff.sites.flatMap(({ site, origins }) => origins.map((origin) => ({ site, origin })));
  if (all.length === 0) return [];
  const rows = all.slice(0, most).map(({ site, origin }): Row => {
    return [host(site), ...withoutRepeats(originCells(origin, diff))];
  });
  const heads = [...columns('text', getMessage('reportSite')), ...originHeads()];
  const more = all.length - rows.length;
  const further = more > 0 ? [paragraph(getMessage('diffMore', { count: more }))] : [];
  return [table('diff', heads, rows), ...further];
}

function conditionsSection(diff: ReportDiff): Section {
  const [before, after] = [
    [...conditionsOf(diff.before), madeCondition(diff.before)],
    [...conditionsOf(diff.after), madeCondition(diff.after)],
  ];
  const rows = before.map(([name, value], i): Row => [name, value, after[i]?.[1] ?? '']);
  const heads = columns('text', '', getMessage('diffBefore'), getMessage('diffAfter'));
  return section('conditions', getMessage('diffConditions'), table('sides', heads, rows), ...fairness(diff));
}

function verdictsTable({ total: { verdicts } }: ReportDiff): Table {
  const rows = verdicts.map(({ code, before, after }): Row => {
    const sign = after === before ? '' : after > before ? '+' : '−';
    const change = text(`${sign}${formatNumber(Math.abs(after - before))}`, 'strong');
    return [verdictName(code), count(before), count(after), change];
  });
  return table('verdicts', changeHeads(getMessage('reportVerdict')), rows);
}

function siteSection(
  { site, adoption, unchanged, origins }: SiteDiff,
  index: number,
  diff: ReportDiff,
): Section {
  const share = (side: SideName) => {
    const own = adoption[side];
    return own === null ? getMessage('diffAbsent') : shareText(own.byRequest);
  };
  const words = `${share('before')} → ${share('after')}. ${getMessage('diffUnchanged', { count: unchanged })}`;
  const open = diff.total.origins.changed <= ORIGINS_UNFOLDED;
  const rows = origins.map((origin) => originCells(origin, diff));
  const all = section(`site-${index}`, host(site), table('diff', originHeads(), rows));
  return { ...all, fold: { open, words } };
}

/** The page. */
export function diffPage(diff: ReportDiff): ReportDocument<PageBlock> {
  return {
    ...head(diff),
    blocks: [
      conditionsSection(diff),
      section('total', getMessage('diffTotal'), paragraph(summaryText(diff)), totalTable(diff)),
      section('verdicts', getMessage('diffVerdicts'), verdictsTable(diff)),
      ...(diff.sites.length > 0 ? [{ kind: 'legend' } as const] : []),
      ...diff.sites.map((site, i) => siteSection(site, i, diff)),
    ],
  };
}
