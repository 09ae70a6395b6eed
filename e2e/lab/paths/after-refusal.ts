// What the tables take from a trial that it does not say itself. Pure.
import type { Attempt, Trial } from '@photofinish/shared/race/outcome';

function attemptOf({ attempts }: Trial, protocol: Attempt['protocol']): Attempt {
  const attempt = attempts.find((candidate) => candidate.protocol === protocol);
  if (attempt === undefined) throw new Error(`no attempt over ${protocol}`);
  return attempt;
}

/**
 * From HTTP/3's refusal to old HTTP's start; negative where the start delay was over first. A record does not say when
 * an attempt failed: the refusal takes a round trip from QUIC's start, and so does TCP's connecting, which it does say.
 * Throws where HTTP/3 was not refused, or TCP was not connected.
 */
export function afterRefusalMs(trial: Trial): number {
  const [quic, tcp] = [attemptOf(trial, 'h3'), attemptOf(trial, 'h2')];
  if (quic.error?.code !== 'udp-refused')
    throw new Error(`HTTP/3 was not refused: ${quic.error?.code ?? quic.outcome}`);
  if (tcp.transportMs === undefined || tcp.transportMs === null) throw new Error('TCP was not connected');
  const roundTripMs = tcp.transportMs - tcp.startedMs;
  return tcp.startedMs - quic.startedMs - roundTripMs;
}
