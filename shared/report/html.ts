// Documents as one self-contained HTML page, readable offline, in dark mode, in forced colours and in greyscale print.
// Every plot is beside or in a table of the same numbers; nothing in the page can run or load anything.

import { photoFinishSvg } from '../drawing/photo-finish-svg.ts';
import { markSvg, PALETTE_CSS } from '../drawing/svg.ts';
import { catalogLanguage, getMessage, getMessageParts } from '../language/catalog.ts';
import { escapeMarkup as esc } from '../language/markup.ts';
import { hiddenCountText, type ObservationModes } from '../web/observation.ts';
import { protocolName } from '../web/protocol.ts';
import type { Adoption } from './adoption.ts';
import type {
  Column,
  Figure,
  PageBlock,
  PageSizes,
  PageValue,
  Paragraph,
  ReportDocument,
  Row,
  Section,
  Side,
  Table,
  Text,
} from './document.ts';
import { gainAxis, gainStrip, protocolBar, shareBar } from './html-plots.ts';
import { PROTOCOL_COLUMNS } from './report.ts';
import { percentText, shareCountsText, shareText, valueText } from './report-text.ts';

const DRAWING_PX = 560;
const MARK_PX = 16;
const TITLE_MARK_PX = 20;
const HEAD_MARK_PX = 12;

const CLASSES: Record<Column['kind'], string> = {
  text: '',
  number: 'n',
  plot: 'plot',
  verdict: 'verdict',
  changes: 'changes',
  side: 'side',
  trials: 'trials',
};
const TONES: Record<Paragraph['tone'], string> = {
  plain: '<p>',
  strong: '<p class="strong">',
  aside: '<p class="what">',
  note: '<p class="note" role="note">',
};

function classed(name: string): string {
  return name === '' ? '' : ` class="${name}"`;
}

/** A host or origin, which reads from left to right in any language. */
function hostMarkup(host: string): string {
  return `<bdi dir="ltr">${esc(host)}</bdi>`;
}

function inLanguage(element: string, language: string | undefined, content: string): string {
  return `<${element}${language === undefined ? '' : ` lang="${esc(language)}"`}>${content}</${element}>`;
}

function textMarkup({ text, tone, language }: Text): string {
  const marked = language === undefined ? esc(text) : inLanguage('span', language, esc(text));
  if (tone === 'strong') return `<b>${marked}</b>`;
  return tone === 'muted' ? `<span class="what">${marked}</span>` : marked;
}

function ratioMarkup(share: string, part: number, whole: number, more = ''): string {
  return `<b>${esc(share)}</b> <small>${esc(getMessage('countOf', { part, whole }))}${more}</small>`;
}

function adoptionMarkup(adoption: Adoption, modes: ObservationModes): string {
  const { h3, known } = adoption;
  const hidden = hiddenCountText(adoption.hidden, modes);
  const more = adoption.hidden > 0 ? `<br>${esc(getMessage('reportHidden', { hidden }))}` : '';
  return ratioMarkup(shareText(adoption), h3, known, more);
}

function sideMarkup({ counts, adoption, modes, verdict, why, gain }: Side): string {
  const gained = gain === '' ? '' : `<p class="what">${esc(gain)}</p>`;
  return `${protocolBar(counts)}${esc(shareCountsText(adoption, modes))}<p><b>${esc(verdict)}</b><br>${textMarkup(why)}</p>${gained}`;
}

/** A code, or its name, linked to its meaning. */
function codeMarkup(code: string, words: string): string {
  return `<a class="means" href="#means-${esc(code)}">${esc(words)}</a>`;
}

