// Keeps a verdict within the limits of its schema: its messages contain what servers and resolvers chose to send.
import type { Message, MessageParam } from '../language/message.ts';
import type { Finding } from '../race/verdict-schema.ts';
import { cut, MAX_DNS_NAME_CHARS, MAX_FINDINGS, MAX_LISTED } from '../web/bounds.ts';

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

/** The first of the findings, up to the limit of a verdict, with their texts and lists truncated. */
export function boundedFindings(findings: readonly Finding[]): Finding[] {
  return findings.slice(0, MAX_FINDINGS).map(boundedMessage);
}
