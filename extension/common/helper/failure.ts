// How a request to the helper can fail, beyond the helper's own error codes: nobody there, gone, too slow, garbled.
import type { WireErrorCode } from '@photofinish/shared/port/wire';

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
