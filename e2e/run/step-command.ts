// Runs a build or test command as one visible step, keeps its output in case it fails, and ends it if this process is
// interrupted.
import { writeFileSync } from 'node:fs';
import { constants, getPriority, setPriority } from 'node:os';
import { execa, type Result, type ResultPromise } from 'execa';
import { TOP } from '../scratch.ts';
import { beginStep, formatElapsed, type Step } from './display.ts';

/** Compiling a crate on a slow machine is silent for minutes, but no command is silent for this long. */
const SILENCE_LIMIT_MS = 12 * 60_000;
/** A command with lower priority may wait that long for a processor while the browser tests occupy them. */
const LOW_PRIORITY_SILENCE_LIMIT_MS = 45 * 60_000;
/** From SIGTERM to SIGKILL, of a command that hangs. One that is interrupted may take its time to clean up. */
const GRACE_MS = 10_000;

export interface Command {
  readonly file: string;
  readonly args: readonly string[];
  readonly env?: Readonly<Record<string, string>>;
  /** Default: the checkout. */
  readonly cwd?: string;
  /**
   * Called for every line. The return value is shown as the step's detail; `null` keeps the last one. Without it, the
   * line itself is shown.
   */
  readonly onLine?: (line: string) => string | null;
  /** Appended to the title after the command has succeeded. */
  readonly note?: () => string;
  /** Nice value, from 0 (default) to 19. */
  readonly nice?: number;
  /**
   * A command that prints nothing for this long is considered hung and ended; by default twelve minutes, with a nice
   * value 45.
   */
  readonly silenceLimitMs?: number;
}

export interface StepResult {
  readonly ok: boolean;
  /** Exit code, or 128 plus the signal's number. */
  readonly code: number;
  /** Standard output and standard error, interleaved as received. */
  readonly output: string;
  readonly elapsedMs: number;
}

/** Commands that are running. */
const running = new Set<Pick<ResultPromise, 'kill'>>();
let interruptedBy: NodeJS.Signals | null = null;

function interrupt(signal: NodeJS.Signals): void {
  interruptedBy = signal;
  if (running.size === 0) process.exit(128 + constants.signals[signal]);
  for (const child of running) child.kill(signal);
}

/** Lowers the priority of a command and its children. Best effort: failure is ignored. */
function lowerPriority({ pid }: { readonly pid?: number | undefined }, nice: number): void {
  if (pid === undefined || nice === 0) return;
  try {
    // root could raise it: the whole run may have been started with a lower one.
    setPriority(pid, Math.max(nice, getPriority()));
    // With autogroups, Linux distributes processor time among sessions first, and every command here has its own
    // session.
    writeFileSync(`/proc/${pid}/autogroup`, String(nice));
  } catch {
    // It has exited already, or this system has no autogroups.
  }
}

const SIGNALS = ['SIGINT', 'SIGTERM', 'SIGHUP'] as const;

/**
 * From here on SIGINT, SIGTERM and SIGHUP end the running commands first, then this process. The returned function
 * undoes this.
 */
export function endCommandsOnSignals(): () => void {
  for (const signal of SIGNALS) process.on(signal, interrupt);
  return () => {
    for (const signal of SIGNALS) process.off(signal, interrupt);
  };
}

/** Undefined if it could not be started. */
function exitCodeOf({ exitCode, signal }: Pick<Result, 'exitCode' | 'signal'>): number | undefined {
  return exitCode ?? (signal && 128 + constants.signals[signal]);
}

/** Runs one of our TypeScript files in a child process attached to the terminal; returns its exit code. */
export async function runInView({
  file,
  args,
  env = {},
}: Pick<Command, 'file' | 'args' | 'env'>): Promise<number> {
  const child = execa(file, args, {
    cwd: TOP,
    env,
    stdio: 'inherit',
    reject: false,
    forceKillAfterDelay: false,
  });
  running.add(child);
  const result = await child;
  running.delete(child);
  const code = exitCodeOf(result);
  if (code === undefined) throw result.cause;
  if (interruptedBy !== null) process.exit(code);
  return code;
}

/**
 * Runs one command, or several as one step until one fails. Never throws: a command that cannot be started has failed
 * with code 127.
 */
export async function runStep(title: string, command: Command | readonly Command[]): Promise<StepResult> {
  const commands = 'file' in command ? [command] : command;
  const step = beginStep(title);
  const startedMs = performance.now();
  const output: string[] = [];
  let code = 0;
  for (const each of commands) if (code === 0) code = await runToEnd(each, step, output);
  step.end(code === 0, code === 0 ? commands.at(-1)?.note?.() : `exit code ${code}`);
  if (interruptedBy !== null) process.exit(128 + constants.signals[interruptedBy]);
  return { ok: code === 0, code, output: output.join(''), elapsedMs: performance.now() - startedMs };
}

async function runToEnd(command: Command, step: Step, output: string[]): Promise<number> {
  const child = execa(command.file, command.args, {
    cwd: command.cwd ?? TOP,
    stdin: 'ignore',
    buffer: false,
    reject: false,
    env: command.env ?? {},
    // A test runner's children must not outlive it, so each command has its own process group.
    killDescendants: true,
    forceKillAfterDelay: false,
  });
  lowerPriority(child, command.nice ?? 0);
  running.add(child);
  const usualLimitMs = command.nice ? LOW_PRIORITY_SILENCE_LIMIT_MS : SILENCE_LIMIT_MS;
  const limitMs = command.silenceLimitMs ?? usualLimitMs;
  let last: NodeJS.Timeout | undefined;
  const silence = setTimeout(() => {
    output.push(`\nstopped after ${formatElapsed(limitMs)} without output\n`);
    child.kill();
    last = setTimeout(() => child.kill('SIGKILL'), GRACE_MS);
  }, limitMs);
  const watch = async (from: 'stdout' | 'stderr') => {
    child[from].setEncoding('utf8').on('data', (text: string) => {
      silence.refresh();
      output.push(text);
    });
    for await (const line of child.iterable({ from })) {
      const detail = command.onLine === undefined ? line.trim() : command.onLine(line);
      if (detail !== null && detail !== '') step.detail(detail);
    }
  };
  await Promise.all([watch('stdout'), watch('stderr')]);
  const result = await child;
  clearTimeout(silence);
  clearTimeout(last);
  running.delete(child);
  const code = exitCodeOf(result);
  if (code === undefined) output.push(`${result.originalMessage}\n`);
  return code ?? 127;
}
