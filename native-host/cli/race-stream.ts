// `photofinish race -`: an open loop. Every line is raced as it arrives, whether or not earlier ones are done, up to a
// limit beyond which lines wait, which is reported.
import type { OriginRace } from '@photofinish/shared/race/outcome';
import type { Mode } from '@photofinish/shared/race/terms';
import { type LineRequest, readRaceLine } from './race-line.ts';
import type { Pace } from './race-pace.ts';
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

/** How many lines could not be read, and how often one had to wait for an earlier race to end. */
export interface StreamEnd {
  readonly badLines: number;
  readonly waits: number;
}

/**
 * Races until the lines end, or the signal is aborted, and all running races are done. Rejects with the error of a
 * race, after the others have ended.
 */
export async function raceStream(stream: RaceStream): Promise<StreamEnd> {
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
        `${underWay.size} races are under way: line ${number} waits, and later ones may too`,
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
    if (read.leftOut !== undefined)
      complain(
        'path-left-out',
        `line ${number}: ${read.value.origin.origin} is raced, without ${read.leftOut}`,
      );
    await roomFor();
    if (signal.aborted || failures.length > 0) break;
    begin(read.value, number);
  }
  await Promise.all(underWay);
  if (failures.length > 0) throw failures[0];
  return { badLines, waits };
}
