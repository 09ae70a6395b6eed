// A destination endpoint (Happy Eyeballs v3 draft, section 4): one address, one port, one transport, and its source.
import type { TransportName } from '@photofinish/shared/race/terms';

export interface Endpoint {
  readonly transport: TransportName;
  readonly address: string;
  readonly port: number;
  /** The name that the address belongs to: the origin's host, a record's TargetName, an alternative's host. */
  readonly host: string;
  readonly source: 'origin' | 'https-record' | 'alt-svc';
}

/** Two endpoints have the same key if they have the same address, port and transport. */
export function endpointKey({ transport, address, port }: Endpoint): string {
  return `${transport} ${address} ${port}`;
}

/** Whether two endpoints have the same address, port and transport; their sources do not matter. */
export function sameEndpoint(a: Endpoint, b: Endpoint): boolean {
  return a.transport === b.transport && a.address === b.address && a.port === b.port;
}
