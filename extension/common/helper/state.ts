// How a request to the helper can fail, and what the browsers' messages for a closed native port mean. Chromium and
// Firefox have their own, in English whatever the browser's language; an unknown one counts as a crash, which is
// retried.

import { WIRE_PROTOCOL, type WireErrorCode } from '@photofinish/shared/port/wire';
import { getMessage } from '../catalog.ts';
import type { HelperState } from '../messages.ts';

const MISSING = [
  'Specified native messaging host not found',
  // The manifest exists, but the launcher it names does not.
  'Failed to start native messaging host',
  // Firefox also reports this for a manifest that names another extension.
  'No such native application',
  // Firefox, if the manifest exists but the launcher it names does not.
  'An unexpected error occurred',
];
const NOT_FOR_US = ['Access to the specified native messaging host is forbidden'];

/** The state after the port closed with the browser's message. */
export function stateAfterDisconnect(why: string | null): HelperState {
  if (why === null) return { state: 'crashed', message: getMessage('popupHelperClosed') };
  if (MISSING.some((words) => why.includes(words))) return { state: 'missing' };
  if (NOT_FOR_US.some((words) => why.includes(words)))
    return { state: 'incompatible', message: getMessage('popupHelperForAnother'), foreign: true };
  return { state: 'crashed', message: why };
}

/** The state if the helper speaks another version of the wire protocol; null: it did not say which. */
export function stateOfOtherVersion(theirs: number | null, message: string): HelperState {
  const differs = theirs !== null && theirs !== WIRE_PROTOCOL;
  return {
    state: 'incompatible',
    message,
    ...(differs && { older: theirs < WIRE_PROTOCOL ? 'helper' : 'extension' }),
  };
}

/** The number in the text of every helper that rejected a hello (`bad-protocol`): the reply has no field for it. */
const THEIR_PROTOCOL = /\bspeaks protocol (\d{1,9})\b/;

/** The state after the helper rejected our hello, or never answered it. */
export function stateAfterRefusal(code: HelperErrorCode, message: string): HelperState {
  if (code === 'bad-protocol') {
    const theirs = THEIR_PROTOCOL.exec(message)?.[1];
    return stateOfOtherVersion(theirs === undefined ? null : Number(theirs), message);
  }
  if (code === 'unknown-caller') return { state: 'incompatible', message, foreign: true };
  return { state: 'crashed', message };
}

export type HelperErrorCode =
  | WireErrorCode
  | 'helper-missing'
  | 'helper-disconnected'
  | 'helper-timeout'
  | 'helper-bad-reply';

/** The only error that requests to the helper reject with; `code` is stable, `message` is for people. */
export class HelperError extends Error {
  readonly code: HelperErrorCode;

  constructor(code: HelperErrorCode, message: string) {
    super(message);
    this.name = 'HelperError';
    this.code = code;
  }
}
