// The helper on a page: its state in a sentence, and what its doctor finds.
import { shownState, stateWords } from '../../common/helper/state-words.ts';
import type { HelperState, PopupEvent } from '../../common/messages.ts';
import type { PopupRequest } from '../../common/popup-requests.ts';
import { say } from '../../common/words.ts';
import { byId, setAttribute, setText } from './elements.ts';
import { renderFindings } from './findings.ts';

/** Needs on the page: `helper-dot`, `helper-text`, `findings`, `examine`. */
export interface HelperPanel {
  /** The state that is shown; null before the first. */
  readonly state: HelperState | null;
  onEvent(event: PopupEvent): void;
  onLost(): void;
}

export interface PanelOptions {
  /** Told each state that is shown. */
  readonly onState: (state: HelperState) => void;
  /** Whether the doctor is asked as soon as the helper answers, and not only by the button. */
  readonly examineAtOnce: boolean;
}

/** Makes the panel. */
export function createHelperPanel(
  send: (request: PopupRequest) => boolean,
  { onState, examineAtOnce }: PanelOptions,
): HelperPanel {
  let state: HelperState | null = null;
  let examining = false;
  const button = byId<HTMLButtonElement>('examine');

  const showExamining = (): void => {
    button.hidden = state?.state !== 'ready';
    button.disabled = examining;
    setText(button, examining ? say('helperExamining') : say('helperExamine'));
  };
  const examine = (): void => {
    if (!examining && send({ type: 'doctor' })) examining = true;
    showExamining();
  };
  const show = (next: HelperState): void => {
    const appeared = next.state === 'ready' && state?.state !== 'ready';
    state = next;
    const { dot, text } = stateWords(next);
    setText(byId('helper-text'), text);
    setAttribute(byId('helper-dot'), 'class', `dot ${dot}`);
    if (next.state !== 'ready') byId('findings').replaceChildren();
    if (appeared && examineAtOnce) examine();
    else showExamining();
    onState(next);
  };

  button.addEventListener('click', examine);
  return {
    get state() {
      return state;
    },
    onEvent(event) {
      if (event.type === 'helper') show(shownState(state, event.helper));
      if (event.type !== 'doctor') return;
      examining = false;
      showExamining();
      renderFindings(byId('findings'), event.findings);
    },
    onLost() {
      examining = false;
      showExamining();
    },
  };
}
