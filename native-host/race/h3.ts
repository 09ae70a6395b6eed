// The HTTP/3 transport: one attempt of the QUIC addon behind the common transport interface.

import type { AttemptError } from '@photofinish/shared/race/outcome';
import { parseAltSvc } from '@photofinish/shared/web/alt-svc';
import { messageOf } from '@photofinish/shared/web/untrusted';
import {
  type AttemptFailure as AddonFailure,
  type IncompleteResponse as AddonResponse,
  loadQuicAddon,
  type QuicAddon,
  type QuicAttempt,
  type TrustStore,
} from '../quic/addon.ts';
import type { Trust } from '../trust.ts';
import {
  ageSeconds,
  MAX_BODY_BYTES,
  MAX_HEADER_BYTES,
  REQUEST_PATH,
  USER_AGENT,
} from './response-reading.ts';
import {
  type AttemptAnswer,
  type AttemptFailure,
  type AttemptHandshake,
  type AttemptTarget,
  type IncompleteResponse,
  lazyTransport,
  misdirectedError,
  type ResponseAltSvc,
  type RunningAttempt,
  type Transport,
} from './transport.ts';
import { WARM_UP } from './warm-up.ts';

interface LoadedTransport {
  readonly addon: QuicAddon;
  readonly store: TrustStore;
  readonly userAgent: string;
}

/** HTTP/3 by the QUIC addon, with the roots of `trust`. The addon is loaded by `prepare`, which rejects without it. */
export function h3Transport(trust: Trust, userAgent: string = USER_AGENT): Transport {
  async function load(): Promise<LoadedTransport> {
    const addon = loadQuicAddon();
    const ready = { addon, store: trust.store(), userAgent };
    await warmUp(ready);
    return ready;
  }
  return { ...lazyTransport(load, startAttempt), reportsLate: true };
}

async function warmUp(loaded: LoadedTransport): Promise<void> {
  const attempt = startAttempt(WARM_UP, loaded);
  await attempt.established;
  attempt.cancel();
}

function startAttempt(target: AttemptTarget, { addon, store, userAgent }: LoadedTransport): RunningAttempt {
  let attempt: QuicAttempt;
  try {
    attempt = new addon.QuicAttempt(store, {
      address: target.address,
      port: target.port,
      serverName: target.host,
      initialRttMs: target.initialRttMs,
      handshakeTimeoutMs: target.handshakeTimeoutMs,
    });
  } catch (error) {
    return refused(error);
  }
  // After it, so that the addon's deadline is never later than its owner's.
  const zeroMs = performance.now();
  return {
    established: connect(attempt, target.onTransport).catch(misused),
    request: (timeoutMs) =>
      request(
        attempt,
        { authority: target.authority, userAgent },
        performance.now() - zeroMs + timeoutMs,
      ).catch(misused),
    cancel: () => attempt.cancel(),
  };
}

/** The result when the addon rejects its arguments. */
function refused(error: unknown): RunningAttempt {
  const fault = misused(error);
  const reason = 'wrong-name';
  const message = `${reason}: no certificate can name this host`;
  const failure: AttemptFailure = NO_SERVER_NAME.test(fault.error.message)
    ? { ...fault, error: { code: 'certificate-invalid', reason, message } }
    : fault;
  return {
    established: Promise.resolve(failure),
    request: () => Promise.resolve(failure),
    cancel() {},
  };
}

/** The addon's message for a host that cannot be a name in a certificate but is valid in a URL. */
const NO_SERVER_NAME = /^serverName /;

async function connect(
  attempt: QuicAttempt,
  onTransport: AttemptTarget['onTransport'],
): Promise<AttemptHandshake | AttemptFailure> {
  // Called at most once, and not after a failure.
  let pending = onTransport;
  const tell = (): void => {
    const listener = pending;
    pending = undefined;
    listener?.();
  };
  const result = await attempt.connect(onTransport && tell);
  if (result.outcome === 'failed') {
    pending = undefined;
    return failureOf(result.failure);
  }
  // First datagram and handshake are reported by two threads, and one datagram may have completed both.
  tell();
  return {
    ok: true,
    protocol: 'h3',
    transportMs: result.traffic.firstDatagramInMs ?? null,
    establishedMs: result.handshakeMs,
    rttMs: result.rttMs ?? null,
    ...costOf(result),
    knownRoot: result.knownRoot,
  };
}

