// HTTP/3 peers built on aioquic, the Python stack, each of which misbehaves in one way of its own, and certificate chains,
// good and bad in one way each, made by a library that no contender uses.
import { type ChildProcess, spawn } from 'node:child_process';
import { once } from 'node:events';
import { readFile, rm } from 'node:fs/promises';
import { join } from 'node:path';
import { createInterface } from 'node:readline';
import { text } from 'node:stream/consumers';
import { fileURLToPath } from 'node:url';
import { scratchDirectory } from '../scratch.ts';
import { insistOnPython, PYTHON, PYTHON_FLAGS, runPython } from './python.ts';
import type { Certificate } from './start.ts';

const PEERS = fileURLToPath(new URL('aioquic/peers.py', import.meta.url));

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
  const child = start(PYTHON, [...PYTHON_FLAGS, PEERS, settings]);
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

const CHAINS_SCRIPT = fileURLToPath(new URL('aioquic/chains.py', import.meta.url));

export interface Chains {
  /** The roots to trust, PEM: one in force, and one that has expired. */
  readonly caPath: string;
  /** The files of one of the chains that `chains.py` names. */
  files(name: string): Certificate;
  /** The same, read: what a TLS server is given. */
  read(name: string): Promise<{ readonly cert: string; readonly key: string }>;
  remove(): Promise<void>;
}

/** Makes every chain; the leaves are for `host`. */
export async function makeChains(host: string): Promise<Chains> {
  const dir = await scratchDirectory('chains');
  await runPython(CHAINS_SCRIPT, [dir, host]);
  const files = (name: string): Certificate => ({
    certPath: join(dir, `${name}.pem`),
    keyPath: join(dir, `${name}.key`),
  });
  return {
    caPath: join(dir, 'ca.pem'),
    files,
    async read(name) {
      const { certPath, keyPath } = files(name);
      const [cert, key] = await Promise.all([readFile(certPath, 'utf8'), readFile(keyPath, 'utf8')]);
      return { cert, key };
    },
    remove: () => rm(dir, { recursive: true, force: true }),
  };
}