function markup(value: PageValue, markPx = MARK_PX): string {
  if (typeof value === 'string') return esc(value);
  switch (value.kind) {
    case 'text':
      return textMarkup(value);
    case 'sentence': {
      const words = Object.entries(value.params).map(([name, each]) => [name, valueText(each)]);
      const parts = getMessageParts(value.key, Object.fromEntries(words));
      return parts
        .map(({ text, param }) => markup(param === null ? text : (value.params[param] ?? text)))
        .join('');
    }
    case 'ratio':
      return value.whole === 0
        ? esc(valueText(value))
        : ratioMarkup(percentText(value.part, value.whole), value.part, value.whole);
    case 'adoption':
      return adoptionMarkup(value.adoption, value.modes);
    case 'count':
      return value.strong ? `<b>${esc(valueText(value))}</b>` : esc(valueText(value));
    case 'hidden':
    case 'share':
    case 'bytes':
      return esc(valueText(value));
    case 'instant':
      return `<time datetime="${new Date(value.at).toISOString()}">${valueText(value)}</time>`;
    case 'host':
      return value.mark === undefined
        ? hostMarkup(value.host)
        : `<span class="origin">${markSvg(value.mark, markPx)}<span>${hostMarkup(value.host)}</span></span>`;
    case 'side':
      return sideMarkup(value);
    case 'protocol':
      return `${markSvg(value.mark, HEAD_MARK_PX)}&nbsp;${esc(value.name)}`;
    case 'code':
      return codeMarkup(value.code, value.words);
    case 'verdict': {
      const findings = value.findings.map((text) => `<li>${esc(text)}</li>`).join('');
      return `${textMarkup(value.why)} ${codeMarkup(value.code, value.code)}${findings && inLanguage('ul', value.why.language, findings)}`;
    }
    case 'share-bar':
      return shareBar(value.share);
    case 'gain-axis':
      return gainAxis(value.axis);
    case 'gain-strip':
      return gainStrip(value);
  }
}

function headMarkup({ kind, title }: Column<PageValue>): string {
  const name = classed(kind === 'number' || kind === 'plot' ? CLASSES[kind] : '');
  return title === '' ? `<td${name}></td>` : `<th scope="col"${name}>${markup(title)}</th>`;
}

function isZero(value: PageValue): boolean {
  if (typeof value !== 'object') return false;
  return (value.kind === 'count' && value.count === 0) || (value.kind === 'hidden' && value.hidden === 0);
}

/** Blocks written in order to be measured, so that they are not written again. */
type MarkupCache = Map<object, string>;
type Columns = readonly Column<PageValue>[];

function rowMarkup(cells: Row<PageValue>, columns: Columns, name = ''): string {
  const written = cells.map((value, i) => {
    if (i === 0) return `<th scope="row">${markup(value)}</th>`;
    const kind = `${CLASSES[columns[i]?.kind ?? 'text']}${isZero(value) ? ' zero' : ''}`;
    return `<td${classed(kind)}>${markup(value)}</td>`;
  });
  return `<tr${classed(name)}>${written.join('')}</tr>`;
}

function tableMarkup(table: Table<PageValue>, written?: MarkupCache): string {
  const { name, caption, columns, rows, rest } = table;
  const under = caption === undefined ? '' : `<caption>${esc(caption)}</caption>`;
  const heads = columns.map(headMarkup).join('');
  const body = rows.map((row) => written?.get(row) ?? rowMarkup(row, columns)).join('');
  const last = rest === undefined ? '' : rowMarkup(rest, columns, 'rest');
  return `<div class="scroll"><table class="${name}">${under}<thead><tr>${heads}</tr></thead><tbody>${body}${last}</tbody></table></div>`;
}

function figureMarkup({ id, finish, lines, table }: Figure): string {
  const drawing = finish === null ? '' : photoFinishSvg(finish, id, DRAWING_PX);
  const caption = lines.map((line) => markup(line)).join('<br>');
  const numbers = table === null ? '' : tableMarkup(table);
  return `<figure>${drawing}<figcaption>${caption}</figcaption>${numbers}</figure>`;
}

function blocksMarkup(blocks: readonly PageBlock[], written: MarkupCache): string {
  return blocks.map((block) => written.get(block) ?? blockMarkup(block, written)).join('');
}

