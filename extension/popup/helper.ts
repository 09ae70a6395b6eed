// The helper's state: a dot with words at the foot, and when it is missing what to do about it.
import type { HelperState } from '../messages.ts';
import { byId, setAttribute, setText } from '../ui/elements.ts';
import { helperWords } from './format.ts';

/** Foot and help; recording goes on whatever the state. */
export function renderHelper(helper: HelperState): void {
  const words = helperWords(helper);
  setText(byId('helper-label'), words.label);
  setAttribute(byId('helper'), 'title', words.title);
  setAttribute(byId('helper-dot'), 'class', `dot ${words.dot}`);
  const help = byId('helper-help');
  help.hidden = words.help === null;
  if (words.help === null) return;
  setText(byId('helper-what'), words.help.what);
  setText(byId('helper-command'), words.help.command);
}

/** Copy and *Try again*. */
export function wireHelper(onRetry: () => void): void {
  const copy = byId<HTMLButtonElement>('helper-copy');
  copy.addEventListener('click', async () => {
    const command = byId('helper-command');
    try {
      await navigator.clipboard.writeText(command.textContent);
      setText(copy, 'Copied');
    } catch {
      // Clipboards can be forbidden by policy; then the command is selected for the user's own copy.
      getSelection()?.selectAllChildren(command);
      setText(copy, 'Selected');
    }
  });
  byId('helper-retry').addEventListener('click', onRetry);
}
