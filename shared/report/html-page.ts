// The page of the HTML reports: one self-contained file, no script, no font, no external image. Its style serves light,
// dark, forced colours and print from one palette.
import { PALETTE_CSS } from '../drawing/svg.ts';
import { escapeMarkup as esc } from '../language/markup.ts';

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
footer { margin-top: 56px; padding-top: 12px; border-top: 1px solid var(--pf-line); font-size: 12px; }`;

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
.scroll { overflow-x: auto; } table { width: 100%; border-collapse: collapse; font-size: 13px; } caption { caption-side: bottom; padding-top: 8px; text-align: start; font-size: 12px; }
th, td { padding: 7px 0; padding-inline-end: 10px; text-align: start; vertical-align: top; border-bottom: 1px solid var(--pf-line); } th:last-child, td:last-child { padding-inline-end: 0; }
thead th { font-size: 12px; font-weight: 500; color: var(--pf-muted); vertical-align: bottom; } thead .mark { vertical-align: -2px; } tbody th { font-weight: 600; overflow-wrap: anywhere; min-width: 104px; } .origins tbody th { min-width: 224px; max-width: 320px; }
tr.rest > * { background: var(--pf-wash); } tr.rest th { font-weight: 500; padding-inline-start: 8px; } .n { text-align: end; } td.n { white-space: nowrap; } td small { display: block; white-space: nowrap; } .zero { color: var(--pf-muted); } td.verdict { min-width: 240px; } td.verdict ul { margin: 4px 0 0; color: var(--pf-muted); } .trials { min-width: 160px; color: var(--pf-muted); }
.plot { min-width: 160px; width: 45%; vertical-align: middle; } .verdicts th { white-space: nowrap; } .verdicts td { vertical-align: middle; } .gains tbody th { max-width: 280px; } .gains tbody th, .gains td { vertical-align: middle; }
.diff { table-layout: fixed; min-width: 720px; } .diff th:nth-child(1) { width: 24%; } .diff th:nth-child(2) { width: 16%; } ul.what { margin-top: 12px; } .side .bar { margin-bottom: 4px; } .side p { margin: 4px 0 0; } .changes { min-width: 120px; font-weight: 600; }
.origin { display: flex; gap: 8px; align-items: flex-start; overflow-wrap: anywhere; } .origin span { min-width: 0; } .origin .mark { flex: none; margin-top: 2px; }
article { margin-top: 32px; } figure { margin: 16px 0 0; padding: 16px; border-radius: 8px; background: var(--pf-wash); } figcaption { margin: 4px 0 12px; } figcaption b { color: var(--pf-ink); } .lanes { font-size: 12px; }
a.means { color: inherit; } td a.means { color: var(--pf-muted); font-size: 12px; white-space: nowrap; } .meanings dt { margin-top: 12px; font-weight: 600; } .meanings dt small { font-weight: 400; color: var(--pf-muted); } .meanings dd { margin: 0; } .meanings dd b { font-weight: 600; } .meanings dt:target, .meanings dt:target + dd { padding-inline-start: 10px; border-inline-start: 3px solid var(--pf-h2); }
@media (max-width: 640px) { body { padding: 24px 16px; } .verdicts th { white-space: normal; } .verdicts .plot { min-width: 48px; width: 20%; } .chart { grid-template-columns: 1fr auto; } .site-row { row-gap: 4px; } .site-row .bar { grid-column: 1 / -1; grid-row: 2; }
  .origins, .origins thead, .origins tbody { display: block; } .origins tr { display: grid; grid-template-columns: repeat(6, 1fr); column-gap: 8px; padding: 7px 0; border-bottom: 1px solid var(--pf-line); } .origins tr > * { padding: 0; border: 0; } .origins tr > :first-child, .origins tr > :last-child { grid-column: 1 / -1; min-width: 0; max-width: none; } }`;

/** Folded sites are unfolded on paper; page headers and footers are left to the browser. */
const PRINT = `
@page { size: A4; margin: 16mm 14mm 18mm; @top-left { content: "Photofinish"; font: 9px sans-serif; color: #5b616a; } @bottom-right { content: counter(page) " / " counter(pages); font: 9px sans-serif; color: #5b616a; } }
@media print {
  body { max-width: none; padding: 0; font-size: 11px; } h1 { font-size: 22px; } h2 { font-size: 15px; } h3 { font-size: 13px; } small, caption, thead th, .lanes, .legend, dt, .bar text, .tick-label { font-size: 9px; } table { font-size: 10px; } th, td { padding-block: 4px; }
  section, nav, main > p[class] { margin-top: 24px; } .figures { gap: 8px 24px; } .figure b { font-size: 22px; line-height: 28px; } .scroll { overflow: visible; } .origins tbody th { min-width: 176px; max-width: 200px; } td.verdict { min-width: 150px; } .trials { min-width: 0; }
  tr, figure, .figure, .site-row, .conditions, .warning, h1, h2, h3, summary { break-inside: avoid; } h2, h3, summary, caption { break-after: avoid; } thead { display: table-header-group; } p { orphans: 3; widows: 3; }
  figure { padding: 8px 12px; border: 1px solid var(--pf-line); } summary { list-style: none; } details::details-content { content-visibility: visible; display: block; block-size: auto; }
  .diff { min-width: 0; } .contents a { text-decoration: none; }
}`;

const REPORT_CSS = `${BASE}${PLOTS}${TABLES}${PRINT}`;

interface ReportPage {
  /** A language tag. */
  readonly language: string;
  /** Plain text. */
  readonly title: string;
  /** Markup, like the following. */
  readonly header: string;
  readonly main: string;
  readonly footer: string;
}

/** The whole page; its content security policy forbids it to run or load anything, in case escaping is ever missed. */
export function standalonePage({ language, title, header, main, footer }: ReportPage): string {
  return `<!doctype html>
<html lang="${esc(language)}">
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
