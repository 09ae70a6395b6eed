// The helper as the rest of the extension sees it: forecasts, races and observations as typed calls, each with its own
// time-out. Everything here rejects with a HelperError; nothing else in the extension knows the wire format.
import type { DoctorFinding } from '@photofinish/shared/port/doctor';
import type { Forecast } from '@photofinish/shared/port/forecast';
import type { Progress } from '@photofinish/shared/port/wire';
import type { OriginRace } from '@photofinish/shared/race/outcome';
import type { Mode } from '@photofinish/shared/race/terms';
import type { NamedNetwork } from '@photofinish/shared/web/network-name';
import type { Browser, Observation } from '@photofinish/shared/web/observation';
import type { Origin } from '@photofinish/shared/web/origin';
import { HelperError } from '../../common/helper/state.ts';
import type { Answer, HelperPort, Question } from './port.ts';

/** A later forecast is useless: the page has loaded by then. */
const FORECAST_TIMEOUT_MS = 5000;
/** A comparison's longest silence is one attempt's time-out (3 s) after waiting for a free slot. */
const RACE_TIMEOUT_MS = 30_000;
const STORE_TIMEOUT_MS = 15_000;
/** The doctor starts the helper through every browser's launcher and waits for its hello. */
const DOCTOR_TIMEOUT_MS = 30_000;

/** How an origin is to be raced. */
export interface RaceOrder {
  readonly origin: Origin;
  readonly mode: Mode;
  /** Whether the user requested it or a visit triggered it. */
  readonly reason: 'click' | 'navigation';
  /** Null: the mode's default. */
  readonly startDelayMs: number | null;
  /** Whether a helper that shares outcomes with an organisation's other machines may share this one. */
  readonly share: boolean;
}

/** Each protocol alone, in pairs: the input of the photo finish and the gain. */
export function comparison(origin: Origin): RaceOrder {
  return { origin, mode: 'compare', reason: 'click', startDelayMs: null, share: false };
}

export interface RunningRace {
  readonly result: Promise<OriginRace>;
  /** Asks the helper to stop; the result then rejects with `cancelled`. */
  cancel(): void;
}

function expected<Type extends Answer['type']>(answer: Answer, type: Type): Extract<Answer, { type: Type }> {
  if (answer.type === type) return answer as Extract<Answer, { type: Type }>;
  throw new HelperError('helper-bad-reply', `the helper replied ${answer.type} instead of ${type}`);
}

export class Helper {
  readonly #port: HelperPort;
  readonly #browser: Browser;
  readonly #onNetwork: (network: string) => void;

  /** `onNetwork` receives the label of the network that each forecast applies to. */
  constructor(port: HelperPort, browser: Browser, onNetwork: (network: string) => void) {
    this.#port = port;
    this.#browser = browser;
    this.#onNetwork = onNetwork;
  }

  async forecast(site: string, origins: readonly Origin[]): Promise<readonly Forecast[]> {
    const question: Question = { type: 'forecast', browser: this.#browser, site, origins: [...origins] };
    const { forecasts, network } = await this.#answer(question, 'forecast', FORECAST_TIMEOUT_MS);
    // Where the network is still being identified, it is asked for again and waited for.
    if (network !== undefined) this.#onNetwork(network);
    else this.network().then(this.#onNetwork, () => {});
    return forecasts;
  }

  race({ startDelayMs, ...order }: RaceOrder, onProgress: (progress: Progress) => void): RunningRace {
    const question: Question = { type: 'race', ...order, ...(startDelayMs !== null && { startDelayMs }) };
    const { id, reply } = this.#port.ask(question, { timeoutMs: RACE_TIMEOUT_MS, onProgress });
    return {
      result: reply.then((answer) => {
        const { id: _id, type: _type, ...race } = expected(answer, 'race');
        return race;
      }),
      cancel: () => {
        // The answer does not matter: the race's own reply says how it ended.
        this.#port.ask({ type: 'cancel', target: id }, { timeoutMs: STORE_TIMEOUT_MS }).reply.catch(() => {});
      },
    };
  }

  /** Resolves once the observations are durable in the helper. */
  async observed(observations: readonly Observation[]): Promise<void> {
    const question: Question = { type: 'observed', browser: this.#browser, observations: [...observations] };
    await this.#answer(question, 'observed');
  }

  /** The label of the network that the helper sees. */
  async network(): Promise<string> {
    return (await this.#answer({ type: 'stats' }, 'stats')).network;
  }

  /** Networks with names, and the current one. */
  async networks(): Promise<readonly NamedNetwork[]> {
    return (await this.#answer({ type: 'networks' }, 'networks')).networks;
  }

  /** Names a network, or removes its name. */
  async nameNetwork(network: string, name: string | null): Promise<readonly NamedNetwork[]> {
    return (await this.#answer({ type: 'name-network', network, name }, 'networks')).networks;
  }

  /** What the helper's doctor finds in its own installation. */
  async doctor(): Promise<readonly DoctorFinding[]> {
    return (await this.#answer({ type: 'doctor' }, 'doctor', DOCTOR_TIMEOUT_MS)).findings;
  }

  /** Empties the host cache; returns the number of records that were in it. */
  async wipe(): Promise<number> {
    return (await this.#answer({ type: 'wipe' }, 'wipe')).wiped;
  }

  async #answer<Type extends Answer['type']>(question: Question, type: Type, timeoutMs = STORE_TIMEOUT_MS) {
    return expected(await this.#port.ask(question, { timeoutMs }).reply, type);
  }
}
