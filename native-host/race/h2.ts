// The TCP transport: TCP and TLS on Node's own sockets, then one request by an HTTP client that gets the socket only
// after the handshake, so that a losing attempt never sends one. A certificate must satisfy two verifiers: Node's for
// its names, and the QUIC transport's for the chain that OpenSSL has accepted.
import { constants, type X509Certificate } from 'node:crypto';
import { once } from 'node:events';
import { connect as connectTcp, isIP, type Socket } from 'node:net';
import { type Duplex, duplexPair } from 'node:stream';
import {
  checkServerIdentity,
  connect,
  createSecureContext,
  DEFAULT_CIPHERS,
  type DetailedPeerCertificate,
  type SecureContext,
  type TLSSocket,
} from 'node:tls';
import type { AttemptError } from '@photofinish/shared/race/outcome';
import { nextPoll } from '../clock.ts';
import type { ChainVerdict, TrustStore } from '../quic/addon.ts';
import type { Trust } from '../trust.ts';
import { type Http2, http1Exchange, http2Exchange, type UndiciClient } from './http-exchange.ts';
import {
  createReadWatch,
  READ_TOO_MUCH,
  type RunningExchange,
  responseTimeout,
  USER_AGENT,
} from './response-reading.ts';
import { certificateError, connectError, exchangeError } from './tcp-failure.ts';
import {
  type AttemptAnswer,
  type AttemptFailure,
  type AttemptHandshake,
  type AttemptTarget,
  DEADLINE_LEEWAY_MS,
  later,
  lazyTransport,
  NO_TRAFFIC,
  type RunningAttempt,
  sumOfTraffic,
  type Traffic,
  type Transport,
} from './transport.ts';
import { WARM_UP, warmUpExchanges } from './warm-up.ts';

/** HTTP/2 and HTTP/1.1 in order of preference (RFC 7301); many servers follow the client's order. */
const ALPN_PROTOCOLS = ['h2', 'http/1.1'];
/** For a request that the server requires to be over HTTP/1.1. */
const HTTP_1_1_ALONE = ['http/1.1'];

/** The groups that the QUIC addon offers without ML-KEM, in OpenSSL's names. */
const CLASSICAL_GROUPS = 'X25519:P-256:P-384';

/** AES-128 first, as in browsers and the QUIC addon; otherwise Node's own order. */
const FIRST_CIPHER = 'TLS_AES_128_GCM_SHA256';
const CIPHERS = [FIRST_CIPHER, ...DEFAULT_CIPHERS.split(':').filter((name) => name !== FIRST_CIPHER)].join(
  ':',
);

const watchReading = createReadWatch();

const CANCELLED: AttemptError = { code: 'cancelled', message: 'the attempt was cancelled' };

/** Loaded by the first race and shared by all attempts. */
interface LoadedTransport {
  readonly Client: UndiciClient;
  readonly http2: Http2;
  readonly secureContext: SecureContext;
  readonly store: TrustStore;
  readonly userAgent: string;
}

/** HTTP/2 or HTTP/1.1 over TLS, with the roots of `trust`. undici and the roots are loaded by `prepare`. */
export function h2Transport(trust: Trust, userAgent: string = USER_AGENT): Transport {
  // Each part takes 5 to 50 ms; forecasts are answered between them.
  async function load(): Promise<LoadedTransport> {
    const { Client } = await import('undici');
    await nextPoll();
    const http2 = await import('node:http2');
    await nextPoll();
    const { bundled, extra } = trust.roots();
    await nextPoll();
    // Building it from the root list takes 12 ms, so it is done once and outside the attempts.
    const secureContext = createSecureContext({
      ca: [...bundled, ...extra],
      ciphers: CIPHERS,
      // OpenSSL refuses servers without RFC 5746, which browsers accept.
      secureOptions: constants.SSL_OP_LEGACY_SERVER_CONNECT,
      ...(!trust.postQuantum && { ecdhCurve: CLASSICAL_GROUPS }),
    });
    await nextPoll();
    const ready = { Client, http2, secureContext, store: trust.store(), userAgent };
    await nextPoll();
    await warmUp(ready);
    await warmUpExchanges(ready);
    return ready;
  }
  return lazyTransport(load, startAttempt);
}

