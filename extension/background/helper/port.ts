// The only user of the native port: one long-lived connection, numbered requests, and replies validated against the
// wire's schemas. Requests do not wait for the answer to hello, because the port keeps their order. A connection lasts
// until the helper exits or violates the protocol; it is then reopened after a pause that grows with each failure.

import { type Reply, replySchema } from '@photofinish/shared/port/reply';
import { MAX_WHOLE_REPLY_BYTES, type Request, WIRE_PROTOCOL } from '@photofinish/shared/port/wire';
import * as v from 'valibot';
import type { Clock, NativePort } from '../../common/browser.ts';
import { getMessage } from '../../common/catalog.ts';
import {
  HelperError,
  stateAfterDisconnect,
  stateAfterRefusal,
  stateOfOtherVersion,
} from '../../common/helper/state.ts';
import type { HelperState } from '../../common/messages.ts';

export interface PortDeps {
  readonly connect: () => NativePort;
  readonly clock: Clock;
  /** Our name and version, as in `photofinish 1.0.0`. */
  readonly program: string;
  readonly onState: (state: HelperState) => void;
}

type OmitId<T> = T extends unknown ? Omit<T, 'id'> : never;
export type Question = OmitId<Exclude<Request, { type: 'hello' }>>;
export type Answer = Exclude<Reply, { type: 'progress' | 'error' | 'chunk' }>;

interface PendingRequest {
  readonly id: number;
  /** Rejects with a HelperError. */
  readonly reply: Promise<Answer>;
}

interface AskOptions {
  /** Without any message from the helper for this long, the request fails; each progress message restarts it. */
  readonly timeoutMs: number;
  readonly onProgress?: (progress: Extract<Reply, { type: 'progress' }>) => void;
}

/** Starting the helper takes 164 ms at worst on a cold disk; a machine stalled for a minute is not a broken helper. */
const HELLO_TIMEOUT_MS = 15_000;
const FIRST_RECONNECT_MS = 1000;
const LAST_RECONNECT_MS = 300_000;
/** A helper that says hello may still end soon after it, for instance at the first upload; one that lasts is sound. */
const LASTING_MS = 60_000;
const HELLO_ID = 0;

interface Connection {
  readonly port: NativePort;
  readonly pending: PendingReplies;
}

export class HelperPort {
  readonly #deps: PortDeps;
  #state: HelperState = { state: 'connecting' };
  #connection: Connection | null = null;
  #nextId = HELLO_ID + 1;
  #reconnectMs = FIRST_RECONNECT_MS;
  #cancelReconnect: (() => void) | null = null;

  constructor(deps: PortDeps) {
    this.#deps = deps;
  }

  get state(): HelperState {
    return this.#state;
  }

  /** Opens the port now, without waiting out a pause. */
  connect(): void {
    this.#reconnectMs = FIRST_RECONNECT_MS;
    this.#open();
  }

  /** Closes it and keeps it closed until `connect`: the user has not agreed to it. */
  forbid(): void {
    const closed = this.#connection;
    this.#connection = null;
    this.#cancelReconnect?.();
    this.#cancelReconnect = null;
    closed?.port.disconnect();
    this.#setState({ state: 'not-asked' });
    closed?.pending.rejectAll(new HelperError('helper-disconnected', 'the helper is not enabled'));
  }

  ask(question: Question, options: AskOptions): PendingRequest {
    const id = this.#nextId;
    this.#nextId += 1;
    if (this.#connection === null) {
      const code = this.#state.state === 'missing' ? 'helper-missing' : 'helper-disconnected';
      return { id, reply: Promise.reject(new HelperError(code, 'the helper is not connected')) };
    }
    const { port, pending } = this.#connection;
    const reply = pending.expect(id, options);
    try {
      port.postMessage({ ...question, id });
    } catch (error) {
      // The port closed a moment ago, and the browser has not reported that yet.
      pending.take({ id, type: 'error', code: 'internal', message: `the helper stopped (${error})` });
    }
    return { id, reply };
  }

