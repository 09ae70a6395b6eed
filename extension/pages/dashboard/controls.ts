// Choices as native controls, groups of radio buttons that look like one control, and drop-down lists; and what the
// lines of all tables are made of.
import { leftToRight, make, makeButton, setText } from '../ui/elements.ts';

export interface Entry<Value extends string> {
  readonly value: Value;
  readonly words: string;
}

/** Fills a fieldset with radio buttons; `set` shows a value without calling `onChange`. */
export function choice<Value extends string>(
  fieldset: HTMLElement,
  name: string,
  entries: readonly Entry<Value>[],
  onChange: (value: Value) => void,
): { set(value: Value | ''): void } {
  const inputs = entries.map(({ value, words }) => {
    const input = make('input', 'unseen');
    input.type = 'radio';
    input.name = name;
    input.value = value;
    input.addEventListener('change', () => onChange(value));
    fieldset.append(make('label', '', input, make('span', '', words)));
    return input;
  });
  return {
    set(value) {
      for (const input of inputs) input.checked = input.value === value;
    },
  };
}

/** Fills a list; without `onChange` only its entries are replaced, and the selection is kept if possible. */
export function options<Value extends string>(
  select: HTMLSelectElement,
  entries: readonly Entry<Value>[],
  onChange?: (value: Value) => void,
): void {
  const chosen = select.value;
  const same =
    select.options.length === entries.length &&
    entries.every(({ value }, i) => select.options[i]?.value === value);
  if (same) for (const [i, { words }] of entries.entries()) setText(select.options[i] as Element, words);
  else {
    select.replaceChildren(...entries.map(({ value, words }) => new Option(words, value)));
    if (entries.some(({ value }) => value === chosen)) select.value = chosen;
  }
  if (onChange) select.addEventListener('change', () => onChange(select.value as Value));
}

/** A host, which reads from left to right in every language. */
export function hostName(host: string): HTMLElement {
  return make('span', 'host', leftToRight(host));
}

/** A header cell. */
export function headCell(
  scope: 'row' | 'col',
  className: string,
  ...content: readonly (Node | string)[]
): HTMLTableCellElement {
  const cell = make('th', className, ...content);
  cell.scope = scope;
  return cell;
}

/** What scrolls if it is wider than the page, and must be scrollable by keyboard too. */
export function scrollBox(label: string, table: HTMLTableElement): HTMLElement {
  const box = make('div', 'scroll', table);
  box.tabIndex = 0;
  box.role = 'region';
  box.ariaLabel = label;
  return box;
}

/** A fact with its name, as an entry of a `dl`. */
export function factEntry(name: string, value: HTMLElement): HTMLElement {
  return make('div', '', make('dt', '', name), make('dd', '', value));
}

/** The cross of a button that removes something. */
export function cross(): HTMLElement {
  const sign = make('span', 'cross', '×');
  sign.ariaHidden = 'true';
  return sign;
}

/** The first cell of a line, with a button that opens it; `open`: whether it is, null if it opens elsewhere. */
export function openerCell(
  open: boolean | null,
  onOpen: () => void,
  ...content: (Node | string)[]
): HTMLTableCellElement {
  const opener = makeButton('opener', content, onOpen);
  if (open !== null) opener.ariaExpanded = String(open);
  return headCell('row', '', opener);
}

/** Replaces the lines. The focused element is focused again if it remains, otherwise its row's opener. */
export function replaceLines(body: HTMLElement, lines: readonly HTMLElement[]): void {
  const active = document.activeElement;
  const held = active instanceof HTMLElement && body.contains(active) ? active : null;
  const key = held?.closest('tr')?.dataset['key'];
  body.replaceChildren(...lines);
  if (held?.isConnected) held.focus({ preventScroll: true });
  else if (key !== undefined)
    body
      .querySelector<HTMLElement>(`tr[data-key="${CSS.escape(key)}"] .opener`)
      ?.focus({ preventScroll: true });
}
