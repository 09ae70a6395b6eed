// Runs a command of the build or of the tests as one visible step, keeps what it prints for the case that it fails,
// and never leaves it behind when we are interrupted.
import { type ChildProcess, spawn } from 'node:child_process';
import { writeFileSync } from 'node:fs';
import { constants, setPriority } from 'node:os';
import { TOP } from '../scratch.ts';
import { beginStep, formatElapsed, type Step } from './display.ts';

/** A crate that is compiled on a slow machine takes minutes without a word; nothing is silent for so long. */
const SILENCE_LIMIT_MS = 12 * 60_000;
/** From the request to end until the end. */
const GRACE_MS = 10_000;

export interface Command {
  readonly file: string;
  readonly args: readonly string[];
  readonly env?: Readonly<Record<string, string>>;
  /** The checkout unless said. */
  readonly cwd?: string;
  /**
   * Sees every line as it comes. What it returns is shown as the step's detail; `null` keeps the last one.
   * Without it the line itself is shown.
   */
  readonly onLine?: (line: string) => string | null;
  /** What to say behind the title once the command has ended well. */
  readonly note?: () => string;
  /** How far it stands back for what runs beside it: 0, not at all, to 19; 0 unless said. */
  readonly nice?: number;
  /** After that long without a line the command has hung, and is ended; twelve minutes unless said. */
  readonly silenceLimitMs?: number;
}

export interface StepResult {
  readonly ok: boolean;
  /** Exit code, or 128 and the signal's number. */
  readonly code: number;
  /** Standard output and standard error as they came. */
  readonly output: string;
  readonly elapsedMs: number;
}

/** What is running, and how a signal reaches it. */
const running = new Map<ChildProcess, (signal: NodeJS.Signals) => void>();
let interruptedBy: NodeJS.Signals | null = null;

function interrupt(signal: NodeJS.Signals): void {
  interruptedBy = signal;
  if (running.size === 0) process.exit(128 + constants.signals[signal]);
  for (const forward of running.values()) forward(signal);
}

/** A test runner's own children must not outlive it: each command has a process group of its own. */
function signalAll(child: ChildProcess, signal: NodeJS.Signals): void {
  if (child.pid === undefined) return;
  try {
    process.kill(-child.pid, signal);
  } catch (error) {
    // It has ended by itself a moment ago.
    if ((error as NodeJS.ErrnoException).code !== 'ESRCH') throw error;
  }
}

/** Lets a command and its children work with what others leave. Nothing depends on it, so nothing is said if it fails. */
function standBack({ pid }: ChildProcess, nice: number): void {
  if (pid === undefined || nice === 0) return;
  try {
    setPriority(pid, nice);
    // Linux shares processors out among sessions first, where it is built so, and every command here has its own.
    writeFileSync(`/proc/${pid}/autogroup`, String(nice));
  } catch {
    // It has ended already, or this system knows no such groups.
  }
}

/** Ends a command that has said nothing for too long; `heard` is to be called whenever it speaks. */
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
 * From here on SIGINT, SIGTERM and SIGHUP end the running commands first, then this process; until what it gives is
 * called.
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

/** Runs a TypeScript file of ours in view of the user, in a process of its own; gives its exit code. */
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
 * Runs the command to its end, or several as one step until one of them fails. Never throws: a command that cannot be
 * started has failed with code 127.
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
  const limitMs = command.silenceLimitMs ?? SILENCE_LIMIT_MS;
  const silence = watchSilence(child, limitMs, () => {
    output.push(`\nended after ${formatElapsed(limitMs)} without a word\n`);
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
