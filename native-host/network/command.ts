// Runs a command of the system for its output, bounded in time and size; networks are told apart by what it prints.

/** A slow disk or a busy machine may need it; beyond it, nothing is better than waiting. */
const COMMAND_TIMEOUT_MS = 2000;
const MAX_OUTPUT_BYTES = 1024 * 1024;

/** Gives what a command printed; null when it is missing, fails, or takes too long. Never rejects. */
export type RunCommand = (
  file: string,
  args: readonly string[],
  timeoutMs?: number,
) => Promise<string | null>;

/** In English, and found where administrators' tools live too, which a desktop's PATH often leaves out. */
function environment(): NodeJS.ProcessEnv {
  if (process.platform === 'win32') return process.env;
  return { ...process.env, LC_ALL: 'C', PATH: `${process.env.PATH ?? ''}:/usr/bin:/bin:/usr/sbin:/sbin` };
}

export const runCommand: RunCommand = (file, args, timeout = COMMAND_TIMEOUT_MS) =>
  new Promise((resolve) => {
    // Most starts of a helper need no command and must not load this.
    const { execFile } = process.getBuiltinModule('node:child_process');
    const limits = { timeout, killSignal: 'SIGKILL', maxBuffer: MAX_OUTPUT_BYTES } as const;
    execFile(file, [...args], { ...limits, env: environment(), windowsHide: true }, (error, stdout) =>
      resolve(error === null ? stdout : null),
    );
  });
