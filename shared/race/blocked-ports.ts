// Ports on which nothing is raced: those to which browsers do not connect, and those of services that amplify traffic
// over UDP. For neither would an answer say anything about a site.
import type { TransportName } from './terms.ts';

/** "Bad port" in the Fetch Standard, section 2.9 ("Port blocking"); Chromium and Firefox have the same list. */
export const BAD_PORTS: ReadonlySet<number> = new Set([
  ...[0, 1, 7, 9, 11, 13, 15, 17, 19, 20, 21, 22, 23, 25, 37, 42, 43, 53, 69, 77, 79, 87, 95, 101, 102, 103],
  ...[
    104, 109, 110, 111, 113, 115, 117, 119, 123, 135, 137, 139, 143, 161, 179, 389, 427, 465, 512, 513, 514,
  ],
  ...[515, 526, 530, 531, 532, 540, 548, 554, 556, 563, 587, 601, 636, 989, 990, 993, 995, 1719, 1720, 1723],
  ...[2049, 3659, 4045, 4190, 5060, 5061, 6000, 6566, 6665, 6666, 6667, 6668, 6669, 6679, 6697, 10080],
]);

/**
 * Ports of services used in reflection attacks: RFC 9308 section 8.1 names some, and Google's QUIC servers drop
 * datagrams from all of these (`IsSourceUdpPortBlocked` in quiche). Networks also drop datagrams that merely look like
 * an attack on these ports, so silence there proves nothing.
 */
export const REFLECTING_PORTS: ReadonlySet<number> = new Set([
  ...[17, 19, 53, 111, 123, 137, 138, 161, 389, 500, 1900, 3702, 5353, 5355, 11211],
]);

/** Why a port is not used: browsers do not connect to it, or its service is used for reflection attacks over UDP. */
export type PortBlock = 'browsers' | 'reflection';

/** Why nothing may be sent to a port over this transport; null: it may. */
export function portBlock(port: number, transport: TransportName): PortBlock | null {
  if (BAD_PORTS.has(port)) return 'browsers';
  return transport === 'h3' && REFLECTING_PORTS.has(port) ? 'reflection' : null;
}
