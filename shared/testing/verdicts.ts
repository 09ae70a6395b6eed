// Verdicts that say what a test wants them to say, and all that a verdict says.
import { type Verdict, type VerdictCode, verdictAsWritten } from '../race/verdict-schema.ts';
import { otherFindings, verdictText } from '../verdict/verdict-text.ts';

/** A verdict in these very words, with others that also hold. */
export function verdictSaying(
  code: VerdictCode,
  text: string,
  ...others: readonly (readonly [code: VerdictCode, text: string])[]
): Verdict {
  const findings = others.map(([other, said]) => ({ code: other, text: said }));
  return verdictAsWritten({ code, text, findings });
}

/** The words of a verdict, then those of everything else that it found. */
export function allTexts(verdict: Verdict): string[] {
  return [verdictText(verdict), ...otherFindings(verdict).map(({ text }) => text)];
}