function sectionMarkup({ id, title, fold, blocks }: Section, written: MarkupCache): string {
  const head = `<h2 id="${id}">${markup(title)}</h2>`;
  const body = blocksMarkup(blocks, written);
  return fold === undefined
    ? `<section aria-labelledby="${id}">${head}${body}</section>`
    : `<section class="site" aria-labelledby="${id}"><details${fold.open ? ' open' : ''}><summary>${head} <span class="what">${esc(fold.words)}</span></summary>${body}</details></section>`;
}

function blockMarkup(block: PageBlock, written: MarkupCache): string {
  switch (block.kind) {
    case 'paragraph':
      return `${TONES[block.tone]}${markup(block.words)}</p>`;
    case 'list':
      return `<ul class="what">${block.items.map((item) => `<li>${markup(item)}</li>`).join('')}</ul>`;
    case 'warning':
      return `<div class="warning" role="note"><p>${esc(block.words)}</p><ul>${block.reasons.map((reason) => `<li>${esc(reason)}</li>`).join('')}</ul></div>`;
    case 'table':
      return tableMarkup(block, written);
    case 'section':
      return sectionMarkup(block, written);
    case 'article':
      return `<article><h3>${markup(block.title, TITLE_MARK_PX)}</h3>${blocksMarkup(block.blocks, written)}</article>`;
    case 'figure':
      return figureMarkup(block);
    case 'figures':
      return `<div class="figures">${block.figures
        .map(({ adoption, words }) => {
          const hidden = hiddenCountText(adoption.hidden, block.modes);
          const counts = { part: adoption.h3, whole: adoption.known, hidden };
          return `<div class="figure"><b>${esc(shareText(adoption))}</b> <span>${esc(words)}</span><small>${esc(getMessage('reportKnownHidden', counts))}</small></div>`;
        })
        .join('')}</div>`;
    case 'protocols':
      return protocolBar(block.counts);
    case 'legend':
      return `<p class="legend">${PROTOCOL_COLUMNS.map(([mark, key]) => `<span>${markSvg(mark, MARK_PX)} ${esc(protocolName(key))}</span>`).join('')}</p>`;
    case 'bars':
      return `<div class="chart">${block.bars
        .map(({ site, counts, adoption }) => {
          const words = getMessage('countOf', { part: adoption.h3, whole: adoption.known });
          return `<div class="site-row"><span class="name" title="${esc(site)}">${hostMarkup(site)}</span>${protocolBar(counts)}<span class="share"><b>${esc(shareText(adoption))}</b> ${esc(words)}</span></div>`;
        })
        .join('')}</div>`;
    case 'contents':
      return `<nav aria-labelledby="contents"><h2 id="contents">${esc(getMessage('reportContents'))}</h2><ul class="contents">${block.entries
        .map(
          ({ id, site, adoption }) =>
            `<li><a href="#${id}">${hostMarkup(site)}</a> <small>${esc(shareText(adoption))}</small></li>`,
        )
        .join('')}</ul></nav>`;
    case 'meanings':
      return `<dl class="meanings">${block.rows
        .map(({ kind, code, name, means, remedy }) => {
          const label = getMessage(kind === 'verdict' ? 'codesVerdictRemedy' : 'codesFailureRemedy');
          return `<dt id="means-${code}"><code>${code}</code> <small>${esc(name)}</small></dt><dd>${esc(means)} <b>${esc(label)}:</b> ${esc(remedy)}</dd>`;
        })
        .join('')}</dl>`;
  }
}

/** The document that `make` returns, given the sizes of its parts, as a whole page. */
export function documentToHtml(make: (sizes: PageSizes) => ReportDocument<PageBlock>): string {
  const written: MarkupCache = new Map();
  const encoder = new TextEncoder();
  const measured = (part: object, text: string): number => {
    written.set(part, text);
    return encoder.encode(text).length;
  };
  const { title, conditions, blocks, footer } = make({
    row: (row, columns) => measured(row, rowMarkup(row, columns)),
    block: (block) => measured(block, blockMarkup(block, written)),
  });
  const entries = conditions.map(
    ([name, value]) => `<div><dt>${esc(name)}</dt><dd>${markup(value)}</dd></div>`,
  );
  const under = entries.length === 0 ? '' : `<dl class="conditions">${entries.join('')}</dl>`;
  const header = `<h1>${esc(title)}</h1>${under}`;
  return standalonePage(title, header, blocksMarkup(blocks, written), esc(footer));
}

