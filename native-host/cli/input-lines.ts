// The lines of standard input: cut from a text that arrives in pieces, and read before they are wanted, so that it is known
// how many are to come. An input that never ends, or never ends its line, must not fill the memory.

/**
 * The lines without their line feeds; an end of the text that has none is a line too. Of a line with more than `mostChars`
 * only a beginning that is longer as well is given, as soon as it is there, and the rest is passed over.
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
  /** The lines in order; rejects with what reading them ended in. */
  readonly lines: AsyncIterable<string>;
  /** How many of those read so far are counted. */
  counted(): number;
  /** Whether all have been read. */
  ended(): boolean;
}

/** Begins to read; at most `most` lines wait to be taken. */
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
