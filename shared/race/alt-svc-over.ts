// Which protocol's responses carried an Alt-Svc value. Servers send different ones over TCP and over HTTP/3, and a client
// that does not know of HTTP/3 yet receives the former only.
import type { DiscoveryEvidence } from './outcome.ts';

type Over = keyof NonNullable<DiscoveryEvidence['altSvcOver']>;

/** Of several records in order: by protocol the last value that was received, and how that over TCP arrived. */
export function joinedAltSvcOver(
  each: readonly DiscoveryEvidence[],
): Pick<DiscoveryEvidence, 'altSvcOver' | 'altSvcSource'> {
  const last = (over: Over): string | null | undefined => {
    const values = each.map(({ altSvcOver }) => altSvcOver?.[over]).filter((value) => value !== undefined);
    return values.findLast((value) => value !== null) ?? values[0];
  };
  const [tcp, h3] = [last('tcp'), last('h3')];
  const told =
    each.findLast(({ altSvcOver }) => altSvcOver?.tcp != null) ?? each.findLast((d) => d.altSvc !== null);
  return {
    ...(told?.altSvcSource !== undefined && { altSvcSource: told.altSvcSource }),
    ...((tcp !== undefined || h3 !== undefined) && {
      altSvcOver: { ...(tcp !== undefined && { tcp }), ...(h3 !== undefined && { h3 }) },
    }),
  };
}

/** Whether the only responses were over HTTP/3, so that it is unknown what those over TCP carry. */
export function isHeardOverH3Alone({ altSvcOver }: DiscoveryEvidence): boolean {
  return altSvcOver?.tcp === undefined && altSvcOver?.h3 != null;
}

/**
 * The value that reaches a client that does not know of HTTP/3 yet: of responses over TCP, if there were any. Without a
 * value in any response, what is remembered stands.
 */
export function altSvcToNewcomers(discovered: DiscoveryEvidence): string | null {
  const { altSvc, altSvcOver } = discovered;
  if (altSvcOver?.tcp === undefined) return altSvc;
  return altSvcOver.tcp ?? (altSvcOver.h3 == null ? altSvc : null);
}
