// `photofinish survey load`: reads a list, complains about its lines, and puts it on the server as a survey.
import { createReadStream } from 'node:fs';
import { systemClock } from '../clock.ts';
import { Control } from '../survey/control.ts';
import { type Job, readSurveyLine } from '../survey/job.ts';
import { type Lines, openLines } from '../survey/line-index.ts';
import { loadList } from '../survey/load.ts';
import { jetstream, jetstreamManager } from '../survey/nats.ts';
import { SURVEY_SCHEMA, type Survey } from '../survey/result.ts';
import { createStreams } from '../survey/streams.ts';
import { linesOf, MAX_LINE_CHARS } from './input-lines.ts';
import type { SurveyContext } from './survey-context.ts';
import type { SurveyCommand } from './survey-options.ts';
import type { Terminal } from './terminal.ts';
import { Complaint, EXIT_FAILED } from './usage.ts';

async function openList(path: string): Promise<Lines> {
  try {
    return await openLines(path);
  } catch (error) {
    throw new Complaint('bad-file', `${path} cannot be read: ${(error as Error).message}`);
  }
}

/** Reads every line in its order: how many are jobs, with a complaint about each that is neither a job nor idle. */
async function countJobs(
  path: string,
  mode: Job['mode'],
  terminal: Terminal,
): Promise<Pick<Survey['list'], 'jobs' | 'badLines'>> {
  let jobs = 0;
  let badLines = 0;
  let number = 0;
  for await (const line of linesOf(createReadStream(path, 'utf8'), MAX_LINE_CHARS)) {
    number += 1;
    const read = readSurveyLine(line, mode);
    if (read === null) continue;
    if (read.ok) jobs += 1;
    else {
      badLines += 1;
      terminal.error(read.code, `line ${number}: ${read.message}`);
    }
  }
  return { jobs, badLines };
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

/** Puts a list on the server as a survey, or goes on where an earlier load was cut off. Throws a Complaint. */
export async function load(context: SurveyContext, path: string): Promise<void> {
  const { command, terminal, connection, names, signal } = context;
  const lines = await openList(path);
  try {
    const counted = await countJobs(path, command.mode, terminal);
    const asked = surveyOf(command, { ...counted, sha256: lines.sha256 });
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
    else if (Object.keys(command.budgetChange).length > 0) await control.changeBudget(command.budgetChange);
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
