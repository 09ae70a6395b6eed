// The results of a race: attempts, trials, summaries, and the document that `photofinish race --json` prints. Produced
// by the helper, read by the extension and the report; the names are the field's own (RFC 8305, HEv3 draft).
import * as v from 'valibot';
import { originSchema } from '../web/origin.ts';
import { knownProtocolSchema } from '../web/protocol.ts';
import {
  count,
  list,
  MAX_ADDRESS_CHARS,
  MAX_ALTERNATIVES,
  MAX_ATTEMPTS,
  MAX_DNS_NAME_CHARS,
  MAX_KEPT_ALT_SVC_CHARS,
  MAX_LABEL_CHARS,
  MAX_MESSAGE_CHARS,
  MAX_TRIALS,
  ms,
  text,
} from '../web/untrusted.ts';
import { discoveredAlternativeSchema, namesSchema } from './discovered.ts';
import { ATTEMPT_ERROR_CODES, CERTIFICATE_REASONS, MEMORIES, MODES, TRANSPORTS } from './terms.ts';
import { verdictSchema } from './verdict-schema.ts';

export const attemptErrorSchema = v.object({
  code: v.picklist(ATTEMPT_ERROR_CODES),
  message: text(MAX_MESSAGE_CHARS),
  /** With `certificate-invalid`. */
  reason: v.optional(v.picklist(CERTIFICATE_REASONS)),
  /** For a look-up: this machine was too late to receive an answer, so the lack of one proves nothing. */
  disturbed: v.optional(v.boolean()),
  /**
   * The code that ended it on the wire, by its registered name: a TLS alert (RFC 8446 section 6), or an error code of
   * QUIC, HTTP/3 or HTTP/2.
   */
  wireCode: v.optional(text(MAX_LABEL_CHARS)),
  /**
   * This side ended the connection: the peer violated the protocol, or offered what this side refuses; absent: the peer
   * did, or neither.
   */
  endedBy: v.optional(v.literal('client')),
  /** With `misdirected`: the Alt-Svc field of that answer, which must be ignored (RFC 7838 section 6). */
  ignoredAltSvc: v.optional(text(MAX_MESSAGE_CHARS)),
});
export type AttemptError = v.InferOutput<typeof attemptErrorSchema>;

/** Of a final response (RFC 9110 section 15). */
const finalStatus = v.pipe(v.number(), v.integer(), v.minValue(200), v.maxValue(999));

/**
 * What a busy machine may have affected in a trial. `times`: only its times, what it reached is valid; `outcome`: also
 * that an attempt timed out.
 */
export const DISTURBANCES = ['times', 'outcome'] as const;
export type Disturbance = (typeof DISTURBANCES)[number];

/** Times are milliseconds from the start of the trial; null: it did not get that far. */
export const attemptSchema = v.object({
  protocol: knownProtocolSchema,
  address: text(MAX_ADDRESS_CHARS),
  port: v.pipe(v.number(), v.integer(), v.minValue(0), v.maxValue(65535)),
  /** The name that the address belongs to, if it is not the origin's own host. */
  host: v.optional(text(MAX_DNS_NAME_CHARS)),
  /** The source of the endpoint; absent: the origin itself. */
  source: v.optional(v.picklist(['https-record', 'alt-svc'])),
  /** The one fresh QUIC attempt beside an unanswered one. */
  fresh: v.optional(v.boolean()),
  /** The server required the request over HTTP/1.1 (RFC 9113 section 7), and these are the times of that connection. */
  http11Required: v.optional(v.boolean()),
  startedMs: ms,
  /** First datagram received (QUIC) or TCP connected. */
  transportMs: v.optional(v.nullable(ms)),
  establishedMs: v.nullable(ms),
  /**
   * The header section of the response was received. With `failed`: it did not complete; null: none began, or that was
   * not stored.
   */
  firstByteMs: v.optional(v.nullable(ms)),
  /** Of that response; absent in records from before it was stored. */
  status: v.optional(finalStatus),
  /** The transport's own round-trip estimate when established. */
  rttMs: v.optional(v.nullable(ms)),
  /** QUIC datagrams sent and packets declared lost until the attempt ended; not available for TCP. */
  packets: v.optional(v.object({ sent: count, lost: count })),
  outcome: v.picklist(['adopted', 'established-late', 'cancelled', 'failed']),
  error: v.optional(attemptErrorSchema),
});
export type Attempt = v.InferOutput<typeof attemptSchema>;

export const trialSchema = v.object({
  adopted: v.nullable(knownProtocolSchema),
  establishedMs: v.nullable(ms),
  firstByteMs: v.nullable(ms),
  /** HTTP/3 was established after an older protocol had been adopted (P2, rule 4). */
  lateH3: v.boolean(),
  /** A fresh record decided, so no race was run (P1). */
  cacheHit: v.boolean(),
  /**
   * HTTP/3 failed at some endpoints and was not tried at others because another protocol was adopted: it has not
   * failed.
   */
  h3Undecided: v.optional(v.boolean()),
  /** Addresses not tried because of the limit of attempts per trial; absent: none. */
  untried: v.optional(count),
  /**
   * The delay caused by this machine's lateness until something was adopted, or else until the end; absent: not
   * measured.
   */
  lateMs: v.optional(ms),
  /** This machine was so late that the trial, or its times, are not evidence; absent: it was not. */
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
  /** Trials before which a protocol was looked up in the host cache. */
  lookups: count,
  /** How many found a fresh one. */
  hits: count,
  /** Hits whose trial adopted something. */
  scored: count,
  /** Those in which the remembered protocol was the one adopted. */
  right: count,
});
export type CacheUse = v.InferOutput<typeof cacheUseSchema>;

