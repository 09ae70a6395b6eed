// One request over HTTP/1.1 on an established TLS socket, by an undici client that only gets this socket.
import type { Dispatcher, Client as UndiciClientType } from 'undici';
import { MAX_HEADER_BYTES, REQUEST_PATH } from './request-limits.ts';
import { type ExchangeOptions, type RunningExchange, readResponse } from './response-reading.ts';
import { exchangeError } from './tcp-failure.ts';

export type UndiciClient = typeof UndiciClientType;

/** Sends the request at once and reads the response within its limits. */
export function http1Exchange(Client: UndiciClient, options: ExchangeOptions): RunningExchange {
  const { socket } = options;
  let handedOver = false;
  let controller: Dispatcher.DispatchController | null = null;
  let lastDisconnect: Error | null = null;
  const reading = readResponse(options, () => {
    controller?.abort(new Error('the exchange is over'));
    socket.destroy();
    void client.destroy();
  });

  const client = new Client(`https://${options.authority}`, {
    maxHeaderSize: MAX_HEADER_BYTES,
    // We use one exact timer of our own instead of undici's.
    headersTimeout: 0,
    bodyTimeout: 0,
    connect: (_target, callback) => {
      // undici reconnects for a request left unanswered by a close; an attempt has only one connection.
      const again = handedOver;
      handedOver = true;
      queueMicrotask(() =>
        again
          ? reading.end(exchangeError(lastDisconnect ?? new Error('the peer closed the connection')))
          : callback(null, socket),
      );
    },
  });
  client.on('disconnect', (_origin, _targets, error) => {
    lastDisconnect = error;
  });
  client.dispatch(
    { path: REQUEST_PATH, method: 'GET', headers: { 'user-agent': options.userAgent } },
    {
      onRequestStart(started) {
        controller = started;
      },
      onResponseStart: (_controller, status, headers) => reading.head(status, headers),
      onResponseData: (_controller, chunk) => reading.body(chunk.length),
      onResponseEnd: reading.complete,
      onResponseError: (_controller, error) => reading.end(exchangeError(error)),
    },
  );
  return reading;
}
