// What a race gives: attempts, trials, summaries, and the document `photofinish race --json` prints.
// The helper makes these, the extension and the report read them; the names are the field's own (RFC 8305, HEv3 draft).
import * as v from 'valibot';
import {
  list,
  MAX_ADDRESS_CHARS,
  MAX_ALTERNATIVES,
  MAX_ATTEMPTS,
  MAX_DNS_NAME_CHARS,
  MAX_KEPT_ALT_SVC_CHARS,
  MAX_LABEL_CHARS,
  MAX_MESSAGE_CHARS,
  MAX_TRIALS,
  text,
} from '../web/bounds.ts';
import { originSchema } from '../web/origin.ts';
import { knownProtocolSchema } from '../web/protocol.ts';
import { discoveredAlternativeSchema, namesSchema } from './discovered.ts';
import { verdictSchema } from './verdict-schema.ts';

/** Every way an attempt can end without being established, or after it; append-only. */
export const ATTEMPT_ERROR_CODES = [
  'dns-failed',
  'no-address',
  'udp-refused',
  'udp-timeout',
  'handshake-timeout',
  'tcp-refused',
  'tcp-timeout',
  'version-mismatch',
  'alpn-mismatch',
  'certificate-invalid',
  'tls-alert',
  'connection-closed',
  'stateless-reset',
  'h3-error',
  'goaway',
  'misdirected',
  'response-timeout',
  'blocked',
  'cancelled',
  'internal',
  'response-too-large',
  'version-fallback',
  'port-blocked',
] as const;
export type AttemptErrorCode = (typeof ATTEMPT_ERROR_CODES)[number];

/** Silence and refusal below QUIC: what a network that blocks UDP looks like. In the order of the host cache's index. */
export const UDP_UNANSWERED_CODES = [
  'udp-timeout',
  'udp-refused',
] as const satisfies readonly AttemptErrorCode[];

export const MODES = ['race', 'v3', 'alt-svc', 'naive', 'compare', 'h3', 'h2'] as const;
export type Mode = (typeof MODES)[number];
export const MEMORIES = ['none', 'hints', 'full'] as const;
export type Memory = (typeof MEMORIES)[number];

/** The two transports that race. `h2` stands for TCP and TLS, whatever ALPN then gives (`h2` or `http/1.1`). */
export const TRANSPORTS = ['h3', 'h2'] as const;
export type TransportName = (typeof TRANSPORTS)[number];

/** Why a certificate was refused, the same words for both transports; append-only. */
export const CERTIFICATE_REASONS = [
  'expired',
  'not-yet-valid',
  'wrong-name',
  'unknown-issuer',
  'revoked',
  'bad-signature',
  'other',
] as const;
export type CertificateReason = (typeof CERTIFICATE_REASONS)[number];

export const attemptErrorSchema = v.object({
  code: v.picklist(ATTEMPT_ERROR_CODES),
  message: text(MAX_MESSAGE_CHARS),
  /** With `certificate-invalid`. */
  reason: v.optional(v.picklist(CERTIFICATE_REASONS)),
  /** Of a look-up: this machine was too late to hear an answer, so that none proves nothing. */
  disturbed: v.optional(v.boolean()),
  /**
   * The code that ended it on the wire, by its registered name: a TLS alert (RFC 8446 section 6), or an error code of
   * QUIC, HTTP/3 or HTTP/2.
   */
  wireCode: v.optional(text(MAX_LABEL_CHARS)),
  /** This side ended the connection, because the peer broke the protocol; absent: the peer did, or nobody. */
  endedBy: v.optional(v.literal('client')),
  /** With `misdirected`: the Alt-Svc field of that answer, which is not to be heeded (RFC 7838 section 6). */
  ignoredAltSvc: v.optional(text(MAX_MESSAGE_CHARS)),
});
export type AttemptError = v.InferOutput<typeof attemptErrorSchema>;

const ms = v.pipe(v.number(), v.finite(), v.minValue(0));
const count = v.pipe(v.number(), v.integer(), v.minValue(0));

/**
 * What a busy machine may have made of a trial. `times`: its times, what it reached is true all the same; `outcome`: also
 * that an attempt ran out of time.
 */