  #setState(next: HelperState): void {
    this.#state = next;
    this.#deps.onState(next);
  }

  #lose(next: HelperState, error: HelperError): void {
    const lost = this.#connection;
    this.#connection = null;
    this.#setState(next);
    lost?.pending.rejectAll(error);
    this.#cancelReconnect?.();
    this.#cancelReconnect = this.#deps.clock.later(this.#reconnectMs, () => this.#open());
    this.#reconnectMs = Math.min(this.#reconnectMs * 2, LAST_RECONNECT_MS);
  }

  #hangUp(why: string): void {
    this.#connection?.port.disconnect();
    this.#lose({ state: 'crashed', message: why }, new HelperError('helper-bad-reply', why));
  }

  #greeted(opened: Connection, answer: Answer): void {
    if (answer.type !== 'hello') {
      this.#hangUp('the helper sent an invalid reply');
      return;
    }
    if (answer.protocol !== WIRE_PROTOCOL) {
      const { program, protocol: theirs } = answer;
      const message = getMessage('popupHelperVersions', { program, theirs, ours: WIRE_PROTOCOL });
      this.#connection?.port.disconnect();
      this.#lose(stateOfOtherVersion(theirs, message), new HelperError('bad-protocol', message));
      return;
    }
    this.#deps.clock.later(LASTING_MS, () => {
      if (opened === this.#connection) this.#reconnectMs = FIRST_RECONNECT_MS;
    });
    this.#setState({ state: 'ready', program: answer.program, network: 'unknown', networkName: null });
  }

  #refused(error: HelperError): void {
    this.#connection?.port.disconnect();
    this.#lose(stateAfterRefusal(error.code, error.message), error);
  }

  #receive(from: Connection, message: unknown): void {
    if (from !== this.#connection) return;
    const broken = from.pending.take(message);
    if (broken !== null) this.#hangUp(broken);
  }

  #open(): void {
    this.#cancelReconnect?.();
    this.#cancelReconnect = null;
    if (this.#connection !== null) return;
    if (this.#state.state !== 'connecting') this.#setState({ state: 'connecting' });
    const port = this.#deps.connect();
    const opened: Connection = { port, pending: new PendingReplies(this.#deps.clock) };
    this.#connection = opened;
    port.onMessage((message) => this.#receive(opened, message));
    port.onDisconnect((why) => {
      if (opened !== this.#connection) return;
      const next = stateAfterDisconnect(why);
      const code = next.state === 'missing' ? 'helper-missing' : 'helper-disconnected';
      this.#lose(next, new HelperError(code, why ?? 'the helper stopped'));
    });
    opened.pending.expect(HELLO_ID, { timeoutMs: HELLO_TIMEOUT_MS }).then(
      (answer) => this.#greeted(opened, answer),
      (error: HelperError) => {
        if (opened === this.#connection) this.#refused(error);
      },
    );
    const { program } = this.#deps;
    port.postMessage({
      type: 'hello',
      id: HELLO_ID,
      protocol: WIRE_PROTOCOL,
      program,
      verdictData: true,
      sharedForecasts: true,
    });
  }
}

// Requests on the port that wait for their reply: found by id, failed by time-out or by the end of the connection.

type Chunk = Extract<Reply, { type: 'chunk' }>;

interface Waiter {
  readonly options: AskOptions;
  readonly resolve: (answer: Answer) => void;
  readonly reject: (error: HelperError) => void;
  callOff: () => void;
  reassemble: ((chunk: Chunk) => ReassemblyState) | null;
}

/** The request that a malformed message answers; null if it does not say. */
function idOf(message: unknown): number | null {
  const id = typeof message === 'object' && message !== null && 'id' in message ? message.id : null;
  return typeof id === 'number' && Number.isSafeInteger(id) && id >= 0 ? id : null;
}

class PendingReplies {
  readonly #clock: Clock;
  readonly #waiters = new Map<number, Waiter>();

  constructor(clock: Clock) {
    this.#clock = clock;
  }

  /** The reply to `id`; rejects with a HelperError. */
  expect(id: number, options: AskOptions): Promise<Answer> {
    return new Promise<Answer>((resolve, reject) => {
      this.#waiters.set(id, {
        options,
        resolve,
        reject,
        callOff: this.#startTimer(id, options.timeoutMs),
        reassemble: null,
      });
    });
  }

  /**
   * Processes a message; returns a string if the wire itself is broken. A malformed reply fails only its own request;
   * one that no longer has a pending request is dropped.
   */
  take(message: unknown): string | null {
    const parsed = v.safeParse(replySchema, message);
    if (parsed.success) return this.#takeReply(parsed.output);
    const id = idOf(message);
    if (id === null) return 'the helper sent an invalid message';
    this.#fail(id, 'the helper sent an invalid reply');
    return null;
  }

  rejectAll(error: HelperError): void {
    const all = [...this.#waiters.values()];
    this.#waiters.clear();
    for (const waiter of all) {
      waiter.callOff();
      waiter.reject(error);
    }
  }

  #startTimer(id: number, timeoutMs: number): () => void {
    return this.#clock.later(timeoutMs, () => {
      const waiter = this.#waiters.get(id);
      this.#waiters.delete(id);
      waiter?.reject(
        new HelperError('helper-timeout', `the helper did not respond within ${timeoutMs / 1000} s`),
      );
    });
  }

  #finish(id: number): void {
    this.#waiters.get(id)?.callOff();
    this.#waiters.delete(id);
  }

  #fail(id: number, why: string): void {
    const waiter = this.#waiters.get(id);
    this.#finish(id);
    waiter?.reject(new HelperError('helper-bad-reply', why));
  }

  #takeChunk(waiter: Waiter, chunk: Chunk): null {
    waiter.reassemble ??= createReassembly();
    const result = waiter.reassemble(chunk);
    if (result.state === 'more') return null;
    if (result.state === 'broken') {
      this.#fail(chunk.id, result.why);
      return null;
    }
    const whole = v.safeParse(replySchema, result.message);
    if (whole.success && whole.output.type !== 'chunk' && whole.output.id === chunk.id)
      this.#takeReply(whole.output);
    else this.#fail(chunk.id, 'the helper sent chunks that make no reply');
    return null;
  }

  #takeReply(reply: Reply): string | null {
    const waiter = this.#waiters.get(reply.id);
    if (waiter === undefined) {
      // Id 0 is no request of ours after hello: the helper could not read what we sent.
      return reply.type === 'error' && reply.id === 0 ? reply.message : null;
    }
    if (reply.type === 'chunk') return this.#takeChunk(waiter, reply);
    if (reply.type === 'progress') {
      waiter.callOff();
      waiter.callOff = this.#startTimer(reply.id, waiter.options.timeoutMs);
      waiter.options.onProgress?.(reply);
      return null;
    }
    this.#finish(reply.id);
    if (reply.type === 'error') waiter.reject(new HelperError(reply.code, reply.message));
    else waiter.resolve(reply);
    return null;
  }
}

// Reassembles long replies, which the helper splits because browsers limit the size of one message.

type ReassemblyState =
  | { readonly state: 'more' }
  | { readonly state: 'whole'; readonly message: unknown }
  | { readonly state: 'broken'; readonly why: string };

/** The chunks of one request, in order; a gap, a wrong end or too much data breaks the reply. */
function createReassembly(): (chunk: Chunk) => ReassemblyState {
  const parts: string[] = [];
  let chars = 0;
  return ({ seq, last, data }) => {
    if (seq !== parts.length)
      return { state: 'broken', why: `received chunk ${seq} instead of ${parts.length}` };
    // A character is at least one byte.
    chars += data.length;
    if (chars > MAX_WHOLE_REPLY_BYTES) return { state: 'broken', why: 'the reply is too long' };
    parts.push(data);
    if (!last) return { state: 'more' };
    try {
      return { state: 'whole', message: JSON.parse(parts.join('')) };
    } catch {
      return { state: 'broken', why: 'the chunks do not make a JSON text' };
    }
  };
}
