// The interface that hides the transports from the engine, so that another transport is one more file. An attempt has
// two phases driven by its owner: the handshake and then, if the attempt is adopted, a request.
import type { AltSvcSource, AttemptError } from '@photofinish/shared/race/outcome';
import type { AltSvc } from '@photofinish/shared/web/alt-svc';
import type { KnownProtocol } from '@photofinish/shared/web/protocol';

/**
 * Owner and attempt share a deadline but have separate clocks: whichever fires first, the attempt reports what is
 * missing.
 */
export const DEADLINE_LEEWAY_MS = 10;

/** One pinned target: the address is a literal that has passed the guard; transports look up nothing. */
export interface AttemptTarget {
  readonly address: string;
  readonly port: number;
  /** TLS server name and HTTP authority's host. */
  readonly host: string;
  /** Host and port as sent in `:authority` / `Host`. */
  readonly authority: string;
  /** QUIC's initial round-trip time estimate in milliseconds; its first PTO is three times this. */
  readonly initialRttMs: number;
  /** Milliseconds after which the attempt itself gives up on its handshake. */
  readonly handshakeTimeoutMs: number;
  /**
   * Called once, when the peer first responds (TCP connected, first datagram received), before the handshake is done.
   */
  readonly onTransport?: () => void;
}

/** QUIC datagrams sent and packets declared lost so far. */
export interface Packets {
  readonly sent: number;
  readonly lost: number;
}

/** Network cost of an attempt so far, in both directions: QUIC datagrams; over TCP, the number of full segments. */
export interface Traffic {
  readonly bytes: number;
  readonly packets: number;
}

export const NO_TRAFFIC: Traffic = { bytes: 0, packets: 0 };

export function sumOfTraffic(each: readonly Traffic[]): Traffic {
  const of = (key: keyof Traffic): number => each.reduce((sum, traffic) => sum + traffic[key], 0);
  return { bytes: of('bytes'), packets: of('packets') };
}

/** An Alt-Svc value and where it was received. */
export type ResponseAltSvc = Pick<AttemptAnswer, 'altSvc' | 'altSvcSource'>;

/** What was received of a response that did not complete. */
export interface IncompleteResponse {
  /** Its Alt-Svc value, if it began, or that of an interim response or a frame before it; absent: nothing was received. */
  readonly receivedAltSvc?: ResponseAltSvc;
  /** When its header section was received, milliseconds from the attempt's start; absent: it was not. */
  readonly firstByteMs?: number;
  readonly status?: number;
}

export interface AttemptFailure extends IncompleteResponse {
  readonly ok: false;
  readonly error: AttemptError;
  /** Milliseconds from the attempt's start to the failure. */
  readonly atMs: number;
  /** First sign of life from the peer, null if none. */
  readonly transportMs: number | null;
  /** Failed handshakes report 0 lost packets. */
  readonly packets?: Packets;
  readonly traffic?: Traffic;
}

/** Times are milliseconds from the start of the attempt, by a monotonic clock. */
export interface AttemptHandshake {
  readonly ok: true;
  readonly protocol: KnownProtocol;
  /** First datagram received (QUIC), or TCP connected. */
  readonly transportMs: number | null;
  readonly establishedMs: number;
  readonly rttMs: number | null;
  /** Absent over TCP, which does not report packets. */
  readonly packets?: Packets;
  readonly traffic?: Traffic;
  /** The chain ends in a publicly known root, which browsers require for QUIC. */
  readonly knownRoot: boolean;
}

export interface AttemptAnswer {
  readonly ok: true;
  readonly status: number;
  /** The last Alt-Svc value received, several lines joined by `, `, its `Age` subtracted; null if none. */
  readonly altSvc: AltSvc | null;
  /** Where it was received: in a header section, including interim responses, or in an ALTSVC frame; absent if none. */
  readonly altSvcSource?: AltSvcSource;
  readonly firstByteMs: number;
  readonly doneMs: number;
  readonly bodyBytes: number;
  /**
   * The server required HTTP/1.1 for the request (HTTP_1_1_REQUIRED, RFC 9113 section 7) and received it over a
   * separate connection, established at this time.
   */
  readonly repeated?: { readonly protocol: 'http/1.1'; readonly establishedMs: number };
  /** Over the whole attempt; absent over TCP. */
  readonly packets?: Packets;
  /** Over the whole attempt. */
  readonly traffic?: Traffic;
}

const TIMES = ['atMs', 'transportMs', 'establishedMs', 'firstByteMs', 'doneMs'] as const;
type Times = { readonly [Name in (typeof TIMES)[number]]?: number | null };

/** A result with its times counted from `byMs` before the attempt's start. */
export function later<Result extends Times>(result: Result, byMs: number): Result {
  const times: Times = result;
  const moved = TIMES.flatMap((name) => {
    const ms = times[name];
    return typeof ms === 'number' ? [[name, ms + byMs]] : [];
  });
  return { ...result, ...Object.fromEntries(moved) };
}

/** The error for a 421 (RFC 9110 section 15.5.20); Alt-Svc in it must be ignored (RFC 7838 section 6). */
export function misdirectedError(altSvc: string | null): AttemptError {
  return {
    code: 'misdirected',
    message: 'the server responded with 421 (Misdirected Request)',
    ...(altSvc !== null && { ignoredAltSvc: altSvc }),
  };
}

export interface RunningAttempt {
  /**
   * Resolves once with the handshake or the failure. Never rejects; a cancelled attempt resolves with code `cancelled`.
   */
  readonly established: Promise<AttemptHandshake | AttemptFailure>;
  /** Sends one request over the established connection; only called by the owner of an adopted attempt. */
  request(timeoutMs: number): Promise<AttemptAnswer | AttemptFailure>;
  /**
   * Ends the attempt at once in any phase; idempotent. An attempt within `DEADLINE_LEEWAY_MS` of its deadline reports
   * what it was waiting for, as if its own clock had ended it.
   */
  cancel(): void;
}

export interface Transport {
  /** Results come from a separate thread, so a busy event loop receives them some time after they were produced. */
  readonly reportsLate?: boolean;
  /**
   * Loads and warms up what the first attempt needs, so that no attempt pays for it; repeated calls are cheap. Rejects
   * when the transport cannot be used on this machine at all.
   */
  prepare(): Promise<void>;
  start(target: AttemptTarget): RunningAttempt;
}

/** A transport whose modules are loaded by the first `prepare`; starting it unprepared throws. */
export function lazyTransport<Loaded>(
  load: () => Promise<Loaded>,
  startAttempt: (target: AttemptTarget, loaded: Loaded) => RunningAttempt,
): Transport {
  let loading: Promise<Loaded> | undefined;
  let loaded: { readonly transport: Loaded } | undefined;
  return {
    async prepare() {
      loading ??= load();
      loaded = { transport: await loading };
    },
    start(target) {
      if (loaded === undefined) throw new Error('prepare the transport before it starts');
      return startAttempt(target, loaded.transport);
    },
  };
}
