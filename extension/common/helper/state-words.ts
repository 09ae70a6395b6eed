// Where the helper stands, in a sentence and by the shape of a dot, for the pages that have room for a sentence.
import type { HelperState } from '../messages.ts';
import { say } from '../words.ts';

export interface StateWords {
  readonly dot: 'on' | 'waiting' | 'off';
  readonly text: string;
}

/** The words for a state of the helper. */
export function stateWords(helper: HelperState): StateWords {
  switch (helper.state) {
    case 'ready': {
      const { program, network, networkName } = helper;
      return { dot: 'on', text: say('helperReady', { program, network: networkName ?? network }) };
    }
    case 'connecting':
      return { dot: 'waiting', text: say('helperConnecting') };
    case 'not-asked':
      return { dot: 'off', text: say('helperNotAsked') };
    case 'missing':
      return { dot: 'off', text: say('helperMissing') };
    case 'crashed':
      return { dot: 'off', text: say('helperCrashed', { message: helper.message }) };
    case 'incompatible':
      return { dot: 'off', text: say('helperIncompatible', { message: helper.message }) };
  }
}

/**
 * What to show after the state that is shown and the one just told: while the helper is looked for again and again,
 * each look says "connecting" for a moment, which is no news.
 */
export function shownState(shown: HelperState | null, told: HelperState): HelperState {
  const known = shown !== null && shown.state !== 'ready' && shown.state !== 'not-asked';
  return told.state === 'connecting' && known ? shown : told;
}
