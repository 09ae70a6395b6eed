// `photofinish survey`: connects, opens what an action needs, runs it, and prints what it did.
import { join } from 'node:path';
import { ALLOW_EVERYTHING, addressPolicy } from '../address/guard.ts';
import { systemClock } from '../clock.ts';
import { systemSource } from '../network/source.ts';
import { watchNetwork } from '../network/watch.ts';
import { USER_AGENT } from '../race/request-limits.ts';
import { openRacing, type Racing } from '../racing.ts';
import { type Collecting, collect } from '../survey/collect.ts';
import { connectTo, type ServerOptions } from '../survey/connect.ts';
import { Control } from '../survey/control.ts';
import { readSurveyLine } from '../survey/job.ts';
import { type Lines, openLines } from '../survey/line-index.ts';
import { loadList } from '../survey/load.ts';
import {
  errors,
  JetStreamApiError,
  jetstream,
  jetstreamManager,
  type NatsConnection,
} from '../survey/nats.ts';
import { type OwnServer, startServer } from '../survey/nats-server.ts';
import { optOut } from '../survey/opt-out.ts';
import { SURVEY_SCHEMA, type Survey } from '../survey/result.ts';
import { statusOf, statusText } from '../survey/status.ts';
import { createStreams, exists, namesOf, type SurveyNames } from '../survey/streams.ts';
import { work } from '../survey/worker.ts';
import { paceFor } from './race-pace.ts';
import { NO_CACHE } from './racing.ts';
import { parseSurveyCommand, type SurveyAction, type SurveyCommand } from './survey-options.ts';
import { stoppedByInterrupt, type Terminal } from './terminal.ts';
import { Complaint, EXIT_FAILED, EXIT_INTERRUPTED, EXIT_OK } from './usage.ts';

/** The vantage of `survey run`, which has one. */
const ONLY_VANTAGE = 'here';
/** Where `survey run` keeps its server's data, beside the archive. */
const SERVER_DIRECTORY = '.nats';

interface Context {
  readonly command: SurveyCommand;
  readonly terminal: Terminal;
  readonly connection: NatsConnection;
  readonly names: SurveyNames;
  readonly signal: AbortSignal;
}

function onlyArgument({ action, rest }: SurveyCommand, what: string): string {
  const [argument, more] = rest;
  if (argument !== undefined && more === undefined) return argument;
  throw new Complaint('bad-usage', `survey ${action} takes one ${what}`);
}

/** A server that is just being restarted answers the second or third question. */
const QUESTIONS = 3;

/** The survey on the server, with its control bucket followed. Throws a Complaint if there is none. */
async function openSurvey(context: Context, left: number = QUESTIONS): ReturnType<typeof askForSurvey> {
  try {
    return await askForSurvey(context);
  } catch (error) {
    if (error instanceof Complaint || left === 1) throw error;
    return openSurvey(context, left - 1);
  }
}

async function askForSurvey({ connection, names }: Context): Promise<{ control: Control; survey: Survey }> {
  const manager = await jetstreamManager(connection);
  const none = `the server has no survey "${names.survey}"; put one there with "photofinish survey load"`;
  if (!(await exists(manager, names))) throw new Complaint('no-survey', none, EXIT_FAILED);
  const control = await Control.open(connection, names.bucket);
  await control.follow();
  const { survey } = control.state();
  if (survey === null) throw new Complaint('no-survey', none, EXIT_FAILED);
  return { control, survey };
}

async function openList(path: string): Promise<Lines> {
  try {
    return await openLines(path);
  } catch (error) {
    throw new Complaint('bad-file', `${path} cannot be read: ${(error as Error).message}`);
  }
}

/** Reads every line once: how many are jobs, with a complaint about each that is neither a job nor idle. */
async function countJobs(lines: Lines, command: SurveyCommand, terminal: Terminal): Promise<Survey['list']> {
  let jobs = 0;
  let badLines = 0;
  for (let index = 0; index < lines.count; index += 1) {
    const read = readSurveyLine(await lines.line(index), command.mode);
    if (read === null) continue;
    if (read.ok) jobs += 1;
    else {
      badLines += 1;
      terminal.error(read.code, `line ${index + 1}: ${read.message}`);
    }
  }
  return { jobs, badLines, sha256: lines.sha256 };
}

/** The survey that this command line asks for. */
function surveyOf(command: SurveyCommand, list: Survey['list']): Survey {
  const { survey, seed, mode, trials, timeoutMs, canaries, contact, budget } = command;
  return {
    ...{ schema: SURVEY_SCHEMA, survey, list, seed, mode, trials, timeoutMs, contact, ...budget },
    createdAtMs: systemClock.epochMs(),
    canaries: [...canaries],
  };
}

/** What a load that goes on must have in common with the one that began. */
function sameSurvey(one: Survey, other: Survey): boolean {
  const key = ({ list, seed, mode, trials, timeoutMs, canaries, contact }: Survey) =>
    JSON.stringify([list.sha256, seed, mode, trials, timeoutMs, canaries, contact]);
  return key(one) === key(other);
}

