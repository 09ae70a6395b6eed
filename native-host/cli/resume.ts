// `race - --resume FILE`: keeps the note in FILE up to date while results are written, without delaying races.
import type { Clock } from '../clock.ts';
import { LineLedger, type Note, type RunOptions, readNote, writeNote } from './resume-note.ts';
import { Complaint, messageOf } from './usage.ts';

/** As many documents may be printed again after a kill, and a few that ended while the note was being written. */
const RESULTS_PER_NOTE = 200;
const NOTE_EVERY_MS = 1000;

export interface ResumeParts {
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
  /** The earlier run was killed, so that its last document may be incomplete. */
  #afterKill: boolean;
  readonly #lines: LineLedger;
  readonly #path: string;
  readonly #parts: ResumeParts;
  readonly #write: (path: string, note: Note) => Promise<void>;
  #unsaved = 0;
  #cancelTimer: (() => void) | null = null;
  #saving: Promise<void> | null = null;
  #failing = false;
  #closed = false;
  #printed: Promise<void> = Promise.resolve();

  constructor(path: string, options: RunOptions, earlier: Note | null, parts: ResumeParts) {
    this.#path = path;
    this.#parts = parts;
    this.#write = parts.write ?? writeNote;
    this.#lines = new LineLedger(options, earlier);
    this.#afterKill = earlier?.ended === false;
  }

  /** Whether a line is yet to be raced; asked for each in turn. Throws a Complaint if the input is another list. */
  isLeft(line: number, origin: string): boolean {
    return this.#lines.isLeft(line, origin);
  }

  begin(line: number, origin: string): void {
    this.#lines.begin(line, origin);
  }

  /** Writes the result of a line, which is then done. */
  print(text: string, line: number): void {
    const over = Promise.withResolvers<void>();
    this.#printed = over.promise;
    // A document that was cut short must not spoil the one after it.
    this.#parts.result(this.#afterKill ? `\n${text}` : text, (ok) => {
      over.resolve();
      if (!ok) return;
      this.#lines.done(line);
      this.#unsaved += 1;
      this.#plan();
    });
    this.#afterKill = false;
  }

  /** All lines have been read. Throws a Complaint if the earlier run had more. */
  end(): void {
    this.#lines.end();
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
    const note = this.#lines.note(ended);
    try {
      await this.#parts.flush();
      await this.#write(this.#path, note);
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
