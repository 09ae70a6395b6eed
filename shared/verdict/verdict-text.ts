// A verdict for display in the current language: its own sentences first, then those of all other findings; and what is
// said of a race beside it. Storing, sending and comparing verdicts does not need this.
import { getMessage, type MessagePart, type SharedMessageKey } from '../language/catalog.ts';
import { messageParts } from '../language/message.ts';
import type { LeftOut, OriginRace, SharedOutcome } from '../race/outcome.ts';
import {
  type Finding,
  VERDICT_CODES,
  type Verdict,
  type VerdictAsText,
  type VerdictCode,
} from '../race/verdict-schema.ts';
import { cut, MAX_VERDICT_CHARS } from '../web/untrusted.ts';
import { attemptErrorText, verdictName } from './codes.ts';

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

const LEFT_OUT_KEYS: readonly (readonly [keyof LeftOut, SharedMessageKey])[] = [
  ['addresses', 'leftOutAddresses'],
  ['services', 'leftOutServices'],
  ['lookups', 'leftOutLookups'],
  ['attempts', 'leftOutAttempts'],
];

/** What a race's record lacks because a server or resolver sent too much: one sentence, or none if it is complete. */
export function leftOutText({ leftOut }: Pick<OriginRace, 'leftOut'>): string[] {
  if (leftOut === undefined) return [];
  const parts = LEFT_OUT_KEYS.flatMap(([kind, key]) =>
    leftOut[kind] === 0 ? [] : [getMessage(key, { count: leftOut[kind] })],
  );
  return [getMessage('leftOut', { what: parts.join(', ') })];
}

const HOUR_MS = 3_600_000;

/** When an outcome of the fleet cache was raced: it tells its hour and nothing finer. */
export function sharedWithin(atMs: number, nowMs: number): string {
  return getMessage('sharedWithin', { count: Math.max(1, Math.ceil((nowMs - atMs) / HOUR_MS)) });
}

/** What the fleet cache says of an origin: an outcome on a machine of the organisation, possibly this one. */
export function sharedOutcomeText({ atMs, h3Failure }: SharedOutcome, nowMs: number): string {
  const when = sharedWithin(atMs, nowMs);
  return h3Failure === null
    ? getMessage('sharedWorked', { when })
    : getMessage('sharedFailed', { when, failure: attemptErrorText(h3Failure) });
}

/** The shared outcome that a race knew, and what that changed; nothing if it knew none. */
export function sharedInRaceText({ sharedOutcome, mode, startDelayMs, atMs }: OriginRace): string[] {
  if (sharedOutcome === undefined) return [];
  const words = sharedOutcomeText(sharedOutcome, atMs);
  const isSlower = sharedOutcome.h3Failure !== null && mode === 'race' && startDelayMs === 0;
  return [isSlower ? `${words} ${getMessage('sharedHeadStart')}` : words];
}
