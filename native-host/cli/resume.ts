// `race - --resume FILE`: how far a run has come, as a note in FILE that is kept up to date while results are written,
// without delaying races. A line counts once its result has been handed to standard output.

import { readFileSync } from 'node:fs';
import { open, rename, rm } from 'node:fs/promises';
import { MODES } from '@photofinish/shared/race/terms';
import { messageOf } from '@photofinish/shared/web/untrusted';
import * as v from 'valibot';
import type { Clock } from '../clock.ts';
import { Complaint } from './usage.ts';

const SCHEMA = 'photofinish.resume/1';
const line = v.pipe(v.number(), v.safeInteger(), v.minValue(1));
const noteSchema = v.strictObject({
  schema: v.literal(SCHEMA),
  /** A run with other options has other results. */
  mode: v.picklist(MODES),
  shard: v.nullable(v.strictObject({ index: line, of: line, seed: v.string() })),
  /** All lines up to this one are done, or not raced in this run. */
  through: v.pipe(v.number(), v.safeInteger(), v.minValue(0)),
  /** Later lines that are done. */
  above: v.array(line),
  /** The last line raced of those up to `through`; another origin there means another list. */
  last: v.nullable(v.strictObject({ line, origin: v.string() })),
  /** Whether the run ended in an orderly way: if not, its last document may be incomplete. */
  ended: v.boolean(),
});
export type Note = v.InferOutput<typeof noteSchema>;

/** What must be the same when a run goes on. */
export type RunOptions = Pick<Note, 'mode' | 'shard'>;

function words({ mode, shard }: RunOptions): string {
  const share =
    shard === null ? 'without --shard' : `--shard ${shard.index}/${shard.of} --seed ${shard.seed}`;
  return `--mode ${mode}, ${share}`;
}

/** The note in a file; null: there is no such file. Throws a Complaint if it is not a note of a run like this one. */
export function readNote(path: string, options: RunOptions): Note | null {
  let text: string;
  try {
    text = readFileSync(path, 'utf8');
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code === 'ENOENT') return null;
    throw new Complaint('bad-file', messageOf(error));
  }
  const read = v.safeParse(v.pipe(v.string(), v.parseJson(), noteSchema), text);
  if (!read.success) throw new Complaint('bad-resume', `${path} is not a file that --resume has written`);
  const note = read.output;
  if (words(note) !== words(options))
    throw new Complaint(
      'bad-resume',
      `${path} belongs to a run with ${words(note)}; this one has ${words(options)}`,
    );
  return note;
}

/** Replaces the note in a file: after a crash there is the earlier or the later one. Rejects if it cannot be written. */
export async function writeNote(path: string, note: Note): Promise<void> {
  // Two runs with the same note must not write one file.
  const fresh = `${path}.${process.pid}.new`;
  try {
    const file = await open(fresh, 'w', 0o600);
    try {
      await file.writeFile(`${JSON.stringify(note)}\n`);
      await file.sync();
    } finally {
      await file.close();
    }
    await rename(fresh, path);
  } catch (error) {
    await rm(fresh, { force: true });
    throw error;
  }
}

/** Lines begun and done, in a run that may go on with an earlier one. */
export class LineLedger {
  readonly #options: RunOptions;
  /** What the input must contain to be the earlier run's; null once it was seen, or if there is no earlier run. */
  #expected: Note['last'];
  #last: Note['last'];
  #through: number;
  /** Done, above `through`, with their origins once the input has shown them. */
  readonly #above: Map<number, string | null>;
  /** Under way, ascending. */
  readonly #underWay = new Map<number, string>();
  /** The last line begun, or found to be done. */
  #reached: number;

  constructor(options: RunOptions, earlier: Note | null) {
    this.#options = options;
    this.#last = earlier?.last ?? null;
    this.#expected = this.#last;
    this.#through = earlier?.through ?? 0;
    this.#reached = this.#through;
    this.#above = new Map(earlier?.above.map((each) => [each, null]));
  }

