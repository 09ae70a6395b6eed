// The style of the HTML report, inlined into its page: light, dark, forced colours and print from one palette.
import { PALETTE_CSS } from './marks.ts';

export const REPORT_CSS = `${PALETTE_CSS}
* { box-sizing: border-box; }
body { margin: 0 auto; max-width: 1040px; padding: 40px 32px 48px; background: var(--pf-paper); color: var(--pf-ink); font: 14px/1.5 system-ui, -apple-system, "Segoe UI", Roboto, "Liberation Sans", sans-serif; font-variant-numeric: tabular-nums; }
h1 { font-size: 26px; line-height: 32px; margin: 0 0 16px; letter-spacing: -0.01em; overflow-wrap: anywhere; }
h2 { font-size: 18px; line-height: 24px; margin: 0 0 4px; overflow-wrap: anywhere; }
h3 { font-size: 15px; line-height: 24px; margin: 0 0 4px; }
p { margin: 0 0 8px; } small, .what, figcaption, caption, footer { color: var(--pf-muted); } small { font-size: 12px; }
section { margin-top: 48px; } ul { margin: 0 0 8px; padding-left: 20px; }
.conditions { display: flex; flex-wrap: wrap; gap: 8px 32px; margin: 0; padding: 12px 16px; border-radius: 8px; background: var(--pf-wash); }
.conditions div { min-width: 0; } dt { font-size: 12px; color: var(--pf-muted); } dd { margin: 0; overflow-wrap: anywhere; }
.figures { display: flex; flex-wrap: wrap; gap: 16px 56px; margin: 16px 0; }
.figure b { font-size: 32px; line-height: 40px; font-weight: 650; letter-spacing: -0.02em; } .figure span { margin-left: 2px; } .figure small { display: block; }
.bar { display: flex; gap: 2px; height: 20px; border-radius: 4px; overflow: hidden; print-color-adjust: exact; -webkit-print-color-adjust: exact; forced-color-adjust: none; }
.bar:empty { background: var(--pf-wash); }
.part { flex: 1 1 0; min-width: 3px; overflow: hidden; container-type: inline-size; color: var(--pf-on-mark); font-size: 12px; line-height: 20px; }
.part i { display: block; padding-left: 7px; font-style: normal; font-weight: 700; } @container (max-width: 18px) { .part i { visibility: hidden; } }
.part.h3 { background: var(--pf-h3); } .part.h2 { background: var(--pf-h2); } .part.h1 { background: var(--pf-h1); }
.part.unknown { background: var(--pf-wash); color: var(--pf-unknown); border: 1.5px dashed var(--pf-unknown); border-radius: 0 4px 4px 0; line-height: 17px; }
.legend { display: flex; flex-wrap: wrap; gap: 4px 20px; margin-top: 8px; font-size: 12px; color: var(--pf-muted); } .legend span { display: inline-flex; align-items: center; gap: 6px; }
.chart { display: grid; gap: 8px; margin: 16px 0 24px; } .site-row { display: grid; grid-template-columns: minmax(96px, 200px) 1fr 112px; gap: 16px; align-items: center; }
.name { overflow: hidden; text-overflow: ellipsis; white-space: nowrap; font-weight: 600; } .share { white-space: nowrap; color: var(--pf-muted); } .share b { color: var(--pf-ink); }
.scroll { overflow-x: auto; } table { width: 100%; border-collapse: collapse; font-size: 13px; } caption { caption-side: bottom; padding-top: 8px; text-align: left; font-size: 12px; }
th, td { padding: 7px 10px 7px 0; text-align: left; vertical-align: top; border-bottom: 1px solid var(--pf-line); } th:last-child, td:last-child { padding-right: 0; }
thead th { font-size: 12px; font-weight: 500; color: var(--pf-muted); vertical-align: bottom; } thead .mark { vertical-align: -2px; } tbody th { font-weight: 600; overflow-wrap: break-word; min-width: 104px; } .origins tbody th { min-width: 224px; max-width: 320px; }
.n { text-align: right; } td.n { white-space: nowrap; } td small { display: block; white-space: nowrap; } .zero { color: var(--pf-muted); } td.verdict { min-width: 240px; } .trials { min-width: 160px; color: var(--pf-muted); }
.origin { display: flex; gap: 8px; align-items: flex-start; overflow-wrap: anywhere; } .origin span { min-width: 0; } .origin .mark { flex: none; margin-top: 2px; }
article { margin-top: 32px; } article p, article ul { max-width: 72ch; } figure { margin: 16px 0 0; padding: 16px; border-radius: 8px; background: var(--pf-wash); } figcaption { margin: 4px 0 12px; } figcaption b { color: var(--pf-ink); } .small { font-size: 12px; }
.photo-finish { display: block; max-width: 100%; height: auto; font-family: inherit; } footer { margin-top: 56px; padding-top: 12px; border-top: 1px solid var(--pf-line); font-size: 12px; }
@media (max-width: 640px) { body { padding: 24px 16px; } .site-row { grid-template-columns: 1fr auto; gap: 4px 16px; } .site-row .bar { grid-column: 1 / -1; grid-row: 2; } }
@media print {
  body { max-width: none; padding: 0; font-size: 12px; } small, caption, thead th, .small, .legend, dt { font-size: 10px; } figure, tr, .figure, h2, h3 { break-inside: avoid; } h2, h3 { break-after: avoid; } section { margin-top: 28px; } .scroll { overflow: visible; } table { font-size: 11px; }
  figure { border: 1px solid var(--pf-line); } .photo-finish { print-color-adjust: exact; -webkit-print-color-adjust: exact; }
  .part.h2 { background-image: repeating-linear-gradient(45deg, transparent 0 4px, rgb(255 255 255 / .3) 4px 6px); }
  .part.h1 { background-image: repeating-linear-gradient(90deg, transparent 0 3px, rgb(255 255 255 / .35) 3px 5px); }
}`;
