// The helper's state: a dot with text in the footer, and if the helper is missing, what to do about it.

import { environment, installCommand } from '../../common/helper/install-command.ts';
import type { HelperState } from '../../common/messages.ts';
import { renderCommand } from '../ui/copied-command.ts';
import { byId, setAttribute, setText } from '../ui/elements.ts';
import { type HelperWords, helperWords } from '../ui/origin-state-words.ts';

type Command = NonNullable<HelperWords['help']>['command'];

async function renderMending(command: Command): Promise<void> {
  const text = command === 'install' ? installCommand(await environment()) : command;
  const place = byId('helper-command');
  place.hidden = text === null;
  if (text !== null) renderCommand(place, text);
}

/** Footer and help; recording continues in every state. */
export function renderHelper(helper: HelperState): void {
  const words = helperWords(helper);
  setText(byId('helper-label'), words.label);
  setAttribute(byId('helper'), 'title', words.title);
  setAttribute(byId('helper-dot'), 'class', `dot ${words.dot}`);
  byId('helper-help').hidden = words.help === null;
  if (words.help === null) return;
  setText(byId('helper-what'), words.help.what);
  byId('helper-retry').hidden = helper.state === 'not-asked';
  void renderMending(words.help.command);
}

/** The buttons *Set up* and *Try again*. */
export function wireHelper(onSetUp: () => void, onRetry: () => void): void {
  byId('helper-set-up').addEventListener('click', onSetUp);
  byId('helper-retry').addEventListener('click', onRetry);
}
