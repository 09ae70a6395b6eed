// Steering at work, in Firefox only: keeps the state in the extension's store and the browser's rules in step with
// it. The one owner of dynamic rules. Every change goes through one queue: state first, then rules, so that whatever
// dies in between is put right at the next start.
import type { Forecast } from '@photofinish/shared/port/forecast';
import type { Origin } from '@photofinish/shared/web/origin';
import { dropOldest } from '../../common/drop-oldest.ts';
import type { SteerView } from '../../common/messages.ts';
import { type Store, update } from '../../common/store/store.ts';
import {
  allUndone,
  directionFor,
  expired,
  headerOf,
  isOurs,
  NOTHING_STEERED,
  onNetwork,
  reachOf,
  STATE_VERSION,
  type SteerEvidence,
  type SteeredAnswer,
  type SteerState,
  steeringOf,
  steerStateOf,
  withAnswer,
  withChoice,
  withEvidence,
} from './plan.ts';
import { isLikeOurs, type Rule, ruleFor } from './rule.ts';

/** What of the browser is used. */
export interface SteerDeps {
  readonly store: Pick<Store, 'get' | 'replace'>;
  readonly rules: {
    getDynamicRules(): Promise<readonly { readonly id: number }[]>;
    updateDynamicRules(change: { removeRuleIds: number[]; addRules: Rule[] }): Promise<void>;
  };
  /** Whether the server itself advertises HTTP/3 on any site, by the ledger. */
  readonly advertised: (origin: Origin) => Promise<boolean>;
  readonly nowMs: () => number;
  /** Something changed, or was found at the start; `steering`: whether anything is steered or being undone. */
  readonly onChange: (steering: boolean) => void;
}

export interface Steering {
  /** Whether an Alt-Svc header that was seen is our own doing. */
  isOurs(origin: Origin, altSvc: string): boolean;
  /** The master switch; off undoes everything. */
  enable(on: boolean): Promise<void>;
  /** The user's choice for one origin, acted on by what was forecast of it last. */
  choose(origin: Origin, on: boolean, network: string): Promise<void>;
  /** What the helper says before a navigation, or `anew` after a race. */
  forecast(forecasts: readonly Forecast[], network: string, anew: boolean): Promise<void>;
  /** Undoes and forgets the choice of every origin that `refused` picks. */
  exclude(refused: (origin: Origin) => boolean): Promise<void>;
  onNetwork(network: string): Promise<void>;
  answered(answer: SteeredAnswer): void;
  expire(): Promise<void>;
  /** What the popup says; `advertised`: the server does so itself. */
  view(origin: Origin, advertised: boolean): SteerView;
  /** Undoes and forgets everything. */
  wipe(): Promise<void>;
}

const KEY = 'steering';
/** Forecasts kept for choices to come: those of the pages in view, and many more. */
const MAX_FORECASTS = 1000;
/** Answers that were on their way when a rule ended still come with its header for so long. */
const LATE_MS = 10_000;
function sameRule(a: SteerState['steerings'][number] | undefined, b: typeof a): boolean {
  return a !== undefined && b !== undefined && a.ruleId === b.ruleId && headerOf(a) === headerOf(b);
}

