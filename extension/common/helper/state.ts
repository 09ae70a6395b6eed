// How a request to the helper can fail, and what the browser's words for a closed native port mean. They are Chromium's and Firefox's own, in English
// whatever the browser's language; an unknown one counts as a crash, which is tried again.

import type { WireErrorCode } from '@photofinish/shared/port/wire';
import { getMessage } from '../catalog.ts';
import type { HelperState } from '../messages.ts';

const MISSING = [
  'Specified native messaging host not found',
  // The manifest is there and the launcher it names is not.
  'Failed to start native messaging host',
  // Firefox says this of a manifest that names another extension, too.
  'No such native application',
  // Firefox, when the manifest is there and the launcher it names is not.
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

/** The state after the helper refused our hello, or never answered it. */
export function stateAfterRefusal(code: HelperErrorCode, message: string): HelperState {
  if (code === 'bad-protocol') return { state: 'incompatible', message };
  if (code === 'unknown-caller') return { state: 'incompatible', message, foreign: true };
  return { state: 'crashed', message };
}

export type HelperErrorCode =
  | WireErrorCode
  | 'helper-missing'
  | 'helper-disconnected'
  | 'helper-timeout'
  | 'helper-bad-reply';

/** The one error that requests to the helper reject with; `code` is stable, `message` is for people. */
export class HelperError extends Error {
  readonly code: HelperErrorCode;

  constructor(code: HelperErrorCode, message: string) {
    super(message);
    this.name = 'HelperError';
    this.code = code;
  }
}
