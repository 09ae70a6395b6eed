// Runs a build or test command as one visible step, keeps its output in case it fails, and ends it if this process is
// interrupted.
import { type ChildProcess, spawn } from 'node:child_process';
import { writeFileSync } from 'node:fs';
import { constants, getPriority, setPriority } from 'node:os';
import { TOP } from '../scratch.ts';
import { beginStep, formatElapsed, type Step } from './display.ts';

/** Compiling a crate on a slow machine is silent for minutes, but no command is silent for this long. */
const SILENCE_LIMIT_MS = 12 * 60_000;
/** A command with lower priority may wait that long for a processor while the browser tests occupy them. */
const LOW_PRIORITY_SILENCE_LIMIT_MS = 45 * 60_000;
/** From SIGTERM to SIGKILL. */
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

/** Running commands, each with the function that sends it a signal. */
const running = new Map<ChildProcess, (signal: NodeJS.Signals) => void>();
let interruptedBy: NodeJS.Signals | null = null;

function interrupt(signal: NodeJS.Signals): void {
  interruptedBy = signal;
  if (running.size === 0) process.exit(128 + constants.signals[signal]);
  for (const forward of running.values()) forward(signal);
}

/** A test runner's children must not outlive it, so each command has its own process group. */
function signalAll(child: ChildProcess, signal: NodeJS.Signals): void {
  if (child.pid === undefined) return;
  try {
    process.kill(-child.pid, signal);
  } catch (error) {
    // It has just exited by itself.
    if ((error as NodeJS.ErrnoException).code !== 'ESRCH') throw error;
  }
}

/** Lowers the priority of a command and its children. Best effort: failure is ignored. */
function standBack({ pid }: ChildProcess, nice: number): void {
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

/** Ends a command after too long a silence; `heard` must be called for each output. */
function watchSilence(child: ChildProcess, limitMs: number, onTooLong: () => void) {
  let last: NodeJS.Timeout | undefined;
  const timer = setTimeout(() => {
    onTooLong();
    signalAll(child, 'SIGTERM');
    last = setTimeout(() => signalAll(child, 'SIGKILL'), GRACE_MS);
  }, limitMs);
  return {
    heard: () => void timer.refresh(),
    stop: () => {
      clearTimeout(timer);
      clearTimeout(last);
    },
  };
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

function exitCodeOf(code: number | null, signal: NodeJS.Signals | null): number {
  return code ?? 128 + (signal === null ? 0 : constants.signals[signal]);
}

/** Runs one of our TypeScript files in a child process attached to the terminal; returns its exit code. */
export async function runInView({ file, args }: Pick<Command, 'file' | 'args'>): Promise<number> {
  const child = spawn(file, args, { cwd: TOP, stdio: 'inherit' });
  running.set(child, (signal) => child.kill(signal));
  const code = await new Promise<number>((resolve, reject) => {
    child.once('error', reject);
    child.once('exit', (exit, signal) => resolve(exitCodeOf(exit, signal)));
  });
  running.delete(child);
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
  const child = spawn(command.file, command.args, {
    cwd: command.cwd ?? TOP,
    stdio: ['ignore', 'pipe', 'pipe'],
    env: { ...process.env, ...command.env },
    detached: true,
  });
  standBack(child, command.nice ?? 0);
  running.set(child, (signal) => signalAll(child, signal));
  const usualLimitMs = command.nice ? LOW_PRIORITY_SILENCE_LIMIT_MS : SILENCE_LIMIT_MS;
  const limitMs = command.silenceLimitMs ?? usualLimitMs;
  const silence = watchSilence(child, limitMs, () => {
    output.push(`\nstopped after ${formatElapsed(limitMs)} without output\n`);
  });
  const watch = (line: string) => {
    const detail = command.onLine === undefined ? line.trim() : command.onLine(line);
    if (detail !== null && detail !== '') step.detail(detail);
  };
  for (const stream of [child.stdout, child.stderr]) {
    let rest = '';
    stream.setEncoding('utf8');
    stream.on('data', (text: string) => {
      silence.heard();
      output.push(text);
      const lines = (rest + text).split('\n');
      rest = lines.pop() ?? '';
      for (const line of lines) watch(line);
    });
    stream.on('end', () => rest !== '' && watch(rest));
  }

  const code = await new Promise<number>((resolve) => {
    child.once('error', (error) => {
      output.push(`${error.message}\n`);
      resolve(127);
    });
    child.once('close', (exit, signal) => resolve(exitCodeOf(exit, signal)));
  });
  silence.stop();
  running.delete(child);
  return code;
}
