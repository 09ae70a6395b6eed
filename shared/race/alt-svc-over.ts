// Which protocol's responses carried an Alt-Svc value. Servers send different ones over TCP and over HTTP/3, and a client
// that does not know of HTTP/3 yet receives the former only.
import type { DiscoveryEvidence } from './outcome.ts';

type AltSvcOver = Pick<DiscoveryEvidence, 'altSvcOver'>;

/**
 * Of what responses over one protocol carried, in order, the last value; null: none carried one. Undefined stands for no
 * response, and is the result of nothing else.
 */
export function lastReceived<Value>(each: readonly (Value | null | undefined)[]): Value | null | undefined {
  const received = each.filter((value) => value !== undefined);
  return received.findLast((value) => value !== null) ?? received[0];
}

/** The values of both protocols as a record has them: undefined is left out. */
export function altSvcOverOf(tcp: string | null | undefined, h3: string | null | undefined): AltSvcOver {
  if (tcp === undefined && h3 === undefined) return {};
  return { altSvcOver: { ...(tcp !== undefined && { tcp }), ...(h3 !== undefined && { h3 }) } };
}

/** Of several records in order: by protocol the last value that was received, and how that over TCP arrived. */
export function joinedAltSvcOver(
  each: readonly DiscoveryEvidence[],
): AltSvcOver & Pick<DiscoveryEvidence, 'altSvcSource'> {
  const source =
    each.findLast(({ altSvcOver }) => altSvcOver?.tcp != null) ?? each.findLast((d) => d.altSvc !== null);
  return {
    ...(source?.altSvcSource !== undefined && { altSvcSource: source.altSvcSource }),
    ...altSvcOverOf(
      lastReceived(each.map(({ altSvcOver }) => altSvcOver?.tcp)),
      lastReceived(each.map(({ altSvcOver }) => altSvcOver?.h3)),
    ),
  };
}

/** Whether the only responses were over HTTP/3, so that it is unknown what those over TCP carry. */
export function isReceivedOverH3Only({ altSvcOver }: DiscoveryEvidence): boolean {
  return altSvcOver?.tcp === undefined && altSvcOver?.h3 != null;
}

/**
 * The value that reaches a client that does not know of HTTP/3 yet: of responses over TCP, if there were any. Without a
 * value in any response, what is remembered stands.
 */
export function altSvcForNewClients(discovered: DiscoveryEvidence): string | null {
  const { altSvc, altSvcOver } = discovered;
  if (altSvcOver?.tcp === undefined) return altSvc;
  return altSvcOver.tcp ?? (altSvcOver.h3 == null ? altSvc : null);
}
