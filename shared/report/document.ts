// The content of a report, or of a comparison of two, as data: built once and written in every format. It may contain
// untrusted text; each format escapes it in one place, and formats numbers, times and names in its own way.

import type { PhotoFinish } from '../drawing/photo-finish.ts';
import type { SharedMessageKey } from '../language/catalog.ts';
import type { AttemptErrorCode } from '../race/terms.ts';
import type { VerdictCode } from '../race/verdict-schema.ts';
import type { CodeRow } from '../verdict/codes.ts';
import type { ObservationModes } from '../web/observation.ts';
import type { Mark } from '../web/protocol.ts';
import type { Adoption } from './adoption.ts';
import type { Counts } from './report.ts';

/** A text with its BCP 47 tag, if its language is not the document's. */
export interface Text {
  readonly kind: 'text';
  readonly text: string;
  readonly tone?: 'strong' | 'muted' | undefined;
  readonly language?: string | undefined;
}

/** One side of a compared origin; `gain` is empty if there is none. */
export interface Side {
  readonly kind: 'side';
  readonly counts: Counts;
  readonly adoption: Adoption;
  readonly modes: ObservationModes;
  readonly verdict: string;
  readonly why: Text;
  readonly gain: string;
}

/** Values that every format can write on a line or in a cell. */
export type Value =
  | string
  | Text
  | Side
  /** A message of the catalog with values in it. */
  | { readonly kind: 'sentence'; readonly key: SharedMessageKey; readonly params: Record<string, Value> }
  | { readonly kind: 'count'; readonly count: number; readonly strong?: boolean }
  /** A number of hidden answers. */
  | { readonly kind: 'hidden'; readonly hidden: number; readonly modes: ObservationModes }
  | { readonly kind: 'share'; readonly part: number; readonly whole: number }
  /** A share with its two counts; a total of zero has no share. */
  | { readonly kind: 'ratio'; readonly part: number; readonly whole: number }
  | { readonly kind: 'adoption'; readonly adoption: Adoption; readonly modes: ObservationModes }
  | { readonly kind: 'bytes'; readonly bytes: number }
  /** Milliseconds since the epoch, or ISO 8601; `seconds`: with them, as another beside it may be of the same minute. */
  | { readonly kind: 'instant'; readonly at: number | string; readonly seconds?: boolean }
  /** A host, site or origin. */
  | { readonly kind: 'host'; readonly host: string; readonly mark?: Mark };

/** An axis of differences in milliseconds; it holds 0. */
export interface GainAxis {
  readonly fromMs: number;
  readonly toMs: number;
}

/** Values that only a page can write. */
export type PageValue =
  | Value
  | { readonly kind: 'protocol'; readonly mark: Mark; readonly name: string }
  /** Links to the meaning of the code. */
  | { readonly kind: 'code'; readonly code: VerdictCode | AttemptErrorCode; readonly words: string }
  | {
      readonly kind: 'verdict';
      readonly why: Text;
      readonly code: VerdictCode;
      readonly findings: readonly string[];
    }
  | { readonly kind: 'share-bar'; readonly share: number }
  | { readonly kind: 'gain-axis'; readonly axis: GainAxis }
  /**
   * The gain in each pair of a comparison, and the difference of the medians; `clear`: whether that difference is
   * clear.
   */
  | {
      readonly kind: 'gain-strip';
      readonly axis: GainAxis;
      readonly gainsMs: readonly number[];
      readonly medianMs: number;
      readonly clear: boolean;
    };

/** The kind of a column's cells, which determines their alignment and width. */
export type ColumnKind = 'text' | 'number' | 'plot' | 'verdict' | 'changes' | 'side' | 'trials';

export interface Column<V = Value> {
  readonly kind: ColumnKind;
  /** Empty if the cells are self-explanatory. */
  readonly title: V;
}

/** The first cell is the row's header. */
export type Row<V = Value> = readonly V[];

export interface Table<V = Value> {
  readonly kind: 'table';
  readonly name: 'sides' | 'total' | 'verdicts' | 'sites' | 'origins' | 'gains' | 'lanes' | 'diff';
  readonly caption?: string;
  readonly columns: readonly Column<V>[];
  readonly rows: readonly Row<V>[];
  /** Summarises the rows that are not shown. */
  readonly rest?: Row<V> | undefined;
}

export interface Paragraph {
  readonly kind: 'paragraph';
  /** `aside` explains; a `note` must not be missed. */
  readonly tone: 'plain' | 'strong' | 'aside' | 'note';
  readonly words: Value;
}

