// A link with delay and loss: a process that owns a TUN device in each of two namespaces and carries packets between
// them. It exits when its standard input closes, so it cannot outlive its parent.
import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { createInterface } from 'node:readline';
import { runCommand } from '../child-process.ts';
import { rustProgram } from '../rust-programs.ts';
import type { LinkReport, Shapes } from './shape.ts';

export const FORWARDER = rustProgram('photofinish-link');
/** Real-time, so that a packet that is due does not wait for a busy test. */
const REALTIME_PRIORITY = '10';

type Reply =
  | { readonly ok: true }
  | { readonly report: LinkReport }
  | { readonly waiting: number }
  | { readonly error: string };

export interface Forwarder {
  /** The process, so that its own processor use can be told apart from that of the programs under test. */
  readonly pid: number;
  /** Changes the given directions, for packets that arrive from now on. */
  shape(shapes: Shapes): Promise<void>;
  /** Statistics since the last report. */
  report(): Promise<LinkReport>;
  /** How many packets are on the link in both directions. */
  waiting(): Promise<number>;
  close(): Promise<void>;
}

/** One end: a namespace, and the name of the device to create in it. */
export interface End {
  readonly namespace: string;
  readonly device: string;
}

/** Starts a forwarder between two devices, which it creates. `seed` determines which packets are lost. */
export async function startForwarder(client: End, peer: End, seed: number): Promise<Forwarder> {
  const settings = { client, peer, seed };
  const child = spawn(FORWARDER, [JSON.stringify(settings)], { stdio: ['pipe', 'pipe', 'pipe'] });
  const exited = once(child, 'exit');
  const complaints: string[] = [];
  createInterface(child.stderr).on('line', (line) => complaints.push(line));
  child.stdin.on('error', () => {});

  const waiting: ((line: string | null) => void)[] = [];
  createInterface(child.stdout).on('line', (line) => waiting.shift()?.(line));
  exited.catch(() => {}).finally(() => waiting.splice(0).forEach((told) => void told(null)));
  const nextReply = async () => {
    const line = await new Promise<string | null>((resolve) => void waiting.push(resolve));
    if (line === null) throw new Error(`the link has ended: ${complaints.join('\n')}`);
    const reply = JSON.parse(line) as Reply;
    if ('error' in reply) throw new Error(`the link refuses: ${reply.error}`);
    return reply;
  };
  const ask = (command: unknown) => {
    if (child.exitCode !== null) throw new Error('the link has ended');
    const reply = nextReply();
    child.stdin.write(`${JSON.stringify(command)}\n`);
    return reply;
  };

  await nextReply();
  const { pid } = child;
  if (pid === undefined) throw new Error('the link did not start');
  // Without the privilege the link works, but less accurately on a busy machine.
  await runCommand('chrt', ['--all-tasks', '--fifo', '--pid', REALTIME_PRIORITY, String(pid)]).catch(
    () => {},
  );
  return {
    pid,
    async shape(shapes) {
      await ask({ shape: shapes });
    },
    async report() {
      const reply = await ask('report');
      if (!('report' in reply)) throw new Error('the link gave no report');
      return reply.report;
    },
    async waiting() {
      const reply = await ask('waiting');
      if (!('waiting' in reply)) throw new Error('the link gave no count');
      return reply.waiting;
    },
    async close() {
      child.stdin.end();
      await exited;
    },
  };
}
