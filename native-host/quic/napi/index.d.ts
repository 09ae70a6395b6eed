// Generated from src/ by `npm run build:quic -w native-host`; committed so that callers are typed without a Rust build.

/** One question: `ask` it, `cancel` at any time. */
export declare class DnsQuestion {
  /** Throws when the name cannot be asked for or the time-out makes no sense. Nothing is sent yet. */
  constructor(resolver: DnsResolver, name: string, kind: 'A' | 'AAAA' | 'HTTPS', timeoutMs: number)
  /** Never rejects. */
  ask(): Promise<DnsAnswer>
  /** What is pending resolves as failed at once; nothing more is sent. */
  cancel(): void
}

/** A stub resolver without memory. */
export declare class DnsResolver {
  /**
   * `server`: `address:port`; without one the system's configuration as it is now.
   * Throws when the server is no address, or the system has no configuration to ask with.
   */
  constructor(server?: string | undefined | null)
}

/**
 * One HTTP/3 attempt: `connect` once, then `request` at most once, `cancel` at any time.
 * An established attempt holds a socket until `request` ends or `cancel` is called.
 */
export declare class QuicAttempt {
  /** Throws when an argument is wrong. Nothing is sent yet, but all times of the attempt count from this call. */
  constructor(trust: TrustStore, options: AttemptOptions)
  /** Shakes hands. Calls `onFirstDatagram` once, when the peer first shows life. Rejects only when called twice. */
  connect(onFirstDatagram?: () => void): Promise<ConnectResult>
  /**
   * Starts HTTP/3 on the established connection, sends the request, reads the answer and closes.
   * Rejects only for a wrong argument, or when there is no established connection to use.
   */
  request(options: RequestOptions): Promise<RequestResult>
  /**
   * Ends the attempt at once: what is pending resolves with `cancelled`, the peer is told, the
   * socket is closed. Does nothing when the attempt is over.
   */
  cancel(): void
}

/** Roots of trust, parsed once and shared by every attempt. */
export declare class TrustStore {
  /**
   * PEM texts. `bundled`: publicly known roots; `extra`: those of the system and of the user.
   * Throws when a text is no certificate or when no usable root is left. `postQuantum`: whether attempts offer a key
   * share with ML-KEM, as they do by default.
   */
  constructor(bundled: Array<string>, extra: Array<string>, postQuantum?: boolean | undefined | null)
  /** Judges a chain (DER, as the server sent it) for `host` by the rules of an attempt. */
  judge(host: string, chain: Array<Uint8Array>): ChainVerdict
  /** How many certificates could not serve as roots and were left out. */
  get ignored(): number
}

/** Why an attempt failed. */
export interface AttemptFailure {
  code: 'udp-refused' | 'udp-unreachable' | 'no-route' | 'udp-timeout' | 'handshake-timeout' | 'version-mismatch' | 'alpn-mismatch' | 'certificate-invalid' | 'tls-alert' | 'connection-closed' | 'stateless-reset' | 'h3-error' | 'goaway' | 'response-timeout' | 'response-too-large' | 'version-fallback' | 'cancelled' | 'internal'
  message: string
  /** With `certificate-invalid`. */
  certificateReason?: 'expired' | 'not-yet-valid' | 'wrong-name' | 'unknown-issuer' | 'revoked' | 'bad-signature' | 'other'
  /** The QUIC or HTTP/3 error code that the peer gave. */
  peerCode?: number
  /** The code that ended it on the wire, by its registered name: a TLS alert's, QUIC's or HTTP/3's. */
  wireCode?: string
  /** This side ended the connection, because the peer broke the protocol. */
  endedByUs: boolean
  /** Milliseconds since the attempt's start. */
  failedMs: number
  traffic: Traffic
  /** Packets declared lost; 0 for a failed handshake, of which no count is told. */
  lostPackets: number
  /** What had been received of a response that did not complete; absent: nothing. */
  response?: IncompleteResponse
}

