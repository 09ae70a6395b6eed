// Each transport warms up without a peer while it loads. Otherwise the first race would be decided by paging and
// seeding (2 ms for QUIC, 7 ms for TLS, instead of 0.3 and 1 ms), and its request would compile Node's HTTP/2 client or
// undici: 20 ms in one block, during which no forecast is answered.
import { duplexPair } from 'node:stream';
import type { TLSSocket } from 'node:tls';
import { nextPoll } from '../clock.ts';
import { DISCARD_PORT } from '../network/system.ts';
import { type Http2, http1Exchange, http2Exchange, type UndiciClient } from './http-exchange.ts';
import {
  type ExchangeOptions,
  type ExchangeResult,
  type RunningExchange,
  USER_AGENT,
} from './response-reading.ts';
import type { AttemptTarget } from './transport.ts';

/** A firewall that drops the refusal must not delay the first race. */
const TIMEOUT_MS = 100;

const HTTP1_NO_CONTENT = 'HTTP/1.1 204 No Content\r\n\r\n';
const HTTP2_SETTINGS = Buffer.from('000000040000000000', 'hex');
/** HEADERS on stream 1 with END_STREAM and static entry 9, `:status: 204` (RFC 7541 appendix A). */
const HTTP2_NO_CONTENT = Buffer.from('00000101050000000189', 'hex');
const FRAME_HEAD_BYTES = 9;
const TYPE_HEADERS = 1;
const PREFACE_BYTES = 24;

/** Target of a warm-up: a loopback port that nearly everywhere refuses connections; nothing leaves the machine. */
export const WARM_UP: AttemptTarget = {
  address: '127.0.0.1',
  port: DISCARD_PORT,
  host: 'warm-up.invalid',
  authority: 'warm-up.invalid',
  initialRttMs: TIMEOUT_MS,
  handshakeTimeoutMs: TIMEOUT_MS,
};

/** Sends one request over each version of HTTP to an in-memory peer, each in a separate turn; returns the results. */
export async function warmUpExchanges(
  { Client, http2 }: { readonly Client: UndiciClient; readonly http2: Http2 },
  timeoutMs = WARM_UP.handshakeTimeoutMs,
): Promise<readonly ExchangeResult[]> {
  const overHttp2 = await warmUp(
    (options) => http2Exchange(http2, options),
    holdsHeaders,
    Buffer.concat([HTTP2_SETTINGS, HTTP2_NO_CONTENT]),
    timeoutMs,
  );
  await nextPoll();
  const overHttp1 = await warmUp(
    (options) => http1Exchange(Client, options),
    (sent) => sent.includes('\r\n\r\n'),
    HTTP1_NO_CONTENT,
    timeoutMs,
  );
  return [overHttp2, overHttp1];
}

function warmUp(
  exchange: (options: ExchangeOptions) => RunningExchange,
  isAsked: (sent: Buffer) => boolean,
  answer: Buffer | string,
  timeoutMs: number,
): Promise<ExchangeResult> {
  const [nearEnd, farEnd] = duplexPair();
  let sent = Buffer.alloc(0);
  let answered = false;
  farEnd.on('data', (bytes: Buffer) => {
    sent = Buffer.concat([sent, bytes]);
    if (answered || !isAsked(sent)) return;
    answered = true;
    farEnd.write(answer);
  });
  const zeroMs = performance.now();
  // undici and Node use nothing of a TLS socket beyond a stream except this.
  const socket = Object.assign(nearEnd, { bytesRead: 0 }) as unknown as TLSSocket;
  const running = exchange({
    socket,
    authority: WARM_UP.authority,
    userAgent: USER_AGENT,
    timeoutMs,
    sinceStart: () => performance.now() - zeroMs,
  });
  return running.result;
}

/** Whether these client bytes contain a complete request HEADERS frame (RFC 9113 section 4.1). */
function holdsHeaders(sent: Buffer): boolean {
  for (let at = PREFACE_BYTES; at + FRAME_HEAD_BYTES <= sent.length; ) {
    const endAt = at + FRAME_HEAD_BYTES + sent.readUIntBE(at, 3);
    if (sent[at + 3] === TYPE_HEADERS) return endAt <= sent.length;
    at = endAt;
  }
  return false;
}
