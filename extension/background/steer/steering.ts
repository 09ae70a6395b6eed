// Steering at runtime, in Firefox only: keeps the state in the extension's store and the browser's rules in step with
// it. The only owner of dynamic rules. Every change goes through one queue, state first, then rules, so that an
// interruption between the two is repaired at the next start.
import type { Forecast } from '@photofinish/shared/port/wire';
import { type Origin, originOfUrl } from '@photofinish/shared/web/origin';
import { dropOldest } from '../../common/drop-oldest.ts';
import type { SteerView } from '../../common/messages.ts';
import { type Store, update } from '../../common/store/store.ts';
import type { EndedRequest } from '../observe/requests.ts';
import {
  allUndone,
  directionFor,
  expired,
  headerOf,
  isLikeOurs,
  isOurs,
  isRuleless,
  NOTHING_STEERED,
  onNetwork,
  type Rule,
  reachOf,
  ruleFor,
  STATE_VERSION,
  type SteerEvidence,
  type SteeredResponse,
  type SteerState,
  steeringOf,
  steerStateOf,
  withChoice,
  withEvidence,
  withResponse,
} from './steering-state.ts';

/** The part of the browser that is used. */
export interface SteerDeps {
  readonly store: Pick<Store, 'get' | 'replace'>;
  readonly rules: {
    getDynamicRules(): Promise<readonly { readonly id: number }[]>;
    updateDynamicRules(change: { removeRuleIds: number[]; addRules: Rule[] }): Promise<void>;
  };
  /** Whether the server itself advertises HTTP/3 on any site, according to the ledger. */
  readonly advertised: (origin: Origin) => Promise<boolean>;
  readonly nowMs: () => number;
  /** Something changed, or was found at startup; `steering`: whether anything is steered or being undone. */
  readonly onChange: (steering: boolean) => void;
}

const KEY = 'steering';
/** Forecasts kept for later choices: those of the pages in view, and many more. */
const MAX_FORECASTS = 1000;
/** Responses in flight when a rule ended may still carry its header for this long. */
const LATE_MS = 10_000;
function sameRule(a: SteerState['steerings'][number] | undefined, b: typeof a): boolean {
  return a !== undefined && b !== undefined && a.ruleId === b.ruleId && headerOf(a) === headerOf(b);
}

/**
 * Loads the state and synchronises the browser's rules with it. If there are none, the browser is not even queried:
 * from the first call on, Firefox evaluates rules for every request until it exits, which takes about as long as
 * reporting the request to a listener.
 */
export async function openSteering(deps: SteerDeps): Promise<Steering> {
  const { value } = await deps.store.get(KEY);
  const steering = new Steering(deps, steerStateOf(value) ?? NOTHING_STEERED, isRuleless(value));
  await steering.begin();
  return steering;
}

export class Steering {
  readonly #deps: SteerDeps;
  #state: SteerState;
  /** It is certain, and stored, that the browser has no rule of ours. */
  #ruleless: boolean;
  #enabled = true;
  #queue: Promise<unknown> = Promise.resolve();
  readonly #newest = new Map<Origin, Forecast>();
  /** Origins whose rule ended during this background's lifetime, and when. */
  readonly #ended = new Map<Origin, number>();

  constructor(deps: SteerDeps, loaded: SteerState, ruleless: boolean) {
    this.#deps = deps;
    this.#state = loaded;
    this.#ruleless = ruleless;
  }

