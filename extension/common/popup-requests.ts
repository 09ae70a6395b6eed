// What pages of the extension may ask of the background over the port named `popup`. Apart from the other messages: pages
// need the type alone, and only the background carries the schema.
import { originSchema } from '@photofinish/shared/web/origin';
import * as v from 'valibot';
import { MAX_PAGE_ORIGINS } from './page/model.ts';

/** -1 is the browser's own number for no tab at all; it has an answer too. */
const tabIdSchema = v.pipe(v.number(), v.integer(), v.minValue(-1));

/** From a page of the extension to the background. */
export const popupRequestSchema = v.variant('type', [
  v.object({ type: v.literal('watch'), tabId: tabIdSchema }),
  /** Asks for what the developer tools tell of a tab, by `requests` events; a port watches one thing at a time. */
  v.object({ type: v.literal('watch-requests'), tabId: tabIdSchema }),
  /** `compare` is what the photo finish is drawn from. */
  v.object({ type: v.literal('race'), origin: originSchema }),
  v.object({ type: v.literal('cancel-race'), origin: originSchema }),
  /** Races one after the other, as the helper's budget allows. */
  v.object({
    type: v.literal('race-all'),
    origins: v.pipe(v.array(originSchema), v.maxLength(MAX_PAGE_ORIGINS), v.readonly()),
  }),
  /** Cancels every race that was asked for by a press, running or waiting. */
  v.object({ type: v.literal('stop-races') }),
  v.object({ type: v.literal('reconnect-helper') }),
  /** Lets an origin be steered, or no more. */
  v.object({ type: v.literal('steer'), origin: originSchema, on: v.boolean() }),
  /** Asks to be told the helper's state now and whenever it changes, by `helper` events. */
  v.object({ type: v.literal('watch-helper') }),
  /** Asks the helper's doctor; answered by `doctor`. */
  v.object({ type: v.literal('doctor') }),
  /** Forgets everything: ledger, pages in memory, steering, and the helper's host cache; answered by `wiped`. */
  v.object({ type: v.literal('wipe') }),
]);
export type PopupRequest = v.InferOutput<typeof popupRequestSchema>;
