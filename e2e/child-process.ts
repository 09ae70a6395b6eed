// Runs programs to completion for their output, also with the processor time that they used by the kernel's accounting,
// and waits for those that go on running until they are ready.
import { type ChildProcessByStdio, type ChildProcessWithoutNullStreams, spawn } from 'node:child_process';
import { on, once } from 'node:events';
import { createInterface } from 'node:readline';
import type { Readable, Writable } from 'node:stream';
import { text } from 'node:stream/consumers';

export interface ProgramResult {
  /** Null if it was killed by a signal. */
  readonly code: number | null;
  readonly stdout: string;
  readonly stderr: string;
}

export interface RunOptions {
  /** Default: this process's environment. */
  readonly env?: NodeJS.ProcessEnv;
  /** Standard input; empty by default. */
  readonly input?: string;
  /** Working directory; by default this process's. */
  readonly cwd?: string;
}

/** Runs a command to completion. Rejects only if it cannot be started. */
export async function runCommand(
  file: string,
  args: readonly string[],
  { env = process.env, input = '', cwd }: RunOptions = {},
): Promise<ProgramResult> {
  const child = spawn(file, args, { env, cwd });
  // It may exit without reading its input; the exit code shows whether it failed.
  child.stdin.on('error', () => {});
  child.stdin.end(input);
  const outputs = [text(child.stdout), text(child.stderr)] as const;
  const [[code], stdout, stderr] = await Promise.all([once(child, 'close'), ...outputs]);
  return { code, stdout, stderr };
}

/** A program that goes on running. */
interface ReadyProgram {
  readonly pid: number;
  /** What it printed when it was ready. */
  readonly line: string;
  /** Closes its standard input, and resolves once it has ended. */
  stop(): Promise<void>;
}

/**
 * Waits for the first line that a program prints, which says that it is ready; what it prints after that is discarded.
 * Rejects with its standard error if it ends before, except for the lines that `isOther` takes.
 */
export async function whenReady(
  name: string,
  child: ChildProcessWithoutNullStreams,
  isOther: (line: string) => boolean = () => false,
): Promise<ReadyProgram> {
  // Not `exit`, after which a line may still arrive.
  const ended = once(child, 'close');
  const complaints: string[] = [];
  createInterface(child.stderr).on('line', (line) => {
    if (!isOther(line)) complaints.push(line);
  });
  // It may end without reading its input.
  child.stdin.on('error', () => {});
  const printed = once(createInterface(child.stdout), 'line').then(([line]) => String(line));
  const line = await Promise.race([printed, ended.then(() => null)]);
  const { pid } = child;
  if (line === null || pid === undefined)
    throw new Error(`${name} did not start: ${complaints.join('\n').trim()}`);
  return {
    pid,
    line,
    async stop() {
      child.stdin.end();
      await ended;
    },
  };
}

/** A program that reads and prints lines. */
interface LineChannel {
  /** The next line that it prints. Rejects with its standard error if it ends before. */
  next(): Promise<string>;
  /** Sends it a line of JSON. */
  send(message: unknown): void;
  /** Closes its standard input, and resolves once it has ended. */
  stop(): Promise<void>;
}

/** Lines that nobody asks for wait in memory: a program that could not print them would not end either. */
export function openLineChannel(name: string, child: ChildProcessWithoutNullStreams): LineChannel {
  const ended = once(child, 'close');
  // If it could not be started, there is no next line either.
  ended.catch(() => {});
  const complaints = text(child.stderr);
  child.stdin.on('error', () => {});
  // Its own iterator stops reading while many lines wait.
  const lines = on(createInterface(child.stdout), 'line', { close: ['close'] });
  return {
    async next() {
      const { done, value } = await lines.next();
      if (done) throw new Error(`${name} has ended: ${(await complaints).trim()}`);
      return value[0];
    },
    send: (message) => void child.stdin.write(`${JSON.stringify(message)}\n`),
    async stop() {
      child.stdin.end();
      await ended;
    },
  };
}

/** Runs a command that must succeed and returns its output. Rejects with its standard error, and then the command. */
export async function runOrThrow(
  file: string,
  args: readonly string[],
  options?: RunOptions,
): Promise<string> {
  const { code, stdout, stderr } = await runCommand(file, args, options);
  if (code !== 0)
    throw new Error(`${stderr.trim() || `exit code ${code}`}\nCommand: ${[file, ...args].join(' ')}`);
  return stdout;
}

export interface AccountedRun {
  readonly cpuMs: number;
  readonly wallMs: number;
  readonly output: string;
}

/** Runs a program to completion; user and system time are from the kernel's accounting, including start-up. */
export async function accounted(file: string, args: readonly string[], input = ''): Promise<AccountedRun> {
  const beganMs = performance.now();
  const script = 'TIMEFORMAT="%3U %3S"; { time "$@" 2>&4; } 4>&2 2>&3';
  const child = spawn('bash', ['-c', script, 'bash', file, ...args], {
    stdio: ['pipe', 'pipe', 'inherit', 'pipe'],
  }) as ChildProcessByStdio<Writable, Readable, null>;
  child.stdin.end(input);
  const account = child.stdio[3] as NodeJS.ReadableStream;
  const [output, times, [code]] = await Promise.all([text(child.stdout), text(account), once(child, 'exit')]);
  if (code !== 0) throw new Error(`${file} ended with ${code}`);
  const [user = Number.NaN, system = Number.NaN] = times.trim().split(' ').map(Number);
  return { cpuMs: (user + system) * 1000, wallMs: performance.now() - beganMs, output };
}
