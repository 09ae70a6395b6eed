// The lines of standard input: split from text that arrives in pieces, and read ahead, so that their number is known.
// An endless input, or an endless line, must not fill the memory.

/**
 * The lines without their line feeds; an unterminated rest is a line too. Of a line with more than `mostChars` only a
 * longer prefix is returned, as soon as it is available, and the rest is skipped.
 */
export async function* linesOf(pieces: AsyncIterable<string>, mostChars: number): AsyncGenerator<string> {
  let held = '';
  let tooLong = false;
  for await (const piece of pieces)
    for (const [index, part] of piece.split('\n').entries()) {
      if (index > 0) {
        if (!tooLong) yield held;
        held = '';
        tooLong = false;
      }
      if (tooLong) continue;
      held += part;
      if (held.length <= mostChars) continue;
      tooLong = true;
      yield held;
      held = '';
    }
  if (held !== '') yield held;
}

export interface ReadAhead {
  /** The lines in order; rejects with the error that ended reading. */
  readonly lines: AsyncIterable<string>;
  /** How many of the lines read so far are counted. */
  counted(): number;
  /** Whether all have been read. */
  ended(): boolean;
}

/** Starts reading; at most `most` lines wait to be taken. */
export function readAhead(
  source: AsyncIterable<string>,
  most: number,
  counts: (line: string) => boolean,
): ReadAhead {
  const waiting: string[] = [];
  let counted = 0;
  let ended = false;
  let failure: { readonly error: unknown } | null = null;
  let changed = Promise.withResolvers<void>();

  function change(): void {
    changed.resolve();
    changed = Promise.withResolvers();
  }

  async function read(): Promise<void> {
    try {
      for await (const line of source) {
        waiting.push(line);
        if (counts(line)) counted += 1;
        change();
        while (waiting.length >= most) await changed.promise;
      }
    } catch (error) {
      failure = { error };
    }
    ended = true;
    change();
  }

  async function* lines(): AsyncGenerator<string> {
    void read();
    for (;;) {
      const line = waiting.shift();
      if (line !== undefined) {
        if (waiting.length === most - 1) change();
        yield line;
      } else if (!ended) await changed.promise;
      else if (failure !== null) throw failure.error;
      else return;
    }
  }

  return { lines: lines(), counted: () => counted, ended: () => ended };
}