export const DISTURBANCES = ['times', 'outcome'] as const;
export type Disturbance = (typeof DISTURBANCES)[number];

/** Times are milliseconds from the start of the trial; null: it did not come to that. */
export const attemptSchema = v.object({
  protocol: knownProtocolSchema,
  address: text(MAX_ADDRESS_CHARS),
  port: v.pipe(v.number(), v.integer(), v.minValue(0), v.maxValue(65535)),
  /** The name that the address belongs to, where that is not the origin's own host. */
  host: v.optional(text(MAX_DNS_NAME_CHARS)),
  /** Who named the place; absent: the origin itself. */
  source: v.optional(v.picklist(['https-record', 'alt-svc'])),
  /** The one fresh QUIC attempt beside an unanswered one. */
  fresh: v.optional(v.boolean()),
  /** The server wanted the request over HTTP/1.1 (RFC 9113 section 7), and these are the times of that connection. */
  http11Required: v.optional(v.boolean()),
  startedMs: ms,
  /** First datagram back (QUIC) or TCP connected. */
  transportMs: v.optional(v.nullable(ms)),
  establishedMs: v.nullable(ms),
  firstByteMs: v.optional(v.nullable(ms)),
  /** The transport's own round-trip estimate when established. */
  rttMs: v.optional(v.nullable(ms)),
  /** QUIC datagrams sent and packets declared lost until the attempt ended; TCP does not tell. */
  packets: v.optional(v.object({ sent: count, lost: count })),
  outcome: v.picklist(['adopted', 'established-late', 'cancelled', 'failed']),
  error: v.optional(attemptErrorSchema),
});
export type Attempt = v.InferOutput<typeof attemptSchema>;

export const trialSchema = v.object({
  adopted: v.nullable(knownProtocolSchema),
  establishedMs: v.nullable(ms),
  firstByteMs: v.nullable(ms),
  /** HTTP/3 was established after old HTTP had been adopted (P2, rule 4). */
  lateH3: v.boolean(),
  /** A fresh record decided, so no race was run (P1). */
  cacheHit: v.boolean(),
  /** HTTP/3 failed at some places and was left at others when another protocol was adopted: it is not lost. */
  h3Undecided: v.optional(v.boolean()),
  /** Addresses left because one trial makes no more attempts; absent: none. */
  untried: v.optional(count),
  /** What this machine's lateness cost until something was adopted, else until the end; absent: not measured. */
  lateMs: v.optional(ms),
  /** This machine was so late that the trial is no evidence, or its times are none; absent: it was not. */
  disturbed: v.optional(v.picklist(DISTURBANCES)),
  attempts: list(attemptSchema, MAX_ATTEMPTS),
});
export type Trial = v.InferOutput<typeof trialSchema>;

export const statisticsSchema = v.object({
  mean: ms,
  stdev: ms,
  median: ms,
  p90: ms,
  p95: ms,
  max: ms,
});
export type Statistics = v.InferOutput<typeof statisticsSchema>;

export const cacheUseSchema = v.object({
  /** Trials before which the host cache was asked for a protocol. */
  lookups: count,
  /** It had a fresh one. */
  hits: count,
  /** Hits whose trial adopted something. */
  scored: count,
  /** The remembered protocol was the one adopted. */
  right: count,
});
export type CacheUse = v.InferOutput<typeof cacheUseSchema>;

/** What the pairs of a `compare` race show, by the rule of `paired-comparison`. */
export const comparisonSchema = v.pipe(
  v.object({
    /** Pairs in which both were established, and how many pairs there might have been. */
    pairs: v.pipe(count, v.minValue(1)),
    most: v.pipe(count, v.minValue(1)),
    /** Medians of each side. */
    h3Ms: ms,
    h2Ms: ms,
    /** In how many pairs each was quicker. */
    h3Quicker: count,
    h2Quicker: count,
    /** Null: no clear difference. */
    quicker: v.nullable(v.picklist(TRANSPORTS)),
    /** Interval of the median of HTTP/2's time less HTTP/3's, pair by pair, at 95 %; of fewer than six pairs all of them. */
    lowMs: v.pipe(v.number(), v.finite()),
    highMs: v.pipe(v.number(), v.finite()),
  }),
  v.check(
    ({ pairs, most, h3Quicker, h2Quicker, lowMs, highMs }) =>
      pairs <= most && h3Quicker + h2Quicker <= pairs && lowMs <= highMs,
    'a comparison that contradicts itself',
  ),
);
export type Comparison = v.InferOutput<typeof comparisonSchema>;

