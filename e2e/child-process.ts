// Runs programs to completion for their output.
import { spawn } from 'node:child_process';

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
export function runCommand(
  file: string,
  args: readonly string[],
  options: RunOptions = {},
): Promise<ProgramResult> {
  const { env = process.env, input = '', cwd } = options;
  const child = spawn(file, args, { env, cwd, stdio: ['pipe', 'pipe', 'pipe'] });
  const heard = { stdout: '', stderr: '' };
  for (const name of ['stdout', 'stderr'] as const)
    child[name].setEncoding('utf8').on('data', (text: string) => {
      heard[name] += text;
    });
  // It may exit without reading its input; the exit code shows whether it failed.
  child.stdin.on('error', () => {});
  child.stdin.end(input);
  return new Promise((resolve, reject) => {
    child.once('error', reject);
    child.once('close', (code) => resolve({ code, ...heard }));
  });
}

/** Runs a command that must succeed and returns its output. Rejects with its standard error. */
export async function runOrThrow(
  file: string,
  args: readonly string[],
  options?: RunOptions,
): Promise<string> {
  const { code, stdout, stderr } = await runCommand(file, args, options);
  if (code !== 0) throw new Error(`${[file, ...args].join(' ')}: ${stderr.trim() || `exit code ${code}`}`);
  return stdout;
}