/** TCP to a port that refuses, and the first flight of TLS to a peer that does not exist. */
async function warmUp(loaded: LoadedTransport): Promise<void> {
  const [nearEnd, farEnd] = duplexPair();
  const { socket } = secure(nearEnd, WARM_UP, loaded.secureContext, ALPN_PROTOCOLS);
  socket.on('error', () => {});
  await once(farEnd, 'readable');
  socket.destroy();
  const attempt = startAttempt(WARM_UP, loaded);
  await attempt.established;
  attempt.cancel();
}

function startAttempt(target: AttemptTarget, loaded: LoadedTransport): RunningAttempt {
  return new TcpAttempt(target, loaded, ALPN_PROTOCOLS);
}

/** In place of a certificate in Node's older form. */
const UNTRANSLATED = {} as DetailedPeerCertificate;

/**
 * Reads the server's certificate, undefined without one. Spares the connection the translation of its whole chain, keys
 * included, into Node's older form: Node makes one for `checkServerIdentity` alone, which is a sixth of what a
 * connection costs. To be called before the handshake.
 */
function certificateReader(socket: TLSSocket): () => X509Certificate | undefined {
  socket.getPeerCertificate = () => UNTRANSLATED;
  let read: X509Certificate | undefined;
  return () => {
    // Node takes the chain out of its connection with the first call.
    read ??= socket.getPeerX509Certificate();
    return read;
  };
}

/** Node's `checkServerIdentity`: why the certificate does not name `host`, undefined if it does. */
export function checkNames(certificate: X509Certificate | undefined, host: string): Error | undefined {
  if (certificate === undefined) return checkServerIdentity(host, UNTRANSLATED);
  const { subjectAltName } = certificate;
  const named = { ...UNTRANSLATED, ...(subjectAltName !== undefined && { subjectaltname: subjectAltName }) };
  if (checkServerIdentity(host, named) === undefined) return undefined;
  // Without a name among those, the subject may decide.
  return checkServerIdentity(host, certificate.toLegacyObject());
}

interface SecureConnection {
  readonly socket: TLSSocket;
  /** The server's, once the handshake is done. */
  readonly certificate: () => X509Certificate | undefined;
}

/** Starts TLS over a stream to the target. No resumption: no session is offered or stored. */
function secure(
  stream: Duplex,
  target: AttemptTarget,
  secureContext: SecureContext,
  alpn: readonly string[],
): SecureConnection {
  const socket: TLSSocket = connect({
    socket: stream,
    secureContext,
    // Explicit, because NODE_TLS_REJECT_UNAUTHORIZED would make this transport trust anybody.
    rejectUnauthorized: true,
    checkServerIdentity: () => checkNames(certificate(), target.host),
    ALPNProtocols: [...alpn],
    // An address literal is not a valid server name (RFC 6066 section 3); the certificate is still checked against it.
    ...(isIP(target.host) === 0 && { servername: target.host }),
  });
  const certificate = certificateReader(socket);
  return { socket, certificate };
}

/** Verifies a chain that OpenSSL has accepted with the QUIC transport's verifier. */
function judgeChain(certificate: X509Certificate | undefined, host: string, store: TrustStore): ChainVerdict {
  const chain: Buffer[] = [];
  for (let each = certificate; each !== undefined; each = each.issuerCertificate) chain.push(each.raw);
  return store.judge(host, chain);
}

/** Payload of a TCP segment with IPv4 over Ethernet. */
const SEGMENT_BYTES = 1460;

