// What is to be said, as data: the key of a message and what goes into its holes. It becomes a sentence only where
// somebody reads, in the language in force there.

import { getKnownMessageParts, type MessagePart, type Params, type SharedMessageKey } from './catalog.ts';
import { formatMs, formatMsTo } from './markup.ts';

/**
 * Numbers whose names end in `Ms` are milliseconds and are said as durations, of a message with a `stepMs` down to that
 * place value; `count` chooses the plural form; all others are written as the language writes numbers. Figures that are
 * no amount, such as ports, are texts.
 */
export type MessageParam = string | number | Message | readonly Message[];
export type MessageParams = Readonly<Record<string, MessageParam>>;

export interface Message {
  /** A key of the catalogs: this program's, or those of another version of it. */
  readonly key: string;
  readonly params: MessageParams;
}

/** A message of the catalogs that both ends have. */
export function message(key: SharedMessageKey, params: MessageParams = {}): Message {
  return { key, params };
}

/** Steps that durations can be rounded to; another program may have sent any number. */
const FINEST_STEP_MS = 1e-9;
const COARSEST_STEP_MS = 1e6;

function durationText(ms: number, stepMs: MessageParam | undefined): string {
  const stepped = typeof stepMs === 'number' && stepMs >= FINEST_STEP_MS && stepMs <= COARSEST_STEP_MS;
  return stepped ? formatMsTo(ms, stepMs) : formatMs(ms);
}

/** What stands in a hole, null where a message in it is not known here. */
function filled(name: string, param: MessageParam, stepMs: MessageParam | undefined): string | number | null {
  if (typeof param === 'string') return param;
  if (typeof param === 'number') return name.endsWith('Ms') ? durationText(param, stepMs) : param;
  if (!Array.isArray(param)) return messageText(param as Message);
  const texts = (param as readonly Message[]).map(messageText);
  return texts.includes(null) ? null : texts.join(', ');
}

/**
 * A message in pieces, for whoever sets a parameter apart from the words around it. Null where the catalog in force does
 * not have the message, or one inside it, or asks for more than is given: it is of another version.
 */
export function messageParts({ key, params }: Message): MessagePart[] | null {
  const told: Record<string, string | number> = {};
  for (const [name, param] of Object.entries(params)) {
    const text = filled(name, param, params['stepMs']);
    if (text === null) return null;
    told[name] = text;
  }
  return getKnownMessageParts(key, told satisfies Params);
}

/** A message in the language in force; null where that does not have it. */
export function messageText(told: Message): string | null {
  return (
    messageParts(told)
      ?.map(({ text }) => text)
      .join('') ?? null
  );
}

/** The text of a message that was made here, which the catalog therefore has. */
export function textOf(told: Message): string {
  return messageText(told) ?? told.key;
}
