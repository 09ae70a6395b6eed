// One network namespace: what can be run in it, put in its packets' way, and counted. Needs root, if only of a user
// namespace, iproute2 and nftables.
import {
  type ChildProcess,
  type ChildProcessWithoutNullStreams,
  type SpawnOptions,
  type SpawnOptionsWithoutStdio,
  spawn,
} from 'node:child_process';
import {
  counterArguments,
  counterScript,
  type Obstacle,
  obstacleScript,
  readCounter,
  type Traffic,
} from './obstacles.ts';

export interface Ran {
  /** Null if a signal ended it. */
  readonly code: number | null;
  readonly stdout: string;
  readonly stderr: string;
}

export interface RunOptions {
  /** Instead of this process's. */
  readonly env?: NodeJS.ProcessEnv;
  /** Standard input; empty unless said. */
  readonly input?: string;
  /** Where it is run; where this process is unless said. */
  readonly cwd?: string;
}

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
  run(file: string, args: readonly string[], options?: RunOptions): Promise<Ran>;
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

/** Runs a command to its end. Rejects only if it cannot be started. */
export function runCommand(file: string, args: readonly string[], options: RunOptions = {}): Promise<Ran> {
  const { env = process.env, input = '', cwd } = options;
  const child = spawn(file, args, { env, cwd, stdio: ['pipe', 'pipe', 'pipe'] });
  const heard = { stdout: '', stderr: '' };
  for (const name of ['stdout', 'stderr'] as const)
    child[name].setEncoding('utf8').on('data', (text: string) => {
      heard[name] += text;
    });
  // It may end without having read its input; its exit code tells.
  child.stdin.on('error', () => {});
  child.stdin.end(input);
  return new Promise((resolve, reject) => {
    child.once('error', reject);
    child.once('close', (code) => resolve({ code, ...heard }));
  });
}

/** Runs a command that must succeed, and gives what it printed. Rejects with what it complained of. */
export async function insist(file: string, args: readonly string[], options?: RunOptions): Promise<string> {
  const { code, stdout, stderr } = await runCommand(file, args, options);
  if (code !== 0) throw new Error(`${[file, ...args].join(' ')}: ${stderr.trim() || `exit code ${code}`}`);
  return stdout;
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
    insist('ip', inside('nft', args), input === undefined ? {} : { input });
  let counters = 0;

  await insist('ip', ['netns', 'add', name]);
  await insist('ip', ['-n', name, 'link', 'set', 'lo', 'up']);
  await insist('ip', inside('sh', ['-ec', EQUAL_TRIALS]));
  return {
    name,
    spawn: ((file, args, options: SpawnOptions = {}) =>
      spawn('ip', inside(file, args), options)) as Namespace['spawn'],
    run: (file, args, options) => runCommand('ip', inside(file, args), options),
    ip: (...words) => insist('ip', ['-n', name, ...words]),
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