/** The result of the pairs of a `compare` race, by the rule of `statistics`. */
export const comparisonSchema = v.pipe(
  v.object({
    /** Pairs in which both were established, and the number of pairs planned at most. */
    pairs: v.pipe(count, v.minValue(1)),
    most: v.pipe(count, v.minValue(1)),
    /** Medians of each side. */
    h3Ms: ms,
    h2Ms: ms,
    /** In how many pairs each was faster. */
    h3Quicker: count,
    h2Quicker: count,
    /** Null: no clear difference. */
    quicker: v.nullable(v.picklist(TRANSPORTS)),
    /**
     * Interval of the median of HTTP/2's time minus HTTP/3's, pair by pair, at 95 %; with fewer than six pairs, their
     * range.
     */
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
  /** With at least three whole pairs; absent in records from before it was stored. */
  comparison: v.optional(comparisonSchema),
  /** Over adopted trials only; null if there are none, and in `compare`, whose trials are of two protocols. */
  establishedMs: v.nullable(statisticsSchema),
  /** With memory `full`, if the mode uses what is remembered. */
  cache: v.optional(cacheUseSchema),
});
export type Summary = v.InferOutput<typeof summarySchema>;

/** How an Alt-Svc value arrived: in a header section, or in an ALTSVC frame of HTTP/2 (RFC 7838 sections 3 and 4). */
export const ALT_SVC_SOURCES = ['header', 'frame'] as const;
export type AltSvcSource = (typeof ALT_SVC_SOURCES)[number];

/** What the origin's answers said, independent of whether it was reachable. */
export const discoveredSchema = v.object({
  /** The newest value, over whichever protocol. */
  altSvc: v.nullable(text(MAX_KEPT_ALT_SVC_CHARS)),
  /**
   * The last value over TCP, of HTTP/2 and HTTP/1.1, and over HTTP/3; null: no response over it carried one. Absent: there
   * was no response over it, or, without either, it was not stored or not received in a race.
   */
  altSvcOver: v.optional(
    v.object({
      tcp: v.optional(v.nullable(text(MAX_KEPT_ALT_SVC_CHARS))),
      h3: v.optional(v.nullable(text(MAX_KEPT_ALT_SVC_CHARS))),
    }),
  ),
  /** How the value over TCP arrived; over HTTP/3 there are no frames. Absent: a header, or remembered. */
  altSvcSource: v.optional(v.picklist(ALT_SVC_SOURCES)),
  /**
   * Whether QUIC's chain ends in a publicly known root, or TCP's if no handshake of QUIC was completed; browsers reject
   * QUIC otherwise. Null: no handshake was completed at all.
   */
  knownRoot: v.nullable(v.boolean()),
  /** What DNS returned; absent in records from before it was stored. */
  names: v.optional(namesSchema),
  /** Alternatives that were used or received, newest last. */
  alternatives: v.optional(list(discoveredAlternativeSchema, MAX_ALTERNATIVES)),
});
export type DiscoveryEvidence = v.InferOutput<typeof discoveredSchema>;

/** How other hosts fare over HTTP/3 on the same network. */
export const networkEvidenceSchema = v.object({
  /** Hosts where QUIC failed as on a network that blocks UDP (`UDP_BLOCKED_CODES`) while TCP worked. */
  failedHosts: count,
  /** Hosts that were reached over HTTP/3. */
  reachedHosts: count,
  /**
   * Hosts where HTTP/3 failed although they answered over UDP (`UDP_ANSWERED_CODES`). Absent: unknown, as in records from
   * before it was stored.
   */
  answeredHosts: v.optional(count),
  /**
   * Whether the newest success is later than the newest failure. Absent: unknown, as in records from before it was stored.
   * The times themselves would tell a report's readers when other hosts were visited.
   */
  reachedLater: v.optional(v.boolean()),
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

export const sharedOutcomeSchema = v.object({
  /** The hour of that race, milliseconds since the epoch. */
  atMs: v.pipe(ms, v.maxValue(8.64e15)),
  /** Null: HTTP/3 worked. Otherwise it failed this way while TCP worked. */
  h3Failure: v.nullable(v.picklist(ATTEMPT_ERROR_CODES)),
  /** The protocol over TCP; null: not reached, or not tried. */
  tcpProtocol: v.nullable(knownProtocolSchema),
});
/** What a race on a machine of the same organisation found out, this one included, by the fleet cache. */
export type SharedOutcome = v.InferOutput<typeof sharedOutcomeSchema>;

export const originRaceSchema = v.object({
  origin: originSchema,
  network: text(MAX_LABEL_CHARS),
  mode: v.picklist(MODES),
  memory: v.picklist(MEMORIES),
  startDelayMs: ms,
  /** When the first trial began, milliseconds since the epoch; limited to the range of `Date`. */
  atMs: v.pipe(ms, v.maxValue(8.64e15)),
  trials: list(trialSchema, MAX_TRIALS),
  summary: summarySchema,
  discovered: discoveredSchema,
  /** How much of what was found and attempted is missing from the record, because there was too much; absent: none. */
  leftOut: v.optional(leftOutSchema),
  /** How other hosts in the host cache fare over HTTP/3 on this network; absent if none are remembered. */
  otherHosts: v.optional(networkEvidenceSchema),
  /**
   * What machines of the organisation had shared about the origin, known before the race because this one had no evidence
   * of its own; absent: nothing. A failure takes HTTP/3's head start away (`startDelayMs`); it is never evidence.
   */
  sharedOutcome: v.optional(sharedOutcomeSchema),
  verdict: verdictSchema,
  /** Present if the origin could not be raced at all (no trials), or was cancelled (the finished trials are kept). */
  error: v.optional(attemptErrorSchema),
});
/** One element of `races`: all results for one origin's trials. */
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
