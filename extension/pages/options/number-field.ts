// A bounded integer field: saved when valid; otherwise an error is shown below the field, which keeps what was typed.

import { getMessage } from '../../common/catalog.ts';
import { byId, setText } from '../ui/elements.ts';
import { save } from '../ui/saving.ts';

export interface NumberField {
  readonly id: 'start-delay' | 'retention';
  readonly setting: 'startDelayMs' | 'retentionDays';
  readonly least: number;
  readonly most: number;
  /** Whether the field may be left empty, which saves null. */
  readonly optional?: boolean;
}

/** The number that was typed; null unless it is an integer within the bounds. */
export function readNumber(text: string, least: number, most: number): number | null {
  if (!/^\s*\d{1,9}\s*$/.test(text)) return null;
  const number = Number(text);
  return number >= least && number <= most ? number : null;
}

/** Makes the field save itself. */
export function wireNumber({ id, setting, least, most, optional = false }: NumberField): void {
  const input = byId<HTMLInputElement>(id);
  const error = byId(`${id}-error`);
  input.min = String(least);
  input.max = String(most);
  input.addEventListener('change', () => {
    const number = input.validity.badInput ? null : readNumber(input.value, least, most);
    // Input that is not a number also leaves the value empty.
    const cleared = optional && !input.validity.badInput && input.value === '';
    const wrong = number === null && !cleared;
    setText(error, wrong ? getMessage('optionsNotANumber', { least, most }) : '');
    input.setAttribute('aria-invalid', String(wrong));
    if (!wrong) void save(input, { [setting]: number });
  });
}

/** Shows a value, nothing for null, unless the field is being edited or holds what could not be saved. */
export function showNumber({ id }: NumberField, value: number | null): void {
  const input = byId<HTMLInputElement>(id);
  const writing = document.activeElement === input && input.value !== '';
  if (!writing && input.getAttribute('aria-invalid') !== 'true') input.value = String(value ?? '');
}