/** Where to connect, as whom, and how long to try. */
export interface AttemptOptions {
  /** An IP address literal. */
  address: string
  port: number
  /** The name in SNI and in the certificate. */
  serverName: string
  /** The first retransmission comes after three times this. */
  initialRttMs: number
  handshakeTimeoutMs: number
}

/**
 * What the rules of an attempt say of a certificate chain. `knownRoot`: it ends in one of the
 * bundled roots.
 */
export type ChainVerdict =
  | { outcome: 'accepted'; knownRoot: boolean }
  | { outcome: 'refused'; certificateReason: 'expired' | 'not-yet-valid' | 'wrong-name' | 'unknown-issuer' | 'revoked' | 'bad-signature' | 'other'; message: string }

/**
 * How a handshake ended; times in milliseconds since the attempt's start. `knownRoot`: the chain
 * ends in one of the bundled roots.
 */
export type ConnectResult =
  | { outcome: 'established'; handshakeMs: number; traffic: Traffic; remoteAddress: string; remotePort: number; alpn: string; knownRoot: boolean; rttMs?: number; lostPackets: number; quicVersion: number }
  | { outcome: 'failed'; failure: AttemptFailure }

/** An address and how long it is good for. */
export interface DnsAddress {
  address: string
  ttlSeconds: number
}

/** How a question ended; an empty list is a negative answer. `leftOut`: records that the answer had beyond those read. */
export type DnsAnswer =
  | { outcome: 'addresses'; addresses: Array<DnsAddress>; leftOut: number }
  | { outcome: 'services'; services: Array<DnsService>; leftOut: number }
  | { outcome: 'failed'; message: string }
  | { outcome: 'unasked'; message: string }

/** An HTTPS record (RFC 9460). */
export interface DnsService {
  owner: string
  priority: number
  target: string
  alpn: Array<string>
  noDefaultAlpn: boolean
  port?: number
  ipv4Hints: Array<string>
  ipv6Hints: Array<string>
  ech: boolean
  incompatible: boolean
  ttlSeconds: number
}

/**
 * The header section of a response that did not complete, or fields of interim responses alone: then without `status`
 * and `firstByteMs`, milliseconds since the attempt's start. `altSvc`: all values, joined by ", ".
 */
export interface IncompleteResponse {
  status?: number
  firstByteMs?: number
  altSvc?: string
  age?: string
}

/** The one request of an attempt, a GET, and the limits on its answer. */
export interface RequestOptions {
  /** `host` or `host:port`. */
  authority: string
  /** Starts with a slash; may carry a query. */
  path: string
  userAgent: string
  maxBodyBytes: number
  maxHeaderBytes: number
  /** From the attempt's start to the last byte of the answer. */
  deadlineMs: number
}

/**
 * How a request ended; times in milliseconds since the attempt's start. `altSvc`: all values,
 * joined by ", ". `truncated`: the body was longer than the cap, or not read, as with status 421.
 * `firstByteMs`: the final answer's header section was there.
 */
export type RequestResult =
  | { outcome: 'answered'; status: number; altSvc?: string; age?: string; bodyBytes: number; truncated: boolean; requestSentMs: number; firstByteMs: number; doneMs: number; rttMs: number; traffic: Traffic; lostPackets: number }
  | { outcome: 'failed'; failure: AttemptFailure }

/**
 * The source address that the system would use towards an address literal; null: no route leads
 * there, or it is none. Sends nothing.
 */
export declare function sourceAddressFor(destination: string): string | null

/**
 * The roots of the operating system, or those that `SSL_CERT_FILE` and `SSL_CERT_DIR` name, as DER. What cannot be read
 * is left out.
 */
export declare function systemRoots(): Array<Uint8Array>

/** Datagrams of the attempt; times in milliseconds since its start. */
export interface Traffic {
  firstDatagramOutMs?: number
  firstDatagramInMs?: number
  datagramsSent: number
  datagramsReceived: number
}
