// A verdict for display: in the current language, the sentences of the verdict itself first and then those of all other
// findings. Storing, sending and comparing verdicts does not need this.

import { getMessage, type MessagePart, type SharedMessageKey } from '../language/catalog.ts';
import { messageParts } from '../language/message.ts';
import {
  type Finding,
  VERDICT_CODES,
  type Verdict,
  type VerdictAsText,
  type VerdictCode,
} from '../race/verdict-schema.ts';
import { cut, MAX_VERDICT_CHARS } from '../web/bounds.ts';
import { verdictName } from './verdict-names.ts';

interface Paragraph {
  readonly code: VerdictCode;
  readonly findings: readonly Finding[];
}

/** Consecutive sentences on one code are combined; the first paragraph is the verdict's own. */
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

/** A verdict without its other findings. */
export function ownVerdict(verdict: Verdict): Verdict {
  const [{ code, findings }] = paragraphsOf(verdict);
  return { code, findings };
}

/** A paragraph in pieces. If its messages belong to another version, or there are none, the code's name is used. */
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

/** The text of the verdict itself: what, why, what to do. */
export function verdictText(verdict: Verdict): string {
  return textOf(paragraphsOf(verdict)[0]);
}

/** The same in pieces, for callers that format parameters differently. */
export function verdictParts(verdict: Verdict): MessagePart[] {
  return partsOf(paragraphsOf(verdict)[0]);
}

/** Sentences that begin with what `verdictAvailable` says. */
const SAY_SUPPORTED: ReadonlySet<string> = new Set<SharedMessageKey>([
  'verdictNotAdvertised',
  'verdictPrivateRoot',
  'verdictWithdrawn',
]);

/** A verdict without what it would say twice. As data, that HTTP/3 is available is a finding of its own. */
function withoutRepetition({ code, findings }: Verdict): Verdict {
  const isSaid = findings.some(({ key }) => SAY_SUPPORTED.has(key));
  const available: SharedMessageKey = 'verdictAvailable';
  return { code, findings: isSaid ? findings.filter(({ key }) => key !== available) : findings };
}

function othersAsText(verdict: Verdict): { code: VerdictCode; text: string }[] {
  const [, ...others] = paragraphsOf(verdict);
  return others.map((paragraph) => ({ code: paragraph.code, text: textOf(paragraph) }));
}

/** Every other verdict that also holds and is not said yet, each with its sentences. */
export function otherFindings(verdict: Verdict): { code: VerdictCode; text: string }[] {
  return othersAsText(withoutRepetition(verdict));
}

/** A verdict as text, as written until version 1 of the report, for older programs; in the current language. */
export function verdictAsText(verdict: Verdict): VerdictAsText {
  const short = { code: verdict.code, text: cut(verdictText(verdict), MAX_VERDICT_CHARS) };
  const others = othersAsText(verdict).slice(0, VERDICT_CODES.length);
  return {
    ...short,
    findings: others.map(({ code, text }) => ({ code, text: cut(text, MAX_VERDICT_CHARS) })),
  };
}
