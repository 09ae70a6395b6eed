// How a browser's observation updates that browser's own history with an origin. Pure.
import type { AltSvc } from '@photofinish/shared/web/alt-svc';
import { h3LifeMs } from './advertised.ts';
import type { Sighting } from './fold.ts';
import type { UseRecord } from './record.ts';

/** Requests closer together than this share a connection, so they are one visit. */
const VISIT_GAP_MS = 60_000;

function foldAdvertised(use: UseRecord, altSvc: AltSvc, atMs: number): UseRecord {
  if (!altSvc.clear && altSvc.alternatives.length === 0) return use;
  const lifeMs = h3LifeMs(altSvc);
  if (lifeMs === null) return { ...use, advertisedAtMs: null, advertisedUntilMs: null, stays: 0 };
  const known = use.advertisedUntilMs !== null && atMs < use.advertisedUntilMs;
  return {
    ...use,
    advertisedAtMs: known ? use.advertisedAtMs : atMs,
    advertisedUntilMs: atMs + lifeMs,
    stays: known ? use.stays : 0,
  };
}

/** Folds a browser's network answer into its own history; an answer older than the newest one changes nothing. */
export function foldUse(use: UseRecord, o: Sighting, atMs: number): UseRecord {
  if (o.delivery !== 'network' || atMs < use.seenAtMs) return use;
  const newVisit = o.kind === 'navigation' || atMs - use.seenAtMs > VISIT_GAP_MS;
  let next: UseRecord = { ...use, seenAtMs: atMs };
  if (o.protocol === 'h3') {
    next = { ...next, protocol: 'h3', protocolAtMs: atMs, stays: 0 };
  } else if (o.protocol !== 'unknown') {
    const knew = use.advertisedUntilMs !== null && atMs < use.advertisedUntilMs;
    next = {
      ...next,
      protocol: o.protocol,
      protocolAtMs: atMs,
      tcpProtocol: o.protocol,
      stays: use.stays + (knew && newVisit ? 1 : 0),
    };
  }
  return o.altSvc === null ? next : foldAdvertised(next, o.altSvc, atMs);
}
