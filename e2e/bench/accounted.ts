// Processor time of a program by the kernel's accounting, for benchmarks that compare whole programs.
import { type ChildProcessByStdio, spawn } from 'node:child_process';
import { once } from 'node:events';
import type { Readable, Writable } from 'node:stream';
import { text } from 'node:stream/consumers';

export interface Run {
  readonly cpuMs: number;
  readonly wallMs: number;
  readonly output: string;
}

/** Runs a program to completion; user and system time are from the kernel's accounting, including start-up. */
export async function accounted(file: string, args: readonly string[], input = ''): Promise<Run> {
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
