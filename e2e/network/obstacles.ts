// Impairments of a path as nftables rules: packets dropped, refused or too large, by transport, family and port.

/** An impairment of packets as they arrive at the namespace it is applied to, the far end of the path. */
export interface Obstacle {
  readonly transport: 'udp' | 'tcp' | 'sctp';
  /**
   * `drop`: a black hole. `refuse`: answered as by a closed port, UDP with ICMP or ICMPv6 port unreachable (RFC 792,
   * RFC 4443 section 3.1), TCP with a reset. `prohibit`: answered as by a firewall, with ICMP or ICMPv6 communication
   * administratively prohibited (RFC 1812 section 5.2.7.1).
   */
  readonly effect: 'drop' | 'refuse' | 'prohibit';
  /** Default: both. */
  readonly family?: 4 | 6;
  /** The server's port, whichever end this is; default: any. */
  readonly port?: number;
  /** Only UDP datagrams with a longer payload: 1200 lets Initials pass and is a path MTU black hole for more. */
  readonly overBytes?: number;
  /** The share of matching packets that is affected, chosen at random, with a resolution of 0.001; default: all. */
  readonly share?: number;
}

/** Which packets a counter counts, as they leave its namespace for another. */
export type Traffic = Pick<Obstacle, 'transport' | 'family' | 'port'>;

const OBSTACLES = 'inet obstacles';
const COUNTED = 'inet counted';
/** Packets on the loopback device do not leave the namespace. */
const AWAY = 'oifname != "lo"';
/** RFC 768: the length field includes the header. */
const UDP_HEADER_BYTES = 8;
const SHARE_STEPS = 1000;

/** Match expressions: one rule prefix for each direction that the port can apply to. */
function matches({ transport, family, port }: Traffic): string[] {
  const wanted = family === undefined ? [] : [`meta nfproto ipv${family}`];
  if (port === undefined) return [[...wanted, `meta l4proto ${transport}`].join(' ')];
  return ['dport', 'sport'].map((end) => [...wanted, `${transport} ${end} ${port}`].join(' '));
}

function effectWords({ transport, effect }: Obstacle): string {
  if (effect === 'drop') return 'drop';
  if (effect === 'prohibit') return 'reject with icmpx admin-prohibited';
  return transport === 'tcp' ? 'reject with tcp reset' : 'reject with icmpx port-unreachable';
}

/** The rules of one obstacle. Throws a RangeError for invalid values. */
export function obstacleRules(obstacle: Obstacle): string[] {
  const { transport, overBytes, share = 1 } = obstacle;
  if (overBytes !== undefined && transport !== 'udp') throw new RangeError('only UDP datagrams have a size');
  if (!(share >= 0 && share <= 1)) throw new RangeError(`${share} is no share`);
  const steps = Math.round(share * SHARE_STEPS);
  const conditions = [
    ...(overBytes === undefined ? [] : [`udp length > ${overBytes + UDP_HEADER_BYTES}`]),
    ...(steps === SHARE_STEPS ? [] : [`numgen random mod ${SHARE_STEPS} < ${steps}`]),
  ];
  return matches(obstacle).map((match) => [match, ...conditions, effectWords(obstacle)].join(' '));
}

/** A script for `nft -f` that atomically replaces all obstacles with these. */
export function obstacleScript(obstacles: readonly Obstacle[]): string {
  return [
    `add table ${OBSTACLES}`,
    `flush table ${OBSTACLES}`,
    `add chain ${OBSTACLES} arriving { type filter hook input priority filter; }`,
    ...obstacles.flatMap(obstacleRules).map((rule) => `add rule ${OBSTACLES} arriving ${rule}`),
    '',
  ].join('\n');
}

/** A script for `nft -f` that adds a counter with that name. */
export function counterScript(name: string, traffic: Traffic): string {
  return [
    `add table ${COUNTED}`,
    `add chain ${COUNTED} leaving { type filter hook output priority raw; }`,
    `add counter ${COUNTED} ${name}`,
    ...matches(traffic).map((match) => `add rule ${COUNTED} leaving ${AWAY} ${match} counter name ${name}`),
    '',
  ].join('\n');
}

/** The arguments that make `nft` print a counter for `readCounter`. */
export function counterArguments(name: string): string[] {
  return ['-j', 'list', 'counter', ...COUNTED.split(' '), name];
}

/** The number of packets in a counter, from the output of `nft -j list counter`. */
export function readCounter(json: string): number {
  const { nftables } = JSON.parse(json) as { nftables: { counter?: { packets: number } }[] };
  const packets = nftables.find(({ counter }) => counter !== undefined)?.counter?.packets;
  if (packets === undefined) throw new Error(`nft told of no counter: ${json}`);
  return packets;
}
