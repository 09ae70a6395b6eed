// What the sources of several platforms read from their system: the output of commands, with limits on time and size,
// and the addresses of this machine's own interfaces.

/** A slow disk or a busy machine may need it; beyond that, no result is better than waiting. */
const COMMAND_TIMEOUT_MS = 2000;
const MAX_OUTPUT_BYTES = 1024 * 1024;

/** Returns the output of a command; null when it is missing, fails, or takes too long. Never rejects. */
export type RunCommand = (
  file: string,
  args: readonly string[],
  timeoutMs?: number,
) => Promise<string | null>;

/** English output, and directories of administrators' tools, which a desktop's PATH often lacks. */
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

/**
 * Changes whenever an interface or one of its IPv4 addresses is added or removed: on systems whose tables cannot be read
 * without a command, a change of network shows here first.
 */
export function interfacesMark(): string {
  const interfaces = Object.entries(process.getBuiltinModule('node:os').networkInterfaces());
  return JSON.stringify(
    interfaces.map(([device, addresses = []]) => [
      device,
      // IPv6 privacy addresses (RFC 8981) change on the same network.
      addresses.flatMap(({ family, cidr }) => (family === 'IPv4' ? [cidr] : [])),
    ]),
  );
}
