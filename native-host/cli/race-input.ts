// `photofinish race -`: races the lines of standard input, or a share of them, and notes how far it has come.
import { addAbortSignal } from 'node:stream';
import { systemClock } from '../clock.ts';
import { linesOf, readAhead } from './input-lines.ts';
import { isIdle, MAX_LINE_CHARS } from './race-line.ts';
import { type RaceCommand, trialsIn } from './race-options.ts';
import { paceFor } from './race-pace.ts';
import { cannotRace, cutShort, documentOf, exitCode, type Session, specOf } from './race-session.ts';
import { raceStream } from './race-stream.ts';
import { openResume, type Resume } from './resume.ts';
import { inShard } from './shard.ts';
import { surveyCounter } from './survey-progress.ts';
import { resultsOnDisk, type Terminal } from './terminal.ts';

/** Number of lines of standard input that may be read ahead. */
const MOST_LINES_AHEAD = 100_000;

/** Standard input as text; ends when the signal is aborted. */
async function* standardInput(signal: AbortSignal): AsyncGenerator<string> {
  try {
    yield* addAbortSignal(signal, process.stdin.setEncoding('utf8'));
  } catch (error) {
    if (!signal.aborted) throw error;
  }
}

/** The note of `--resume`, if that was given. Rejects with a Complaint. */
async function resumeOf(
  { mode, shard, resumeFile }: RaceCommand,
  terminal: Terminal,
): Promise<Resume | null> {
  if (resumeFile === null) return null;
  return openResume(
    resumeFile,
    { mode, shard },
    {
      clock: systemClock,
      result: (text, written) => terminal.result(text, written),
      flush: resultsOnDisk,
      failed: (why) => terminal.error('cannot-write', `${resumeFile} is out of date: ${why}`),
    },
  );
}

/** Races the lines of standard input until it ends, the run is stopped, or nobody reads the results any more. */
export async function raceInput(session: Session, terminal: Terminal): Promise<number> {
  const { command, race, network, stop, moved } = session;
  const resume = await resumeOf(command, terminal);
  const { signal } = stop;
  const survey = surveyCounter(terminal);
  const input = readAhead(
    linesOf(standardInput(signal), MAX_LINE_CHARS),
    MOST_LINES_AHEAD,
    (line) => !isIdle(line),
  );
  let badLines = 0;
  let unwanted = 0;
  const readerGone = (): void => stop.abort();
  process.stdout.once('error', readerGone);
  try {
    await raceStream({
      lines: input.lines,
      mode: command.mode,
      pace: paceFor(command.concurrencyAsked, systemClock.nowMs),
      tellsWaits: command.concurrencyAsked !== null,
      wanted({ origin: { origin } }, line) {
        const left = resume?.isLeft(line, origin) ?? true;
        const wanted = left && (command.shard === null || inShard(command.shard, origin));
        if (!wanted) unwanted += 1;
        return wanted;
      },
      race({ origin, mode }, line) {
        resume?.begin(line, origin.origin);
        const trials = trialsIn(mode, command.trialsAsked);
        return race(specOf({ ...command, mode }, { origin, trials }, { network, signal }));
      },
      finished(raced, { mode }, line) {
        const record = moved() ? cutShort(raced) : raced;
        const text = JSON.stringify(documentOf({ ...command, mode }, [record]));
        // A race that was stopped is not done.
        if (resume === null || signal.aborted) terminal.result(text);
        else resume.print(text, line);
        survey.over(record, input.ended() ? input.counted() - badLines - unwanted : null);
      },
      complain(code, message) {
        if (code === 'bad-line' || code === 'bad-origin') badLines += 1;
        terminal.error(code, message);
      },
      signal,
    });
    survey.end();
    if (!signal.aborted) resume?.end();
    const noted = (await resume?.close()) ?? true;
    return exitCode(session, noted && survey.counts.failed + badLines === 0, terminal);
  } catch (error) {
    await resume?.close();
    throw cannotRace(error);
  } finally {
    process.stdout.off('error', readerGone);
    process.stdin.destroy();
  }
}
