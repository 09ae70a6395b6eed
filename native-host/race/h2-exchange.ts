// One request over a TLS socket that is already established, by an undici client that gets this socket and no other.
import type { TLSSocket } from 'node:tls';
import type { AttemptError } from '@photofinish/shared/outcome';
import type { Dispatcher, Client as UndiciClientType } from 'undici';
import { type Answered, misdirectedError } from './contender.ts';
import { MAX_BODY_BYTES, MAX_HEADER_BYTES, REQUEST_PATH, USER_AGENT } from './request-limits.ts';
import { exchangeError } from './tcp-failure.ts';

export type UndiciClient = typeof UndiciClientType;

export interface ExchangeOptions {
  readonly Client: UndiciClient;
  readonly socket: TLSSocket;
  readonly authority: string;
  readonly method: 'GET' | 'HEAD';
  readonly timeoutMs: number;
  /** Milliseconds since the attempt's start. */
  readonly sinceStart: () => number;
}

export type ExchangeResult =
  | { readonly ok: true; readonly answer: Answered }
  | { readonly ok: false; readonly error: AttemptError };

export interface RunningExchange {
  /** Resolves once; never rejects. */
  readonly result: Promise<ExchangeResult>;
  /** Ends the exchange at once with this error; does nothing when it is over. */
  end(error: AttemptError): void;
}

const STATUS_MISDIRECTED = 421;

type Headers = Parameters<NonNullable<Dispatcher.DispatchHandler['onResponseStart']>>[2];

function headerValue(headers: Headers, name: string): string | null {
  const value = headers[name];
  if (value === undefined) return null;
  return Array.isArray(value) ? value.join(', ') : value;
}

/** Name and value of every line; undici bounds HTTP/1.1 itself, Node's HTTP/2 only by its own, larger limit. */
function headerBytes(headers: Headers): number {
  return Object.entries(headers).reduce(
    (sum, [name, value]) => sum + name.length + String(value ?? '').length,
    0,
  );
}

/** The end of an exchange that has not come to its own. */
export function responseTimeout(timeoutMs: number): AttemptError {
  return { code: 'response-timeout', message: `no complete answer within ${Math.round(timeoutMs)} ms` };
}

/** Sends the request at once and reads the answer: its header, and of its body no more than the cap. */
export function exchange(options: ExchangeOptions): RunningExchange {
  const { Client, socket, method, timeoutMs, sinceStart } = options;
  const { promise, resolve } = Promise.withResolvers<ExchangeResult>();
  let head: Omit<Answered, 'doneMs' | 'bodyBytes'> | null = null;
  let bodyBytes = 0;
  let handedOver = false;
  let settled = false;
  let controller: Dispatcher.DispatchController | null = null;
  let lastDisconnect: Error | null = null;

  const client = new Client(`https://${options.authority}`, {
    maxHeaderSize: MAX_HEADER_BYTES,
    // One timer of our own is exact; undici's are not.
    headersTimeout: 0,
    bodyTimeout: 0,
    connect: (_target, callback) => {
      // undici connects anew for a request that a GOAWAY or a close left unanswered; an attempt has one connection.
      const again = handedOver;
      handedOver = true;
      queueMicrotask(() =>
        again
          ? end(exchangeError(lastDisconnect ?? new Error('the peer closed the connection')))
          : callback(null, socket),
      );
    },
  });
  client.on('disconnect', (_origin, _targets, error) => {
    lastDisconnect = error;
  });
  const timer = setTimeout(() => end(responseTimeout(timeoutMs)), timeoutMs);

  function settle(result: ExchangeResult): void {
    if (settled) return;
    settled = true;
    clearTimeout(timer);
    resolve(result);
    // The request goes first: undici's HTTP/2 client asserts that a destroyed client has none under way.
    controller?.abort(new Error('the exchange is over'));
    socket.destroy();
    void client.destroy();
  }
  function end(error: AttemptError): void {
    settle({ ok: false, error });
  }
  function complete(): void {
    if (head === null) end({ code: 'connection-closed', message: 'the answer has no header' });
    else settle({ ok: true, answer: { ...head, doneMs: sinceStart(), bodyBytes } });
  }

  client.dispatch(
    { path: REQUEST_PATH, method, headers: { 'user-agent': USER_AGENT } },
    {
      onRequestStart(started) {
        controller = started;
      },
      onResponseStart(_controller, status, headers) {
        if (status < 200) return;
        if (status === STATUS_MISDIRECTED) return end(misdirectedError(headerValue(headers, 'alt-svc')));
        if (headerBytes(headers) > MAX_HEADER_BYTES)
          return end({ code: 'connection-closed', message: 'the header section of the answer is too large' });
        head = {
          ok: true,
          status,
          altSvc: headerValue(headers, 'alt-svc'),
          ageSeconds: Number.parseInt(headerValue(headers, 'age') ?? '', 10) || 0,
          firstByteMs: sinceStart(),
        };
      },
      onResponseData(_controller, chunk) {
        bodyBytes = Math.min(MAX_BODY_BYTES, bodyBytes + chunk.length);
        if (bodyBytes === MAX_BODY_BYTES) complete();
      },
      onResponseEnd: complete,
      onResponseError: (_controller, error) => end(exchangeError(error)),
    },
  );
  return { result: promise, end };
}
