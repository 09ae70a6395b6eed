// The real helper for tests: a separate process, used as by a browser, with every reply validated against the
// extension's schema.
import { type ChildProcess, spawn } from 'node:child_process';
import { once } from 'node:events';
import { mkdtemp, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import type { TestContext } from 'node:test';
import { type Reply, replySchema } from '@photofinish/shared/port/reply';
import { WIRE_PROTOCOL } from '@photofinish/shared/port/wire';
import * as v from 'valibot';
import { createDeframer, frame } from '../wire/framing.ts';

export const MAIN = join(import.meta.dirname, '..', 'main.ts');
export const CALLER = `chrome-extension://${'abcdefghijklmnop'.repeat(2)}/`;

/** A question for a forecast. */
export const forecast = (id: number, origins: readonly string[] = ['https://a.test']) => ({
  type: 'forecast',
  id,
  browser: 'chromium',
  site: 'a.test',
  origins,
});

type ReplyOf<T extends Reply['type']> = Extract<Reply, { type: T }>;

export interface Helper {
  readonly child: ChildProcess;
  /** Everything received so far. */
  readonly replies: readonly Reply[];
  readonly stderr: () => string;
  raw(bytes: Uint8Array): void;
  send(message: object): void;
  /** The next matching reply, received or to come; progress is skipped unless requested. */
  next<T extends Reply['type']>(type: T, id?: number): Promise<ReplyOf<T>>;
  /** Discards received replies, in runs so long that keeping them would be the load. */
  forget(): void;
  /** Closes stdin like a browser and returns the exit code. */
  leave(): Promise<number | null>;
  /** The exit code, once it has ended. */
  readonly exited: Promise<number | null>;
}

interface HelperOptions {
  /** Connected by real pipes, as in a browser; otherwise by the socket pairs that Node creates. */
  readonly pipes?: boolean;
  readonly caller?: readonly string[];
  readonly nodeOptions?: string;
  /** A program that starts the helper, with its arguments. */
  readonly by?: readonly string[];
  /** Added to this process's own. */
  readonly env?: Readonly<Record<string, string>>;
}

export interface Home {
  readonly directory: string;
  /** The settings file. */
  readonly config: string;
  /** Starts a helper with this home's settings. */
  start(options?: HelperOptions): Helper;
  /** Starts one and completes hello. */
  greet(options?: HelperOptions): Promise<Helper>;
}

/** Gives the command pipes for stdin, stdout and stderr, and prints its exit code on stderr. */
const PIPES = 'cat | { { "$@"; echo "exit $?" >&2; } 2>&1 >&3 3>&- | cat >&2; } 3>&1 | cat';

function helperOf(child: ChildProcess): Helper {
  const deframer = createDeframer(2 ** 31);
  const replies: Reply[] = [];
  const waiting = new Set<() => void>();
  let errors = '';
  let ended = false;
  const wake = (): void => {
    for (const look of waiting) look();
  };
  child.stderr?.setEncoding('utf8').on('data', (text: string) => {
    errors += text;
  });
  child.stdout?.on('data', (bytes: Buffer) => {
    for (const inbound of deframer.push(bytes)) {
      if (inbound.kind !== 'message') throw new Error(`a stray byte on the wire: ${bytes.toString()}`);
      replies.push(v.parse(replySchema, inbound.value));
    }
    wake();
  });
  // A helper that ends stops reading, which some tests are about.
  child.stdin?.on('error', () => {});
  const exited = once(child, 'close').then(([code]) => {
    ended = true;
    wake();
    return code as number | null;
  });
  const taken = new Set<Reply>();
  return {
    child,
    replies,
    stderr: () => errors,
    raw: (bytes) => void child.stdin?.write(bytes),
    send: (message) => void child.stdin?.write(frame(message)),
    next: (type, id) =>
      new Promise((resolve, reject) => {
        const look = (): void => {
          const found = replies.find(
            (r) => !taken.has(r) && r.type === type && (id === undefined || r.id === id),
          );
          if (found === undefined && !ended) return;
          waiting.delete(look);
          if (found === undefined) {
            reject(new Error(`it ended without "${type}": ${JSON.stringify(replies)} ${errors}`));
            return;
          }
          taken.add(found);
          resolve(found as ReplyOf<typeof type>);
        };
        waiting.add(look);
        look();
      }),
    forget() {
      replies.length = 0;
      taken.clear();
    },
    leave() {
      child.stdin?.end();
      return exited;
    },
    exited,
  };
}

/** A directory with a settings file, removed after the test together with the helpers started in it. */
export async function home(
  t: TestContext,
  settings: object = { allowPrivate: ['127.0.0.0/8'] },
): Promise<Home> {
  const directory = await mkdtemp(join(tmpdir(), 'photofinish-'));
  const config = join(directory, 'config.json');
  await writeFile(config, JSON.stringify({ cache: 'state/cache.db', logs: 'state/helper.log', ...settings }));
  const started: ChildProcess[] = [];
  t.after(async () => {
    const running = started.filter((child) => child.exitCode === null && child.signalCode === null);
    await Promise.all(
      running.map((child) => {
        const closed = once(child, 'close');
        child.kill('SIGKILL');
        return closed;
      }),
    );
    await rm(directory, { recursive: true, force: true });
  });
  function start(options: HelperOptions = {}): Helper {
    const helper = [
      ...(options.by ?? []),
      process.execPath,
      MAIN,
      '--config',
      config,
      '--',
      ...(options.caller ?? [CALLER]),
    ];
    const [command = '', ...args] = options.pipes ? ['sh', '-c', PIPES, 'sh', ...helper] : helper;
    const env = { ...process.env, ...options.env, NODE_OPTIONS: options.nodeOptions ?? '' };
    const child = spawn(command, args, { env, stdio: ['pipe', 'pipe', 'pipe'] });
    started.push(child);
    return helperOf(child);
  }
  return {
    directory,
    config,
    start,
    async greet(options) {
      const helper = start(options);
      helper.send({ type: 'hello', id: 1, protocol: WIRE_PROTOCOL, program: 'test/1' });
      await helper.next('hello');
      return helper;
    },
  };
}
