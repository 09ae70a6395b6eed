// `photofinish survey`: connects, opens what an action needs, runs it, and prints what it did.
import { join } from 'node:path';
import { systemClock } from '../clock.ts';
import { type Collecting, collect } from '../survey/collect.ts';
import { connectTo, type ServerOptions } from '../survey/connect.ts';
import { errors, JetStreamApiError, jetstream, jetstreamManager } from '../survey/nats.ts';
import { type OwnServer, startServer } from '../survey/nats-server.ts';
import { isOfFiles } from '../survey/segments.ts';
import { statusOf, statusText } from '../survey/status.ts';
import { namesOf } from '../survey/streams.ts';
import { openSurvey, type SurveyContext } from './survey-context.ts';
import { load } from './survey-loading.ts';
import { readOptOut } from './survey-opt-out.ts';
import { parseSurveyCommand, type SurveyAction, type SurveyCommand } from './survey-options.ts';
import { workHere } from './survey-working.ts';
import { stoppedByInterrupt, type Terminal } from './terminal.ts';
import { Complaint, EXIT_FAILED, EXIT_INTERRUPTED, EXIT_OK } from './usage.ts';

/** An action may begin while its server is being restarted. */
const REFUSED_AGAIN_MS = 3000;
/** The vantage of `survey run`, which has one. */
const ONLY_VANTAGE = 'here';
/** Where `survey run` keeps its server's data, beside the archive. */
const SERVER_DIRECTORY = '.nats';

function onlyArgument({ action, rest }: SurveyCommand, what: string): string {
  const [argument, more] = rest;
  if (argument !== undefined && more === undefined) return argument;
  throw new Complaint('bad-usage', `survey ${action} takes one ${what}`);
}

async function collectInto(context: SurveyContext, dir: string, isDone: Collecting['isDone']): Promise<void> {
  const { terminal, connection, names, signal } = context;
  const { control } = await openSurvey(context);
  await collect({
    ...{ control, names, dir, isDone, signal },
    client: jetstream(connection),
    manager: await jetstreamManager(connection),
    clock: systemClock,
    say: (message) => terminal.error('no-server', message),
    wrote: (segment, batches) => terminal.progress(`${segment}: ${batches} batches`),
  });
}

async function status(context: SurveyContext): Promise<void> {
  const { command, terminal, connection, names } = context;
  const { control } = await openSurvey(context);
  const manager = await jetstreamManager(connection);
  const now = await statusOf(manager, control, names, systemClock.epochMs());
  terminal.result(command.json ? JSON.stringify(now) : statusText(now));
}

async function changeOptOut(context: SurveyContext): Promise<void> {
  const { command, terminal } = context;
  const more = await readOptOut(command.rest, () => process.stdin.setEncoding('utf8'));
  const { control } = await openSurvey(context);
  const entries = more.length === 0 ? control.state().optOut.entries : await control.addOptOut(more);
  terminal.result(entries.length === 0 ? 'nothing is opted out' : entries.join('\n'));
}

async function changeBudget(context: SurveyContext): Promise<void> {
  const { budgetChange } = context.command;
  if (Object.keys(budgetChange).length === 0)
    throw new Complaint('bad-usage', 'survey budget takes --per-network, --total or both');
  await (await openSurvey(context)).control.changeBudget(budgetChange);
}

async function withdraw(context: SurveyContext): Promise<void> {
  const { command } = context;
  const { control } = await openSurvey(context);
  const { vantage, worker } = command;
  if (vantage === null) throw new Complaint('bad-usage', 'survey withdraw takes --vantage and --worker');
  await control.withdraw({ vantage, worker });
}

/** Actions on a server that exists. */
async function onServer(
  context: SurveyContext,
  action: Exclude<SurveyAction, 'run' | 'export' | 'report'>,
): Promise<void> {
  const { command } = context;
  switch (action) {
    case 'load':
      return load(context, onlyArgument(command, 'LIST'));
    case 'work': {
      const { vantage, drain } = command;
      if (vantage === null)
        throw new Complaint('bad-usage', 'survey work takes --vantage NAME: where this machine is');
      await workHere(context, vantage, drain);
      return;
    }
    case 'collect':
      return collectInto(context, onlyArgument(command, 'DIR'), () => command.drain);
    case 'status':
      return status(context);
    case 'pause':
    case 'resume':
      return (await openSurvey(context)).control.setPaused(action === 'pause');
    case 'budget':
      return changeBudget(context);
    case 'opt-out':
      return changeOptOut(context);
    case 'withdraw':
      return withdraw(context);
    case 'doctor':
      return (await import('./survey-doctor.ts')).examineServer(context);
  }
}