/** Loads the state and puts the browser's rules in step with it. */
export async function openSteering(deps: SteerDeps): Promise<Steering> {
  const { store, rules, nowMs } = deps;
  let state: SteerState = steerStateOf((await store.get(KEY)).value) ?? NOTHING_STEERED;
  let enabled = true;
  let queue: Promise<unknown> = Promise.resolve();
  const newest = new Map<Origin, Forecast>();
  /** Origins whose rule ended in this life of the background, and when. */
  const ended = new Map<Origin, number>();

  const ruleOf = (s: SteerState['steerings'][number]): Rule => ruleFor(s.ruleId, s.origin, headerOf(s));

  const inStep = async (): Promise<void> => {
    const present = (await rules.getDynamicRules()).map(({ id }) => id);
    await rules.updateDynamicRules({ removeRuleIds: present, addRules: state.steerings.map(ruleOf) });
  };

  const apply = async (before: SteerState, after: SteerState): Promise<void> => {
    await update(store, KEY, () => ({ ...after, version: STATE_VERSION }));
    const origins = new Set([...before.steerings, ...after.steerings].map(({ origin }) => origin));
    const changed = [...origins].filter(
      (origin) => !sameRule(steeringOf(before, origin), steeringOf(after, origin)),
    );
    const ids = (of: SteerState) => changed.flatMap((origin) => steeringOf(of, origin) ?? []);
    if (changed.length > 0)
      await rules.updateDynamicRules({
        removeRuleIds: ids(before).map(({ ruleId }) => ruleId),
        addRules: ids(after).map(ruleOf),
      });
    deps.onChange(after.steerings.length > 0);
  };

  const change = (step: (state: SteerState) => SteerState | Promise<SteerState>): Promise<void> => {
    const done = queue.then(async () => {
      const before = state;
      const after = await step(before);
      if (after === before) return;
      state = after;
      for (const { origin } of before.steerings)
        if (steeringOf(after, origin) === undefined) ended.set(origin, nowMs());
      await apply(before, after);
    });
    // Whoever asked hears of a failure; the next change does not inherit it, and sets all rules right again.
    queue = done.catch(inStep).catch(() => {});
    return done;
  };

  const withForecast = async (
    from: SteerState,
    { origin, reachable }: Forecast,
    where: Pick<SteerEvidence, 'network' | 'anew'>,
  ): Promise<SteerState> => {
    if (!enabled) return from;
    const evidence = { ...where, reach: reachOf(reachable), advertised: await deps.advertised(origin) };
    return withEvidence(from, origin, evidence, nowMs());
  };

  const endedLately = (origin: Origin): boolean =>
    nowMs() - (ended.get(origin) ?? Number.NEGATIVE_INFINITY) < LATE_MS;

  const keep = (forecast: Forecast): void => {
    newest.delete(forecast.origin);
    newest.set(forecast.origin, forecast);
    dropOldest(newest, MAX_FORECASTS);
  };

  await inStep();
  deps.onChange(state.steerings.length > 0);

  return {
    isOurs: (origin, altSvc) =>
      isOurs(state, origin, altSvc) || (isLikeOurs(origin, altSvc) && endedLately(origin)),
    async enable(on) {
      enabled = on;
      if (!on) await change((from) => allUndone(from, nowMs()));
    },
    choose: (origin, on, network) =>
      change((from) => {
        const chosen = withChoice(from, origin, on, nowMs());
        const forecast = newest.get(origin);
        return on && forecast !== undefined
          ? withForecast(chosen, forecast, { network, anew: true })
          : chosen;
      }),
    async forecast(forecasts, network, anew) {
      for (const forecast of forecasts) keep(forecast);
      const wanted = forecasts.filter(({ origin }) => state.chosen.includes(origin));
      if (wanted.length === 0) return;
      await change(async (from) => {
        let next = from;
        for (const forecast of wanted) next = await withForecast(next, forecast, { network, anew });
        return next;
      });
    },
    onNetwork(network) {
      // What was forecast on another network proves nothing here.
      newest.clear();
      return change((from) => onNetwork(from, network, nowMs()));
    },
    answered(answer) {
      if (steeringOf(state, answer.origin) === undefined) return;
      change((from) => withAnswer(from, answer)).catch(console.error);
    },
    exclude: (refused) =>
      change((from) =>
        from.chosen.filter(refused).reduce((next, origin) => withChoice(next, origin, false, nowMs()), from),
      ),
    expire: () => change((from) => expired(from, nowMs())),
    view(origin, advertised) {
      const active = steeringOf(state, origin);
      const forecast = newest.get(origin);
      const reach = forecast === undefined ? 'unknown' : reachOf(forecast.reachable);
      return {
        enabled,
        chosen: state.chosen.includes(origin),
        active: active
          ? { direction: active.direction, undoing: active.undoing, untilMs: active.untilMs }
          : null,
        possible: directionFor(origin, { reach, advertised }),
        undone: state.undone[origin] ?? null,
      };
    },
    wipe() {
      newest.clear();
      return change((from) => ({ ...allUndone({ ...from, chosen: [] }, nowMs()), undone: {} }));
    },
  };
}
