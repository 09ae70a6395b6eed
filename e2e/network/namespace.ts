// One network namespace: runs programs in it, adds obstacles to its packets, and counts them. Needs root, possibly of a
// user namespace, iproute2 and nftables.
import {
  type ChildProcess,
  type ChildProcessWithoutNullStreams,
  type SpawnOptions,
  type SpawnOptionsWithoutStdio,
  spawn,
} from 'node:child_process';
import { basename } from 'node:path';
import { type ProgramResult, type RunOptions, runCommand, runOrThrow } from '../child-process.ts';
import {
  counterArguments,
  counterScript,
  type Obstacle,
  obstacleScript,
  readCounter,
  type Traffic,
} from './obstacles.ts';

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
      return { read: async () => readCounter(await nft(counterArguments(counter))) };
    },
  };
}
