// One network namespace: its name, which says what process made it, the programs run in it, obstacles to its packets as
// nftables rules, and counts of them. Needs root, possibly of a user namespace, iproute2 and nftables.
import {
  type ChildProcess,
  type ChildProcessWithoutNullStreams,
  type SpawnOptions,
  type SpawnOptionsWithoutStdio,
  spawn,
} from 'node:child_process';
import { readdirSync } from 'node:fs';
import { basename } from 'node:path';
import { type ProgramResult, type RunOptions, runCommand, runOrThrow } from '../child-process.ts';
import { startOf } from '../proc.ts';

/** Where iproute2 keeps named network namespaces. */
const NAMED = '/run/netns';
const PREFIX = 'photofinish';
const NAME = /^photofinish-(?<pid>\d+)-(?<start>\d+)-\d+-[a-z0-9]+$/;

/** A process; its start time, in clock ticks since boot, distinguishes it from a later one with the same pid. */
interface Owner {
  readonly pid: number;
  readonly start: number;
}

/** This process. Throws where there is no /proc. */
export function thisProcess(): Owner {
  const start = startOf('self');
  if (start === null) throw new Error('/proc/self/stat cannot be read');
  return { pid: process.pid, start };
}

/** The name of one end of an owner's `serial`th network; a role consists of lower-case letters and digits. */
export function namespaceName({ pid, start }: Owner, serial: number, role: string): string {
  const name = [PREFIX, pid, start, serial, role].join('-');
  if (!NAME.test(name)) throw new RangeError(`"${role}" cannot be part of a namespace's name`);
  return name;
}

/** The owner of a namespace by its name; null if it is not one of ours. */
export function ownerOf(name: string): Owner | null {
  const { pid, start } = NAME.exec(name)?.groups ?? {};
  return pid === undefined ? null : { pid: Number(pid), start: Number(start) };
}

/** Our namespaces whose owner has exited. */
export function orphanedNamespaces(): string[] {
  let names: string[];
  try {
    names = readdirSync(NAMED);
  } catch {
    // The directory is missing: no namespace has been created since boot.
    return [];
  }
  return names.filter((name) => {
    const owner = ownerOf(name);
    return owner !== null && startOf(owner.pid) !== owner.start;
  });
}

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
type Traffic = Pick<Obstacle, 'transport' | 'family' | 'port'>;

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

function effectText({ transport, effect }: Obstacle): string {
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
  return matches(obstacle).map((match) => [match, ...conditions, effectText(obstacle)].join(' '));
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

/** The number of packets in a counter, from the output of `nft -j list counter`. */
export function readCounter(json: string): number {
  const { nftables } = JSON.parse(json) as { nftables: { counter?: { packets: number } }[] };
  const packets = nftables.find(({ counter }) => counter !== undefined)?.counter?.packets;
  if (packets === undefined) throw new Error(`nft reported no counter: ${json}`);
  return packets;
}

/** Packets that have left for other hosts since the counter was added, including those later lost or refused. */
interface Counter {
  read(): Promise<number>;
}

export interface Namespace {
  /** The name used by `ip netns`. */
  readonly name: string;
  /** Starts a process inside with `ip netns exec`, which execs `file`. It ends with the network. */
  spawn(
    file: string,
    args: readonly string[],
    options?: SpawnOptionsWithoutStdio,
  ): ChildProcessWithoutNullStreams;
  spawn(file: string, args: readonly string[], options: SpawnOptions): ChildProcess;
  /** Runs a command inside to completion. Rejects only if it cannot be started, whatever its exit code. */
  run(file: string, args: readonly string[], options?: RunOptions): Promise<ProgramResult>;
  /** Runs a command inside that must succeed and returns its output. Rejects with its standard error. */
  runOrThrow(file: string, args: readonly string[], options?: RunOptions): Promise<string>;
  /** Runs `ip` inside, for addresses and routes beyond the network's initial ones. Rejects if it fails. */
  ip(...words: string[]): Promise<string>;
  /**
   * Applies these obstacles to arriving packets, atomically replacing all earlier ones, even while traffic flows; an
   * empty list removes them. A client's packets are obstructed at the server, as on a path: locally, its own kernel
   * would report the error.
   */
  obstruct(obstacles: readonly Obstacle[]): Promise<void>;
  /** Counts packets that leave the namespace from now on. */
  countSent(traffic: Traffic): Promise<Counter>;
}

/**
 * Kernel settings that would let one trial influence the next: ICMP errors are rate-limited per destination, and TCP
 * caches a destination's round-trip time.
 */
const EQUAL_TRIALS = [
  'echo 0 > /proc/sys/net/ipv4/icmp_ratelimit',
  'echo 0 > /proc/sys/net/ipv6/icmp/ratelimit',
  'echo 1 > /proc/sys/net/ipv4/tcp_no_metrics_save',
].join('; ');

/** Creates a namespace with only its loopback device. */
export async function makeNamespace(name: string): Promise<Namespace> {
  const inside = (file: string, args: readonly string[]) => ['netns', 'exec', name, file, ...args];
  const run: Namespace['run'] = (file, args, options) => runCommand('ip', inside(file, args), options);
  const nft = (args: readonly string[], input?: string) =>
    runOrThrow('ip', inside('nft', args), input === undefined ? {} : { input });
  let counters = 0;

  await runOrThrow('ip', ['netns', 'add', name]);
  await runOrThrow('ip', ['-n', name, 'link', 'set', 'lo', 'up']);
  await runOrThrow('ip', inside('sh', ['-ec', EQUAL_TRIALS]));
  return {
    name,
    spawn: ((file, args, options: SpawnOptions = {}) =>
      spawn('ip', inside(file, args), options)) as Namespace['spawn'],
    run,
    async runOrThrow(file, args, options) {
      const { code, stdout, stderr } = await run(file, args, options);
      // Arguments are often long documents.
      if (code !== 0) throw new Error(`${basename(file)}: ${stderr.trim() || `exit code ${code}`}`);
      return stdout;
    },
    ip: (...words) => runOrThrow('ip', ['-n', name, ...words]),
    async obstruct(obstacles) {
      await nft(['-f', '-'], obstacleScript(obstacles));
    },
    async countSent(traffic) {
      counters += 1;
      const counter = `sent${counters}`;
      await nft(['-f', '-'], counterScript(counter, traffic));
      const list = ['-j', 'list', 'counter', ...COUNTED.split(' '), counter];
      return { read: async () => readCounter(await nft(list)) };
    },
  };
}
