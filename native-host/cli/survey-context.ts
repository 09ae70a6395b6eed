// What every action of `photofinish survey` on a server starts from: the connection, and the survey that is there.
import { Control } from '../survey/control.ts';
import { jetstreamManager, type NatsConnection } from '../survey/nats.ts';
import type { Survey } from '../survey/result.ts';
import { exists, type SurveyNames } from '../survey/streams.ts';
import type { SurveyCommand } from './survey-options.ts';
import type { Terminal } from './terminal.ts';
import { Complaint, EXIT_FAILED } from './usage.ts';

/** What an action of `survey` on a server has. */
export interface SurveyContext {
  readonly command: SurveyCommand;
  readonly terminal: Terminal;
  readonly connection: NatsConnection;
  readonly names: SurveyNames;
  readonly signal: AbortSignal;
}

/** A server that is just being restarted answers the second or third question. */
const QUESTIONS = 3;

/** The survey on the server, with its control bucket followed. Throws a Complaint if there is none. */
export async function openSurvey(context: SurveyContext): ReturnType<typeof askForSurvey> {
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
  const none = `the server has no survey "${names.survey}"; put one there with "photofinish survey load"`;
  if (!(await exists(manager, names))) throw new Complaint('no-survey', none, EXIT_FAILED);
  const control = await Control.open(connection, names.bucket);
  await control.follow();
  const { survey } = control.state();
  if (survey === null) throw new Complaint('no-survey', none, EXIT_FAILED);
  return { control, survey };
}
