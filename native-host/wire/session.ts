// One session with one extension: requests in, replies out, races running concurrently. Independent of pipes and
// sockets, which are passed in. A forecast is answered when it is read, so it never waits behind a race.

import type { SentReply } from '@photofinish/shared/port/reply';
import {
  briefReplySchema,
  type DoctorFinding,
  MAX_FINDING_CHARS,
  NETWORK_CHANGED,
  type Progress,
  type Request,
  requestSchema,
  WIRE_ERRORS,
  WIRE_PROTOCOL,
  type WireErrorCode,
} from '@photofinish/shared/port/wire';
import type { OriginRace } from '@photofinish/shared/race/outcome';
import type { Mode } from '@photofinish/shared/race/terms';
import { UNIDENTIFIED } from '@photofinish/shared/web/network-name';
import type { Origin } from '@photofinish/shared/web/origin';
import { messageOf } from '@photofinish/shared/web/untrusted';
import * as v from 'valibot';
import { CacheUnavailable } from '../cache/database.ts';
import type { HostCache } from '../cache/store.ts';
import type { Log } from '../log.ts';
import { mayBeNamed } from '../network/key.ts';
import type { Network } from '../network/watch.ts';
import type { RaceBudget, RaceSlot } from '../race/budget.ts';

/** The options of a race that a message may set; the helper decides all others. */
interface RaceOrder {
  readonly origin: Origin;
  readonly mode: Mode;
  /** Null: the mode's default. */
  readonly startDelayMs: number | null;
  readonly network: string;
  readonly signal: AbortSignal;
  readonly onProgress: (progress: Omit<Progress, 'id' | 'type'>) => void;
}

/** Runs a race to its end and stores the outcome; an abort ends it at once. */
export type RaceRunner = (order: RaceOrder) => Promise<OriginRace>;

interface SessionParts {
  readonly program: string;
  readonly cache: HostCache;
  readonly network: Network;
  readonly budget: RaceBudget;
  readonly race: RaceRunner;
  readonly doctor: () => Promise<readonly DoctorFinding[]>;
  /** Shares the outcome of a race with the organisation's other machines; returns at once. */
  readonly share?: (race: OriginRace) => void;
  readonly send: (reply: SentReply) => void;
  readonly log: Log;
}

interface RunningRace {
  /** Its reason is the message of the race's error. */
  readonly abort: AbortController;
  readonly done: Promise<void>;
}

type RequestOf<T extends Request['type']> = Extract<Request, { type: T }>;

/** A forecast later than this is for a page that is already loading; then data of all networks is used instead. */
const MAX_READ_WAIT_MS = 150;

const REQUEST_TYPES = new Set<string>(requestSchema.options.map((option) => option.entries.type.literal));

/** The id of a message of any content; 0 if it has none. */
function idOf(message: unknown): number {
  const id = typeof message === 'object' && message !== null && 'id' in message ? message.id : 0;
  return typeof id === 'number' && Number.isSafeInteger(id) && id >= 0 ? id : 0;
}

function typeOf(message: unknown): string | null {
  const type = typeof message === 'object' && message !== null && 'type' in message ? message.type : null;
  return typeof type === 'string' ? type : null;
}

/** It may contain what a launcher printed. */
function boundedFinding({ text, remedy, ...finding }: DoctorFinding): DoctorFinding {
  const cut = (words: string): string => words.slice(0, MAX_FINDING_CHARS);
  return { ...finding, text: cut(text), remedy: remedy === null ? null : cut(remedy) };
}

/** One handler per request; races run concurrently. Handles messages from the first one on, until `end`. */
export class Session {
  readonly #parts: SessionParts;
  readonly #running = new Map<number, RunningRace>();
  #greeted = false;
  #readsVerdictData = false;
  #readsSharedForecasts = false;
  #ended = false;
  #wipes = 0;
  #examination: Promise<readonly DoctorFinding[]> | null = null;

