// The actions of `photofinish survey` on a server. `doctor` checks whether the server guarantees what a survey relies
// on, and names what cannot be checked from here.
import { createReadStream } from 'node:fs';
import { printableDeep } from '@photofinish/shared/web/untrusted';
import * as v from 'valibot';
import { systemClock } from '../clock.ts';
import { commandLine } from '../install/own-command.ts';
import { systemSource, watchNetwork } from '../network/watch.ts';
import { USER_AGENT } from '../race/response-reading.ts';
import { type CollectionParts, collect } from '../survey/collect.ts';
import { Control, workerKey } from '../survey/control.ts';
import { LineSet, type Lines, loadList, openLines, SeenTexts } from '../survey/load.ts';
import { jetstream, jetstreamManager, type NatsConnection, RetentionPolicy } from '../survey/nats.ts';
import { type Job, readSurveyLine, SURVEY_SCHEMA, type Survey } from '../survey/schema.ts';
import { statusOf, statusText } from '../survey/status.ts';
import { createStreams, exists, namesOf, type SurveyNames } from '../survey/streams.ts';
import { canaryEveryMs } from '../survey/vantage.ts';
import { work } from '../survey/worker.ts';
import { joinForShared } from './helper-caches.ts';
import { linesOf, MAX_LINE_CHARS, pathLeftOut } from './input-lines.ts';
import { NO_CACHE, openRacerFor } from './race.ts';
import { paceFor } from './race-pace.ts';
import { ownName, readOptOut, type SurveyAction, type SurveyCommand } from './survey-options.ts';
import type { Terminal } from './terminal.ts';
import { plural, printable } from './text.ts';
import { Complaint, EXIT_FAILED } from './usage.ts';

/** The context of an action of `survey` on a server. */
export interface SurveyContext {
  readonly command: SurveyCommand;
  readonly terminal: Terminal;
  readonly connection: NatsConnection;
  readonly names: SurveyNames;
  readonly signal: AbortSignal;
}

/** A restarting server answers the second or third request. */
const QUESTIONS = 3;

/** The survey on the server, with its control bucket followed. Throws a Complaint if there is none. */
async function openSurvey(context: SurveyContext): ReturnType<typeof askForSurvey> {
  for (let question = 1; ; question += 1) {
    try {
      return await askForSurvey(context);
    } catch (error) {
      if (error instanceof Complaint || question === QUESTIONS) throw error;
    }
  }
}

async function askForSurvey({
  connection,
  names,
}: SurveyContext): Promise<{ control: Control; survey: Survey }> {
  const manager = await jetstreamManager(connection);
  const none = `the server has no survey "${names.survey}"; put one there with "${commandLine('survey', 'load')}"`;
  if (!(await exists(manager, names))) throw new Complaint('no-survey', none, EXIT_FAILED);
  const control = await Control.open(connection, names.bucket);
  await control.follow();
  const { survey } = control.state();
  if (survey === null) throw new Complaint('no-survey', none, EXIT_FAILED);
  return { control, survey };
}

/** The vantage of `survey run`, which has one. */
const ONLY_VANTAGE = 'here';

/** The one argument of an action. Throws a Complaint if there is another number of them. */
export function onlyArgument({ action, rest }: SurveyCommand, what: string): string {
  const [argument, more] = rest;
  if (argument !== undefined && more === undefined) return argument;
  throw new Complaint('bad-usage', `survey ${action} takes one ${what}`);
}

async function openList(path: string): Promise<Lines> {
  try {
    return await openLines(path);
  } catch (error) {
    throw new Complaint('bad-file', `${path} cannot be read: ${(error as Error).message}`);
  }
}

interface CountedList extends Pick<Survey['list'], 'jobs' | 'badLines'> {
  /** Lines that ask for the same as an earlier one: an origin can be written in several ways. */
  readonly repeated: LineSet;
}

/**
 * Reads every line of a list of `lines`: how many are jobs, with a complaint about each that is neither a job nor
 * blank, or has more than an origin.
 */