/** Load, work and collect on this machine, with a server of its own that ends with it. */
async function run(context: SurveyContext, list: string, out: string): Promise<void> {
  await load(context, list);
  const stop = new AbortController();
  const inner = { ...context, signal: AbortSignal.any([context.signal, stop.signal]) };
  let worked = false;
  // What ends one ends the other, and is told once both have ended.
  const failed = (error: unknown): never => {
    stop.abort();
    throw error;
  };
  const [work, collection] = await Promise.allSettled([
    workHere(inner, context.command.vantage ?? ONLY_VANTAGE, true)
      .finally(() => {
        worked = true;
      })
      .catch(failed),
    collectInto(inner, out, () => worked).catch(failed),
  ]);
  if (collection.status === 'rejected') throw collection.reason;
  if (work.status === 'rejected') throw work.reason;
  const measured = work.value;
  context.terminal.result(
    `${measured} measured; the archive is ${out}: "photofinish survey report ${out}" makes a page of it`,
  );
}

async function connected(
  command: SurveyCommand,
  server: ServerOptions,
  terminal: Terminal,
  act: (context: SurveyContext) => Promise<void>,
  own: OwnServer | null = null,
): Promise<number> {
  const { stop, forget } = stoppedByInterrupt();
  const connection = await connectTo(server, REFUSED_AGAIN_MS);
  // Nobody starts it again, so there is nothing to wait for.
  void own?.ended.then(() => stop.abort());
  try {
    await act({ command, terminal, connection, names: namesOf(command.survey), signal: stop.signal });
    return stop.signal.aborted ? EXIT_INTERRUPTED : EXIT_OK;
  } finally {
    forget();
    await connection.close();
  }
}

async function runHere(command: SurveyCommand, terminal: Terminal): Promise<number> {
  const list = onlyArgument(command, 'LIST');
  const { out } = command;
  if (out === undefined) throw new Complaint('bad-usage', 'survey run takes --out DIR: where the results go');
  const act = (context: SurveyContext): Promise<void> => run(context, list, out);
  if (command.server !== null) return connected(command, { ...command.server, token: null }, terminal, act);
  const own = await startServer(join(out, SERVER_DIRECTORY));
  try {
    const server = { servers: [own.url], token: own.token, credsFile: null, nkeyFile: null, caFile: null };
    const code = await connected(command, server, terminal, act, own);
    if (!own.hasEnded()) return code;
    throw new Complaint('no-server', 'the NATS server ended; repeat the command to go on', EXIT_FAILED);
  } finally {
    await own.stop();
  }
}

/** What a disk or the server refuses, because it is full for example, is the user's to mend, and nothing is lost by it. */
function asComplaint(error: unknown): unknown {
  if (error instanceof JetStreamApiError) {
    const text = `the server refuses: ${error.message}; it keeps what it has, and the command goes on when repeated`;
    return new Complaint('no-server', text, EXIT_FAILED);
  }
  if (error instanceof errors.TimeoutError || error instanceof errors.RequestError) {
    const text = `the server does not answer: ${error.message}; nothing is lost, and the command goes on when repeated`;
    return new Complaint('no-server', text, EXIT_FAILED);
  }
  if (error instanceof Complaint || !isOfFiles(error)) return error;
  const text = `${error.message}; what is not archived stays on the server`;
  return new Complaint('cannot-write', text, EXIT_FAILED);
}

async function dispatch(command: SurveyCommand, terminal: Terminal): Promise<number> {
  const { action } = command;
  if (action === 'run') return runHere(command, terminal);
  if (action === 'export' || action === 'report') {
    const { runExport, runSurveyReport } = await import('./survey-archive.ts');
    const dir = onlyArgument(command, 'DIR');
    return (action === 'export' ? runExport : runSurveyReport)(dir, command, terminal);
  }
  if (command.server === null) throw new Error('only "run" has a server of its own');
  return connected(command, { ...command.server, token: null }, terminal, (context) =>
    onServer(context, action),
  );
}

/** Runs `survey`; returns the documented exit code. */
export async function runSurvey(args: readonly string[], terminal: Terminal): Promise<number> {
  const command = parseSurveyCommand(args);
  try {
    return await dispatch(command, terminal);
  } catch (error) {
    throw asComplaint(error);
  }
}