export const summarySchema = v.object({
  trials: count,
  adoption: v.object({ h3: count, h2: count, 'http/1.1': count }),
  failed: count,
  /** median(h2 established) - median(h3 established) over `compare` pairs; null: not measured, or no clear difference. */
  gainMs: v.nullable(v.pipe(v.number(), v.finite())),
  /** With at least three whole pairs; absent in records from before it was told. */
  comparison: v.optional(comparisonSchema),
  /** Over adopted trials only; null when there are none, and in `compare`, whose trials are of two protocols. */
  establishedMs: v.nullable(statisticsSchema),
  /** With memory `full`, where the mode uses what is remembered. */
  cache: v.optional(cacheUseSchema),
});
export type Summary = v.InferOutput<typeof summarySchema>;

/** How an Alt-Svc value came: in a header section, or in an ALTSVC frame of HTTP/2 (RFC 7838 sections 3 and 4). */
export const ALT_SVC_SOURCES = ['header', 'frame'] as const;
export type AltSvcSource = (typeof ALT_SVC_SOURCES)[number];

/** What the origin's answers said, apart from whether it was reachable. */
export const discoveredSchema = v.object({
  altSvc: v.nullable(text(MAX_KEPT_ALT_SVC_CHARS)),
  /** Absent: a header, or remembered. */
  altSvcSource: v.optional(v.picklist(ALT_SVC_SOURCES)),
  /** Whether the chain ends in a publicly known root; browsers refuse QUIC otherwise. Null: no handshake finished. */
  knownRoot: v.nullable(v.boolean()),
  /** What DNS gave; absent in records from before it was kept. */
  names: v.optional(namesSchema),
  /** Alternatives that were used or received, newest last. */
  alternatives: v.optional(list(discoveredAlternativeSchema, MAX_ALTERNATIVES)),
});
export type Discovered = v.InferOutput<typeof discoveredSchema>;

/** How other hosts fare over HTTP/3 on the same network. */
export const networkEvidenceSchema = v.object({
  /** Hosts where QUIC met silence or refusal while TCP worked. */
  failedHosts: count,
  /** Hosts that were reached over HTTP/3. */
  reachedHosts: count,
});
export type NetworkEvidence = v.InferOutput<typeof networkEvidenceSchema>;

export const leftOutSchema = v.object({
  addresses: count,
  services: count,
  lookups: count,
  /** Of all trials together. */
  attempts: count,
});
export type LeftOut = v.InferOutput<typeof leftOutSchema>;

export const originRaceSchema = v.object({
  origin: originSchema,
  network: text(MAX_LABEL_CHARS),
  mode: v.picklist(MODES),
  memory: v.picklist(MEMORIES),
  startDelayMs: ms,
  /** When the first trial began, milliseconds since the epoch; at most what a `Date` can say. */
  atMs: v.pipe(ms, v.maxValue(8.64e15)),
  trials: list(trialSchema, MAX_TRIALS),
  summary: summarySchema,
  discovered: discoveredSchema,
  /** How many of what was found and attempted the record leaves out, because there were too many; absent: none. */
  leftOut: v.optional(leftOutSchema),
  /** How other hosts of the host cache fare over HTTP/3 on this network; absent without memory of them. */
  otherHosts: v.optional(networkEvidenceSchema),
  verdict: verdictSchema,
  /** Present when the origin could not be raced at all (no trials), or was cancelled (the finished trials stay). */
  error: v.optional(attemptErrorSchema),
});
/** One element of `races`: everything one origin's trials gave. */
export type OriginRace = v.InferOutput<typeof originRaceSchema>;

export const RACE_SCHEMA = 'photofinish.race/1';
export const raceDocumentSchema = v.object({
  schema: v.literal(RACE_SCHEMA),
  mode: v.picklist(MODES),
  memory: v.picklist(MEMORIES),
  startDelayMs: ms,
  races: v.array(originRaceSchema),
});
export type RaceDocument = v.InferOutput<typeof raceDocumentSchema>;