  /** Whether a line is yet to be raced; asked for each in turn. Throws a Complaint if the input is another list. */
  isLeft(number: number, origin: string): boolean {
    if (this.#expected !== null && number >= this.#expected.line) {
      if (number !== this.#expected.line || origin !== this.#expected.origin)
        throw this.#otherList(this.#expected);
      this.#expected = null;
    }
    if (number <= this.#through) return false;
    if (!this.#above.has(number)) return true;
    this.#above.set(number, origin);
    this.#reached = number;
    return false;
  }

  begin(number: number, origin: string): void {
    this.#underWay.set(number, origin);
    this.#reached = number;
  }

  done(number: number): void {
    const origin = this.#underWay.get(number);
    if (origin === undefined) return;
    this.#underWay.delete(number);
    this.#above.set(number, origin);
  }

  /** All lines have been read. Throws a Complaint if the earlier run had more. */
  end(): void {
    if (this.#expected !== null) throw this.#otherList(this.#expected);
  }

  note(ended: boolean): Note {
    const [first] = this.#underWay.keys();
    this.#through = Math.max(this.#through, first === undefined ? this.#reached : first - 1);
    for (const [number, origin] of this.#above)
      if (number <= this.#through) {
        this.#above.delete(number);
        if (origin !== null && number > (this.#last?.line ?? 0)) this.#last = { line: number, origin };
      }
    const above = [...this.#above.keys()].toSorted((a, b) => a - b);
    const { mode, shard } = this.#options;
    return { schema: SCHEMA, mode, shard, through: this.#through, above, last: this.#last, ended };
  }

  #otherList({ line: number, origin }: NonNullable<Note['last']>): Complaint {
    return new Complaint(
      'bad-resume',
      `the input differs from the earlier run's, whose line ${number} was ${origin}`,
    );
  }
}

/** As many documents may be printed again after a kill, and a few that ended while the note was being written. */
const RESULTS_PER_NOTE = 200;
const NOTE_EVERY_MS = 1000;

interface ResumeParts {
  readonly clock: Pick<Clock, 'after'>;
  /** Writes a result to standard output; then calls `written`, with false if that failed. */
  readonly result: (text: string, written: (ok: boolean) => void) => void;
  /** Results that were written are on the disk afterwards, if they are written to one. */
  readonly flush: () => Promise<void>;
  readonly write?: (path: string, note: Note) => Promise<void>;
  /** A note could not be written; not called again until one could. */
  readonly failed: (message: string) => void;
}

/** The note of a run in progress. */
export class Resume {
  readonly lines: LineLedger;
  /** The earlier run was killed, or could not write a result, so that its last document may be incomplete. */
  #afterKill: boolean;
  readonly #path: string;
  readonly #parts: ResumeParts;
  #unsaved = 0;
  #cancelTimer: (() => void) | null = null;
  #saving: Promise<void> | null = null;
  #failing = false;
  /** A result could not be written, so that the last document may be incomplete. */
  #cut = false;
  #closed = false;
  #printed: Promise<void> = Promise.resolve();

  constructor(path: string, options: RunOptions, earlier: Note | null, parts: ResumeParts) {
    this.#path = path;
    this.#parts = parts;
    this.lines = new LineLedger(options, earlier);
    this.#afterKill = earlier?.ended === false;
  }

  /** Writes the result of a line, which is then done. */
  print(text: string, line: number): void {
    const over = Promise.withResolvers<void>();
    this.#printed = over.promise;
    // A document that was cut short must not spoil the one after it.
    this.#parts.result(this.#afterKill ? `\n${text}` : text, (ok) => {
      over.resolve();
      this.#cut ||= !ok;
      if (!ok) return;
      this.lines.done(line);
      this.#unsaved += 1;
      this.#plan();
    });
    this.#afterKill = false;
  }

  /** Writes the last note; whether it could be written. */
  async close(): Promise<boolean> {
    // Results are written in their order.
    await this.#printed;
    this.#closed = true;
    this.#cancelTimer?.();
    await this.#saving;
    await this.#save(true);
    return !this.#failing;
  }

  /** One note is written at a time; what is done meanwhile is in the next. */
  #plan(): void {
    if (this.#saving !== null || this.#closed) return;
    if (this.#unsaved >= RESULTS_PER_NOTE) this.#saveNow();
    else this.#cancelTimer ??= this.#parts.clock.after(NOTE_EVERY_MS, () => this.#saveNow());
  }

  #saveNow(): void {
    this.#cancelTimer?.();
    this.#cancelTimer = null;
    this.#saving = this.#save(false).then(() => {
      this.#saving = null;
      if (this.#unsaved > 0) this.#plan();
    });
  }

  async #save(ended: boolean): Promise<void> {
    this.#unsaved = 0;
    // Without a result, an earlier document that was cut short is still the last.
    const note = this.lines.note(ended && !this.#cut && !this.#afterKill);
    try {
      await this.#parts.flush();
      await (this.#parts.write ?? writeNote)(this.#path, note);
      this.#failing = false;
    } catch (error) {
      if (!this.#failing) this.#parts.failed(messageOf(error));
      this.#failing = true;
    }
  }
}

/**
 * Reads the note of an earlier run, if there is one, and writes it, so that nothing is raced if that is impossible.
 * Rejects with a Complaint.
 */
export async function openResume(path: string, options: RunOptions, parts: ResumeParts): Promise<Resume> {
  if (path === '') throw new Complaint('bad-file', '--resume takes a file');
  const earlier = readNote(path, options);
  try {
    await (parts.write ?? writeNote)(path, new LineLedger(options, earlier).note(false));
  } catch (error) {
    throw new Complaint('cannot-write', messageOf(error));
  }
  return new Resume(path, options, earlier, parts);
}