async function load(context: Context, path: string): Promise<void> {
  const { command, terminal, connection, names, signal } = context;
  const lines = await openList(path);
  try {
    const asked = surveyOf(command, await countJobs(lines, command, terminal));
    if (asked.list.jobs === 0) throw new Complaint('bad-file', `${path} names no origin`);
    const manager = await jetstreamManager(connection);
    await createStreams(manager, names, command.replicas);
    const control = await Control.open(connection, names.bucket, command.replicas);
    await control.follow();
    const before = control.state().survey;
    if (before !== null && !sameSurvey(before, asked)) {
      const other = `the server has a survey "${names.survey}" with another list or other settings; choose a name with --survey`;
      throw new Complaint('bad-survey', other, EXIT_FAILED);
    }
    if (before === null) await control.writeSurvey(asked);
    else if (command.budgetIsGiven) await control.setBudget(command.budget);
    await loadList({
      client: jetstream(connection),
      ...{ manager, names, lines, signal, survey: { seed: asked.seed, mode: command.mode } },
      progress: (position) => terminal.progress(`${position} of ${lines.count} lines`),
    });
    const { state } = await manager.streams.info(names.streams.todo);
    terminal.result(`survey ${names.survey}: ${state.messages} of ${asked.list.jobs} jobs loaded`);
  } finally {
    await lines.close();
  }
}

async function openSurveyRacing(command: SurveyCommand, contact: string | null): Promise<Racing> {
  try {
    return await openRacing({
      ca: command.caFiles,
      pins: command.pins,
      resolver: command.resolver,
      policy: addressPolicy(command.allowPrivate ? ALLOW_EVERYTHING : []),
      cache: NO_CACHE,
      clock: systemClock,
      ...(contact !== null && { userAgent: `${USER_AGENT} (+${contact})` }),
    });
  } catch (error) {
    throw new Complaint('bad-file', error instanceof Error ? error.message : String(error));
  }
}

async function workHere(context: Context, vantage: string, drains: boolean): Promise<number> {
  const { command, terminal, connection, names, signal } = context;
  const { control, survey } = await openSurvey(context);
  const race = await openSurveyRacing(command, survey.contact);
  const network = watchNetwork({
    source: systemSource(process.platform, systemClock),
    // Keys of networks never leave the worker's memory as anything but a label of its records.
    salt: crypto.getRandomValues(new Uint8Array(16)),
    clock: systemClock,
  });
  return work({
    ...{ connection, control, names, survey, vantage, race, network, drains, signal },
    worker: command.worker,
    pace: paceFor(command.concurrency, systemClock.nowMs),
    clock: systemClock,
    say: (message) => terminal.error('sick-vantage', message),
    progress: (measured) => terminal.progress(`${vantage}: ${measured} measured`),
  });
}

async function collectInto(context: Context, dir: string, isDone: Collecting['isDone']): Promise<void> {
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

async function status(context: Context): Promise<void> {
  const { command, terminal, connection, names } = context;
  const { control } = await openSurvey(context);
  const manager = await jetstreamManager(connection);
  const now = await statusOf(manager, control, names, systemClock.epochMs());
  terminal.result(command.json ? JSON.stringify(now) : statusText(now));
}

async function changeOptOut(context: Context): Promise<void> {
  const { command, terminal } = context;
  const { control } = await openSurvey(context);
  const read = optOut(command.rest);
  if (!read.ok) throw new Complaint('bad-usage', read.message);
  const entries = command.rest.length === 0 ? control.state().optOut : await control.addOptOut(command.rest);
  terminal.result(entries.length === 0 ? 'nothing is opted out' : entries.join('\n'));
}

async function withdraw(context: Context): Promise<void> {
  const { command } = context;
  const { control } = await openSurvey(context);
  const { vantage, worker } = command;
  if (vantage === null) throw new Complaint('bad-usage', 'survey withdraw takes --vantage and --worker');
  await control.withdraw({ vantage, worker });
}

/** Actions on a server that exists. */
async function onServer(
  context: Context,
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
      return (await openSurvey(context)).control.setBudget(command.budget);
    case 'opt-out':
      return changeOptOut(context);
    case 'withdraw':
      return withdraw(context);
    case 'doctor':
      return (await import('./survey-doctor.ts')).examineServer(context);
  }
}

/** Load, work and collect on this machine, with a server of its own that ends with it. */
async function run(context: Context, list: string, out: string): Promise<void> {
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
  act: (context: Context) => Promise<void>,
  own: OwnServer | null = null,
): Promise<number> {
  const { stop, forget } = stoppedByInterrupt();
  const connection = await connectTo(server);
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
  const act = (context: Context): Promise<void> => run(context, list, out);
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
  if (error instanceof Complaint || !(error instanceof Error && 'syscall' in error)) return error;
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