  /** Synchronises the browser's rules with the state. */
  async begin(): Promise<void> {
    if (!this.#ruleless) await this.#inStep();
    this.#deps.onChange(this.#state.steerings.length > 0);
  }

  /** Whether a received Alt-Svc header was set by us. */
  isOurs(origin: Origin, altSvc: string): boolean {
    return isOurs(this.#state, origin, altSvc) || (isLikeOurs(origin, altSvc) && this.#endedLately(origin));
  }

  /** The master switch; off undoes everything. */
  async enable(on: boolean): Promise<void> {
    this.#enabled = on;
    if (!on) await this.#change((from) => allUndone(from, this.#deps.nowMs()));
  }

  /** The user's choice for one origin, applied with its latest forecast. */
  choose(origin: Origin, on: boolean, network: string): Promise<void> {
    return this.#change((from) => {
      const chosen = withChoice(from, origin, on, this.#deps.nowMs());
      const forecast = this.#newest.get(origin);
      return on && forecast !== undefined
        ? this.#withForecast(chosen, forecast, { network, anew: true })
        : chosen;
    });
  }

  /** What the helper reports before a navigation, or with `anew` after a race. */
  async forecast(forecasts: readonly Forecast[], network: string, anew: boolean): Promise<void> {
    for (const forecast of forecasts) this.#keep(forecast);
    const wanted = forecasts.filter(({ origin }) => this.#state.chosen.includes(origin));
    if (wanted.length === 0) return;
    await this.#change(async (from) => {
      let next = from;
      for (const forecast of wanted) next = await this.#withForecast(next, forecast, { network, anew });
      return next;
    });
  }

  onNetwork(network: string): Promise<void> {
    // What was forecast on another network proves nothing here.
    this.#newest.clear();
    return this.#change((from) => onNetwork(from, network, this.#deps.nowMs()));
  }

