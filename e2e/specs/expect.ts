// What a spec expects of an element, waited for as a patient user would: Playwright's own such matchers know only
// Playwright's pages.
import { expect as base } from '@playwright/test';
import { describe, type Look, type Part, until } from '../browsers/tab.ts';

/** For what the extension shows a moment later: events, its background's start, the ledger, on a busy machine. */
const PATIENCE_MS = 30_000;

interface Options {
  readonly timeoutMs?: number;
}

interface Verdict {
  readonly pass: boolean;
  readonly message: () => string;
}

/** Looks until the element is as wanted (or, after `not`, is no longer). */
async function judge(
  part: Part,
  isNot: boolean,
  { timeoutMs = PATIENCE_MS }: Options,
  wanted: string,
  fits: (look: Look) => boolean,
): Promise<Verdict> {
  let last: Look | null = null;
  const asWanted = async () => {
    // While a page gives way to the next there is nothing to look at.
    last = await part.look().catch(() => null);
    return last !== null && fits(last) !== isNot;
  };
  const pass = ((await until(asWanted, timeoutMs)) !== null) !== isNot;
  const seen = () => (last === null ? 'no page' : JSON.stringify({ ...last, attributes: undefined }));
  const message = () =>
    `expected ${describe(part.query)} ${isNot ? 'not ' : ''}${wanted}\nwithin ${timeoutMs} ms, but saw ${seen()}`;
  return { pass, message };
}

export const expect = base.extend({
  /** The element's text: all of it, or, for a pattern, in part. */
  toSay(part: Part, words: string | RegExp, options: Options = {}) {
    const fits = ({ count, text }: Look) =>
      count > 0 && (typeof words === 'string' ? text === words : words.test(text));
    return judge(part, this.isNot, options, `to say ${String(words)}`, fits);
  },
  /** These words are somewhere in the element's text. */
  toMention(part: Part, words: string, options: Options = {}) {
    return judge(part, this.isNot, options, `to mention "${words}"`, ({ text }) => text.includes(words));
  },
  /** The element can be seen. */
  toBeSeen(part: Part, options: Options = {}) {
    return judge(part, this.isNot, options, 'to be seen', ({ visible }) => visible);
  },
});
