// A verdict as its readers have it: the sentences of what it says first, and those of everything else it found.
import type { Verdict, VerdictCode } from '../race/verdict-schema.ts';

/** What a verdict says of the code it has: what is, why, what to do. */
export function verdictText({ text }: Pick<Verdict, 'code' | 'text'>): string {
  return text;
}

/** Every other verdict that also holds, each with its sentences. */
export function otherFindings({
  findings,
}: Pick<Verdict, 'findings'>): { code: VerdictCode; text: string }[] {
  return findings;
}