export interface List {
  readonly kind: 'list';
  readonly items: readonly Value[];
}

/** What makes a comparison unfair. */
export interface Warning {
  readonly kind: 'warning';
  readonly words: string;
  readonly reasons: readonly string[];
}

/** Blocks that every format can write. */
export type Block = Paragraph | List | Warning | Table;

/** With more origins than this, or more changed ones, sites are folded on screen; in print all are shown. */
export const ORIGINS_UNFOLDED = 60;

/** Part of a page, with an id that is unique on it; a folded one shows only its title and `words` until opened. */
export interface Section {
  readonly kind: 'section';
  readonly id: string;
  readonly title: Value;
  readonly fold?: { readonly open: boolean; readonly words: string };
  readonly blocks: readonly PageBlock[];
}

/** One race: its drawing, if there is anything to draw, its result in lines, and its numbers. */
export interface Figure {
  readonly kind: 'figure';
  readonly id: string;
  readonly finish: PhotoFinish | null;
  readonly lines: readonly Value[];
  readonly table: Table | null;
}

/** A heading with the content below it. */
export interface Article {
  readonly kind: 'article';
  readonly title: Value;
  readonly blocks: readonly PageBlock[];
}

/** A site in a table of contents, by the id of its section. */
export interface ContentsEntry {
  readonly id: string;
  readonly site: string;
  readonly adoption: Adoption;
}

/** Blocks that only a page can write. */
export type PageBlock =
  | Exclude<Block, Table>
  | Table<PageValue>
  | Section
  | Article
  | Figure
  /** Large figures side by side. */
  | {
      readonly kind: 'figures';
      readonly figures: readonly { adoption: Adoption; words: string }[];
      readonly modes: ObservationModes;
    }
  | { readonly kind: 'protocols'; readonly counts: Counts }
  | { readonly kind: 'legend' }
  | {
      readonly kind: 'bars';
      readonly bars: readonly { site: string; counts: Counts; adoption: Adoption }[];
    }
  | { readonly kind: 'contents'; readonly entries: readonly ContentsEntry[] }
  | { readonly kind: 'meanings'; readonly rows: readonly CodeRow[] };

/** A document for a format: `B` are the blocks that the format can write. */
export interface ReportDocument<B = Block> {
  readonly title: string;
  /** Names and values of the conditions; empty if the blocks contain them. */
  readonly conditions: readonly (readonly [name: string, value: Value])[];
  readonly blocks: readonly B[];
  /** Notes on the whole document, at its end. */
  readonly footer: string;
}

/** The size of parts in a page's file, in bytes, which only the page's writer knows. */
export interface PageSizes {
  row(row: Row<PageValue>, columns: readonly Column<PageValue>[]): number;
  block(block: PageBlock): number;
}

export function host(name: string, mark?: Mark): Value {
  return { kind: 'host', host: name, ...(mark && { mark }) };
}

export function count(value: number, tone?: 'strong'): Value {
  return { kind: 'count', count: value, strong: tone === 'strong' };
}

export function hiddenCount(hidden: number, modes: ObservationModes): Value {
  return { kind: 'hidden', hidden, modes };
}

export function adoptionValue(adoption: Adoption, modes: ObservationModes): Value {
  return { kind: 'adoption', adoption, modes };
}

export function text(words: string, tone?: Text['tone'], language?: string): Text {
  return { kind: 'text', text: words, tone, language };
}

/** One of the counts by protocol; those without are hidden. */
export function protocolCount(counts: Counts, protocol: keyof Counts, modes: ObservationModes): Value {
  return protocol === 'unknown' ? hiddenCount(counts.unknown, modes) : count(counts[protocol]);
}

/** Columns of the same kind. */
export function columns<V = Value>(kind: ColumnKind, ...titles: readonly V[]): Column<V>[] {
  return titles.map((title) => ({ kind, title }));
}

export function table<V = Value>(
  name: Table['name'],
  heads: readonly Column<V>[],
  rows: readonly Row<V>[],
  rest?: Row<V>,
): Table<V> {
  return { kind: 'table', name, columns: heads, rows, rest };
}

export function paragraph(words: string, tone: Paragraph['tone'] = 'plain'): Paragraph {
  return { kind: 'paragraph', tone, words };
}

export function section(id: string, title: Value, ...blocks: readonly PageBlock[]): Section {
  return { kind: 'section', id, title, blocks };
}
