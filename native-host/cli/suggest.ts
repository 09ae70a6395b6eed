// "Did you mean": the known word that a mistyped one is close to.

/** Edits plausible as typing errors in a word of that length; more would be guessing. */
function tolerance(word: string): number {
  return word.length < 4 ? 1 : word.length < 8 ? 2 : 3;
}

/** Insertions, deletions, substitutions and swaps of neighbours (optimal string alignment). */
function distance(a: string, b: string): number {
  const rows = [Array.from({ length: b.length + 1 }, (_, j) => j)];
  const at = (i: number, j: number): number => rows[i]?.[j] ?? 0;
  for (let i = 1; i <= a.length; i += 1) {
    const row = [i];
    rows.push(row);
    for (let j = 1; j <= b.length; j += 1) {
      const cost = a[i - 1] === b[j - 1] ? 0 : 1;
      const swapped = i > 1 && j > 1 && a[i - 1] === b[j - 2] && a[i - 2] === b[j - 1];
      row.push(
        Math.min(
          at(i - 1, j) + 1,
          at(i, j - 1) + 1,
          at(i - 1, j - 1) + cost,
          swapped ? at(i - 2, j - 2) + 1 : Number.POSITIVE_INFINITY,
        ),
      );
    }
  }
  return at(a.length, b.length);
}

/** The nearest known word; null: none is near, or the word itself is too short to tell. */
export function nearest(word: string, known: readonly string[]): string | null {
  const typed = word.toLowerCase();
  if (typed.length < 2) return null;
  const begun = known.filter((each) => typed.length >= 3 && each.startsWith(typed));
  if (begun.length === 1 && begun[0] !== undefined) return begun[0];
  let best: { readonly word: string; readonly edits: number } | null = null;
  for (const each of known) {
    const edits = distance(typed, each);
    if (
      edits <= Math.min(tolerance(typed), each.length - 1) &&
      edits < (best?.edits ?? Number.POSITIVE_INFINITY)
    )
      best = { word: each, edits };
  }
  return best?.word ?? null;
}

/** `; did you mean "race"?`, or nothing. */
export function didYouMean(word: string, known: readonly string[], prefix = ''): string {
  const near = nearest(word, known);
  return near === null ? '' : `; did you mean "${prefix}${near}"?`;
}
