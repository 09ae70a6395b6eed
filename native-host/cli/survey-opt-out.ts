// `photofinish survey opt-out`: the entries it is given, as arguments or on standard input, validated.
import { optOut } from '../survey/opt-out.ts';
import { isIdle, linesOf, MAX_LINE_CHARS } from './input-lines.ts';
import { Complaint } from './usage.ts';

/** Means standard input in place of entries: a command line cannot hold as many as a list. */
const INPUT = '-';

async function entriesIn(input: AsyncIterable<string>): Promise<readonly string[]> {
  const entries: string[] = [];
  for await (const line of linesOf(input, MAX_LINE_CHARS)) if (!isIdle(line)) entries.push(line.trim());
  if (entries.length === 0) throw new Complaint('bad-usage', 'standard input names nothing to opt out');
  return entries;
}

/** The entries, read one a line from `input` if the only word is `-`. Rejects with a Complaint for the first mistake. */
export async function readOptOut(
  words: readonly string[],
  input: () => AsyncIterable<string>,
): Promise<readonly string[]> {
  const isInput = words.includes(INPUT);
  if (isInput && words.length > 1)
    throw new Complaint(
      'bad-usage',
      `give entries on the command line or read them with "${INPUT}", not both`,
    );
  const entries = isInput ? await entriesIn(input()) : words;
  const read = optOut(entries);
  if (!read.ok) throw new Complaint('bad-usage', read.message);
  return entries;
}
