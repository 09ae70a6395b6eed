// Starts an installed launcher like a browser would, with a minimal environment, and says hello over the wire.
import { spawn } from 'node:child_process';
import { win32 } from 'node:path';
import { replySchema } from '@photofinish/shared/port/reply';
import { WIRE_PROTOCOL } from '@photofinish/shared/port/wire';
import * as v from 'valibot';
import { createDeframer, frame, type Inbound } from '../wire/framing.ts';
import type { Platform } from './machine.ts';

/** The result of the hello; every reason is a sentence for people. */
export type HelloResult =
  | { readonly state: 'answered'; readonly program: string; readonly afterMs: number }
  | {
      readonly state: 'not-started' | 'silent' | 'exited' | 'garbled' | 'refused';
      readonly reason: string;
    };

const HELLO_ID = 1;
/** Enough of a failing helper's output to see why. */
const MAX_STDERR_CHARS = 400;
/** The PATH that desktop sessions give a browser, which passes it on; it does not contain our own runtime. */
const BARE_PATH = '/usr/local/bin:/usr/bin:/bin';
const PASSED_ON = ['HOME', 'XDG_CONFIG_HOME', 'XDG_STATE_HOME', 'XDG_DATA_HOME', 'LANG'];
/** Without these a Windows program finds neither itself nor its user. */
const PASSED_ON_WINDOWS = ['APPDATA', 'COMSPEC', 'LOCALAPPDATA', 'SystemRoot', 'TEMP', 'USERPROFILE'];

type Environment = Readonly<Record<string, string | undefined>>;

/** How a browser starts a launcher. */
export interface Launch {
  readonly file: string;
  readonly args: readonly string[];
  readonly environment: Readonly<Record<string, string>>;
  /** The arguments are already quoted as the system requires. */
  readonly verbatim: boolean;
}

/** What a browser runs for a launcher; on Windows cmd.exe, with the options used by Chromium and Firefox. */
export function launchOf(
  launcher: string,
  callerArguments: readonly string[],
  platform: Platform,
  environment: Environment,
): Launch {
  const passedOn = (names: readonly string[]): Record<string, string> =>
    Object.fromEntries(
      names.flatMap((name) => (environment[name] === undefined ? [] : [[name, environment[name]]])),
    );
  if (platform !== 'win32')
    return {
      file: launcher,
      args: callerArguments,
      environment: { PATH: BARE_PATH, ...passedOn(PASSED_ON) },
      verbatim: false,
    };
  const system = win32.join(environment.SystemRoot ?? 'C:\\Windows', 'System32');
  const call = [launcher, ...callerArguments].map((word) => `"${word}"`).join(' ');
  return {
    file: environment.COMSPEC ?? win32.join(system, 'cmd.exe'),
    args: ['/d', '/s', '/c', `"${call}"`],
    environment: { PATH: system, ...passedOn(PASSED_ON_WINDOWS) },
    verbatim: true,
  };
}

function judge(inbound: Inbound, afterMs: number): HelloResult {
  if (inbound.kind !== 'message')
    return { state: 'garbled', reason: 'the launcher printed something other than a message' };
  const reply = v.safeParse(replySchema, inbound.value);
  if (!reply.success) return { state: 'garbled', reason: 'the response is not a known message' };
  const { output } = reply;
  if (output.type === 'error')
    return { state: 'refused', reason: `the helper refused: ${output.code}: ${output.message}` };
  if (output.type !== 'hello')
    return { state: 'garbled', reason: `the response to hello was ${output.type}` };
  return { state: 'answered', program: output.program, afterMs: Math.round(afterMs) };
}

/** Starts a launcher and says hello; ends it again in any case. Never rejects. */
export function exchangeHello(launch: Launch, timeoutMs: number): Promise<HelloResult> {
  const startMs = performance.now();
  const { promise, resolve } = Promise.withResolvers<HelloResult>();
  const child = spawn(launch.file, [...launch.args], {
    env: launch.environment,
    stdio: 'pipe',
    windowsHide: true,
    windowsVerbatimArguments: launch.verbatim,
  });
  const deframer = createDeframer();
  let stderr = '';
  const finish = (result: HelloResult): void => {
    clearTimeout(timer);
    resolve(result);
    // If there is a shell in between, only the end of its input ends the helper.
    child.stdin.destroy();
    child.kill('SIGKILL');
  };
  const timer = setTimeout(
    () => finish({ state: 'silent', reason: `no response within ${timeoutMs / 1000} s` }),
    timeoutMs,
  );
  child.on('error', (error) =>
    finish({ state: 'not-started', reason: `the launcher could not be started: ${error.message}` }),
  );
  child.stderr.setEncoding('utf8').on('data', (text: string) => {
    stderr = (stderr + text).slice(-MAX_STDERR_CHARS);
  });
  child.stdout.on('data', (bytes: Buffer) => {
    const [first] = deframer.push(bytes);
    if (first !== undefined) finish(judge(first, performance.now() - startMs));
  });
  child.on('close', (code, signal) => {
    const how = signal === null ? `exit code ${code}` : `signal ${signal}`;
    const [line = ''] = stderr.trim().split('\n').slice(-1);
    finish({
      state: 'exited',
      reason: `the helper ended before it responded (${how})${line === '' ? '' : `: ${line}`}`,
    });
  });
  // This fails if a launcher ends before it reads; its exit code says more.
  child.stdin.on('error', () => {});
  child.stdin.write(
    frame({ type: 'hello', id: HELLO_ID, protocol: WIRE_PROTOCOL, program: 'photofinish-doctor' }),
  );
  return promise;
}
