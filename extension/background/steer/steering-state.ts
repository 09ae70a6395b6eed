// Which origins are steered, and until when: pure steps from evidence and events to the next state. An origin is
// steered only if the user chose it and the helper has raced it on this network; any doubt undoes it.
//
//   chosen, HTTP/3 established here, not advertised   ──► active to-h3   ──undo──► undoing ──clear heard──► gone
//   chosen, HTTP/3 broken here, advertised            ──► active from-h3 ──undo──► gone

import type { Forecast } from '@photofinish/shared/port/forecast';
import { type Origin, originSchema } from '@photofinish/shared/web/origin';
import * as v from 'valibot';
import type { Direction, UndoReason } from '../../common/messages.ts';
import { ADVERTISED_MS, advertisement, CLEAR, isLikeOurs, isNameable } from './rule.ts';

/** A steering that nothing confirms for this long is undone. */
export const STEERED_MS = 3_600_000;
/** Answers over TCP, although the browser had seen the advertisement, that show that it does not follow it. */
const MISSES_BEFORE_UNDO = 3;

export interface Steering {
  readonly origin: Origin;
  readonly direction: Direction;
  readonly ruleId: number;
  /** The network whose races justify it. */
  readonly network: string;
  readonly untilMs: number;
  /** When the browser last saw our advertisement; null: never, so nothing needs to be withdrawn. */
  readonly heardAtMs: number | null;
  /** Documents over TCP in a row since the advertisement was seen. */
  readonly misses: number;
  /** It is being withdrawn by a `clear` on its next page. */
  readonly undoing: boolean;
}

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

/** Whether an Alt-Svc header on an answer of this origin was set by us rather than by the server. */
export function isOurs(state: SteerState, origin: Origin, altSvc: string): boolean {
  // A rule replaces what the server sent, and answers in flight when it changes still carry the previous one.
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

/** One answer over the network, with the header as the browser saw it. */
export interface SteeredAnswer {
  readonly origin: Origin;
  readonly h3: boolean;
  /** Whether it was a top-level document. */
  readonly document: boolean;
  readonly altSvc: string | null;
  readonly atMs: number;
}

/** What an answer shows: that our header was seen, that its withdrawal was, or that the browser does not follow it. */
export function withAnswer(state: SteerState, answer: SteeredAnswer): SteerState {
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

/** Storing each answer's time would write to storage for every request; a tenth of the lifetime is precise enough. */
function heardAt({ origin, heardAtMs }: Steering, altSvc: string | null, atMs: number): number | null {
  if (altSvc !== advertisement(origin)) return heardAtMs;
  return heardAtMs === null || atMs - heardAtMs >= ADVERTISED_MS / 10 ? atMs : heardAtMs;
}

export const STATE_VERSION = 1;
const time = v.pipe(v.number(), v.finite());
const storedSchema = v.object({
  version: v.literal(STATE_VERSION),
  chosen: v.array(originSchema),
  steerings: v.array(
    v.object({
      origin: originSchema,
      direction: v.picklist(['to-h3', 'from-h3']),
      ruleId: v.pipe(v.number(), v.integer(), v.minValue(1)),
      network: v.string(),
      untilMs: time,
      heardAtMs: v.nullable(time),
      misses: v.pipe(v.number(), v.integer(), v.minValue(0)),
      undoing: v.boolean(),
    }),
  ),
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
