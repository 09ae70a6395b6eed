// Time for tests. Virtual: a clock that only advances when nothing is left to do, and scripted transports on it; the
// real transports have their own tests. Real: the turns of the event loop, for tests that work is interrupted by
// pauses.

import type { TestContext } from 'node:test';
import { setImmediate as nextTurn } from 'node:timers/promises';
import type { AttemptErrorCode, TransportName } from '@photofinish/shared/race/terms';
import { parseAltSvc } from '@photofinish/shared/web/alt-svc';
import type { KnownProtocol } from '@photofinish/shared/web/protocol';
import type { Clock } from '../clock.ts';
import type { AttemptFailure, AttemptTarget, Packets, Traffic, Transport } from '../race/transport.ts';

/** Everything caused by one event is done within this many turns of the real event loop. */
const TURNS = 8;

interface VirtualTime {
  readonly clock: Clock;
  /** Advances time from timer to timer until `work` is done, and returns its result. */
  run<T>(work: Promise<T>): Promise<T>;
}

/** A clock at 0 (and at the epoch `epochMs`). */
export function virtualTime(epochMs = 1_000_000): VirtualTime {
  let nowMs = 0;
  const timers = new Set<{ readonly atMs: number; readonly fire: () => void }>();
  const clock: Clock = {
    nowMs: () => nowMs,
    epochMs: () => epochMs + nowMs,
    after(delayMs, fire) {
      const timer = { atMs: nowMs + delayMs, fire };
      timers.add(timer);
      return () => timers.delete(timer);
    },
  };
  async function run<T>(work: Promise<T>): Promise<T> {
    let over = false;
    const finish = (): void => {
      over = true;
    };
    work.then(finish, finish);
    for (;;) {
      for (let turn = 0; turn < TURNS && !over; turn += 1) await nextTurn();
      if (over) return work;
      const nextMs = Math.min(...[...timers].map((timer) => timer.atMs));
      if (nextMs === Infinity) throw new Error('the work hangs: no timer is left');
      nowMs = nextMs;
      for (const timer of [...timers].filter(({ atMs }) => atMs === nextMs))
        if (timers.delete(timer)) timer.fire();
    }
  }
  return { clock, run };
}

/** Behaviour of one attempt; times in milliseconds, null: never. */
export interface Script {
  readonly handshakeMs: number | null;
  readonly refusal?: AttemptErrorCode;
  readonly protocol?: KnownProtocol;
  /** How long after its end the handshake is reported. */
  readonly reportedLateMs?: number;
  /** First sign of life, while the handshake continues. */
  readonly transportMs?: number;
  readonly altSvc?: string;
  readonly knownRoot?: boolean;
  readonly packets?: Packets;
  /** Those of the whole attempt, reported with its answer. */
  readonly packetsInAll?: Packets;
  /** The attempt's network cost, reported with its end. */
  readonly traffic?: Traffic;
  /** When the transport itself received the first sign of life, reported with the end of the handshake. */
  readonly sawLifeMs?: number;
  /** The request ends in this failure, with `altSvc` after a response has begun, a millisecond before. */
  readonly answerFailure?: AttemptErrorCode;
}

interface ScriptedTransport extends Transport {
  readonly targets: readonly AttemptTarget[];
  /** How many times `prepare` was called. */
  prepared(): number;
  /** How many attempts are running now, and the maximum that ever ran concurrently. */
  running(): number;
}

/** A transport whose nth attempt follows the nth script, the last one repeating; answers come 5 ms after requests. */
export function scripted(name: TransportName, clock: Clock, ...scripts: Script[]): ScriptedTransport {
  const targets: AttemptTarget[] = [];
  let preparations = 0;
  let running = 0;
  return {
    reportsLate: name === 'h3',
    targets,
    prepared: () => preparations,
    running: () => running,
    async prepare() {
      preparations += 1;
    },
    start(target) {
      const script = scripts[Math.min(targets.length, scripts.length - 1)] ?? { handshakeMs: null };
      targets.push(target);
      running += 1;
      const zeroMs = clock.nowMs();
      let over = false;
      const failure = (code: AttemptErrorCode): AttemptFailure => {
        if (!over) running -= 1;
        over = true;
        return {
          ok: false,
          error: { code, message: code },
          atMs: clock.nowMs() - zeroMs,
          transportMs: null,
          ...(script.packets && { packets: script.packets }),
          ...(script.traffic && { traffic: script.traffic }),
        };
      };
      if (script.transportMs !== undefined)
        clock.after(script.transportMs, () => {
          if (!over) target.onTransport?.();
        });
      const cancels: ((failure: AttemptFailure) => void)[] = [];
      function later<T>(delayMs: number | null, make: () => T): Promise<T | AttemptFailure> {
        return new Promise((resolve) => {
          cancels.push(resolve);
          if (delayMs !== null) clock.after(delayMs, () => resolve(make()));
        });
      }
      return {
        established: later(script.handshakeMs, () =>
          script.refusal
            ? failure(script.refusal)
            : {
                ok: true,
                protocol: script.protocol ?? name,
                transportMs: script.sawLifeMs ?? null,
                establishedMs: clock.nowMs() - zeroMs - (script.reportedLateMs ?? 0),
                rttMs: script.handshakeMs,
                ...(script.packets && { packets: script.packets }),
                knownRoot: script.knownRoot ?? true,
              },
        ),
        request: () =>
          later(5, () =>
            script.answerFailure
              ? {
                  ...failure(script.answerFailure),
                  ...(script.altSvc !== undefined && {
                    receivedAltSvc: { altSvc: parseAltSvc(script.altSvc) },
                    firstByteMs: clock.nowMs() - zeroMs - 1,
                    status: 200,
                  }),
                }
              : {
                  ok: true,
                  status: 200,
                  altSvc: script.altSvc === undefined ? null : parseAltSvc(script.altSvc),
                  firstByteMs: clock.nowMs() - zeroMs,
                  doneMs: clock.nowMs() - zeroMs,
                  bodyBytes: 0,
                  ...(script.packetsInAll && { packets: script.packetsInAll }),
                  ...(script.traffic && { traffic: script.traffic }),
                },
          ),
        cancel() {
          const ended = failure('cancelled');
          for (const resolve of cancels) resolve(ended);
        },
      };
    },
  };
}

/** Turns that one `nextPoll` takes. */
export const TURNS_OF_PAUSE = 2;

/** Returns the number of turns since the call, until the test ends. */
export function countTurns(t: TestContext): () => number {
  let turns = 0;
  let next: NodeJS.Immediate;
  const count = (): void => {
    turns += 1;
    next = setImmediate(count);
  };
  next = setImmediate(count);
  t.after(() => clearImmediate(next));
  return () => turns;
}
