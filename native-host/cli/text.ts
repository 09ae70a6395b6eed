// How the command line formats text for people: aligned columns, colours that never carry meaning alone, plain numbers,
// networks by the user's names.
import { styleText } from 'node:util';
import { formatMs } from '@photofinish/shared/language/markup';
import type { Protocol } from '@photofinish/shared/web/protocol';
import { printable } from '@photofinish/shared/web/untrusted';
import { Complaint } from './usage.ts';

type Colour = 'green' | 'blue' | 'yellow' | 'red' | 'dim' | 'bold';
/** Colours a text, or returns it unchanged if colour is disabled. */
export type Paint = (colour: Colour, text: string) => string;

export const plain: Paint = (_colour, text) => text;

/** Colour on a terminal only; styleText itself honours NO_COLOR and FORCE_COLOR. */
export function paintFor(stream: NodeJS.WriteStream): Paint {
  return (colour, text) => styleText(colour, text, { stream });
}

const PROTOCOL_COLOURS: Record<Protocol, Colour> = {
  h3: 'green',
  h2: 'blue',
  'http/1.1': 'yellow',
  'http/1.0': 'yellow',
  unknown: 'dim',
};

export function paintProtocol(paint: Paint, protocol: Protocol, text: string): string {
  return paint(PROTOCOL_COLOURS[protocol], text);
}

/** `51.8 ms`; a dash if nothing was measured. */
export function milliseconds(ms: number | null | undefined): string {
  return ms === null || ms === undefined ? '–' : formatMs(ms);
}

/** A count with the noun in the right number. */
export function plural(count: number, one: string, many = `${one}s`): string {
  return `${count} ${count === 1 ? one : many}`;
}

const UNITS = [
  ['d', 86_400_000],
  ['h', 3_600_000],
  ['min', 60_000],
  ['s', 1000],
] as const;

/** A duration in its largest whole unit. */
export function duration(ms: number): string {
  const [unit, size] = UNITS.find(([, each]) => ms >= each) ?? UNITS[3];
  return `${Math.floor(ms / size)} ${unit}`;
}

/** How long ago something was; a future time, after a clock was set back, counts as now. */
export function ago(atMs: number, nowMs: number): string {
  return `${duration(Math.max(0, nowMs - atMs))} ago`;
}

/** Text from a server or a file, made safe for a terminal. */
export { printable };

/** One cell: its width is that of the text without paint. */
export type Cell = string | { readonly text: string; readonly paint: (text: string) => string };

export function cellText(cell: Cell): string {
  return typeof cell === 'string' ? cell : cell.text;
}

interface Column {
  readonly title: string;
  readonly align: 'left' | 'right';
}

/** Columns by their titles; those of numbers are aligned on the right. */
export function columnsOf(titles: readonly string[], numbers: readonly string[] = []): Column[] {
  return titles.map((title) => ({ title, align: numbers.includes(title) ? 'right' : 'left' }));
}

/** Lines of an aligned table, the head first; no trailing blanks. */
export function table(
  columns: readonly Column[],
  rows: readonly (readonly Cell[])[],
  paint: Paint,
): string[] {
  const widths = columns.map((column, index) =>
    rows.reduce((width, row) => Math.max(width, cellText(row[index] ?? '').length), column.title.length),
  );
  const line = (cells: readonly Cell[]): string =>
    cells
      .map((cell, index) => {
        const text = cellText(cell);
        const gap = ' '.repeat((widths[index] ?? 0) - text.length);
        // No empty pair of escape sequences at the end of a line.
        const painted = typeof cell === 'string' || text === '' ? text : cell.paint(text);
        if (columns[index]?.align === 'right') return gap + painted;
        return index === columns.length - 1 ? painted : painted + gap;
      })
      .join('  ')
      .trimEnd();
  const head = columns.map(({ title }): Cell => ({ text: title, paint: (text) => paint('dim', text) }));
  return [line(head), ...rows.map(line)];
}

/** Maximum width of text for people: the default width of terminals. */
export const LINE_COLUMNS = 80;

/**
 * Wraps a text into lines of at most 80 characters, the first after `indent`, the others after `further`. A word too
 * long for a line stays whole, because paths and headers are there to be copied.
 */
export function wrapped(text: string, indent: string, further = indent): string[] {
  const [first = '', ...words] = text.split(' ');
  const lines: string[] = [];
  let line = indent + first;
  for (const word of words) {
    if (line.trim() !== '' && line.length + 1 + word.length > LINE_COLUMNS) {
      lines.push(line);
      line = further + word;
    } else line = `${line} ${word}`;
  }
  return [...lines, line];
}

/** The user's names for networks, by key. */
export type NetworkNames = ReadonlyMap<string, string>;

export const NO_NAMES: NetworkNames = new Map();

/** The keys with a name. */
function keysNamed(name: string, names: NetworkNames): readonly string[] {
  return [...names].flatMap(([key, each]) => (each === name ? [key] : []));
}

/** A network for people; if two have the same name the key is added. */
export function networkLabel(network: string, names: NetworkNames): string {
  const name = names.get(network);
  if (name === undefined) return printable(network);
  return keysNamed(name, names).length > 1 ? `${printable(name)} (${printable(network)})` : printable(name);
}

/** The key of the network with a name; null: none has it. Throws a Complaint if several have. */
export function keyNamed(name: string, names: NetworkNames): string | null {
  const [key = null, ...others] = keysNamed(name.normalize().trim(), names);
  if (others.length > 0)
    throw new Complaint('bad-network', `more than one network is called "${name}": use its key`);
  return key;
}
