// The schemas of a verdict and of the messages it is made of, with the limits that its findings are cut to; separate from
// the rules that produce it, so that outcomes can contain one. Verdicts in the earlier format can be read too.
import * as v from 'valibot';
import { type Message, type MessageParam, message } from '../language/message.ts';
import {
  cut,
  list,
  MAX_DNS_NAME_CHARS,
  MAX_FINDINGS,
  MAX_KEY_CHARS,
  MAX_LISTED,
  MAX_MESSAGE_PARAMS,
  MAX_VERDICT_CHARS,
  printable,
  text,
} from '../web/untrusted.ts';

type MessageSchema = v.GenericSchema<Message>;

/** How deeply messages may be nested: "earlier:" a verdict, its cause, and in that what to withdraw; plus one. */
const MAX_DEPTH = 4;

const name = v.pipe(text(MAX_KEY_CHARS), v.regex(/^[a-z][A-Za-z0-9]*$/));
const plain = [
  v.pipe(text(MAX_VERDICT_CHARS), v.transform(printable)),
  v.pipe(v.number(), v.finite()),
] as const;

function entriesWith(param: v.GenericSchema<MessageParam>) {
  return { key: name, params: v.pipe(v.record(name, param), v.maxEntries(MAX_MESSAGE_PARAMS)) };
}

function paramHolding(inner: MessageSchema): v.GenericSchema<MessageParam> {
  return v.union([...plain, inner, list(inner, MAX_LISTED)]);
}

/** From those without nested messages to those that may be nested in a message. */
const inner: MessageSchema[] = [v.object(entriesWith(v.union(plain)))];
while (inner.length < MAX_DEPTH)
  inner.push(v.object(entriesWith(paramHolding(inner.at(-1) as MessageSchema))));

/** The schemas of nested messages, by names under which a JSON Schema can contain each of them once. */
export const INNER_MESSAGES = Object.fromEntries(inner.map((schema, depth) => [`message${depth}`, schema]));

/**
 * The entries of a message as another program, or another version of this one, may send it: keys and names as in
 * catalogs, all of it bounded. After validation its texts are safe to display.
 */
export const messageEntries = entriesWith(paramHolding(inner.at(-1) as MessageSchema));

/** Why an origin was, or was not, reached over HTTP/3; append-only. */
export const VERDICT_CODES = [
  'h3-used',
  'h3-first-visit',
  'h3-not-advertised',
  'h3-advertised-unreachable',
  'h3-private-root',
  'h3-browser-avoids',
  'h3-advertisement-wrong',
  'h3-not-offered',
  'h3-available',
  'unknown',
  'machine-too-busy',
  'h3-used-before',
] as const;
export type VerdictCode = (typeof VERDICT_CODES)[number];

export interface Finding extends Message {
  readonly code: VerdictCode;
}

/** Data until it is displayed; `verdictText` makes its sentences. */
export interface Verdict {
  readonly code: VerdictCode;
  /** One sentence each, those on `code` itself first; consecutive sentences on one code belong together. */
  readonly findings: readonly Finding[];
}

const codeSchema = v.picklist(VERDICT_CODES);

/**
 * The format that is written. That it has at least one sentence also distinguishes it from a verdict in the earlier
 * format without other findings.
 */
export const writtenVerdictSchema = v.object({
  code: codeSchema,
  findings: v.pipe(list(v.object({ code: codeSchema, ...messageEntries }), MAX_FINDINGS), v.minLength(1)),
});

/** Verdicts as written until version 1 of the report: as text, which is kept. */
const verdictAsTextSchema = v.object({
  code: codeSchema,
  text: text(MAX_VERDICT_CHARS),
  findings: list(v.object({ code: codeSchema, text: text(MAX_VERDICT_CHARS) }), VERDICT_CODES.length),
});
export type VerdictAsText = v.InferOutput<typeof verdictAsTextSchema>;

/** A verdict whose sentences are already text. */
export function verdictAsWritten({ code, text, findings }: VerdictAsText): Verdict {
  const sentences = [{ code, text }, ...findings];
  return {
    code,
    findings: sentences.map((each) => ({
      code: each.code,
      ...message('verdictAsWritten', { text: printable(each.text) }),
    })),
  };
}

/** A verdict as it is read: the earlier format, text, is converted to data here, once. */
export const verdictSchema: v.GenericSchema<Verdict | VerdictAsText, Verdict> = v.union([
  writtenVerdictSchema,
  v.pipe(verdictAsTextSchema, v.transform(verdictAsWritten)),
]);

function boundedParam(param: MessageParam): MessageParam {
  if (typeof param === 'string') return cut(param, MAX_DNS_NAME_CHARS);
  if (typeof param === 'number') return param;
  if (!Array.isArray(param)) return boundedMessage(param as Message);
  return (param as readonly Message[]).slice(0, MAX_LISTED).map(boundedMessage);
}

function boundedMessage<M extends Message>(message: M): M {
  const params = Object.entries(message.params).map(([name, param]) => [name, boundedParam(param)]);
  return { ...message, params: Object.fromEntries(params) };
}

/**
 * The findings within the limits of a verdict's schema, since they contain what servers and resolvers chose to send: the
 * first of them, with their texts and lists truncated.
 */
export function boundedFindings(findings: readonly Finding[]): Finding[] {
  return findings.slice(0, MAX_FINDINGS).map(boundedMessage);
}
