// Standard output: plain-text tables, and steps with title, elapsed time and result, several in parallel. On a
// terminal, open steps stay at the bottom and are redrawn in place; in a log, a line is printed at intervals so that a
// long step does not look hung.
/** Interval at which a long-running step reports itself in a log. */
const HEARTBEAT_MS = 15_000;
const REDRAW_MS = 100;

export interface Step {
  /** What the step is currently doing; shown beside its elapsed time. */
  detail(text: string): void;
  /** Ends the step with its mark; `note` is appended to the title. */
  end(outcome: boolean | 'skipped', note?: string): void;
}

/** The part of a terminal or log stream that is used. */
type OutputStream = Pick<NodeJS.WriteStream, 'write' | 'isTTY' | 'columns'>;

/** Seconds with one decimal, minutes from 100 s on. */
export function formatElapsed(ms: number): string {
  if (ms < 99_950) return `${(ms / 1000).toFixed(1)} s`;
  const seconds = Math.round(ms / 1000);
  return `${Math.floor(seconds / 60)} min ${String(seconds % 60).padStart(2, '0')} s`;
}

export class Display {
  readonly #out: OutputStream;
  /** A function per open step that renders its line, in starting order. */
  readonly #open = new Set<() => string>();
  #drawn = 0;
  #redraw: NodeJS.Timeout | undefined;

  constructor(out: OutputStream) {
    this.#out = out;
  }

  /** Writes a line above the open steps. */
  printLine(line = ''): void {
    this.#erase();
    this.#out.write(`${line}\n`);
    this.#draw();
  }

  /** Starts a step; others may be open. */
  beginStep(title: string): Step {
    const startedMs = performance.now();
    const elapsed = () => formatElapsed(performance.now() - startedMs);
    let detail = '';
    const line = () => `  … ${title}  ${elapsed()}  ${detail}`;
    const heartbeat = this.#out.isTTY
      ? undefined
      : setInterval(() => this.printLine(line()), HEARTBEAT_MS).unref();
    this.#open.add(line);
    this.#redraw ??= this.#out.isTTY ? setInterval(() => this.#draw(), REDRAW_MS).unref() : undefined;
    this.#draw();
    return {
      detail(text) {
        detail = text;
      },
      end: (outcome, note = '') => {
        clearInterval(heartbeat);
        this.#open.delete(line);
        const mark = outcome === 'skipped' ? '–' : outcome ? '✓' : '✗';
        this.printLine(`  ${mark} ${title}  ${elapsed()}${note === '' ? '' : `  ${note}`}`);
        if (this.#open.size > 0) return;
        clearInterval(this.#redraw);
        this.#redraw = undefined;
      },
    };
  }

  #erase(): void {
    if (this.#drawn > 0) this.#out.write(`\x1b[${this.#drawn}A\r\x1b[J`);
    this.#drawn = 0;
  }

  #draw(): void {
    if (!this.#out.isTTY) return;
    this.#erase();
    // A line wrapped by the terminal could not be cleared.
    for (const line of this.#open) this.#out.write(`${line().slice(0, this.#out.columns - 1)}\n`);
    this.#drawn = this.#open.size;
  }
}

const display = new Display(process.stdout);

export const printLine = (line?: string): void => display.printLine(line);
export const heading = (title: string): void => printLine(`\n${title}`);
/** Starts a step on standard output. */
export const beginStep = (title: string): Step => display.beginStep(title);

/** `40 s`, `12 min`, `3 h 5 min`. */
export function formatDuration(ms: number): string {
  if (ms < 90_000) return `${Math.ceil(ms / 1000)} s`;
  const minutes = Math.ceil(ms / 60_000);
  return minutes < 90 ? `${minutes} min` : `${Math.floor(minutes / 60)} h ${minutes % 60} min`;
}

/** A column of words by its title, or one of figures. */
type Column = string | { readonly figures: string };

/** A column of figures, which are aligned by their ends. */
export const figures = (title: string): Column => ({ figures: title });

/** The table's lines joined, without a trailing newline; a row may be shorter than the head. */
export function formatTable(columns: readonly Column[], rows: readonly (readonly string[])[]): string {
  const titles = columns.map((column) => (typeof column === 'string' ? column : column.figures));
  const widths = titles.map((title, index) =>
    Math.max(title.length, ...rows.map((row) => row[index]?.length ?? 0)),
  );
  const line = (cells: readonly string[]) =>
    columns
      .map((column, index) => {
        const [cell, width] = [cells[index] ?? '', widths[index] ?? 0];
        return typeof column === 'string' ? cell.padEnd(width) : cell.padStart(width);
      })
      .join('  ')
      .trimEnd();
  const rule = widths.map((width) => '─'.repeat(width)).join('  ');
  return [line(titles), rule, ...rows.map(line)].join('\n');
}
