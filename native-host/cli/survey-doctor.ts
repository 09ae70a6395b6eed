// `photofinish survey doctor`: whether the server keeps what a survey rests on. What cannot be seen from here is said.
import * as v from 'valibot';
import { jetstreamManager, type NatsConnection, RetentionPolicy } from '../survey/nats.ts';
import { exists, namesOf } from '../survey/streams.ts';
import type { SurveyCommand } from './survey-options.ts';
import type { Terminal } from './terminal.ts';
import { Complaint, EXIT_FAILED } from './usage.ts';

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
    const { version, jetstream } = v.parse(varzSchema, await answer.json());
    return jetstream.config.sync_always
      ? { state: 'ok', text: `nats-server ${version} syncs every message before it acknowledges it` }
      : {
          state: 'problem',
          text: `nats-server ${version} may lose acknowledged messages when the machine fails: ${SYNC_REMEDY}`,
        };
  } catch (error) {
    return {
      state: 'unknown',
      text: `${monitor} does not respond like a NATS server: ${(error as Error).message}`,
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
export async function examineServer({
  command,
  connection,
  terminal,
}: {
  readonly command: SurveyCommand;
  readonly connection: NatsConnection;
  readonly terminal: Terminal;
}): Promise<void> {
  const findings = [
    { state: 'ok', text: `connected in ${await connection.rtt()} ms` } as const,
    await syncing(command.monitor),
    ...(await streaming(connection, command.survey)),
  ];
  terminal.result(findings.map(({ state, text }) => `${MARKS[state]} ${text}`).join('\n'));
  const problem = findings.find(({ state }) => state === 'problem');
  if (problem !== undefined) throw new Complaint('bad-survey', problem.text, EXIT_FAILED);
}
