// The protocol of the native port: the messages between extension and helper, their schemas, limits and the one table of
// error codes; all that a helper needs for its first forecast. A race's record, the one message whose schema is large, is
// added in reply.ts. Framing (length and JSON) is up to the helper; browsers do their own.
import * as v from 'valibot';
import { MODES, TRANSPORTS } from '../race/terms.ts';
import { namedNetworkSchema, networkLabelSchema, networkNameSchema } from '../web/network-name.ts';
import { browserSchema, observationSchema } from '../web/observation.ts';
import { originSchema, siteSchema } from '../web/origin.ts';
import { protocolSchema } from '../web/protocol.ts';
import { count, list, MAX_LABEL_CHARS, ms, text } from '../web/untrusted.ts';
import { MAX_START_DELAY_MS } from './race-limits.ts';

/** The major version of this protocol; an unknown one is rejected with an instruction. */
export const WIRE_PROTOCOL = 1;
export const MAX_FORECAST_ORIGINS = 500;
export const MAX_OBSERVATIONS = 500;
/** Larger inbound frames are an error, after which the helper exits: framing can no longer be trusted. */
export const MAX_INBOUND_BYTES = 1024 * 1024;
/** Larger replies are split into chunks; browsers close the port at 1 MB. */
export const MAX_REPLY_BYTES = 512 * 1024;
/** All chunks of one reply together. 500 forecasts are under 200 KiB, the largest race by its schema under 3 MiB. */
export const MAX_WHOLE_REPLY_BYTES = 4 * 1024 * 1024;
/** In one reply. */
const MAX_NETWORKS = 10_000;
const MAX_FINDINGS = 256;

/** Every error a helper can answer with. Append-only: codes are never renamed or reused. */
export const WIRE_ERRORS = {
  'bad-json': 'the message is not JSON',
  'bad-message': 'the message does not fit its schema',
  'unknown-type': 'no message of that type exists',
  'message-too-large': 'the message is over 1 MiB',
  'bad-protocol': 'the two sides speak different versions; update the older one',
  'hello-first': 'the first message must be hello',
  'unknown-caller': 'only Photofinish itself may talk to its helper',
  'duplicate-id': 'a request with that ID is still running',
  'too-many-races': 'the budget of races is used up; try again later',
  blocked: 'the address policy forbids this host',
  'race-failed': 'the race could not be run',
  cancelled: 'the request was cancelled',
  'cache-unavailable': 'the host cache cannot be used',
  internal: 'the helper failed; its log says where',
  'bad-network': 'that network cannot be named',
  'bad-reply': 'the helper made a reply that does not fit its schema, and withheld it; please report it',
  'reply-too-large': 'the reply is too large for the port',
} as const;
export type WireErrorCode = keyof typeof WIRE_ERRORS;
/**
 * The message of `cancelled` if the machine moved to another network during the race. Not a code of its own, which
 * older extensions would reject as an invalid reply.
 */
export const NETWORK_CHANGED = 'the network changed';

/** Chosen by the extension, echoed in replies. */
export const idSchema = count;
const program = v.pipe(v.string(), v.minLength(1), v.maxLength(64));

export const requestSchema = v.variant('type', [
  v.object({
    type: v.literal('hello'),
    id: v.optional(idSchema, 0),
    protocol: v.number(),
    program,
    /** Whether verdicts as data are supported; otherwise they are sent as text, as before. */
    verdictData: v.optional(v.boolean()),
    /** Whether forecasts that rest on shared races are supported; otherwise they are not sent. */
    sharedForecasts: v.optional(v.boolean()),
  }),
  v.object({
    type: v.literal('forecast'),
    id: idSchema,
    browser: browserSchema,
    site: siteSchema,
    origins: v.pipe(v.array(originSchema), v.minLength(1), v.maxLength(MAX_FORECAST_ORIGINS)),
  }),
  v.object({
    type: v.literal('race'),
    id: idSchema,
    origin: originSchema,
    mode: v.picklist(MODES),
    reason: v.picklist(['click', 'navigation']),
    /** The head start of HTTP/3 over the older protocols, in milliseconds; without it the mode's default. */
    startDelayMs: v.optional(v.pipe(v.number(), v.finite(), v.minValue(0), v.maxValue(MAX_START_DELAY_MS))),
    /** Whether the outcome may be shared with the organisation's other machines, if the helper is set to; default: no. */
    share: v.optional(v.boolean()),
  }),
  v.object({
    type: v.literal('observed'),
    id: idSchema,
    browser: browserSchema,
    observations: v.pipe(v.array(observationSchema), v.minLength(1), v.maxLength(MAX_OBSERVATIONS)),
  }),
  v.object({ type: v.literal('cancel'), id: idSchema, target: idSchema }),
  v.object({ type: v.literal('stats'), id: idSchema }),
  v.object({ type: v.literal('wipe'), id: idSchema }),
  /** Asks the helper to examine its own installation. */
  v.object({ type: v.literal('doctor'), id: idSchema }),
  /** Requests the networks that have names, and the current one. */
  v.object({ type: v.literal('networks'), id: idSchema }),
  /** Names a network, or removes its name; answered with `networks`. */
  v.object({
    type: v.literal('name-network'),
    id: idSchema,
    network: networkLabelSchema,
    name: v.nullable(networkNameSchema),
  }),
]);
/** What the extension may send. */
export type Request = v.InferOutput<typeof requestSchema>;

