// A table's lines drawn anew, as they are whenever the ledger changed, without taking the focus from whoever reads them.

/** Puts these lines in place of those before. What had the focus has it again if it stays, else its row's opener. */
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
