// Buttons that are shown as disabled but remain focusable: a browser takes the focus from a disabled button, and keyboard
// users lose their place.

/** Shows a button as disabled, or as enabled. */
export function setDisabled(button: HTMLElement, disabled: boolean): void {
  if (isDisabled(button) !== disabled) button.ariaDisabled = disabled ? 'true' : null;
}

export function isDisabled(button: HTMLElement): boolean {
  return button.ariaDisabled === 'true';
}

/** Calls `run` on clicks, except while the button is shown as disabled. */
export function onClick(button: HTMLElement, run: () => void): void {
  button.addEventListener('click', () => {
    if (!isDisabled(button)) run();
  });
}
