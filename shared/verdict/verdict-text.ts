// A verdict as its readers have it: in the language in force, the sentences of what it says first and those of everything
// else it found. Whoever stores, sends or compares verdicts does so without.

import { getMessage, type MessagePart } from '../language/catalog.ts';
import { messageParts } from '../language/message.ts';
import {
  type Finding,
  VERDICT_CODES,
  type Verdict,
  type VerdictCode,
  type VerdictInWords,
} from '../race/verdict-schema.ts';
import { cut, MAX_VERDICT_CHARS } from '../web/bounds.ts';
import { verdictName } from './verdict-names.ts';

interface Paragraph {
  readonly code: VerdictCode;
  readonly findings: readonly Finding[];
}

/** Sentences in a row on one code together; the first paragraph is the verdict's own. */
function paragraphsOf({ code, findings }: Verdict): [Paragraph, ...Paragraph[]] {
  const runs: { code: VerdictCode; findings: Finding[] }[] = [];
  for (const finding of findings) {
    const last = runs.at(-1);
    if (last?.code === finding.code) last.findings.push(finding);
    else runs.push({ code: finding.code, findings: [finding] });
  }
  const [first, ...rest] = runs;
  return first?.code === code ? [first, ...rest] : [{ code, findings: [] }, ...runs];
}

/** A verdict without what else it found. */
export function ownVerdict(verdict: Verdict): Verdict {
  const [{ code, findings }] = paragraphsOf(verdict);
  return { code, findings };
}

/** A paragraph in pieces. What is told in the messages of another version, or not at all, is told by the code's name. */
function partsOf({ code, findings }: Paragraph): MessagePart[] {
  const sentences = findings.map(messageParts);
  const unknown = sentences.length === 0 ? 0 : sentences.indexOf(null);
  if (unknown >= 0)
    sentences[unknown] = [{ text: getMessage('verdictNamed', { name: verdictName(code) }), param: null }];
  return sentences
    .filter((sentence) => sentence !== null)
    .flatMap((sentence, i) => (i === 0 ? sentence : [{ text: ' ', param: null }, ...sentence]));
}

function textOf(paragraph: Paragraph): string {
  return partsOf(paragraph)
    .map(({ text }) => text)
    .join('');
}

/** What a verdict says of the code it has: what is, why, what to do. */
export function verdictText(verdict: Verdict): string {
  return textOf(paragraphsOf(verdict)[0]);
}

/** The same in pieces, for whoever sets parameters apart from the words around them. */
export function verdictParts(verdict: Verdict): MessagePart[] {
  return partsOf(paragraphsOf(verdict)[0]);
}

/** Every other verdict that also holds, each with its sentences. */
export function otherFindings(verdict: Verdict): { code: VerdictCode; text: string }[] {
  const [, ...others] = paragraphsOf(verdict);
  return others.map((paragraph) => ({ code: paragraph.code, text: textOf(paragraph) }));
}

/** A verdict as it was written until version 1 of the report, for older programs; made in the language in force. */
export function verdictInWords(verdict: Verdict): VerdictInWords {
  const told = { code: verdict.code, text: cut(verdictText(verdict), MAX_VERDICT_CHARS) };
  const others = otherFindings(verdict).slice(0, VERDICT_CODES.length);
  return {
    ...told,
    findings: others.map(({ code, text }) => ({ code, text: cut(text, MAX_VERDICT_CHARS) })),
  };
}
