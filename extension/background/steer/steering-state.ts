// Which origins are steered, and until when: pure steps from evidence and events to the next state. An origin is
// steered only if the user chose it and the helper has raced it on this network; any doubt undoes it.
//
//   chosen, HTTP/3 established here, not advertised   ──► active to-h3   ──undo──► undoing ──clear heard──► gone
//   chosen, HTTP/3 broken here, advertised            ──► active from-h3 ──undo──► gone

import type { Forecast } from '@photofinish/shared/port/wire';
import { type Origin, originParts, originSchema } from '@photofinish/shared/web/origin';
import { count } from '@photofinish/shared/web/untrusted';
import * as v from 'valibot';
import type { Direction, UndoReason } from '../../common/messages.ts';

/** A steering that nothing confirms for this long is undone. */
export const STEERED_MS = 3_600_000;
/** Responses over TCP, although the browser had seen the advertisement, that show that it does not follow it. */
const MISSES_BEFORE_UNDO = 3;

const time = v.pipe(v.number(), v.finite());
const steeringSchema = v.object({
  origin: originSchema,
  direction: v.picklist(['to-h3', 'from-h3']),
  ruleId: v.pipe(v.number(), v.integer(), v.minValue(1)),
  /** The network whose races justify it. */
  network: v.string(),
  untilMs: time,
  /** When the browser last saw our advertisement; null: never, so nothing needs to be withdrawn. */
  heardAtMs: v.nullable(time),
  /** Documents over TCP in a row since the advertisement was seen. */
  misses: count,
  /** It is being withdrawn by a `clear` on its next page. */
  undoing: v.boolean(),
});
export type Steering = Readonly<v.InferOutput<typeof steeringSchema>>;

export interface SteerState {
  readonly chosen: readonly Origin[];
  readonly steerings: readonly Steering[];
  readonly undone: Readonly<Partial<Record<Origin, UndoReason>>>;
}
export const NOTHING_STEERED: SteerState = { chosen: [], steerings: [], undone: {} };

/** What is known about an origin on the current network. */
export interface SteerEvidence {
  /** According to fresh races of the helper; `unknown` without one. */
  readonly reach: 'h3' | 'older' | 'unknown';
  /** The server itself advertises HTTP/3. */
  readonly advertised: boolean;
  readonly network: string;
  /** From a race or user action just now; false: recalled before a navigation. */
  readonly anew: boolean;
}

/** What a forecast proves; only the helper's own races count. */
export function reachOf({ protocol, basis, fresh }: Forecast['reachable']): SteerEvidence['reach'] {
  if (!fresh || basis !== 'raced' || protocol === 'unknown') return 'unknown';
  return protocol === 'h3' ? 'h3' : 'older';
}

/** What steering could do for an origin; null: nothing. */
export function directionFor(
  origin: Origin,
  { reach, advertised }: Pick<SteerEvidence, 'reach' | 'advertised'>,
): Direction | null {
  if (!isNameable(origin)) return null;
  if (reach === 'h3' && !advertised) return 'to-h3';
  return reach === 'older' && advertised ? 'from-h3' : null;
}

export function steeringOf(state: SteerState, origin: Origin): Steering | undefined {
  return state.steerings.find((s) => s.origin === origin);
}

/** The header that a steering currently sets. */
export function headerOf({ origin, direction, undoing }: Steering): string {
  return direction === 'to-h3' && !undoing ? advertisement(origin) : CLEAR;
}

/** Whether an Alt-Svc header on a response of this origin was set by us rather than by the server. */
export function isOurs(state: SteerState, origin: Origin, altSvc: string): boolean {
  // A rule replaces what the server sent, and responses in flight when it changes still carry the previous one.
  return steeringOf(state, origin) !== undefined && isLikeOurs(origin, altSvc);
}

function withSteering(state: SteerState, origin: Origin, next: Steering | null): SteerState {
  const others = state.steerings.filter((s) => s.origin !== origin);
  return { ...state, steerings: next === null ? others : [...others, next] };
}

function freeRuleId({ steerings }: SteerState): number {
  const taken = new Set(steerings.map(({ ruleId }) => ruleId));
  let id = 1;
  while (taken.has(id)) id += 1;
  return id;
}

