// Lines of a text that arrives in pieces, none of them held for longer than it may be: an input that never ends its line
// must not fill the memory.

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
