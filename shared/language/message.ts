// A message as data: its key and parameters. It becomes a sentence only where it is displayed, in the language used
// there.

import { getKnownMessageParts, type MessagePart, type Params, type SharedMessageKey } from './catalog.ts';
import { formatMs, formatMsTo } from './markup.ts';

/**
 * Numbers whose names end in `Ms` are milliseconds and are formatted as durations, in a message with a `stepMs` down to
 * that place value; `count` selects the plural form; all others are formatted as numbers of the language. Digits that
 * are not quantities, such as ports, are passed as strings.
 */
export type MessageParam = string | number | Message | readonly Message[];
export type MessageParams = Readonly<Record<string, MessageParam>>;

export interface Message {
  /** A key of the catalogs: this program's, or those of another version of it. */
  readonly key: string;
  readonly params: MessageParams;
}

/** A message from the catalogs of both ends. */
export function message(key: SharedMessageKey, params: MessageParams = {}): Message {
  return { key, params };
}

/** Limit of the steps that durations can be rounded to; another program may have sent any number. */
const FINEST_STEP_MS = 1e-9;
const COARSEST_STEP_MS = 1e6;

function durationText(ms: number, stepMs: MessageParam | undefined): string {
  const stepped = typeof stepMs === 'number' && stepMs >= FINEST_STEP_MS && stepMs <= COARSEST_STEP_MS;
  return stepped ? formatMsTo(ms, stepMs) : formatMs(ms);
}

/** The value of a placeholder, null if it contains a message not known here. */
function filled(name: string, param: MessageParam, stepMs: MessageParam | undefined): string | number | null {
  if (typeof param === 'string') return param;
  if (typeof param === 'number') return name.endsWith('Ms') ? durationText(param, stepMs) : param;
  if (!Array.isArray(param)) return messageText(param as Message);
  const texts = (param as readonly Message[]).map(messageText);
  return texts.includes(null) ? null : texts.join(', ');
}

function isMessage(param: MessageParam | undefined): param is Message {
  return typeof param === 'object' && !Array.isArray(param);
}

/**
 * A message in pieces, with those of a message inside it, for callers that format a parameter differently. Null if the
 * current catalog does not have the message, or one inside it, or requires more parameters than given: then it is of
 * another version.
 */
export function messageParts({ key, params }: Message): MessagePart[] | null {
  const filledParams: Record<string, string | number> = {};
  for (const [name, param] of Object.entries(params)) {
    const text = filled(name, param, params['stepMs']);
    if (text === null) return null;
    filledParams[name] = text;
  }
  const parts = getKnownMessageParts(key, filledParams satisfies Params);
  return (
    parts?.flatMap((part) => {
      const inner = params[part.param ?? ''];
      return (isMessage(inner) && messageParts(inner)) || part;
    }) ?? null
  );
}

/** A message in the current language; null if the catalog does not have it. */
export function messageText(message: Message): string | null {
  return (
    messageParts(message)
      ?.map(({ text }) => text)
      .join('') ?? null
  );
}

/** The text of a message created here, which the catalog therefore has. */
export function textOf(message: Message): string {
  return messageText(message) ?? message.key;
}
