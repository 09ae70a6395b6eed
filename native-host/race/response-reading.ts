// What is read of a response, within which limits, and how reading ends: the same over HTTP/2 and HTTP/1.1, whoever
// speaks the protocol.
import type { TLSSocket } from 'node:tls';
import type { AttemptError } from '@photofinish/shared/race/outcome';
import { parseAltSvc } from '@photofinish/shared/web/alt-svc';
import { ageSeconds } from './age.ts';
import { type AttemptAnswer, misdirectedError } from './contender.ts';
import { MAX_BODY_BYTES, MAX_HEADER_BYTES, MAX_INTERIM_RESPONSES } from './request-limits.ts';

export interface ExchangeOptions {
  readonly socket: TLSSocket;
  readonly authority: string;
  readonly timeoutMs: number;
  /** Milliseconds since the attempt's start. */
  readonly sinceStart: () => number;
}

export type ExchangeResult =
  | { readonly ok: true; readonly answer: AttemptAnswer }
  | {
      readonly ok: false;
      readonly error: AttemptError;
      /** The server wants the request over HTTP/1.1 (RFC 9113 section 7). */
      readonly http11Required?: boolean;
    };

export interface RunningExchange {
  /** Resolves once; never rejects. */
  readonly result: Promise<ExchangeResult>;
  /** Ends the exchange at once with this error; does nothing when it is over. */
  end(error: AttemptError): void;
}

/** Field values by lower-case name, as Node and undici give them. */
type Fields = Readonly<Record<string, string | readonly string[] | number | undefined>>;

export interface Reading extends RunningExchange {
  /** An ALTSVC frame for this origin (RFC 7838 section 4). */
  frame(value: string): void;
  /** The header section of an interim (1xx) or the final response. */
  head(status: number, fields: Fields): void;
  body(bytes: number): void;
  /** The response has ended as it should. */
  complete(): void;
  /** As `end`: the server wants the request over HTTP/1.1. */
  requireHttp11(error: AttemptError): void;
}

const STATUS_MISDIRECTED = 421;

/** A limit of ours, which says nothing against the server. */
export const TOO_LARGE: AttemptError = {
  code: 'response-too-large',
  message: `the header section of the response is larger than the ${MAX_HEADER_BYTES / 1024} KiB that are read`,
};

const TOO_MANY_INTERIM: AttemptError = {
  code: 'response-too-large',
  message: `more than the ${MAX_INTERIM_RESPONSES} interim responses that are read came before the final one`,
};

function fieldValue(fields: Fields, name: string): string | null {
  const value = fields[name];
  if (value === undefined) return null;
  return Array.isArray(value) ? value.join(', ') : String(value);
}

/** Name and value of every line. */
function headerBytes(fields: Fields): number {
  return Object.entries(fields).reduce(
    (sum, [name, value]) => sum + name.length + String(value ?? '').length,
    0,
  );
}

/** The end of an exchange that has not come to its own. */
export function responseTimeout(timeoutMs: number): AttemptError {
  return { code: 'response-timeout', message: `no complete answer within ${Math.round(timeoutMs)} ms` };
}

/**
 * Reads one response: its header section, and of its body no more than the cap. `close` is called once, when reading
 * ends in whatever way. Of several Alt-Svc values the last one received counts: each replaces those before it, whether
 * it came in a frame, an interim or the final response (RFC 7838 sections 3 and 4).
 */
export function readResponse(
  { timeoutMs, sinceStart }: Pick<ExchangeOptions, 'timeoutMs' | 'sinceStart'>,
  close: () => void,
): Reading {
  const { promise, resolve } = Promise.withResolvers<ExchangeResult>();
  let altSvc: Pick<AttemptAnswer, 'altSvc' | 'altSvcSource'> = { altSvc: null };
  let answered: { readonly status: number; readonly firstByteMs: number } | null = null;
  let bodyBytes = 0;
  let interim = 0;
  let settled = false;
  const timer = setTimeout(() => end(responseTimeout(timeoutMs)), timeoutMs);

  function settle(result: ExchangeResult): void {
    if (settled) return;
    settled = true;
    clearTimeout(timer);
    resolve(result);
    close();
  }
  function end(error: AttemptError): void {
    settle({ ok: false, error });
  }
  function complete(): void {
    if (answered === null) end({ code: 'connection-closed', message: 'the answer has no header' });
    else settle({ ok: true, answer: { ok: true, ...answered, ...altSvc, doneMs: sinceStart(), bodyBytes } });
  }

  return {
    result: promise,
    end,
    complete,
    requireHttp11: (error) => settle({ ok: false, error, http11Required: true }),
    frame(value) {
      altSvc = { altSvc: parseAltSvc(value), altSvcSource: 'frame' };
    },
    head(status, fields) {
      // Each costs a turn of its own, and the event loop with it, though it be of a few bytes.
      if (settled) return;
      if (status < 200) interim += 1;
      if (interim > MAX_INTERIM_RESPONSES) return end(TOO_MANY_INTERIM);
      if (status === STATUS_MISDIRECTED) return end(misdirectedError(fieldValue(fields, 'alt-svc')));
      if (headerBytes(fields) > MAX_HEADER_BYTES) return end(TOO_LARGE);
      const value = fieldValue(fields, 'alt-svc');
      if (value !== null)
        altSvc = {
          altSvc: parseAltSvc(value, ageSeconds(fieldValue(fields, 'age'))),
          altSvcSource: 'header',
        };
      if (status >= 200) answered = { status, firstByteMs: sinceStart() };
    },
    body(bytes) {
      bodyBytes = Math.min(MAX_BODY_BYTES, bodyBytes + bytes);
      if (bodyBytes === MAX_BODY_BYTES) complete();
    },
  };
}