/** A finding of the doctor may contain a path, and the output of a program. */
export const MAX_FINDING_CHARS = 16_384;

/** What the doctor examines. */
export const CHECKS = [
  'manifest',
  'extension',
  'launcher',
  'runtime',
  'hello',
  'cache',
  'config',
  'addon',
  'network',
] as const;
export type Check = (typeof CHECKS)[number];

/** One step of one browser's installation, or of what all browsers share; for the command and the extension's pages. */
export const findingSchema = v.object({
  /** A browser's title, or a title for what all browsers share. */
  subject: text(MAX_LABEL_CHARS),
  check: v.picklist(CHECKS),
  /** `problem` makes the doctor fail; `note` is for information only. */
  state: v.picklist(['ok', 'problem', 'note']),
  text: text(MAX_FINDING_CHARS),
  /** What to do; null if there is nothing to do. */
  remedy: v.nullable(text(MAX_FINDING_CHARS)),
});
export type DoctorFinding = Readonly<v.InferOutput<typeof findingSchema>>;

/**
 * The answer before a navigation: which protocols a host supports here, and which one this browser will use now. The
 * two are separate facts: a browser's h2 never overrides a raced h3 in `reachable`.
 */
export const forecastSchema = v.object({
  origin: originSchema,
  /** What the host supports on this network. */
  reachable: v.object({
    protocol: protocolSchema,
    /**
     * `shared`: by races that machines of the organisation shared, possibly this one; it has no evidence of its own that
     * counts here.
     */
    basis: v.picklist(['raced', 'advertised', 'shared', 'none']),
    /** Age of the evidence in milliseconds; null without evidence. */
    ageMs: v.nullable(v.pipe(v.number(), v.finite(), v.minValue(0))),
    fresh: v.boolean(),
  }),
  /** What the requesting browser will use now, from its own history with this origin and site. */
  expected: v.object({
    protocol: protocolSchema,
    basis: v.picklist(['observed', 'advertised', 'none']),
  }),
  /** A fresh entry was found (P1's hit); counted for the hit ratio. */
  hit: v.boolean(),
});
export type Forecast = v.InferOutput<typeof forecastSchema>;

export const progressSchema = v.object({
  id: idSchema,
  type: v.literal('progress'),
  /** The event, in trial `trial` (from 1) of `trials`. */
  event: v.picklist(['started', 'established', 'failed', 'cancelled', 'adopted', 'first-byte']),
  /** The transport; the field has had this name since the first version. */
  contender: v.picklist(TRANSPORTS),
  trial: count,
  trials: count,
  /** Milliseconds from the start of the trial. */
  atMs: ms,
});
export type Progress = v.InferOutput<typeof progressSchema>;

export const statsSchema = v.object({
  id: idSchema,
  type: v.literal('stats'),
  /** `sqlite`, or `memory` with the reason if the file cannot be used. */
  store: v.picklist(['sqlite', 'memory']),
  storeReason: v.nullable(text(MAX_FINDING_CHARS)),
  origins: count,
  /** Damaged records that the host cache dropped. */
  unsound: v.optional(count),
  /** Origins not recorded, because their site had added too many on one day. */
  refused: v.optional(count),
  /** Forecast look-ups, and how many found a fresh entry (P1's hit ratio). */
  lookups: count,
  hits: count,
  races: count,
  /** Trials that looked up a remembered protocol, and how many found one. */
  raceLookups: v.optional(count),
  raceHits: v.optional(count),
  /** Of those, the ones that adopted anything, and those that adopted the remembered protocol. */
  raceScored: v.optional(count),
  raceRight: v.optional(count),
  /** Outcomes shared by machines of the organisation, possibly this one, and those refused on receipt. */
  shared: v.optional(count),
  sharedRefused: v.optional(count),
  network: text(MAX_LABEL_CHARS),
});
export type Stats = v.InferOutput<typeof statsSchema>;

/** Every reply except a race's record. */
export const briefReplySchema = v.variant('type', [
  v.object({ id: idSchema, type: v.literal('hello'), protocol: v.number(), program }),
  v.object({
    id: idSchema,
    type: v.literal('forecast'),
    forecasts: list(forecastSchema, MAX_FORECAST_ORIGINS),
    /** The label of the network they apply to, so that a change of network is noticed at the next navigation. */
    network: v.optional(text(MAX_LABEL_CHARS)),
  }),
  progressSchema,
  /** Sent only once the observations are durable. */
  v.object({ id: idSchema, type: v.literal('observed'), stored: count }),
  v.object({ id: idSchema, type: v.literal('cancel'), cancelled: v.boolean() }),
  statsSchema,
  v.object({ id: idSchema, type: v.literal('wipe'), wiped: count }),
  v.object({ id: idSchema, type: v.literal('doctor'), findings: list(findingSchema, MAX_FINDINGS) }),
  /** Every network with a name, and the current one if it could be identified, named or not. */
  v.object({ id: idSchema, type: v.literal('networks'), networks: list(namedNetworkSchema, MAX_NETWORKS) }),
  v.object({
    /** 0 when the request could not be read. */
    id: idSchema,
    type: v.literal('error'),
    code: v.picklist(Object.keys(WIRE_ERRORS) as WireErrorCode[]),
    message: text(MAX_FINDING_CHARS),
  }),
  v.object({
    id: idSchema,
    type: v.literal('chunk'),
    seq: count,
    last: v.boolean(),
    data: text(MAX_REPLY_BYTES),
  }),
]);
