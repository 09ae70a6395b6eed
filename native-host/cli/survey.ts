// `photofinish survey`: connects to a server, or starts one of its own, runs an action there, and says what failed.
import { join } from 'node:path';
import { isOfFiles } from '../survey/archive.ts';
import { connectTo, denialOf, reasonOf, type ServerOptions, tellRefusals } from '../survey/connect.ts';
import { errors, JetStreamApiError, jetstreamManager } from '../survey/nats.ts';
import { startServer } from '../survey/nats-server.ts';
import { causeOf, namesOf } from '../survey/streams.ts';
import { onlyArgument, onServer, run, type SurveyContext } from './survey-actions.ts';
import { parseSurveyCommand, type SurveyCommand } from './survey-options.ts';
import { stoppedByInterrupt, type Terminal } from './terminal.ts';
import { Complaint, EXIT_FAILED, EXIT_INTERRUPTED, EXIT_OK } from './usage.ts';

/** An action may begin while its server is being restarted. */
const REFUSED_AGAIN_MS = 3000;
/** Where `survey run` keeps its server's data, beside the archive. */
const SERVER_DIRECTORY = '.nats';

async function connected(
  command: SurveyCommand,
  server: ServerOptions,
  terminal: Terminal,
  act: (context: SurveyContext) => Promise<void>,
  stop: AbortController,
): Promise<number> {
  const connection = await connectTo(server, REFUSED_AGAIN_MS);
  void tellRefusals(connection, (message) => terminal.error('no-server', message));
  const names = namesOf(command.survey);
  try {
    await act({ command, terminal, connection, names, signal: stop.signal });
    return stop.signal.aborted ? EXIT_INTERRUPTED : EXIT_OK;
  } catch (error) {
    throw await causeOf(error, await jetstreamManager(connection, { checkAPI: false }), names);
  } finally {
    await connection.close();
  }
}

async function runHere(command: SurveyCommand, terminal: Terminal, stop: AbortController): Promise<number> {
  const list = onlyArgument(command, 'LIST');
  const { out } = command;
  if (out === undefined) throw new Complaint('bad-usage', 'survey run takes --out DIR: where the results go');
  const act = (context: SurveyContext): Promise<void> => run(context, list, out);
  if (command.server !== null) return connected(command, command.server, terminal, act, stop);
  const own = await startServer(join(out, SERVER_DIRECTORY));
  // Nobody starts it again, so there is nothing to wait for.
  void own.ended.then(() => stop.abort());
  try {
    if (stop.signal.aborted) return EXIT_INTERRUPTED;
    const server = { servers: [own.url], token: own.token, credsFile: null, nkeyFile: null, caFile: null };
    const code = await connected(command, server, terminal, act, stop);
    if (!own.hasEnded()) return code;
    throw new Complaint(
      'no-server',
      'the NATS server exited; run the command again to continue',
      EXIT_FAILED,
    );
  } finally {
    await own.stop();
  }
}

/** What a disk or the server refuses, for example because it is full, is for the user to fix; nothing is lost. */
function asComplaint(error: unknown): unknown {
  if (denialOf(error) !== null) {
    const text = `${reasonOf(error)}; it keeps what it has; run the command again to continue when they do`;
    return new Complaint('no-server', text, EXIT_FAILED);
  }
  if (error instanceof JetStreamApiError) {
    const text = `the server refused: ${reasonOf(error)}; it keeps what it has; run the command again to continue`;
    return new Complaint('no-server', text, EXIT_FAILED);
  }
  if (error instanceof errors.TimeoutError || error instanceof errors.RequestError) {
    const text = `the server does not respond: ${error.message}; nothing is lost; run the command again to continue`;
    return new Complaint('no-server', text, EXIT_FAILED);
  }
  if (error instanceof Complaint || !isOfFiles(error)) return error;
  const text = `${error.message}; what is not archived stays on the server`;
  return new Complaint('cannot-write', text, EXIT_FAILED);
}

async function dispatch(command: SurveyCommand, terminal: Terminal): Promise<number> {
  const { action, server } = command;
  if (action === 'export' || action === 'report') {
    const { runExport, runSurveyReport } = await import('./survey-archive.ts');
    const dir = onlyArgument(command, 'DIR');
    return (action === 'export' ? runExport : runSurveyReport)(dir, command, terminal);
  }
  // Until everything has ended: a server of its own would outlive us.
  const { stop, forget } = stoppedByInterrupt();
  try {
    if (action === 'run') return await runHere(command, terminal, stop);
    if (server === null) throw new Error('only "run" has a server of its own');
    const act = (context: SurveyContext): Promise<void> => onServer(context, action);
    return await connected(command, server, terminal, act, stop);
  } finally {
    forget();
  }
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
