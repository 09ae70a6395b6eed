// What another program, or another version of this one, may send as a message: keys and names as in catalogs, all of it
// bounded. Typed after validation, and its texts are safe to display.
import * as v from 'valibot';
import type { Message, MessageParam } from '../language/message.ts';
import {
  list,
  MAX_KEY_CHARS,
  MAX_LISTED,
  MAX_MESSAGE_PARAMS,
  MAX_VERDICT_CHARS,
  text,
} from '../web/bounds.ts';
import { printable } from '../web/printable.ts';

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

/** The entries of a message. */
export const messageEntries = entriesWith(paramHolding(inner.at(-1) as MessageSchema));