/** The page's style: one palette serves light, dark, forced colours and print. */
const BASE = `${PALETTE_CSS}
* { box-sizing: border-box; }
body { margin: 0 auto; max-width: 1040px; padding: 40px 32px 48px; background: var(--pf-paper); color: var(--pf-ink); font: 14px/1.5 system-ui, -apple-system, "Segoe UI", Roboto, "Liberation Sans", sans-serif; font-variant-numeric: tabular-nums; }
h1 { font-size: 26px; line-height: 32px; margin: 0 0 16px; letter-spacing: -0.01em; overflow-wrap: anywhere; }
h2 { font-size: 18px; line-height: 24px; margin: 0 0 4px; overflow-wrap: anywhere; }
h3 { font-size: 15px; line-height: 24px; margin: 0 0 4px; }
p { margin: 0 0 8px; } small, .what, figcaption, caption, footer { color: var(--pf-muted); } small { font-size: 12px; } a { color: inherit; }
section, nav, main > p[class] { margin-top: 48px; } ul { margin: 0 0 8px; padding-inline-start: 20px; }
.conditions { display: flex; flex-wrap: wrap; gap: 8px 32px; margin: 0; padding: 12px 16px; border-radius: 8px; background: var(--pf-wash); }
.conditions div { min-width: 0; } dt { font-size: 12px; color: var(--pf-muted); } dd { margin: 0; overflow-wrap: anywhere; }
.figures { display: flex; flex-wrap: wrap; gap: 16px 56px; margin: 16px 0; }
.figure b { font-size: 32px; line-height: 40px; font-weight: 650; letter-spacing: -0.02em; } .figure span { margin-inline-start: 2px; } .figure small { display: block; }
.contents { columns: 3 220px; gap: 32px; list-style: none; padding: 0; } .contents li { break-inside: avoid; overflow-wrap: anywhere; line-height: 24px; }
summary { cursor: pointer; } summary h2 { display: inline; } summary .what { margin-inline-start: 8px; } details[open] > summary { margin-bottom: 8px; }
summary:focus-visible, a:focus-visible { outline: 2px solid var(--pf-h2); outline-offset: 2px; border-radius: 4px; }
.warning { margin: 16px 0 0; padding: 12px 16px; border-radius: 8px; border: 1px solid var(--pf-h1); border-inline-start-width: 4px; } .warning p { margin: 0 0 4px; font-weight: 600; } .warning ul { margin: 0; }
.note { margin: 16px 0 0; padding: 12px 16px; border-radius: 8px; background: var(--pf-wash); }
footer { margin-top: 56px; padding-top: 12px; border-top: 1px solid var(--pf-line); font-size: 12px; overflow-wrap: anywhere; }`;