export async function countJobs(
  path: string,
  lines: number,
  mode: Job['mode'],
  terminal: Pick<Terminal, 'error'>,
): Promise<CountedList> {
  const seen = new SeenTexts(lines);
  const repeated = new LineSet(lines);
  let jobs = 0;
  let badLines = 0;
  let number = 0;
  for await (const line of linesOf(createReadStream(path, 'utf8'), MAX_LINE_CHARS)) {
    number += 1;
    // A file that grows meanwhile is refused when it is read for loading.
    if (number > lines) break;
    const read = readSurveyLine(line, mode);
    if (read === null) continue;
    if (read.ok) {
      const job = `${read.value.mode} ${read.value.origin.origin}`;
      if (seen.add(job)) repeated.add(number - 1);
      else jobs += 1;
      const leftOut = pathLeftOut(number, read);
      if (leftOut !== null) terminal.error('path-left-out', leftOut);
    } else {
      badLines += 1;
      terminal.error(read.code, `line ${number}: ${read.message}`);
    }
  }
  return { jobs, badLines, repeated };
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

/** What a resumed load must have in common with the original one. */
function sameSurvey(one: Survey, other: Survey): boolean {
  const key = ({ list, seed, mode, trials, timeoutMs, canaries, contact }: Survey) =>
    JSON.stringify([list.sha256, seed, mode, trials, timeoutMs, canaries, contact]);
  return key(one) === key(other);
}

/**
 * Loads a list onto the server as a survey, or resumes an interrupted load; returns how many lines could not be read.
 * Throws a Complaint.
 */
async function load(context: SurveyContext, path: string): Promise<number> {
  const { command, terminal, connection, names, signal } = context;
  const lines = await openList(path);
  try {
    const { repeated, ...counted } = await countJobs(path, lines.count, command.mode, terminal);
    const survey = surveyOf(command, { ...counted, sha256: lines.sha256 });
    if (survey.list.jobs === 0) throw new Complaint('bad-file', `${path} names no origin`);
    const manager = await jetstreamManager(connection);
    await createStreams(manager, names, command.replicas);
    const control = await Control.open(connection, names.bucket, command.replicas);
    await control.follow();
    const before = control.state().survey;
    if (before !== null && !sameSurvey(before, survey)) {
      // The server of `run` alone keeps its data in the archive's directory, which takes one survey.
      const remedy =
        command.server === null ? 'choose another directory with --out' : 'choose a name with --survey';
      const other = `the server has a survey "${names.survey}" with another list or other settings; ${remedy}`;
      throw new Complaint('bad-survey', other, EXIT_FAILED);
    }
    if (before === null) await control.writeSurvey(survey);
    else if (Object.keys(command.budgetChange).length > 0) await control.changeBudget(command.budgetChange);
    await loadList({
      client: jetstream(connection),
      ...{ manager, names, lines, repeated, signal, survey: { seed: survey.seed, mode: command.mode } },
      progress: (position) => terminal.progress(`${position} of ${plural(lines.count, 'line')}`),
    });
    const { state } = await manager.streams.info(names.streams.todo);
    const { jobs, badLines } = survey.list;
    const parts = [`survey ${names.survey}: ${state.messages} of ${plural(jobs, 'job')} loaded`];
    if (repeated.size > 0)
      parts.push(`${plural(repeated.size, 'line repeats', 'lines repeat')} an earlier one`);
    if (badLines > 0) parts.push(`${plural(badLines, 'line')} could not be read`);
    terminal.result(parts.join('; '));
    return badLines;
  } finally {
    await lines.close();
  }
}

/** Throws a Complaint if there are any: everything else is done. */
function refuseBadLines(badLines: number, { signal }: SurveyContext): void {
  if (badLines === 0 || signal.aborted) return;
  throw new Complaint('bad-line', `${plural(badLines, 'line')} could not be read`, EXIT_FAILED);
}

/** Races as a worker of a vantage point until interrupted or drained; returns how many results it stored. */
async function workHere(context: SurveyContext, vantage: string, drains: boolean): Promise<number> {
  const { command, terminal, connection, names, signal } = context;
  const { control, survey } = await openSurvey(context);
  const userAgent = survey.contact === null ? null : `${USER_AGENT} (+${survey.contact})`;
  const member = command.fleet ? await joinForShared(terminal) : null;
  try {
    const known = member === null ? NO_CACHE : { ...NO_CACHE, recall: member.recall };
    const race = await openRacerFor(command, known, userAgent);
    const network = watchNetwork({
      source: systemSource(process.platform, systemClock),
      // Keys of networks never leave the worker's memory as anything but a label of its records.
      salt: crypto.getRandomValues(new Uint8Array(16)),
      clock: systemClock,
    });
    return await work({
      share: member === null ? null : (result) => member.fleet.share(result),
      ...{ connection, control, names, survey, vantage, race, network, drains, signal },
      worker: command.worker ?? ownName(),
      pace: paceFor(command.concurrency, systemClock.nowMs),
      canaryEveryMs,
      clock: systemClock,
      log: (message) => terminal.error('sick-vantage', message),
      progress: (measured) => terminal.progress(`${vantage}: ${measured} measured`),
    });
  } finally {
    await member?.close();
  }
}

async function collectInto(
  context: SurveyContext,
  dir: string,
  isDone: CollectionParts['isDone'],
): Promise<void> {
  const { terminal, connection, names, signal } = context;
  const { control } = await openSurvey(context);
  await collect({
    ...{ control, names, dir, isDone, signal },
    client: jetstream(connection),
    manager: await jetstreamManager(connection),
    clock: systemClock,
    log: (message) => terminal.error('no-server', message),
    isPart: () =>
      terminal.error(
        'bad-directory',
        `other results of this survey are in another directory; ${dir} gets only the rest`,
      ),
    wrote: (segment, batches) => terminal.progress(`${segment}: ${plural(batches, 'batch', 'batches')}`),
  });
}

async function status(context: SurveyContext): Promise<void> {
  const { command, terminal, connection, names } = context;
  const { control } = await openSurvey(context);
  const manager = await jetstreamManager(connection);
  const now = await statusOf(manager, control, names);
  terminal.result(command.json ? JSON.stringify(now) : statusText(now));
}

/** Other operators and the server chose what is in the list. */
export function optOutText(entries: readonly string[]): string {
  return entries.length === 0 ? 'nothing is opted out' : entries.map(printable).join('\n');
}

async function changeOptOut(context: SurveyContext): Promise<void> {
  const { command, terminal } = context;
  const more = await readOptOut(command.rest, () => process.stdin.setEncoding('utf8'));
  const { control } = await openSurvey(context);
  const entries = more.length === 0 ? control.state().optOut.entries : await control.addOptOut(more);
  terminal.result(optOutText(entries));
}

async function changeBudget(context: SurveyContext): Promise<void> {
  const { budgetChange } = context.command;
  if (Object.keys(budgetChange).length === 0)
    throw new Complaint('bad-usage', 'survey budget takes --per-network, --total or both');
  await (await openSurvey(context)).control.changeBudget(budgetChange);
}

async function withdraw(context: SurveyContext): Promise<void> {
  const { vantage, worker } = context.command;
  if (vantage === null || worker === null)
    throw new Complaint('bad-usage', 'survey withdraw takes --vantage and --worker');
  const { control } = await openSurvey(context);
  if (!control.state().workers.has(workerKey({ vantage, worker })))
    throw new Complaint(
      'bad-survey',
      `no worker ${worker} at ${vantage} is announced; see "${commandLine('survey', 'status')}"`,
      EXIT_FAILED,
    );
  await control.withdraw({ vantage, worker });
}

/** Actions on a server that exists. */
export async function onServer(
  context: SurveyContext,
  action: Exclude<SurveyAction, 'run' | 'export' | 'report'>,
): Promise<void> {
  const { command } = context;
  switch (action) {
    case 'load':
      return refuseBadLines(await load(context, onlyArgument(command, 'LIST')), context);
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
      return examineServer(context);
  }
}

/** Loads, works and collects on this machine, with a server of its own that it stops at the end. */
export async function run(context: SurveyContext, list: string, out: string): Promise<void> {
  const badLines = await load(context, list);
  const stop = new AbortController();
  const inner = { ...context, signal: AbortSignal.any([context.signal, stop.signal]) };
  let worked = false;
  // A failure of either ends both, and is reported once both have ended.
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
  if (context.signal.aborted) {
    context.terminal.result(`${measured} measured, and interrupted: run the same command again to continue`);
    return;
  }
  context.terminal.result(
    `${measured} measured; the archive is ${out}: "${commandLine('survey', 'report', out)}" writes a page about it`,
  );
  refuseBadLines(badLines, context);
}

const MONITOR_TIMEOUT_MS = 5000;

interface Finding {
  readonly state: 'ok' | 'problem' | 'unknown';
  readonly text: string;
}

const varzSchema = v.object({
  version: v.string(),
  jetstream: v.object({ config: v.object({ sync_always: v.optional(v.boolean(), false) }) }),
});

const SYNC_REMEDY = 'set "jetstream { sync_interval: always }" in the configuration of every server';

/** Whether an acknowledged message survives a power failure: only the monitoring address tells. */
export async function syncing(monitor: string | null): Promise<Finding> {
  if (monitor === null)
    return {
      state: 'unknown',
      text: `whether every message is synced cannot be seen from here: give --monitor http://HOST:8222, or ${SYNC_REMEDY}`,
    };
  try {
    const answer = await fetch(new URL('/varz', monitor), {
      signal: AbortSignal.timeout(MONITOR_TIMEOUT_MS),
    });
    const { version, jetstream } = printableDeep(v.parse(varzSchema, await answer.json()));
    return jetstream.config.sync_always
      ? { state: 'ok', text: `nats-server ${version} syncs every message before it acknowledges it` }
      : {
          state: 'problem',
          text: `nats-server ${version} may lose acknowledged messages when the machine fails: ${SYNC_REMEDY}`,
        };
  } catch (error) {
    return {
      state: 'unknown',
      text: printable(`${monitor} does not respond like a NATS server: ${(error as Error).message}`),
    };
  }
}

async function streaming(connection: NatsConnection, survey: string): Promise<readonly Finding[]> {
  const manager = await jetstreamManager(connection);
  const names = namesOf(survey);
  if (!(await exists(manager, names)))
    return [{ state: 'unknown', text: `there is no survey "${survey}" on the server` }];
  const { config } = await manager.streams.info(names.streams.todo);
  const kept: Finding =
    config.retention === RetentionPolicy.Limits
      ? { state: 'ok', text: 'every vantage point reads the whole list' }
      : { state: 'problem', text: `${names.streams.todo} deletes jobs: delete the stream and load again` };
  const copies: Finding = {
    state: 'ok',
    text:
      config.num_replicas > 1 ? `${config.num_replicas} copies` : 'one copy: a lost disk loses the survey',
  };
  return [kept, copies];
}

const MARKS = { ok: '✓', problem: '✗', unknown: '?' } as const;

/** Prints the findings. Throws a Complaint if one is a problem. */
async function examineServer({ command, connection, terminal }: SurveyContext): Promise<void> {
  const findings = [
    { state: 'ok', text: `connected in ${await connection.rtt()} ms` } as const,
    await syncing(command.monitor),
    ...(await streaming(connection, command.survey)),
  ];
  terminal.result(findings.map(({ state, text }) => `${MARKS[state]} ${text}`).join('\n'));
  const problem = findings.find(({ state }) => state === 'problem');
  if (problem !== undefined) throw new Complaint('bad-survey', problem.text, EXIT_FAILED);
}
