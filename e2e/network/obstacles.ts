// What can be wrong with a path, as nftables rules: dropped, refused, or too narrow, by transport, family and port.

/** Something that is done to packets as they arrive at the end that it is put up at, which is the far end of the path. */
export interface Obstacle {
  readonly transport: 'udp' | 'tcp';
  /**
   * `drop`: a black hole. `refuse`: answered as a closed port is, UDP by ICMP or ICMPv6 port unreachable (RFC 792,
   * RFC 4443 section 3.1), TCP by a reset.
   */
  readonly effect: 'drop' | 'refuse';
  /** Both unless said. */
  readonly family?: 4 | 6;
  /** The server's port, whichever end this is; any unless said. */
  readonly port?: number;
  /** Only UDP datagrams whose payload is longer: 1200 lets Initials pass and is a path MTU black hole beyond. */
  readonly overBytes?: number;
  /** The share of such packets it is done to, chosen at random, in thousandths at the finest; all unless said. */
  readonly share?: number;
}

/** Which packets a counter counts, as they leave the end that it is put up at for another. */
export type Traffic = Pick<Obstacle, 'transport' | 'family' | 'port'>;

const OBSTACLES = 'inet obstacles';
const COUNTED = 'inet counted';
/** What stays on the loopback device leaves for nobody. */
const AWAY = 'oifname != "lo"';
/** RFC 768: the length field includes the header. */
const UDP_HEADER_BYTES = 8;
const SHARE_STEPS = 1000;

/** What selects the packets: one rule's beginning for each direction that the port can stand for. */
function matches({ transport, family, port }: Traffic): string[] {
  const wanted = family === undefined ? [] : [`meta nfproto ipv${family}`];
  if (port === undefined) return [[...wanted, `meta l4proto ${transport}`].join(' ')];
  return ['dport', 'sport'].map((end) => [...wanted, `${transport} ${end} ${port}`].join(' '));
}

function effectWords({ transport, effect }: Obstacle): string {
  if (effect === 'drop') return 'drop';
  return transport === 'tcp' ? 'reject with tcp reset' : 'reject with icmpx port-unreachable';
}

/** The rules of one obstacle. Throws a RangeError for what cannot be. */
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

/** A script for `nft -f` that puts up these obstacles in place of all earlier ones, in one step. */
export function obstacleScript(obstacles: readonly Obstacle[]): string {
  return [
    `add table ${OBSTACLES}`,
    `flush table ${OBSTACLES}`,
    `add chain ${OBSTACLES} arriving { type filter hook input priority filter; }`,
    ...obstacles.flatMap(obstacleRules).map((rule) => `add rule ${OBSTACLES} arriving ${rule}`),
    '',
  ].join('\n');
}

/** A script for `nft -f` that adds a counter of that name. */
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

/** The packets that a counter has seen, from what `nft -j list counter` prints. */
export function readCounter(json: string): number {
  const { nftables } = JSON.parse(json) as { nftables: { counter?: { packets: number } }[] };
  const packets = nftables.find(({ counter }) => counter !== undefined)?.counter?.packets;
  if (packets === undefined) throw new Error(`nft told of no counter: ${json}`);
  return packets;
}
