// Starts HTTP/3 peers built on aioquic, the Python stack: each misbehaves in one way of its own.
import { type ChildProcess, spawn } from 'node:child_process';
import { once } from 'node:events';
import { createInterface } from 'node:readline';
import { text } from 'node:stream/consumers';
import { fileURLToPath } from 'node:url';
import { insistOnPython, PYTHON, PYTHON_FLAGS } from './python.ts';
import type { Certificate } from './start.ts';

const SCRIPT = fileURLToPath(new URL('aioquic/peers.py', import.meta.url));

interface AioquicPeer extends Certificate {
  /** One that `handshakes.py`, `answers.py` or `hostile.py` names. */
  readonly behaviour: string;
}

export interface AioquicOptions<Name extends string> {
  readonly peers: Readonly<Record<Name, AioquicPeer>>;
  /** The loopback unless said. */
  readonly address?: string;
  /** Starts the process elsewhere, as in a network namespace. */
  readonly spawn?: (file: string, args: readonly string[]) => ChildProcess;
}

export interface RunningAioquic<Name extends string> {
  readonly ports: Readonly<Record<Name, number>>;
  stop(): Promise<void>;
}

/** Starts all peers in one process and resolves once they listen. Rejects with what Python complained of. */
export async function startAioquic<Name extends string>(
  options: AioquicOptions<Name>,
): Promise<RunningAioquic<Name>> {
  insistOnPython();
  const settings = JSON.stringify({ address: options.address ?? '127.0.0.1', peers: options.peers });
  const start = options.spawn ?? ((file, args) => spawn(file, args, { stdio: ['pipe', 'pipe', 'pipe'] }));
  const child = start(PYTHON, [...PYTHON_FLAGS, SCRIPT, settings]);
  const { stdin, stdout, stderr } = child;
  if (stdin === null || stdout === null || stderr === null) throw new Error('the peers need all three pipes');
  const exited = once(child, 'exit');
  const complaints = text(stderr);
  const line = await Promise.race([once(createInterface(stdout), 'line'), exited.then(() => null)]);
  if (line === null) throw new Error(`aioquic did not start:\n${await complaints}`);
  return {
    ports: JSON.parse(String(line[0])),
    async stop() {
      stdin.end();
      await exited;
    },
  };
}