/** Node does not report TCP segments, so this is the minimum number. */
function trafficOf({ bytesRead, bytesWritten }: Socket): Traffic {
  const bytes = bytesRead + bytesWritten;
  return { bytes, packets: Math.ceil(bytes / SEGMENT_BYTES) };
}

/** One connection to one endpoint, from the SYN to the answer. */
class TcpAttempt implements RunningAttempt {
  readonly established: Promise<AttemptHandshake | AttemptFailure>;
  readonly #resolve: (result: AttemptHandshake | AttemptFailure) => void;
  readonly #target: AttemptTarget;
  readonly #loaded: LoadedTransport;
  readonly #alpn: readonly string[];
  readonly #zeroMs = performance.now();
  readonly #timer: NodeJS.Timeout;
  readonly #tcp: Socket;
  readonly #endWatch: () => void;
  #tls: TLSSocket | null = null;
  #transportMs: number | null = null;
  /** What is awaited and until when; null: nothing. */
  #waiting: { readonly untilMs: number; readonly overdue: () => AttemptError } | null;
  #endExchange: ((error: AttemptError) => void) | null = null;
  #cancelled = false;
  /** Why the connection ended; a later request fails with this. */
  #over: AttemptError | null = null;
  /** The attempt over HTTP/1.1 that the server required. */
  #repeating: RunningAttempt | null = null;