const PLOTS = `
.bar, .strip, .photo-finish, time { direction: ltr; unicode-bidi: isolate; } .bar, .strip { display: block; overflow: hidden; print-color-adjust: exact; -webkit-print-color-adjust: exact; } .bar { border-radius: 4px; background: var(--pf-wash); } .strip { overflow: visible; }
.bar rect { stroke: var(--pf-paper); stroke-width: 1.5; } .bar text { font-size: 12px; font-weight: 700; } .bar .part-plain { fill: var(--pf-muted); stroke: none; }
.part-h3 { fill: var(--pf-h3); } .part-h2 { fill: var(--pf-h2); } .part-h1 { fill: var(--pf-h1); } .bar .part-unknown { fill: var(--pf-wash); stroke: var(--pf-unknown); stroke-width: 3; stroke-dasharray: 4 3; }
.on-h3, .on-h2, .on-h1 { fill: var(--pf-on-mark); } .on-unknown { fill: var(--pf-unknown); }
.bar text.on-h1 { stroke: var(--pf-h1); stroke-width: 4; paint-order: stroke; } .bar text.on-unknown { stroke: var(--pf-wash); stroke-width: 4; paint-order: stroke; }
.hatch { stroke: var(--pf-on-mark); stroke-opacity: .5; stroke-width: 1.5; } .stripes { stroke: var(--pf-on-mark); stroke-opacity: .35; stroke-width: 20; stroke-dasharray: 2 5; }
.legend { display: flex; flex-wrap: wrap; gap: 4px 20px; margin-top: 8px; font-size: 12px; color: var(--pf-muted); } .legend span { display: inline-flex; align-items: center; gap: 6px; }
.chart { display: grid; grid-template-columns: minmax(96px, 200px) 1fr minmax(136px, auto); gap: 8px 16px; margin: 16px 0 24px; } .site-row { display: grid; grid-column: 1 / -1; grid-template-columns: subgrid; align-items: center; }
.name { overflow: hidden; text-overflow: ellipsis; white-space: nowrap; font-weight: 600; } .share { white-space: nowrap; color: var(--pf-muted); } .share b { color: var(--pf-ink); }
.pair { stroke: var(--pf-muted); stroke-width: 1.5; } .zero-line { stroke: var(--pf-ink); stroke-width: 1; stroke-dasharray: 2 2; } .tick { stroke: var(--pf-line); } .tick-label { fill: var(--pf-muted); font-size: 11px; text-anchor: middle; }
.flag { stroke: var(--pf-paper); stroke-width: 1.5; } .gains { fill: var(--pf-h3); } .loses { fill: var(--pf-h2); } .unclear { fill: var(--pf-paper); stroke: var(--pf-muted); }
.photo-finish { display: block; max-width: 100%; height: auto; font-family: inherit; print-color-adjust: exact; -webkit-print-color-adjust: exact; }`;

const TABLES = `
.scroll { overflow-x: auto; } .scroll + .what { margin-top: 8px; } table { width: 100%; border-collapse: collapse; font-size: 13px; } caption { caption-side: bottom; padding-top: 8px; text-align: start; font-size: 12px; }
th, td { padding: 7px 0; padding-inline-end: 10px; text-align: start; vertical-align: top; border-bottom: 1px solid var(--pf-line); } th:last-child, td:last-child { padding-inline-end: 0; }
thead th { font-size: 12px; font-weight: 500; color: var(--pf-muted); vertical-align: bottom; } thead .mark { vertical-align: -2px; } tbody th { font-weight: 600; overflow-wrap: anywhere; min-width: 104px; } .origins tbody th { min-width: 224px; max-width: 320px; }
tr.rest > * { background: var(--pf-wash); } tr.rest th { font-weight: 500; padding-inline-start: 8px; } .n { text-align: end; } td.n { white-space: nowrap; } td small { display: block; white-space: nowrap; } .zero { color: var(--pf-muted); } td.verdict { min-width: 240px; } td.verdict ul { margin: 4px 0 0; color: var(--pf-muted); } .trials { min-width: 160px; color: var(--pf-muted); }
.plot { min-width: 160px; width: 45%; vertical-align: middle; } .verdicts th { white-space: nowrap; } .verdicts td { vertical-align: middle; } .gains tbody th { max-width: 280px; } .gains tbody th, .gains td { vertical-align: middle; }
.diff { table-layout: fixed; min-width: 720px; } .diff th:nth-child(1) { width: 24%; } .diff th:nth-child(2) { width: 16%; } ul.what { margin-top: 12px; } .side .bar { margin-bottom: 4px; } .side p { margin: 4px 0 0; } .changes { min-width: 120px; font-weight: 600; }
.origin { display: flex; gap: 8px; align-items: flex-start; overflow-wrap: anywhere; } .origin span { min-width: 0; } .origin .mark { flex: none; margin-top: 2px; }
article { margin-top: 32px; } figure { margin: 16px 0 0; padding: 16px; border-radius: 8px; background: var(--pf-wash); } figcaption { margin: 4px 0 12px; } figcaption b { color: var(--pf-ink); } .lanes { font-size: 12px; }
a.means { color: inherit; } td a.means { color: var(--pf-muted); font-size: 12px; white-space: nowrap; } .meanings dt { margin-top: 12px; font-weight: 600; } .meanings dt small { font-weight: 400; color: var(--pf-muted); } .meanings dd { margin: 0; } .meanings dd b { font-weight: 600; } .meanings dt:target, .meanings dt:target + dd { padding-inline-start: 10px; border-inline-start: 3px solid var(--pf-h2); }
@media (max-width: 640px) { body { padding: 24px 16px; } .verdicts th { white-space: normal; } .verdicts .plot { min-width: 48px; width: 20%; } .chart { grid-template-columns: 1fr auto; } .site-row { row-gap: 4px; } .site-row .bar { grid-column: 1 / -1; grid-row: 2; }
  .trials { min-width: 320px; } .origins, .origins thead, .origins tbody { display: block; } .origins tr { display: grid; grid-template-columns: repeat(6, 1fr); column-gap: 8px; padding: 7px 0; border-bottom: 1px solid var(--pf-line); } .origins tr > * { padding: 0; border: 0; } .origins tr > :first-child, .origins tr > :last-child { grid-column: 1 / -1; min-width: 0; max-width: none; } }`;

