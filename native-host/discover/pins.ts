// Addresses that the user gave for hosts and ports: they stand in for DNS altogether.
import { hostPort } from '@photofinish/shared/web/origin';

/** The name under which a pin is kept: `host:port`, IPv6 hosts in brackets. */
export function pinName(host: string, port: number): string {
  return hostPort(host, port).toLowerCase();
}
