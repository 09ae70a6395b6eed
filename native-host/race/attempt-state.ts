// One attempt within the race's state machine: its progress, and the record made from it.
import type { Attempt, AttemptError } from '@photofinish/shared/race/outcome';
import { roundedMs } from '@photofinish/shared/race/statistics';
import type { KnownProtocol } from '@photofinish/shared/web/protocol';
import type { Endpoint } from '../discover/discovering.ts';
import type { AttemptGroup } from './attempt-group.ts';
import { NO_TRAFFIC, type Packets, type Traffic } from './transport.ts';

/**
 * connecting → requested → over is the path of the winner. `overdue`: its answer is still awaited, but others are
 * attempted beside it. `held`: answered, and waiting for the alternatives its answer advertised. `expiring`: told to end
 * at the deadline, and its progress not yet reported.
 */
export type Phase = 'connecting' | 'requested' | 'overdue' | 'held' | 'expiring' | 'over';

export interface AttemptState {
  readonly id: number;
  readonly group: AttemptGroup;
  readonly endpoint: Endpoint;
  /** The second attempt beside an unanswered one at the same endpoint. */
  readonly hedged: boolean;
  readonly startedMs: number;
  /** Started only because we processed an event late that had already made it unnecessary. */
  needless: boolean;
  phase: Phase;
  protocol: KnownProtocol;
  transportMs: number | null;
  establishedMs: number | null;
  /** When its request was sent. */
  askedMs: number | null;
  firstByteMs: number | null;
  /** Of that response. */
  status: number | null;
  rttMs: number | null;
  /** The server required HTTP/1.1 for the request. */
  http11Required: boolean;
  packets: Packets | null;
  traffic: Traffic;
  outcome: Attempt['outcome'] | null;
  error: AttemptError | null;
}

export function newAttempt(
  id: number,
  group: AttemptGroup,
  endpoint: Endpoint,
  { hedged, startedMs }: { readonly hedged: boolean; readonly startedMs: number },
): AttemptState {
  return {
    id,
    group,
    endpoint,
    hedged,
    startedMs,
    needless: false,
    phase: 'connecting',
    protocol: endpoint.transport,
    transportMs: null,
    establishedMs: null,
    askedMs: null,
    firstByteMs: null,
    status: null,
    rttMs: null,
    http11Required: false,
    packets: null,
    traffic: NO_TRAFFIC,
    outcome: null,
    error: null,
  };
}

/** How long an attempt has waited for the end of its handshake or for an answer. */
export function waitedMs(attempt: AttemptState, nowMs: number): number {
  return nowMs - (attempt.askedMs ?? attempt.startedMs);
}

/** The failure of an attempt ended by the deadline, by how far it had come. */
export function expiredError(attempt: AttemptState, timeoutMs: number): AttemptError {
  const within = `within ${Math.round(waitedMs(attempt, timeoutMs))} ms`;
  if (attempt.establishedMs !== null)
    return { code: 'response-timeout', message: `connected, but no complete response came ${within}` };
  if (attempt.transportMs !== null)
    return { code: 'handshake-timeout', message: `the handshake did not finish ${within}` };
  return attempt.endpoint.transport === 'h3'
    ? { code: 'udp-timeout', message: `nothing came back over UDP ${within}` }
    : { code: 'tcp-timeout', message: `TCP did not connect ${within}` };
}

/** The attempt's record; `originHost` is the host that is omitted from it. */
export function attemptOf(attempt: AttemptState, originHost: string): Attempt {
  const { host, source } = attempt.endpoint;
  return {
    protocol: attempt.protocol,
    address: attempt.endpoint.address,
    port: attempt.endpoint.port,
    ...(host !== originHost && { host }),
    ...(source !== 'origin' && { source }),
    ...(attempt.hedged && { fresh: true }),
    ...(attempt.http11Required && { http11Required: true }),
    startedMs: roundedMs(attempt.startedMs),
    transportMs: roundedMs(attempt.transportMs),
    establishedMs: roundedMs(attempt.establishedMs),
    firstByteMs: roundedMs(attempt.firstByteMs),
    ...(attempt.status !== null && { status: attempt.status }),
    ...(attempt.rttMs !== null && { rttMs: roundedMs(attempt.rttMs) }),
    ...(attempt.packets !== null && { packets: { sent: attempt.packets.sent, lost: attempt.packets.lost } }),
    outcome: attempt.outcome ?? 'cancelled',
    ...(attempt.error !== null && { error: attempt.error }),
  };
}
