// The one speaker on the native port: one long-lived connection, numbered requests, replies checked by the wire's
// schemas: a bad one fails its own request. Requests go out without waiting for hello's answer, because the port keeps
// their order.
// A connection lives until the helper goes or garbles; then it is tried again, each time after a longer pause.
import { type Reply, type Request, WIRE_PROTOCOL } from '@photofinish/shared/port/wire';
import type { Clock, NativePort } from '../../common/browser.ts';
import { HelperError, stateAfterDisconnect, stateAfterRefusal } from '../../common/helper/state.ts';
import type { HelperState } from '../../common/messages.ts';
import { say } from '../../common/words.ts';
import { createPendingReplies, createReassembly, type PendingReplies } from './pending.ts';

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

interface Asked {
  readonly id: number;
  /** Rejects with a HelperError. */
  readonly reply: Promise<Answer>;
}

export interface AskOptions {
  /** Without any word from the helper for so long, the request fails; each progress starts it anew. */
  readonly timeoutMs: number;
  readonly onProgress?: (progress: Extract<Reply, { type: 'progress' }>) => void;
}

export interface HelperPort {
  readonly state: HelperState;
  /** Opens the port now, whatever pause was left. */
  connect(): void;
  /** Closes it and leaves it closed until `connect`: the user has not agreed to it. */
  forbid(): void;
  ask(question: Question, options: AskOptions): Asked;
}

/** Starting the helper takes 164 ms at worst on a cold disk; a minute's machine stall is not a broken helper. */
const HELLO_TIMEOUT_MS = 15_000;
const FIRST_RECONNECT_MS = 1000;
const LAST_RECONNECT_MS = 300_000;
const HELLO_ID = 0;

interface Connection {
  readonly port: NativePort;
  readonly pending: PendingReplies;
}

export function createHelperPort({ connect, clock, program, onState }: PortDeps): HelperPort {
  let state: HelperState = { state: 'connecting' };
  let connection: Connection | null = null;
  let nextId = HELLO_ID + 1;
  let reconnectMs = FIRST_RECONNECT_MS;
  let cancelReconnect: (() => void) | null = null;

  const setState = (next: HelperState): void => {
    state = next;
    onState(next);
  };

  const lose = (next: HelperState, error: HelperError): void => {
    const lost = connection;
    connection = null;
    setState(next);
    lost?.pending.rejectAll(error);
    cancelReconnect?.();
    cancelReconnect = clock.later(reconnectMs, open);
    reconnectMs = Math.min(reconnectMs * 2, LAST_RECONNECT_MS);
  };

  const hangUp = (why: string): void => {
    connection?.port.disconnect();
    lose({ state: 'crashed', message: why }, new HelperError('helper-bad-reply', why));
  };

  const greeted = (answer: Answer): void => {
    if (answer.type !== 'hello') return;
    if (answer.protocol !== WIRE_PROTOCOL) {
      const { program, protocol: theirs } = answer;
      const message = say('popupHelperVersions', { program, theirs, ours: WIRE_PROTOCOL });
      connection?.port.disconnect();
      lose({ state: 'incompatible', message }, new HelperError('bad-protocol', message));
      return;
    }
    reconnectMs = FIRST_RECONNECT_MS;
    setState({ state: 'ready', program: answer.program, network: 'unknown', networkName: null });
  };

  const refused = (error: unknown): void => {
    if (connection === null) return;
    const { code, message } =
      error instanceof HelperError ? error : new HelperError('internal', String(error));
    connection.port.disconnect();
    lose(stateAfterRefusal(code, message), new HelperError(code, message));
  };

  const receive = (from: Connection, message: unknown): void => {
    if (from !== connection) return;
    const broken = from.pending.take(message);
    if (broken !== null) hangUp(broken);
  };

  const open = (): void => {
    cancelReconnect?.();
    cancelReconnect = null;
    if (connection !== null) return;
    if (state.state !== 'connecting') setState({ state: 'connecting' });
    const port = connect();
    const opened: Connection = { port, pending: createPendingReplies(clock, createReassembly) };
    connection = opened;
    port.onMessage((message) => receive(opened, message));
    port.onDisconnect((why) => {
      if (opened !== connection) return;
      const next = stateAfterDisconnect(why);
      const code = next.state === 'missing' ? 'helper-missing' : 'helper-disconnected';
      lose(next, new HelperError(code, why ?? 'the helper stopped'));
    });
    opened.pending.expect(HELLO_ID, { timeoutMs: HELLO_TIMEOUT_MS }).then(greeted, (error) => {
      if (opened === connection) refused(error);
    });
    port.postMessage({ type: 'hello', id: HELLO_ID, protocol: WIRE_PROTOCOL, program });
  };

  return {
    get state() {
      return state;
    },

    connect() {
      reconnectMs = FIRST_RECONNECT_MS;
      open();
    },

    forbid() {
      const closed = connection;
      connection = null;
      cancelReconnect?.();
      cancelReconnect = null;
      closed?.port.disconnect();
      setState({ state: 'not-asked' });
      closed?.pending.rejectAll(new HelperError('helper-disconnected', 'the helper is not enabled'));
    },

    ask(question, options) {
      const id = nextId;
      nextId += 1;
      if (connection === null) {
        const code = state.state === 'missing' ? 'helper-missing' : 'helper-disconnected';
        return { id, reply: Promise.reject(new HelperError(code, 'the helper is not connected')) };
      }
      const { port, pending } = connection;
      const reply = pending.expect(id, options);
      try {
        port.postMessage({ ...question, id });
      } catch (error) {
        // The port closed a moment ago, and the browser has not told us yet.
        pending.take({ id, type: 'error', code: 'internal', message: `the helper stopped (${error})` });
      }
      return { id, reply };
    },
  };
}
