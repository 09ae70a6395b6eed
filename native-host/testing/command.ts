// The command line for tests: in a process of its own, as its users start it, or with a terminal that keeps what is said.
import { type ChildProcess, spawn } from 'node:child_process';
import { once } from 'node:events';
import { join } from 'node:path';
import type { Terminal } from '../cli/terminal.ts';
import { plain } from '../cli/text.ts';

export const CLI = join(import.meta.dirname, '../cli.ts');
const { NODE_COMPILE_CACHE } = process.env;
/** The command gets none of this environment except what avoids stripping types again at each start. */
export const COMPILE_CACHE = NODE_COMPILE_CACHE === undefined ? {} : { NODE_COMPILE_CACHE };

interface CommandResult {
  readonly code: number | null;
  readonly stdout: string;
  readonly stderr: string;
}

interface Start {
  readonly stdin?: 'ignore' | 'pipe';
  readonly path?: string;
}

export function startCommand(
  args: readonly string[],
  home: string,
  { stdin = 'ignore', path = '/usr/bin:/bin' }: Start = {},
): ChildProcess {
  return spawn(process.execPath, [CLI, ...args], {
    env: { HOME: home, PATH: path, ...COMPILE_CACHE },
    stdio: [stdin, 'pipe', 'pipe'],
  });
}

/** What a process has printed by its end. */
export async function ended(child: ChildProcess): Promise<CommandResult> {
  let stdout = '';
  let stderr = '';
  child.stdout?.setEncoding('utf8').on('data', (text: string) => {
    stdout += text;
  });
  child.stderr?.setEncoding('utf8').on('data', (text: string) => {
    stderr += text;
  });
  const [code] = await once(child, 'close');
  return { code, stdout, stderr };
}

/** A terminal, and what was printed there. */
export function recordingTerminal() {
  const results: string[] = [];
  const errors: string[] = [];
  const terminal: Terminal = {
    paint: plain,
    result: (text) => void results.push(text),
    error: (code, message) => void errors.push(`${code}: ${message}`),
    confirm: async () => false,
    progress: () => {},
  };
  return { terminal, results, errors };
}