function undo(state: SteerState, steering: Steering, why: UndoReason | null, nowMs: number): SteerState {
  if (steering.undoing) return state;
  const { origin, direction, heardAtMs } = steering;
  const updated = { ...state, undone: why === null ? state.undone : { ...state.undone, [origin]: why } };
  // An advertisement never seen, or a rule that only removed one, leaves nothing behind in the browser.
  if (direction === 'from-h3' || heardAtMs === null) return withSteering(updated, origin, null);
  // By then the advertisement has expired in the browser, whether or not it contacted the origin again.
  return withSteering(updated, origin, { ...steering, undoing: true, untilMs: nowMs + ADVERTISED_MS });
}

function begin(state: SteerState, origin: Origin, direction: Direction, network: string, nowMs: number) {
  const before = steeringOf(state, origin);
  const { [origin]: _, ...undone } = state.undone;
  const steering: Steering = {
    origin,
    direction,
    network,
    ruleId: before?.ruleId ?? freeRuleId(state),
    untilMs: nowMs + STEERED_MS,
    heardAtMs: direction === 'to-h3' ? (before?.heardAtMs ?? null) : null,
    misses: 0,
    undoing: false,
  };
  return withSteering({ ...state, undone }, origin, steering);
}

function confirmed(steering: Steering, { reach }: SteerEvidence): boolean {
  return steering.direction === 'to-h3' ? reach === 'h3' : reach === 'older';
}

/** New evidence about an origin: begins, renews or undoes its steering. */
export function withEvidence(
  state: SteerState,
  origin: Origin,
  evidence: SteerEvidence,
  nowMs: number,
): SteerState {
  if (!state.chosen.includes(origin)) return state;
  const current = steeringOf(state, origin);
  if (current === undefined || current.undoing) {
    // What proved wrong is not retried on evidence from before.
    if (state.undone[origin] === 'failed' && !evidence.anew) return state;
    const direction = directionFor(origin, evidence);
    return direction === null ? state : begin(state, origin, direction, evidence.network, nowMs);
  }
  if (current.network !== evidence.network) return undo(state, current, 'network', nowMs);
  if (confirmed(current, evidence))
    return withSteering(state, origin, { ...current, untilMs: nowMs + STEERED_MS });
  if (evidence.reach === 'unknown') return state;
  return undo(state, current, current.direction === 'to-h3' ? 'failed' : 'changed', nowMs);
}

/** The user allows or no longer allows an origin to be steered. */
export function withChoice(state: SteerState, origin: Origin, on: boolean, nowMs: number): SteerState {
  const { [origin]: _, ...undone } = state.undone;
  const others = state.chosen.filter((o) => o !== origin);
  const chosen = { ...state, undone, chosen: on ? [...others, origin] : others };
  const current = steeringOf(state, origin);
  return on || current === undefined ? chosen : undo(chosen, current, null, nowMs);
}

/** Undoes every steering that another network justified. */
export function onNetwork(state: SteerState, network: string, nowMs: number): SteerState {
  return state.steerings
    .filter((s) => s.network !== network)
    .reduce((next, steering) => undo(next, steering, 'network', nowMs), state);
}

/** Undoes every steering; what was chosen stays chosen. */
export function allUndone(state: SteerState, nowMs: number): SteerState {
  return state.steerings.reduce((next, steering) => undo(next, steering, null, nowMs), state);
}

/** Ends what has expired. */
export function expired(state: SteerState, nowMs: number): SteerState {
  return state.steerings
    .filter((s) => s.untilMs <= nowMs)
    .reduce(
      (next, s) => (s.undoing ? withSteering(next, s.origin, null) : undo(next, s, 'expired', nowMs)),
      state,
    );
}

/** One response over the network, with the header as the browser saw it. */
export interface SteeredResponse {
  readonly origin: Origin;
  readonly h3: boolean;
  /** Whether it was a top-level document. */
  readonly document: boolean;
  readonly altSvc: string | null;
  readonly atMs: number;
}

