// Programs that are run to their end for what they print.
import { spawn } from 'node:child_process';

export interface ProgramResult {
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

/** Runs a command to its end. Rejects only if it cannot be started. */
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
  // It may end without having read its input; its exit code tells.
  child.stdin.on('error', () => {});
  child.stdin.end(input);
  return new Promise((resolve, reject) => {
    child.once('error', reject);
    child.once('close', (code) => resolve({ code, ...heard }));
  });
}

/** Runs a command that must succeed, and gives what it printed. Rejects with what it complained of. */
export async function runOrThrow(
  file: string,
  args: readonly string[],
  options?: RunOptions,
): Promise<string> {
  const { code, stdout, stderr } = await runCommand(file, args, options);
  if (code !== 0) throw new Error(`${[file, ...args].join(' ')}: ${stderr.trim() || `exit code ${code}`}`);
  return stdout;
}