  answered(answer: SteeredResponse): void {
    if (steeringOf(this.#state, answer.origin) === undefined) return;
    this.#change((from) => withResponse(from, answer)).catch(console.error);
  }

  /** Undoes and forgets the choice of every origin that `refused` selects. */
  exclude(refused: (origin: Origin) => boolean): Promise<void> {
    return this.#change((from) =>
      from.chosen
        .filter(refused)
        .reduce((next, origin) => withChoice(next, origin, false, this.#deps.nowMs()), from),
    );
  }

  expire(): Promise<void> {
    return this.#change((from) => expired(from, this.#deps.nowMs()));
  }

  /** What the popup shows; `advertised`: the server itself advertises HTTP/3. */
  view(origin: Origin, advertised: boolean): SteerView {
    const active = steeringOf(this.#state, origin);
    const forecast = this.#newest.get(origin);
    const reach = forecast === undefined ? 'unknown' : reachOf(forecast.reachable);
    return {
      enabled: this.#enabled,
      chosen: this.#state.chosen.includes(origin),
      active: active
        ? { direction: active.direction, undoing: active.undoing, untilMs: active.untilMs }
        : null,
      possible: directionFor(origin, { reach, advertised }),
      undone: this.#state.undone[origin] ?? null,
    };
  }

  /** Undoes and forgets everything. */
  wipe(): Promise<void> {
    this.#newest.clear();
    return this.#change((from) => ({
      ...allUndone({ ...from, chosen: [] }, this.#deps.nowMs()),
      undone: {},
    }));
  }

  #ruleOf(s: SteerState['steerings'][number]): Rule {
    return ruleFor(s.ruleId, s.origin, headerOf(s));
  }

  async #inStep(): Promise<void> {
    const present = (await this.#deps.rules.getDynamicRules()).map(({ id }) => id);
    await this.#deps.rules.updateDynamicRules({
      removeRuleIds: present,
      addRules: this.#state.steerings.map((s) => this.#ruleOf(s)),
    });
    await this.#noteRules(this.#state);
  }

  #keepState(state: SteerState): Promise<void> {
    const stored = { ...state, version: STATE_VERSION, ruleless: this.#ruleless };
    return update(this.#deps.store, KEY, () => stored);
  }

  /** The browser's rules are those of this state now. */
  async #noteRules(state: SteerState): Promise<void> {
    if (state.steerings.length > 0) return;
    this.#ruleless = true;
    // If that fails, the next start asks the browser again.
    await this.#keepState(state).catch(console.error);
  }

  async #apply(before: SteerState, after: SteerState): Promise<void> {
    const origins = new Set([...before.steerings, ...after.steerings].map(({ origin }) => origin));
    const changed = [...origins].filter(
      (origin) => !sameRule(steeringOf(before, origin), steeringOf(after, origin)),
    );
    const ids = (of: SteerState) => changed.flatMap((origin) => steeringOf(of, origin) ?? []);
    if (changed.length > 0) this.#ruleless = false;
    // Before the rules: a background that is terminated in between sets them again.
    await this.#keepState(after);
    if (changed.length > 0) {
      await this.#deps.rules.updateDynamicRules({
        removeRuleIds: ids(before).map(({ ruleId }) => ruleId),
        addRules: ids(after).map((s) => this.#ruleOf(s)),
      });
      await this.#noteRules(after);
    }
    this.#deps.onChange(after.steerings.length > 0);
  }

  #change(step: (state: SteerState) => SteerState | Promise<SteerState>): Promise<void> {
    const done = this.#queue.then(async () => {
      const before = this.#state;
      const after = await step(before);
      if (after === before) return;
      this.#state = after;
      for (const { origin } of before.steerings)
        if (steeringOf(after, origin) === undefined) this.#ended.set(origin, this.#deps.nowMs());
      await this.#apply(before, after);
    });
    // The caller learns of a failure; the next change does not inherit it, and sets all rules again.
    this.#queue = done.catch(() => this.#inStep()).catch(() => {});
    return done;
  }

  async #withForecast(
    from: SteerState,
    { origin, reachable }: Forecast,
    where: Pick<SteerEvidence, 'network' | 'anew'>,
  ): Promise<SteerState> {
    if (!this.#enabled) return from;
    const evidence = { ...where, reach: reachOf(reachable), advertised: await this.#deps.advertised(origin) };
    return withEvidence(from, origin, evidence, this.#deps.nowMs());
  }

  #endedLately(origin: Origin): boolean {
    return this.#deps.nowMs() - (this.#ended.get(origin) ?? Number.NEGATIVE_INFINITY) < LATE_MS;
  }

  #keep(forecast: Forecast): void {
    this.#newest.delete(forecast.origin);
    this.#newest.set(forecast.origin, forecast);
    dropOldest(this.#newest, MAX_FORECASTS);
  }
}

// Steering on Firefox's real APIs; Chromium supports none of it.

export const STEER_ALARM = 'steering';
/** Rules outlive the background, so an alarm removes those that have expired. */
const LOOK_MINUTES = 5;

async function keepAlarm(steering: boolean): Promise<void> {
  if (!steering) await chrome.alarms.clear(STEER_ALARM);
  else if ((await chrome.alarms.get(STEER_ALARM)) === undefined)
    await chrome.alarms.create(STEER_ALARM, { periodInMinutes: LOOK_MINUTES });
}

/** Rejects when the store or rules fail. */
export async function openBrowserSteering({
  onChange,
  ...deps
}: Pick<SteerDeps, 'advertised' | 'nowMs' | 'onChange' | 'store'>): Promise<Steering> {
  return openSteering({
    ...deps,
    rules: {
      getDynamicRules: () => chrome.declarativeNetRequest.getDynamicRules(),
      updateDynamicRules: (change) =>
        chrome.declarativeNetRequest.updateDynamicRules(
          change as unknown as chrome.declarativeNetRequest.UpdateRuleOptions,
        ),
    },
    onChange(steering) {
      keepAlarm(steering).catch(console.error);
      onChange(steering);
    },
  });
}

// Responses of a steered browser as their servers sent them: the header that steering set does not come from the
// server, so only steering itself may see it. Pure.

/** What steering learns from a response; null: nothing, because it did not come over the network now. */
export function responseOf(request: EndedRequest): SteeredResponse | null {
  const { url, altSvc, protocol, kind, hop, fromCache, atMs } = request;
  if (fromCache || protocol === null) return null;
  const origin = originOfUrl(url)?.origin;
  return origin === undefined
    ? null
    : { origin, h3: protocol === 'h3', document: kind === 'navigation' && !hop, altSvc, atMs };
}

/** The request without our own header; `steering` is null until its state is loaded. */
export function asServed(request: EndedRequest, steering: Pick<Steering, 'isOurs'> | null): EndedRequest {
  const { altSvc, fromCache, url } = request;
  if (altSvc === null) return request;
  // A stored response repeats its original header, from a time when its origin may still have been steered.
  if (fromCache) return { ...request, altSvc: null };
  const origin = originOfUrl(url)?.origin;
  if (origin === undefined) return request;
  // Until the state is loaded, the header may be ours or the server's; ignoring one once does no harm.
  const own = steering === null ? isLikeOurs(origin, altSvc) : steering.isOurs(origin, altSvc);
  return own ? { ...request, altSvc: null } : request;
}
