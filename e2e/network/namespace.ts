// One network namespace: what can be run in it, put in its packets' way, and counted. Needs root, if only of a user
// namespace, iproute2 and nftables.
import {
  type ChildProcess,
  type ChildProcessWithoutNullStreams,
  type SpawnOptions,
  type SpawnOptionsWithoutStdio,
  spawn,
} from 'node:child_process';
import { type ProgramResult, type RunOptions, runCommand, runOrThrow } from '../child-process.ts';
import {
  counterArguments,
  counterScript,
  type Obstacle,
  obstacleScript,
  readCounter,
  type Traffic,
} from './obstacles.ts';

/** Packets that have left for others since it was put up, those that were then lost or refused included. */
interface Counter {
  read(): Promise<number>;
}

export interface Namespace {
  /** As `ip netns` knows it. */
  readonly name: string;
  /** Starts a process inside, by `ip netns exec`, whose process becomes the file's own. It ends with the network. */
  spawn(
    file: string,
    args: readonly string[],
    options?: SpawnOptionsWithoutStdio,
  ): ChildProcessWithoutNullStreams;
  spawn(file: string, args: readonly string[], options: SpawnOptions): ChildProcess;
  /** Runs a command inside to its end. Rejects only if it cannot be started, never for its exit code. */
  run(file: string, args: readonly string[], options?: RunOptions): Promise<ProgramResult>;
  /** Runs `ip` inside, for addresses and routes beyond what the network comes with. Rejects if it complains. */
  ip(...words: string[]): Promise<string>;
  /**
   * Puts up these obstacles to what arrives here, in place of all earlier ones, at once and while running; none takes
   * them away. What a client sends is obstructed at the server, as on a path: its own system would tell it otherwise.
   */
  obstruct(obstacles: readonly Obstacle[]): Promise<void>;
  /** Counts packets that leave here from now on. */
  countSent(traffic: Traffic): Promise<Counter>;
}

/**
 * Settings of the kernel's that would make one trial tell on the next: ICMP errors are rationed by receiver, and TCP
 * remembers a destination's round-trip time.
 */
const EQUAL_TRIALS = [
  'echo 0 > /proc/sys/net/ipv4/icmp_ratelimit',
  'echo 0 > /proc/sys/net/ipv6/icmp/ratelimit',
  'echo 1 > /proc/sys/net/ipv4/tcp_no_metrics_save',
].join('; ');

/** Makes a namespace with nothing in it but its loopback. */
export async function makeNamespace(name: string): Promise<Namespace> {
  const inside = (file: string, args: readonly string[]) => ['netns', 'exec', name, file, ...args];
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
    run: (file, args, options) => runCommand('ip', inside(file, args), options),
    ip: (...words) => runOrThrow('ip', ['-n', name, ...words]),
    async obstruct(obstacles) {
      await nft(['-f', '-'], obstacleScript(obstacles));
    },
    async countSent(traffic) {
      counters += 1;
      const counter = `sent${counters}`;
      await nft(['-f', '-'], counterScript(counter, traffic));
      return { read: async () => readCounter(await nft(counterArguments(counter))) };
    },
  };
}
