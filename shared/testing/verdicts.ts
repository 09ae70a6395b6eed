// Verdicts with the texts that a test needs, and all texts of a verdict.
import { type Verdict, type VerdictCode, verdictAsWritten } from '../race/verdict-schema.ts';
import { otherFindings, verdictText } from '../verdict/verdict-text.ts';

/** A verdict with exactly these texts, with others that also hold. */
export function verdictSaying(
  code: VerdictCode,
  text: string,
  ...others: readonly (readonly [code: VerdictCode, text: string])[]
): Verdict {
  const findings = others.map(([other, said]) => ({ code: other, text: said }));
  return verdictAsWritten({ code, text, findings });
}

/** The text of a verdict, then those of all its other findings. */
export function allTexts(verdict: Verdict): string[] {
  return [verdictText(verdict), ...otherFindings(verdict).map(({ text }) => text)];
}
