// Documents as one self-contained HTML page, readable offline, in dark mode, in forced colours and in greyscale print.
// Every plot is beside or in a table of the same numbers; nothing in the page can run or load anything.
import { markSvg } from '../drawing/marks.ts';
import { photoFinishSvg } from '../drawing/photo-finish-svg.ts';
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
import { standalonePage } from './html-page.ts';
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
  return standalonePage({
    language: catalogLanguage(),
    title,
    header: `<h1>${esc(title)}</h1>${under}`,
    main: blocksMarkup(blocks, written),
    footer: esc(footer),
  });
}
