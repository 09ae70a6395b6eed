// `photofinish race -`: an open loop over the lines of standard input, or a share of them. Every line is raced as it
// arrives, whether or not earlier ones are done, up to a limit beyond which lines wait, which is reported.
import { addAbortSignal } from 'node:stream';
import { timedTrials } from '@photofinish/shared/race/conclusive';
import type { OriginRace } from '@photofinish/shared/race/outcome';
import type { Mode } from '@photofinish/shared/race/terms';
import { systemClock } from '../clock.ts';
import {
  type LineRequest,
  linesOf,
  MAX_LINE_CHARS,
  pathLeftOut,
  readAhead,
  readRaceLine,
} from './input-lines.ts';
import { commandFor, inShard, type RaceCommand } from './race-options.ts';
import { type Pace, paceFor } from './race-pace.ts';
import {
  allAdopted,
  cannotRace,
  cutShort,
  documentOf,
  exitCode,
  type Session,
  specOf,
} from './race-session.ts';
import { openResume, type Resume } from './resume.ts';
import { resultsOnDisk, type Terminal } from './terminal.ts';
import { duration, plural } from './text.ts';
import type { ComplaintCode } from './usage.ts';

export interface RaceStream {
  /** One request each. */
  readonly lines: AsyncIterable<string>;
  /** For lines that name no mode. */
  readonly mode: Mode;
  /** Whether to race a line: a run may have only a share of them. What it throws ends the stream. */
  readonly wanted: (request: LineRequest, line: number) => boolean;
  /** How many races may run at a time. */
  readonly pace: Pace;
  /** Whether waiting lines are reported: not if the pace is adaptive. */
  readonly tellsWaits: boolean;
  /** Rejects only when a transport cannot be loaded; that ends the stream. */
  readonly race: (request: LineRequest, line: number) => Promise<OriginRace>;
  /** Called with every record, in the order in which races end. */
  readonly finished: (race: OriginRace, request: LineRequest, line: number) => void;
  readonly complain: (code: ComplaintCode, message: string) => void;
  readonly signal: AbortSignal;
}

/**
 * Races until the lines end, or the signal is aborted, and all running races are done. Rejects with the error of a
 * race, after the others have ended. Counts the lines that could not be read, and those that had to wait for an earlier
 * race to end.
 */
export async function raceStream(stream: RaceStream): Promise<{ badLines: number; waits: number }> {
  const { pace, complain, signal } = stream;
  const underWay = new Set<Promise<void>>();
  const failures: unknown[] = [];
  let badLines = 0;
  let waits = 0;
  let number = 0;

  const begin = (request: LineRequest, line: number): void => {
    const running = stream.race(request, line).then(
      (race) => stream.finished(race, request, line),
      (error: unknown) => void failures.push(error),
    );
    const over = running.finally(() => {
      underWay.delete(over);
      pace.over();
    });
    underWay.add(over);
  };

  const roomFor = async (): Promise<void> => {
    if (underWay.size < pace.limit()) return;
    waits += 1;
    if (waits === 1 && stream.tellsWaits)
      complain(
        'races-wait',
        `${plural(underWay.size, 'race is', 'races are')} under way: line ${number} waits, and later ones may too`,
      );
    while (underWay.size >= pace.limit()) await Promise.race(underWay);
  };

  for await (const line of stream.lines) {
    number += 1;
    const read = readRaceLine(line, stream.mode);
    if (read === null) continue;
    if (!read.ok) {
      badLines += 1;
      complain(read.code, `line ${number}: ${read.message}`);
      continue;
    }
    if (!stream.wanted(read.value, number)) continue;
    const leftOut = pathLeftOut(number, read);
    if (leftOut !== null) complain('path-left-out', leftOut);
    await roomFor();
    if (signal.aborted || failures.length > 0) break;
    begin(read.value, number);
  }
  await Promise.all(underWay);
  if (failures.length > 0) throw failures[0];
  return { badLines, waits };
}

/** Progress is for people, who read no faster. */
export const PROGRESS_EVERY_MS = 100;