  constructor(target: AttemptTarget, loaded: LoadedTransport, alpn: readonly string[]) {
    const { promise, resolve } = Promise.withResolvers<AttemptHandshake | AttemptFailure>();
    this.established = promise;
    this.#resolve = resolve;
    this.#target = target;
    this.#loaded = loaded;
    this.#alpn = alpn;
    const overdue = (): AttemptError => this.#overdue();
    this.#waiting = { untilMs: target.handshakeTimeoutMs, overdue };
    this.#timer = setTimeout(() => this.#giveUp(overdue()), target.handshakeTimeoutMs);
    const { address, port } = target;
    // One address: nothing is looked up, and no other family is tried.
    this.#tcp = connectTcp({ host: address, port, autoSelectFamily: false, noDelay: true });
    this.#endWatch = watchReading(this.#tcp, () => this.#giveUp(READ_TOO_MUCH));
    this.#tcp.once('connect', () => {
      this.#transportMs = this.#sinceStart();
      target.onTransport?.();
    });
    this.#tcp.on('error', (error) => this.#fail(error));
    // By then the SYN has been sent, so the half millisecond of TLS setup overlaps with its round trip.
    process.nextTick(() => this.#secure());
  }

  async request(timeoutMs: number): Promise<AttemptAnswer | AttemptFailure> {
    if (this.#over !== null) return this.#failure(this.#over);
    if (this.#tls === null) throw new Error('a request takes an attempt that is established');
    const untilMs = this.#sinceStart() + timeoutMs;
    const running = this.#exchange(this.#tls, timeoutMs);
    this.#endExchange = running.end;
    this.#waiting = { untilMs, overdue: () => responseTimeout(timeoutMs) };
    const result = await running.result;
    if (result.ok) return { ...result.answer, traffic: trafficOf(this.#tcp) };
    if (result.http11Required && !this.#cancelled) return this.#repeat(untilMs);
    return { ...this.#failure(result.error), ...result.received };
  }

  cancel(): void {
    if (this.#cancelled) return;
    this.#cancelled = true;
    this.#repeating?.cancel();
    const waiting = this.#waiting;
    const atDeadline = waiting !== null && this.#sinceStart() >= waiting.untilMs - DEADLINE_LEEWAY_MS;
    this.#giveUp(atDeadline ? waiting.overdue() : CANCELLED);
  }

  #sinceStart(): number {
    return performance.now() - this.#zeroMs;
  }

  #failure(error: AttemptError): AttemptFailure {
    const atMs = this.#sinceStart();
    return { ok: false, error, atMs, transportMs: this.#transportMs, traffic: trafficOf(this.#tcp) };
  }

  #overdue(): AttemptError {
    return this.#transportMs === null
      ? { code: 'tcp-timeout', message: 'TCP did not connect in time' }
      : {
          code: 'handshake-timeout',
          message: 'TCP connected, but the TLS handshake did not finish in time',
        };
  }

  #giveUp(error: AttemptError): void {
    clearTimeout(this.#timer);
    this.#endWatch();
    this.#over ??= error;
    this.#resolve(this.#failure(error));
    this.#endExchange?.(error);
    (this.#tls ?? this.#tcp).destroy();
  }

  /** An alert or reset may arrive at any time, even when no request is pending. */
  #fail(error: Error): void {
    const judged = this.#tls !== null && this.#tls.authorizationError != null;
    this.#giveUp(
      this.#endExchange === null
        ? connectError(error, { connected: this.#transportMs !== null, judged })
        : exchangeError(error),
    );
  }

  #secure(): void {
    if (this.#tcp.destroyed) return;
    const { secureContext } = this.#loaded;
    const { socket, certificate } = secure(this.#tcp, this.#target, secureContext, this.#alpn);
    this.#tls = socket;
    socket.once('secureConnect', () => this.#onSecure(socket, certificate()));
    socket.on('error', (error) => this.#fail(error));
    socket.once('close', () =>
      this.#giveUp({ code: 'connection-closed', message: 'the peer closed the connection' }),
    );
  }

  #onSecure(socket: TLSSocket, certificate: X509Certificate | undefined): void {
    const establishedMs = this.#sinceStart();
    const verdict = judgeChain(certificate, this.#target.host, this.#loaded.store);
    if (verdict.outcome === 'refused') {
      this.#giveUp(certificateError(verdict.certificateReason, verdict.message));
      return;
    }
    clearTimeout(this.#timer);
    this.#waiting = null;
    this.#resolve({
      ok: true,
      // A server without ALPN speaks HTTP/1.1 (RFC 9113 section 3.2 requires ALPN for h2).
      protocol: socket.alpnProtocol === 'h2' ? 'h2' : 'http/1.1',
      transportMs: this.#transportMs,
      establishedMs,
      rttMs: this.#transportMs,
      knownRoot: verdict.knownRoot,
      traffic: trafficOf(this.#tcp),
    });
  }

  #exchange(socket: TLSSocket, timeoutMs: number): RunningExchange {
    const options = {
      socket,
      authority: this.#target.authority,
      userAgent: this.#loaded.userAgent,
      timeoutMs,
      sinceStart: () => this.#sinceStart(),
    };
    const { http2, Client } = this.#loaded;
    return socket.alpnProtocol === 'h2' ? http2Exchange(http2, options) : http1Exchange(Client, options);
  }

  /** The result of the second connection, including the cost of the first. */
  #withOwn(result: AttemptAnswer | AttemptFailure): AttemptAnswer | AttemptFailure {
    const { traffic = NO_TRAFFIC } = result;
    return { ...result, traffic: sumOfTraffic([trafficOf(this.#tcp), traffic]) };
  }

  /** Like browsers, on a separate connection that offers only HTTP/1.1. */
  async #repeat(untilMs: number): Promise<AttemptAnswer | AttemptFailure> {
    const beganMs = this.#sinceStart();
    const handshakeTimeoutMs = Math.max(1, untilMs - beganMs);
    this.#repeating = new TcpAttempt(
      { ...this.#target, handshakeTimeoutMs, onTransport: () => {} },
      this.#loaded,
      HTTP_1_1_ALONE,
    );
    const again = await this.#repeating.established;
    if (!again.ok) return this.#withOwn(later(again, beganMs));
    const timeoutMs = Math.max(1, untilMs - this.#sinceStart());
    const answer = this.#withOwn(later(await this.#repeating.request(timeoutMs), beganMs));
    const establishedMs = beganMs + again.establishedMs;
    return answer.ok ? { ...answer, repeated: { protocol: 'http/1.1', establishedMs } } : answer;
  }
}