  readonly #handlers: { readonly [T in Request['type']]: (request: RequestOf<T>) => void } = {
    hello: (request) => this.#hello(request),
    forecast: (request) => this.#forecast(request),
    race: (request) => this.#startRace(request),
    observed: (request) => this.#observed(request),
    cancel: (request) => this.#cancel(request),
    stats: (request) => this.#stats(request),
    wipe: (request) => this.#wipe(request),
    doctor: (request) => this.#doctor(request),
    networks: (request) => this.#certain(request, (key) => this.#sendNetworks(request.id, key)),
    'name-network': (request) => this.#nameNetwork(request),
  };

  constructor(parts: SessionParts) {
    this.#parts = parts;
  }

  /** Handles one decoded message of any content. Never throws. */
  receive(message: unknown): void {
    const id = idOf(message);
    const type = typeOf(message);
    if (type !== null && !REQUEST_TYPES.has(type)) {
      this.#fail(id, 'unknown-type', `there is no message of type "${type.slice(0, 64)}"`);
      return;
    }
    const parsed = v.safeParse(requestSchema, message, { abortEarly: true });
    if (!parsed.success) {
      const [issue] = parsed.issues;
      this.#fail(id, 'bad-message', `${v.getDotPath(issue) ?? 'message'}: ${issue.message}`.slice(0, 512));
      return;
    }
    const request = parsed.output;
    if (!this.#greeted && request.type !== 'hello') this.#fail(id, 'hello-first');
    else if (this.#running.has(request.id)) this.#fail(id, 'duplicate-id');
    else this.#handle(request);
  }

  /** Reports a frame that could not be read to the other side. */
  refuse(code: WireErrorCode, message: string): void {
    this.#fail(0, code, message);
  }

  /** Cancels every race and resolves when they have ended; nothing is sent any more. */
  async end(): Promise<void> {
    this.#ended = true;
    for (const race of this.#running.values()) race.abort.abort();
    await Promise.all([...this.#running.values()].map((race) => race.done));
  }

  #handle(request: Request): void {
    try {
      (this.#handlers[request.type] as (request: Request) => void)(request);
    } catch (error) {
      this.#failed(request.id, request.type, error);
    }
  }

  /** A reply that violates its schema would end every other request on the port, so it is withheld. */
  #send(reply: SentReply, schema: v.GenericSchema<SentReply> = briefReplySchema): void {
    if (this.#ended) return;
    const checked = v.safeParse(schema, reply, { abortEarly: true });
    if (checked.success) {
      this.#parts.send(reply);
      return;
    }
    const [issue] = checked.issues;
    this.#parts.log.write('bad-reply', {
      type: reply.type,
      where: v.getDotPath(issue),
      expected: issue.expected,
    });
    if (reply.type !== 'progress') this.#fail(reply.id, 'bad-reply');
  }

  #fail(id: number, code: WireErrorCode, message: string = WIRE_ERRORS[code]): void {
    this.#send({ id, type: 'error', code, message: message.slice(0, MAX_FINDING_CHARS) });
  }

  /** Logs where an error happened, without its message, which may contain a host. */
  #logError(type: string, error: unknown): void {
    const where = error instanceof Error ? error.stack?.split('\n').slice(1, 6) : undefined;
    this.#parts.log.write('error', { type, name: error instanceof Error ? error.name : typeof error, where });
  }

  #failed(id: number, type: string, error: unknown): void {
    if (error instanceof CacheUnavailable) {
      this.#fail(id, 'cache-unavailable', `${WIRE_ERRORS['cache-unavailable']}: ${error.message}`);
      return;
    }
    this.#logError(type, error);
    this.#fail(id, 'internal');
  }

  #hello(request: RequestOf<'hello'>): void {
    if (request.protocol !== WIRE_PROTOCOL) {
      const older = request.protocol < WIRE_PROTOCOL ? 'extension' : 'helper';
      const message = `this helper speaks protocol ${WIRE_PROTOCOL} and the extension ${request.protocol}; update the ${older}`;
      this.#fail(request.id, 'bad-protocol', message);
      return;
    }
    this.#greeted = true;
    this.#readsVerdictData = request.verdictData === true;
    this.#readsSharedForecasts = request.sharedForecasts === true;
    this.#send({ id: request.id, type: 'hello', protocol: WIRE_PROTOCOL, program: this.#parts.program });
  }

  /** Calls `act` with the network's key: at once if it is known, otherwise when it is settled or after `maxWaitMs`. */
  #under(key: string | null, { id, type }: Request, act: (key: string) => void, maxWaitMs?: number): void {
    if (key !== null) act(key);
    else
      void this.#parts.network
        .settled(maxWaitMs)
        .then(act)
        .catch((error) => this.#failed(id, type, error));
  }

  /** For what needs the key itself: waits until it is certain, which it nearly always is. */
  #certain(request: Request, act: (key: string) => void): void {
    this.#under(this.#parts.network.settledKey(), request, act);
  }

  #forecast(request: RequestOf<'forecast'>): void {
    const { id, browser, site, origins } = request;
    // An older extension takes a basis that it does not know for a damaged reply.
    const shared = this.#readsSharedForecasts;
    const answer = (key: string): void => {
      // What is merely not identified yet is no other network.
      const isKnown = key !== UNIDENTIFIED || this.#parts.network.key() === UNIDENTIFIED;
      this.#send({
        id,
        type: 'forecast',
        forecasts: this.#parts.cache.forecast({ network: key, browser, site, origins, shared }),
        ...(isKnown && { network: key }),
      });
    };
    this.#under(this.#parts.network.key(), request, answer, MAX_READ_WAIT_MS);
  }

  #observed(request: RequestOf<'observed'>): void {
    const { id, browser, observations } = request;
    const wipes = this.#wipes;
    this.#certain(request, () => {
      // Observations wiped in the meantime are not written.
      const wanted = wipes === this.#wipes ? observations : [];
      const byNetwork = Map.groupBy(wanted, ({ atMs }) => this.#parts.network.keyAt(atMs));
      // A network that cannot be identified has no rows.
      byNetwork.delete(UNIDENTIFIED);
      let stored = 0;
      let refused: string | null = null;
      for (const [key, there] of byNetwork) {
        stored += this.#parts.cache.observe(key, browser, there);
        const { store, storeReason } = this.#parts.cache.store();
        if (store === 'memory') refused = storeReason ?? '';
      }
      // Forecasts use what is in memory, but it is lost with this process, so the sender has to keep it.
      if (refused !== null) throw new CacheUnavailable(refused);
      this.#send({ id, type: 'observed', stored });
    });
  }

  async #runRace(
    { id, origin, mode, startDelayMs, share }: RequestOf<'race'>,
    abort: AbortController,
    slot: RaceSlot,
  ): Promise<void> {
    const key = await this.#parts.network.settled();
    const stopWatching = this.#parts.network.watch(key, () =>
      abort.abort(new DOMException(NETWORK_CHANGED, 'AbortError')),
    );
    try {
      const race = await this.#parts.race({
        origin,
        mode,
        startDelayMs: startDelayMs ?? null,
        network: key,
        signal: abort.signal,
        onProgress: (progress) => {
          if (progress.event === 'started') slot.countAttempt();
          if (!abort.signal.aborted) this.#send({ id, type: 'progress', ...progress });
        },
      });
      const { raceReplySchema } = await import('@photofinish/shared/port/reply');
      const reply = this.#readsVerdictData ? race : (await import('./race-over-port.ts')).raceInText(race);
      if (abort.signal.aborted) return this.#cancelled(id, abort);
      if (share === true && this.#parts.network.isStill(key)) this.#parts.share?.(race);
      this.#parts.log.write('race', {
        host: this.#parts.log.digest(origin),
        mode,
        verdict: race.verdict.code,
        error: race.error?.code,
      });
      if (race.error?.code === 'blocked') this.#fail(id, 'blocked', race.error.message);
      else this.#send({ ...reply, id, type: 'race' }, raceReplySchema);
    } finally {
      stopWatching();
    }
  }

  #cancelled(id: number, { signal }: AbortController): void {
    this.#fail(id, 'cancelled', signal.reason?.message === NETWORK_CHANGED ? NETWORK_CHANGED : undefined);
  }

  #startRace(request: RequestOf<'race'>): void {
    const { id } = request;
    const slot = this.#parts.budget.take(request.reason);
    if (slot === null) {
      this.#fail(id, 'too-many-races');
      return;
    }
    const abort = new AbortController();
    const done = this.#runRace(request, abort, slot)
      .catch((error) => {
        if (abort.signal.aborted) return this.#cancelled(id, abort);
        this.#logError('race', error);
        this.#fail(id, 'race-failed', messageOf(error));
      })
      .finally(() => {
        this.#running.delete(id);
        slot.release();
      });
    this.#running.set(id, { abort, done });
  }

  #cancel({ id, target }: RequestOf<'cancel'>): void {
    const race = this.#running.get(target);
    race?.abort.abort();
    this.#send({ id, type: 'cancel', cancelled: race !== undefined });
  }

  #stats(request: RequestOf<'stats'>): void {
    this.#certain(request, (key) =>
      this.#send({ id: request.id, type: 'stats', ...this.#parts.cache.stats(), network: key }),
    );
  }

  #wipe({ id }: RequestOf<'wipe'>): void {
    // A race in progress would write history again.
    this.#wipes += 1;
    for (const race of this.#running.values()) race.abort.abort();
    const wiped = this.#parts.cache.wipe();
    this.#parts.log.wipe();
    this.#send({ id, type: 'wipe', wiped });
  }

  #sendNetworks(id: number, current: string): void {
    const names = this.#parts.cache.networkNames();
    const known = new Set([...names.keys(), ...(mayBeNamed(current) ? [current] : [])]);
    const networks = [...known].map((key) => ({
      network: key,
      name: names.get(key) ?? null,
      current: key === current,
    }));
    this.#send({ id, type: 'networks', networks });
  }

  /**
   * An examination starts every browser's launcher, so there is one at a time, shared by all requests in the meantime.
   */
  #doctor({ id, type }: RequestOf<'doctor'>): void {
    this.#examination ??= this.#parts.doctor().finally(() => {
      this.#examination = null;
    });
    void this.#examination.then(
      (findings) => this.#send({ id, type, findings: findings.map(boundedFinding) }),
      (error) => this.#failed(id, type, error),
    );
  }

  #nameNetwork(request: RequestOf<'name-network'>): void {
    if (!mayBeNamed(request.network)) {
      this.#fail(request.id, 'bad-network');
      return;
    }
    this.#parts.cache.nameNetwork(request.network, request.name);
    this.#certain(request, (key) => this.#sendNetworks(request.id, key));
  }
}