async function request(
  attempt: QuicAttempt,
  { authority, userAgent }: Pick<AttemptTarget, 'authority'> & Pick<LoadedTransport, 'userAgent'>,
  deadlineMs: number,
): Promise<AttemptAnswer | AttemptFailure> {
  const result = await attempt.request({
    authority,
    path: REQUEST_PATH,
    userAgent,
    maxBodyBytes: MAX_BODY_BYTES,
    maxHeaderBytes: MAX_HEADER_BYTES,
    deadlineMs,
  });
  if (result.outcome === 'failed') return failureOf(result.failure);
  if (result.status === 421)
    return {
      ok: false,
      error: misdirectedError(result.altSvc ?? null),
      atMs: result.doneMs,
      transportMs: result.traffic.firstDatagramInMs ?? null,
      ...costOf(result),
    };
  return {
    ok: true,
    status: result.status,
    ...altSvcIn(result),
    firstByteMs: result.firstByteMs,
    doneMs: result.doneMs,
    bodyBytes: result.bodyBytes,
    ...costOf(result),
  };
}

/** The reason in terms of the codes exchanged, for readers who see only the message. */
function codeText({ code, wireCode, peerCode }: AddonFailure): string {
  if (wireCode !== undefined && (code === 'tls-alert' || code === 'alpn-mismatch'))
    return ` (TLS alert ${wireCode})`;
  const number = peerCode === undefined ? [] : [`peer's code 0x${peerCode.toString(16)}`];
  const codes = [...number, ...(wireCode === undefined ? [] : [wireCode])];
  return codes.length === 0 ? '' : ` (${codes.join(', ')})`;
}

function errorOf(failure: AddonFailure): AttemptError {
  const { code, message, certificateReason, wireCode, endedByUs } = failure;
  const reason = certificateReason === undefined ? '' : `${certificateReason}: `;
  return {
    code,
    message: `${reason}${message}${codeText(failure)}`,
    ...(certificateReason !== undefined && { reason: certificateReason }),
    ...(wireCode !== undefined && { wireCode }),
    ...(endedByUs && { endedBy: 'client' }),
  };
}

/** Largest datagram payload: quinn's default `max_udp_payload_size`, which is not changed here. */
const LARGEST_DATAGRAM_BYTES = 1472;

/** The addon counts datagrams, not bytes. */
function costOf({ traffic, lostPackets }: Pick<AddonFailure, 'traffic' | 'lostPackets'>) {
  const packets = traffic.datagramsSent + traffic.datagramsReceived;
  return {
    packets: { sent: traffic.datagramsSent, lost: lostPackets },
    traffic: { bytes: packets * LARGEST_DATAGRAM_BYTES, packets },
  };
}

/** An Alt-Svc field, its `Age` subtracted. */
function altSvcIn({ altSvc, age }: Pick<AddonResponse, 'altSvc' | 'age'>): ResponseAltSvc {
  if (altSvc === undefined) return { altSvc: null };
  return { altSvc: parseAltSvc(altSvc, ageSeconds(age ?? null)), altSvcSource: 'header' };
}

function receivedOf({ response }: AddonFailure): IncompleteResponse {
  if (response === undefined) return {};
  const { status, firstByteMs } = response;
  const began = status !== undefined && firstByteMs !== undefined;
  return { receivedAltSvc: altSvcIn(response), ...(began && { status, firstByteMs }) };
}

function failureOf(failure: AddonFailure): AttemptFailure {
  return {
    ok: false,
    error: errorOf(failure),
    ...receivedOf(failure),
    atMs: failure.failedMs,
    transportMs: failure.traffic.firstDatagramInMs ?? null,
    ...costOf(failure),
  };
}

/** The addon rejects only for misuse, which is our fault and not the server's; it fails this attempt, not the race. */
function misused(error: unknown): AttemptFailure {
  return { ok: false, error: { code: 'internal', message: messageOf(error) }, atMs: 0, transportMs: null };
}
