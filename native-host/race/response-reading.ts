// What both transports send and accept: the same request and limits, so that their times are comparable. Over TCP also
// what is read of a response, and how reading ends: the same for HTTP/2 and HTTP/1.1.
import type { Socket } from 'node:net';
import type { TLSSocket } from 'node:tls';
import type { AttemptError } from '@photofinish/shared/race/outcome';
import { parseAltSvc } from '@photofinish/shared/web/alt-svc';
import program from '../package.json' with { type: 'json' };
import {
  type AttemptAnswer,
  type IncompleteResponse,
  misdirectedError,
  type ResponseAltSvc,
} from './transport.ts';

export const USER_AGENT = `photofinish/${program.version}`;
export const REQUEST_PATH = '/';
/** Body bytes read at most: enough to see that data flows. */
export const MAX_BODY_BYTES = 64 * 1024;
/** Interim responses per request (RFC 9110 section 15.2); no server needs more than early hints and a 100. */
const MAX_INTERIM_RESPONSES = 64;
/** Chromium's limit for a response's header section (`kMaxHeaderBufSize`, `kSpdyMaxHeaderListSize`). */
export const MAX_HEADER_BYTES = 256 * 1024;

export interface ExchangeOptions {
  readonly socket: TLSSocket;
  readonly authority: string;
  readonly userAgent: string;
  readonly timeoutMs: number;
  /** Milliseconds since the attempt's start. */
  readonly sinceStart: () => number;
}

export type ExchangeResult =
  | { readonly ok: true; readonly answer: AttemptAnswer }
  | {
      readonly ok: false;
      readonly error: AttemptError;
      readonly received?: IncompleteResponse;
      /** The server requires HTTP/1.1 for the request (RFC 9113 section 7). */
      readonly http11Required?: boolean;
    };

export interface RunningExchange {
  /** Resolves once; never rejects. */
  readonly result: Promise<ExchangeResult>;
  /** Ends the exchange at once with this error; does nothing if it is over. */
  end(error: AttemptError): void;
}

/** Field values by lower-case name, as provided by Node and undici. */
type Fields = Readonly<Record<string, string | readonly string[] | number | undefined>>;

export interface ResponseReading extends RunningExchange {
  /** An ALTSVC frame for this origin (RFC 7838 section 4). */
  frame(value: string): void;
  /** The header section of an interim (1xx) or the final response. */
  head(status: number, fields: Fields): void;
  body(bytes: number): void;
  /** The response ended normally. */
  complete(): void;
  /** Like `end`: the server requires HTTP/1.1 for the request. */
  requireHttp11(error: AttemptError): void;
}

const STATUS_MISDIRECTED = 421;

/** Our own limit, which does not count against the server. */
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

/** Bytes of the names and values of all field lines. */
function headerBytes(fields: Fields): number {
  return Object.entries(fields).reduce(
    (sum, [name, value]) => sum + name.length + String(value ?? '').length,
    0,
  );
}

/** The error for an exchange that has timed out. */
export function responseTimeout(timeoutMs: number): AttemptError {
  return { code: 'response-timeout', message: `no complete response within ${Math.round(timeoutMs)} ms` };
}

/**
 * Reads one response: its header section, and its body up to the limit. `close` is called once, when reading ends for
 * any reason. The last Alt-Svc value received counts: each replaces earlier ones, whether it was in a frame, an interim
 * or the final response (RFC 7838 sections 3 and 4).
 */
export function readResponse(
  { timeoutMs, sinceStart }: Pick<ExchangeOptions, 'timeoutMs' | 'sinceStart'>,
  close: () => void,
): ResponseReading {
  const { promise, resolve } = Promise.withResolvers<ExchangeResult>();
  let altSvc: ResponseAltSvc = { altSvc: null };
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
    const late = answered !== null && error.code === 'response-timeout';
    settle({
      ok: false,
      error: late ? { ...error, message: `${error.message}, although one began` } : error,
      received: {
        ...((answered !== null || altSvc.altSvc !== null) && { receivedAltSvc: altSvc }),
        ...answered,
      },
    });
  }
  function complete(): void {
    if (answered === null) end({ code: 'connection-closed', message: 'the response has no header section' });
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
      // Even one of a few bytes costs a separate turn of the event loop.
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

/** Upper bound for delta-seconds; larger values are read as this (RFC 9111 section 1.2.2). */
const MAX_SECONDS = 2 ** 31;

/**
 * The seconds of an `Age` field (RFC 9111 section 5.1), 0 without one. Of several members the first counts; anything but
 * a non-negative integer is ignored and gives 0, because the result is subtracted from lifetimes and sent on.
 */
export function ageSeconds(value: string | null): number {
  const [first = ''] = (value ?? '').split(',', 1);
  const digits = first.trim();
  return /^[0-9]+$/.test(digits) ? Math.min(Number(digits), MAX_SECONDS) : 0;
}

/**
 * Bytes read at most from a TCP connection, including TLS and everything else: three times the maximum size of an
 * answer, plus certificate chains. The addon has its own limit for QUIC.
 */
const MAX_READ_BYTES = 1024 * 1024;

/**
 * How often the sockets' own byte counters are polled: below HTTP a peer can send endless data that no layer above
 * notices, such as handshake messages, session tickets and frames of unknown types, and Node's native code reads all of
 * it. At 1 Gbit/s, 600 KB arrive between two polls, which the kernel would buffer anyway.
 */
const LOOK_EVERY_MS = 5;

/** Our own limit, which does not count against the server. */
export const READ_TOO_MUCH: AttemptError = {
  code: 'response-too-large',
  message: `the server sent more than the ${MAX_READ_BYTES / 1024 / 1024} MiB that are read of a connection`,
};

type ByteCounter = Pick<Socket, 'bytesRead'>;

/**
 * A watch over sockets: it calls `onOver` once if more than the limit has been read from one, until the returned
 * function is called. One timer serves all sockets, running only while there are any.
 */
export function createReadWatch(): (socket: ByteCounter, onOver: () => void) => () => void {
  const watched = new Map<ByteCounter, () => void>();
  let timer: NodeJS.Timeout | null = null;

  function end(socket: ByteCounter): void {
    watched.delete(socket);
    if (watched.size > 0 || timer === null) return;
    clearInterval(timer);
    timer = null;
  }

  function look(): void {
    for (const [socket, onOver] of [...watched]) {
      if (socket.bytesRead <= MAX_READ_BYTES) continue;
      end(socket);
      onOver();
    }
  }

  return (socket, onOver) => {
    watched.set(socket, onOver);
    timer ??= setInterval(look, LOOK_EVERY_MS);
    return () => end(socket);
  };
}