interface SurveyState {
  readonly done: number;
  readonly failed: number;
  /** Races in total; null: more lines may come. */
  readonly total: number | null;
  readonly elapsedMs: number;
}

/** With fewer races done a rate is chance. */
const MIN_RACES_FOR_RATE = 5;

function rateText(perSecond: number): string {
  if (perSecond >= 10) return `${Math.round(perSecond)} per second`;
  return perSecond >= 1 ? `${perSecond.toFixed(1)} per second` : `${Math.round(60 * perSecond)} per minute`;
}

/** For example `412 of 5000 done, 3 failed, 38 per second, 2 min left`. */
export function surveyText({ done, failed, total, elapsedMs }: SurveyState): string {
  const parts = [total === null ? `${done} done` : `${done} of ${total} done`, `${failed} failed`];
  if (done < MIN_RACES_FOR_RATE || elapsedMs <= 0) return parts.join(', ');
  parts.push(rateText((1000 * done) / elapsedMs));
  if (total !== null && total > done) parts.push(`${duration((elapsedMs / done) * (total - done))} left`);
  return parts.join(', ');
}

/** Counts what `race -` has done, for the progress line and the final messages. */
export function surveyCounter(terminal: Terminal) {
  const beganMs = systemClock.nowMs();
  let shownMs = beganMs;
  const counts = { done: 0, failed: 0, busy: 0 };
  return {
    counts,
    /** Another race is done; `total`: the number of all races, null while more may come. */
    over(race: OriginRace, total: number | null): void {
      counts.done += 1;
      if (!allAdopted([race])) counts.failed += 1;
      if (timedTrials(race.trials).length < race.trials.length || race.error?.disturbed) counts.busy += 1;
      const nowMs = systemClock.nowMs();
      if (nowMs - shownMs < PROGRESS_EVERY_MS) return;
      shownMs = nowMs;
      terminal.progress(surveyText({ ...counts, total, elapsedMs: nowMs - beganMs }));
    },
    end(): void {
      terminal.progress('');
      const { busy, done } = counts;
      if (busy > 0)
        terminal.error(
          'machine-busy',
          `this machine was late in ${busy} of ${plural(done, 'race')}: see "disturbed"`,
        );
    },
  };
}

/** Number of lines of standard input that may be read ahead. */
const MAX_LINES_AHEAD = 100_000;

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
  const isOurs = ({ origin: { origin } }: LineRequest): boolean =>
    command.shard === null || inShard(command.shard, origin);
  // Lines of other shards are raced elsewhere, and most of them are read long before their turn.
  const input = readAhead(linesOf(standardInput(signal), MAX_LINE_CHARS), MAX_LINES_AHEAD, (line) => {
    const read = readRaceLine(line, command.mode);
    return read?.ok === true && isOurs(read.value);
  });
  let badLines = 0;
  let doneBefore = 0;
  const readerGone = (): void => stop.abort();
  process.stdout.once('error', readerGone);
  try {
    await raceStream({
      lines: input.lines,
      mode: command.mode,
      pace: paceFor(command.concurrencyAsked, systemClock.nowMs),
      tellsWaits: command.concurrencyAsked !== null,
      wanted(request, line) {
        const left = resume?.lines.isLeft(line, request.origin.origin) ?? true;
        if (!isOurs(request)) return false;
        if (!left) doneBefore += 1;
        return left;
      },
      race({ origin, mode }, line) {
        resume?.lines.begin(line, origin.origin);
        const ofLine = commandFor(command, mode);
        return race(specOf(ofLine, { origin, trials: ofLine.trials }, { network, signal }));
      },
      finished(raced, { mode }, line) {
        const record = moved() ? cutShort(raced) : raced;
        const text = JSON.stringify(documentOf(commandFor(command, mode), [record]));
        // A race that was stopped is not done.
        if (resume === null || signal.aborted) terminal.result(text);
        else resume.print(text, line);
        survey.over(record, input.ended() ? input.counted() - doneBefore : null);
      },
      complain(code, message) {
        if (code === 'bad-line' || code === 'bad-origin') badLines += 1;
        terminal.error(code, message);
      },
      signal,
    });
    survey.end();
    if (!signal.aborted) resume?.lines.end();
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
