// The figures: an interactive chart, with the drawing at the available width, a readout that mouse, touch and keyboard
// move through its values, a legend, and a table of the same numbers; and a race with its photo finish. Time and numbers
// run left to right in every language.

import { LANE_COLUMNS, laneNumbers, photoFinish } from '@photofinish/shared/drawing/photo-finish';
import { photoFinishSvg } from '@photofinish/shared/drawing/photo-finish-svg';
import type { OriginRace } from '@photofinish/shared/race/outcome';
import { getMessage } from '../../common/catalog.ts';
import { make, setSvg, setText } from '../ui/elements.ts';
import { raceCauseText } from '../ui/format.ts';
import { headCell, scrollBox } from './controls.ts';
import { instantText, modeText, networkText } from './labels.ts';

interface Table {
  readonly head: readonly string[];
  /** The first cell names its row. */
  readonly rows: readonly (readonly string[])[];
}

interface LegendEntry {
  /** SVG drawn by this extension; empty for what is not drawn. */
  readonly swatch: string;
  readonly words: string;
}

/** What a figure shows; drawn again when its width changes. */
export interface Drawing {
  readonly svg: (widthPx: number) => string;
  readonly heightPx: number;
  /** Number of values at which the readout stops. */
  readonly count: number;
  /** The value shown initially. */
  readonly first: number;
  readonly xOf: (index: number, widthPx: number) => number;
  readonly indexAt: (xPx: number, widthPx: number) => number;
  readonly readout: (index: number) => string;
  /** The label for moving through the values. */
  readonly scrubLabel: string;
  readonly legend: readonly LegendEntry[];
  readonly table: () => Table;
  /** Shown instead of a drawing if there is nothing to draw. */
  readonly nothing: string | null;
}

const NARROWEST_PX = 260;

/** Writes a table of numbers; the first column contains the row headers. */
function writeTable(table: HTMLTableElement, { head, rows }: Table): void {
  const heads = head.map((words) => headCell('col', '', words));
  const lines = rows.map(([name = '', ...cells]) =>
    make('tr', '', headCell('row', '', name), ...cells.map((words) => make('td', '', words))),
  );
  table.replaceChildren(make('thead', '', make('tr', '', ...heads)), make('tbody', '', ...lines));
}

/** A table of numbers that is unfolded on request. */
function numbersOf(table: HTMLTableElement): HTMLDetailsElement {
  const words = getMessage('dashboardNumbers');
  return make('details', 'numbers', make('summary', '', words), scrollBox(words, table));
}

function legendElement({ swatch, words }: LegendEntry): HTMLElement {
  const sample = make('span', 'sample');
  setSvg(sample, swatch);
  sample.hidden = swatch === '';
  return make('span', 'entry', sample, words);
}

/** Creates the elements of a figure in `host`, which must be empty. */
function makeParts(host: HTMLElement) {
  const readout = make('p', 'readout');
  const picture = make('div', 'picture');
  const cursor = make('div', 'cursor');
  const scrub = make('input', 'scrub');
  const nothing = make('p', 'nothing');
  const legend = make('p', 'legend');
  const table = make('table', 'small');
  const numbers = numbersOf(table);
  const plot = make('div', 'plot', picture, cursor, scrub);
  plot.dir = 'ltr';
  scrub.type = 'range';
  scrub.min = '0';
  host.replaceChildren(readout, plot, nothing, legend, numbers);
  return { readout, plot, picture, cursor, scrub, nothing, legend, numbers, table };
}

/** Creates the figure in `host`, which must be empty. */
export function createFigure(host: HTMLElement) {
  const { readout, plot, picture, cursor, scrub, nothing, legend, numbers, table } = makeParts(host);

  let current: Drawing | null = null;
  let widthPx = 0;
  /** Null until the user moves the readout: until then the newest drawing's default. */
  let chosen: number | null = null;

  const show = (active: boolean): void => {
    if (current === null || current.count === 0) return;
    const index = Math.min(chosen ?? current.first, current.count - 1);
    const words = current.readout(index);
    setText(readout, words);
    scrub.value = String(index);
    scrub.setAttribute('aria-valuetext', words);
    cursor.hidden = !active;
    cursor.style.insetInlineStart = `${current.xOf(index, widthPx)}px`;
  };
  const redraw = (): void => {
    if (current === null) return;
    setSvg(picture, current.nothing === null && widthPx > 0 ? current.svg(widthPx) : '');
    show(document.activeElement === scrub);
  };
  const leave = (): void => {
    chosen = null;
    show(false);
  };

  scrub.addEventListener('input', () => {
    chosen = Number(scrub.value);
    show(true);
  });
  scrub.addEventListener('focus', () => show(true));
  scrub.addEventListener('blur', leave);
  plot.addEventListener('pointermove', (event) => {
    if (current === null) return;
    chosen = current.indexAt(event.clientX - plot.getBoundingClientRect().left, widthPx);
    show(true);
  });
  plot.addEventListener('pointerleave', () => {
    if (document.activeElement !== scrub) leave();
  });
  numbers.addEventListener('toggle', () => {
    if (numbers.open && current !== null) writeTable(table, current.table());
  });
  new ResizeObserver(() => {
    const next = Math.max(NARROWEST_PX, Math.floor(plot.clientWidth));
    if (next === widthPx) return;
    widthPx = next;
    redraw();
  }).observe(plot);

  return {
    draw(drawing: Drawing): void {
      current = drawing;
      const empty = drawing.nothing !== null;
      plot.hidden = empty;
      readout.hidden = empty;
      legend.hidden = empty;
      numbers.hidden = empty;
      nothing.hidden = !empty;
      setText(nothing, drawing.nothing ?? '');
      picture.style.minHeight = `${drawing.heightPx}px`;
      scrub.max = String(Math.max(0, drawing.count - 1));
      scrub.ariaLabel = drawing.scrubLabel;
      legend.replaceChildren(...drawing.legend.map(legendElement));
      // The first drawing does not wait for the observer: it belongs to the first paint.
      if (widthPx === 0 && !empty) widthPx = Math.max(NARROWEST_PX, Math.floor(plot.clientWidth));
      if (numbers.open) writeTable(table, drawing.table());
      redraw();
    },
  };
}

// One race with its photo finish: the drawing, an explanation of its numbers, and when and how it was run.

const DRAWING_PX = 560;
let drawn = 0;

/** The race as a figure; for a race that could not be run, the reason. */
export function raceFigure(race: OriginRace): HTMLElement {
  const when = `${instantText(race.atMs)} · ${modeText(race.mode)} · ${networkText(race.network)}`;
  if (race.trials.length === 0) {
    const title = make('strong', '', getMessage('dashboardCouldNotRace'));
    const why = make('span', 'what', `${when}. ${raceCauseText(race) ?? ''}`);
    return make('figure', 'race', make('figcaption', '', title, why));
  }
  const finish = photoFinish(race);
  const drawing = make('div', 'drawing');
  drawing.dir = 'ltr';
  drawn += 1;
  setSvg(drawing, photoFinishSvg(finish, `race-${drawn}`, DRAWING_PX));
  const result = finish.result === null ? finish.caption : `${finish.title}, ${finish.caption}`;
  const title = make(finish.result?.winner === null ? 'span' : 'strong', '', result);
  const caption = make('figcaption', '', title, make('span', 'what', when));
  const table = make('table', 'small');
  const head = LANE_COLUMNS.map((key) => getMessage(key));
  writeTable(table, { head, rows: finish.lanes.map(laneNumbers) });
  return make('figure', 'race', drawing, caption, numbersOf(table));
}