/** What a response shows: that our header was seen, that its withdrawal was, or that the browser does not follow it. */
export function withResponse(state: SteerState, answer: SteeredResponse): SteerState {
  const { origin, altSvc, h3, document, atMs } = answer;
  const current = steeringOf(state, origin);
  if (current === undefined) return state;
  // The browser partitions what it learns by page (RFC 7838 leaves that open), and the origin's own page is what the
  // user chose, so only a `clear` seen there ends this.
  if (current.undoing) return document && altSvc === CLEAR ? withSteering(state, origin, null) : state;
  if (current.direction === 'from-h3') return state;
  const misses = h3 ? 0 : current.misses + (document && current.heardAtMs !== null ? 1 : 0);
  if (misses > MISSES_BEFORE_UNDO) return undo(state, current, 'failed', atMs);
  const heardAtMs = heardAt(current, altSvc, atMs);
  if (misses === current.misses && heardAtMs === current.heardAtMs) return state;
  return withSteering(state, origin, { ...current, misses, heardAtMs });
}

/** Storing each response's time would write to storage for every request; a tenth of the lifetime is precise enough. */
function heardAt({ origin, heardAtMs }: Steering, altSvc: string | null, atMs: number): number | null {
  if (altSvc !== advertisement(origin)) return heardAtMs;
  return heardAtMs === null || atMs - heardAtMs >= ADVERTISED_MS / 10 ? atMs : heardAtMs;
}

export const STATE_VERSION = 1;
const storedSchema = v.object({
  version: v.literal(STATE_VERSION),
  chosen: v.array(originSchema),
  steerings: v.array(steeringSchema),
  undone: v.record(originSchema, v.picklist(['network', 'failed', 'expired', 'changed'])),
});

const rulelessSchema = v.object({
  ...storedSchema.entries,
  steerings: v.strictTuple([]),
  ruleless: v.literal(true),
});

/** Whether a stored state is valid and says that the browser has no rule of ours. */
export function isRuleless(stored: unknown): boolean {
  return v.is(rulelessSchema, stored);
}

/** The stored state; null if it is not a valid one. */
export function steerStateOf(stored: unknown): SteerState | null {
  const parsed = v.safeParse(storedSchema, stored);
  return parsed.success ? parsed.output : null;
}

// What one steering tells the browser: a declarativeNetRequest rule that sets the Alt-Svc header (RFC 7838) of exactly
// one origin. Firefox obeys such a header as if the server had sent it; Chromium does not. Pure.

/** How long the browser remembers what we advertise; this is all that remains after the extension is removed. */
export const ADVERTISED_MS = 3_600_000;
/** `clear` is valid only as the sole value (RFC 7838 section 3). */
export const CLEAR = 'clear';

/** All types that Firefox distinguishes: an omitted one would let the browser learn what the rule is meant to hide. */
const EVERY_RESOURCE = [
  'main_frame',
  'sub_frame',
  'stylesheet',
  'script',
  'image',
  'imageset',
  'font',
  'object',
  'object_subrequest',
  'xmlhttprequest',
  'xslt',
  'xml_dtd',
  'json',
  'ping',
  'beacon',
  'csp_report',
  'web_manifest',
  'media',
  'websocket',
  'speculative',
  'other',
] as const;

/**
 * The header that names HTTP/3 on the origin's own port, as a server would: pages can read it, but learn nothing about
 * us.
 */
export function advertisement(origin: Origin): string {
  return `h3=":${originParts(origin).port}"; ma=${ADVERTISED_MS / 1000}`;
}

/**
 * Whether a header is one that steering sets on responses of this origin. A server may send the same, so it is ours
 * only where a rule is in force, or may be.
 */
export function isLikeOurs(origin: Origin, altSvc: string): boolean {
  return altSvc === CLEAR || altSvc === advertisement(origin);
}

/** Whether a rule can name exactly this origin: an asterisk, which URLs allow in a host, would match anything. */
function isNameable(origin: Origin): boolean {
  return !origin.includes('*');
}

/** The rule that sets one header on every response of one origin. */
export function ruleFor(id: number, origin: Origin, altSvc: string) {
  return {
    id,
    priority: 1,
    // Anchored at the start and terminated by the slash that every URL has: matches neither longer hosts nor other
    // ports.
    condition: { urlFilter: `|${origin}/`, resourceTypes: [...EVERY_RESOURCE] },
    action: {
      type: 'modifyHeaders',
      responseHeaders: [{ header: 'alt-svc', operation: 'set', value: altSvc }],
    },
  };
}

export type Rule = ReturnType<typeof ruleFor>;