/** Folded sites are unfolded on paper; page headers and footers are left to the browser. */
const PRINT = `
@page { size: A4; margin: 16mm 14mm 18mm; @top-left { content: "Photofinish"; font: 9px sans-serif; color: #5b616a; } @bottom-right { content: counter(page) " / " counter(pages); font: 9px sans-serif; color: #5b616a; } }
@media print {
  body { max-width: none; padding: 0; font-size: 11px; } h1 { font-size: 22px; } h2 { font-size: 15px; } h3 { font-size: 13px; } small, caption, thead th, .lanes, .legend, dt, .bar text, .tick-label { font-size: 9px; } table { font-size: 10px; } th, td { padding-block: 4px; } td a.means { font-size: inherit; }
  section, nav, main > p[class] { margin-top: 24px; } .figures { gap: 8px 24px; } .figure b { font-size: 22px; line-height: 28px; } .scroll { overflow: visible; } .origins tbody th { min-width: 176px; max-width: 200px; } td.verdict { min-width: 150px; } .trials { min-width: 0; }
  tr, figure, .figure, .site-row, .conditions, .warning, h1, h2, h3, summary { break-inside: avoid; } h2, h3, summary, caption { break-after: avoid; } thead { display: table-header-group; } p { orphans: 3; widows: 3; }
  figure { padding: 8px 12px; border: 1px solid var(--pf-line); } summary { list-style: none; } details::details-content { content-visibility: visible; display: block; block-size: auto; }
  .diff { min-width: 0; } .contents a { text-decoration: none; }
}`;

const REPORT_CSS = `${BASE}${PLOTS}${TABLES}${PRINT}`;

/**
 * The whole page, of markup but for its title; its content security policy forbids it to run or load anything, in case
 * escaping is ever missed.
 */
function standalonePage(title: string, header: string, main: string, footer: string): string {
  return `<!doctype html>
<html lang="${esc(catalogLanguage())}">
<head>
<meta charset="utf-8">
<meta name="viewport" content="width=device-width, initial-scale=1">
<meta http-equiv="Content-Security-Policy" content="default-src 'none'; style-src 'unsafe-inline'; base-uri 'none'; form-action 'none'">
<title>${esc(title)}</title>
<style>${REPORT_CSS}</style>
</head>
<body>
<header>${header}</header>
<main>${main}</main>
<footer>${footer}</footer>
</body>
</html>
`;
}
