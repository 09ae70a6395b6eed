// Why a client that follows Happy Eyeballs v3 did not use the HTTP/3 that an HTTPS record advertises: by its own attempts.

import type { Trial } from '@photofinish/shared/race/outcome';
import { attemptErrorWords } from '@photofinish/shared/verdict/attempt-words';
import { isH3 } from '@photofinish/shared/verdict/evidence';
import { milliseconds } from './text.ts';

/** The reason, as the end of a sentence; `target`: where the record leads. */
export function whyNotFirst({ attempts }: Trial, target: string): string {
  const said = 'an HTTPS record advertises HTTP/3, but';
  const h3 = attempts.filter(isH3);
  const [first] = h3;
  const other = attempts.find((attempt) => !isH3(attempt));
  if (first === undefined)
    return `${said} no address of ${target}, where it leads, was known before another protocol was established`;
  const error = h3.findLast(({ outcome }) => outcome === 'failed')?.error;
  if (error !== undefined) return `${said} that failed (${attemptErrorWords(error.code)})`;
  const laterMs = other === undefined ? 0 : first.startedMs - other.startedMs;
  return laterMs > 0
    ? `${said} that was started ${milliseconds(laterMs)} later, when the record or the addresses of ${target} had come`
    : `${said} its handshake took longer`;
}
