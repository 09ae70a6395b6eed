// What another program, or another version of this one, may send as a message: keys and names as catalogs have them, and
// bounds on all of it. Typed from here on, and its texts fit to be shown.
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

/** How deep messages may lie in one: "earlier:" a verdict, its cause, and in that what to take back; one more. */
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

/** From those that hold no other to those that may stand in a message. */
const inner: MessageSchema[] = [v.object(entriesWith(v.union(plain)))];
while (inner.length < MAX_DEPTH)
  inner.push(v.object(entriesWith(paramHolding(inner.at(-1) as MessageSchema))));

/** The schemas of messages in a message, by names under which a document can hold each of them once. */
export const INNER_MESSAGES = Object.fromEntries(inner.map((schema, depth) => [`message${depth}`, schema]));

/** The entries of a message. */
export const messageEntries = entriesWith(paramHolding(inner.at(-1) as MessageSchema));
