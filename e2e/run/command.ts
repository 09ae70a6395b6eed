// Runs a command of the build or of the tests as one visible step, keeps what it prints for the case that it fails,
// and never leaves it behind when we are interrupted.
import { type ChildProcess, spawn } from 'node:child_process';
import { constants } from 'node:os';
import { dirname } from 'node:path';
import { fileURLToPath } from 'node:url';
import { beginStep } from './display.ts';

/** The checkout. */
export const TOP = dirname(dirname(dirname(fileURLToPath(import.meta.url))));

export interface Command {
  readonly file: string;
  readonly args: readonly string[];
  readonly env?: Readonly<Record<string, string>>;
  /**
   * Sees every line as it comes. What it returns is shown as the step's detail; `null` keeps the last one.
   * Without it the line itself is shown.
   */
  readonly onLine?: (line: string) => string | null;
  /** What to say behind the title once the command has ended well. */
  readonly note?: () => string;
}

export interface Ended {
  readonly ok: boolean;
  /** Exit code, or 128 and the signal's number. */
  readonly code: number;
  /** Standard output and standard error as they came. */
  readonly output: string;
  readonly elapsedMs: number;
}

const running = new Set<ChildProcess>();
let interruptedBy: NodeJS.Signals | null = null;

function interrupt(signal: NodeJS.Signals): void {
  interruptedBy = signal;
  if (running.size === 0) process.exit(128 + constants.signals[signal]);
  for (const child of running) child.kill(signal);
}

/** From here on SIGINT, SIGTERM and SIGHUP end the running command first, then this process. */
export function endCommandsOnSignals(): void {
  for (const signal of ['SIGINT', 'SIGTERM', 'SIGHUP'] as const) process.on(signal, () => interrupt(signal));
}

/** Runs the command to its end. Never throws: a command that cannot be started has failed with code 127. */
export async function runStep(title: string, command: Command): Promise<Ended> {
  const step = beginStep(title);
  const startedMs = performance.now();
  const child = spawn(command.file, command.args, {
    cwd: TOP,
    stdio: ['ignore', 'pipe', 'pipe'],
    env: { ...process.env, ...command.env },
  });
  running.add(child);

  const output: string[] = [];
  const watch = (line: string) => {
    const detail = command.onLine === undefined ? line.trim() : command.onLine(line);
    if (detail !== null && detail !== '') step.detail(detail);
  };
  for (const stream of [child.stdout, child.stderr]) {
    let rest = '';
    stream.setEncoding('utf8');
    stream.on('data', (text: string) => {
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
    child.once('close', (exit, signal) => resolve(exit ?? 128 + (signal ? constants.signals[signal] : 0)));
  });
  running.delete(child);
  step.end(code === 0, code === 0 ? command.note?.() : `exit code ${code}`);
  if (interruptedBy !== null) process.exit(128 + constants.signals[interruptedBy]);
  return { ok: code === 0, code, output: output.join(''), elapsedMs: performance.now() - startedMs };
}
