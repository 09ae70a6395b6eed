// The small interface behind which transports hide, so that the engine never knows sockets and a further transport
// is one more file. An attempt goes through two phases that the owner drives: established, then (if adopted) a request.
import type { AltSvcSource, AttemptError, ContenderName } from '@photofinish/shared/race/outcome';
import type { AltSvc } from '@photofinish/shared/web/alt-svc';
import type { KnownProtocol } from '@photofinish/shared/web/protocol';

/** Owner and attempt share a deadline by two clocks: whichever is first, it is the attempt that knows what is missing. */
export const DEADLINE_LEEWAY_MS = 10;

/** One pinned target: the address is a literal, already passed by the guard; nothing is looked up behind here. */
export interface AttemptTarget {
  readonly address: string;
  readonly port: number;
  /** TLS server name and HTTP authority's host. */
  readonly host: string;
  /** Host and port as they stand in `:authority` / `Host`. */
  readonly authority: string;
  /** QUIC's initial round-trip time estimate in milliseconds; its first PTO is three times it. */
  readonly initialRttMs: number;
  /** Milliseconds after which the attempt itself gives up its handshake. */
  readonly handshakeTimeoutMs: number;
  /** Told once, when the peer first shows life (TCP connected, first datagram back), before the handshake is done. */
  readonly onTransport?: () => void;
}

/** QUIC datagrams sent and packets declared lost so far. */
export interface Packets {
  readonly sent: number;
  readonly lost: number;
}

/** What an attempt cost the network so far, both ways; datagrams of QUIC, and of TCP as many as full segments would be. */
export interface Traffic {
  readonly bytes: number;
  readonly packets: number;
}

export const NO_TRAFFIC: Traffic = { bytes: 0, packets: 0 };

export function sumOfTraffic(each: readonly Traffic[]): Traffic {
  const of = (key: keyof Traffic): number => each.reduce((sum, traffic) => sum + traffic[key], 0);
  return { bytes: of('bytes'), packets: of('packets') };
}

export interface AttemptFailure {
  readonly ok: false;
  readonly error: AttemptError;
  /** Milliseconds from the attempt's start to the failure. */
  readonly atMs: number;
  /** First sign of life from the peer, null if there was none. */
  readonly transportMs: number | null;
  /** Of a handshake that failed no losses are told: 0. */
  readonly packets?: Packets;
  readonly traffic?: Traffic;
}

/** Times are milliseconds from the attempt's own start, by a monotonic clock. */
export interface AttemptHandshake {
  readonly ok: true;
  readonly protocol: KnownProtocol;
  /** First datagram back (QUIC), or TCP connected. */
  readonly transportMs: number | null;
  readonly establishedMs: number;
  readonly rttMs: number | null;
  /** Absent over TCP, which does not tell. */
  readonly packets?: Packets;
  readonly traffic?: Traffic;
  /** The chain ends in a publicly known root; browsers refuse QUIC otherwise. */
  readonly knownRoot: boolean;
}

export interface AttemptAnswer {
  readonly ok: true;
  readonly status: number;
  /** The last Alt-Svc value received, several lines joined by `, `, its `Age` taken off; null without one. */
  readonly altSvc: AltSvc | null;
  /** How it came: in a header section, interim responses' included, or in an ALTSVC frame; absent without one. */
  readonly altSvcSource?: AltSvcSource;
  readonly firstByteMs: number;
  readonly doneMs: number;
  readonly bodyBytes: number;
  /**
   * The server wanted the request over HTTP/1.1 (HTTP_1_1_REQUIRED, RFC 9113 section 7), and got it over a connection
   * of its own that was established then.
   */
  readonly repeated?: { readonly protocol: 'http/1.1'; readonly establishedMs: number };
  /** Over the whole attempt; absent over TCP. */
  readonly packets?: Packets;
  /** Over the whole attempt. */
  readonly traffic?: Traffic;
}

/** An answer of 421 (RFC 9110 section 15.5.20); what it advertises is not to be heeded (RFC 7838 section 6). */
export function misdirectedError(altSvc: string | null): AttemptError {
  return {
    code: 'misdirected',
    message: 'the server answered 421 (Misdirected Request)',
    ...(altSvc !== null && { ignoredAltSvc: altSvc }),
  };
}

export interface RunningAttempt {
  /** Resolves once: established, or why not. Never rejects; a cancelled attempt resolves with code `cancelled`. */
  readonly established: Promise<AttemptHandshake | AttemptFailure>;
  /** Sends one request over the established connection; only the owner of an adopted attempt calls it. */
  request(timeoutMs: number): Promise<AttemptAnswer | AttemptFailure>;
  /**
   * Ends the attempt at once in any phase; calling it again does nothing. An attempt that is at its deadline by
   * `DEADLINE_LEEWAY_MS` or less says what it has waited for, as if its own clock had ended it.
   */
  cancel(): void;
}

export interface Contender {
  readonly name: ContenderName;
  /** Its results come from a thread of its own: a busy event loop tells them some time after they were made. */
  readonly toldLate?: boolean;
  /**
   * Loads and warms up what the first attempt needs, so that no attempt is charged for it; calling it again is cheap.
   * Rejects when the transport cannot be used on this machine at all.
   */
  prepare(): Promise<void>;
  start(target: AttemptTarget): RunningAttempt;
}

/** A contender whose transport is loaded once, by the first `prepare`; one that was not prepared throws when started. */
export function lazyContender<Loaded>(
  name: ContenderName,
  load: () => Promise<Loaded>,
  startAttempt: (target: AttemptTarget, loaded: Loaded) => RunningAttempt,
): Contender {
  let loading: Promise<Loaded> | undefined;
  let loaded: { readonly transport: Loaded } | undefined;
  return {
    name,
    async prepare() {
      loading ??= load();
      loaded = { transport: await loading };
    },
    start(target) {
      if (loaded === undefined) throw new Error('prepare the contender before it starts');
      return startAttempt(target, loaded.transport);
    },
  };
}
