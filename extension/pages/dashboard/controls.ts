// Choices as native controls, groups of radio buttons that look like one control, and drop-down lists; and what the
// lines of all tables are made of.
import { make, setText } from '../ui/elements.ts';

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
    const label = make('label');
    const input = make('input', 'unseen');
    input.type = 'radio';
    input.name = name;
    input.value = value;
    input.addEventListener('change', () => onChange(value));
    label.append(input, make('span', '', words));
    fieldset.append(label);
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
  const name = make('bdi', '', host);
  name.dir = 'ltr';
  const box = make('span', 'host');
  box.append(name);
  return box;
}

/** The first cell of a line, with a button that opens it; `open`: whether it is, null if it opens elsewhere. */
export function openerCell(
  open: boolean | null,
  onOpen: () => void,
  ...content: (Node | string)[]
): HTMLTableCellElement {
  const cell = make('th');
  cell.scope = 'row';
  const opener = make('button', 'opener');
  opener.type = 'button';
  if (open !== null) opener.ariaExpanded = String(open);
  opener.append(...content);
  opener.addEventListener('click', onOpen);
  cell.append(opener);
  return cell;
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
