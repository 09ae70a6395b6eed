// What pages of the extension may request from the background over the port named `popup`. Separate from the other
// messages because pages need only the type, and only the background includes the schema.
import { originSchema } from '@photofinish/shared/web/origin';
import * as v from 'valibot';
import { MAX_PAGE_ORIGINS } from './page/model.ts';

/** -1 is the browser's value for no tab; such a request is answered too. */
const tabIdSchema = v.pipe(v.number(), v.integer(), v.minValue(-1));

/** From a page of the extension to the background. */
export const popupRequestSchema = v.variant('type', [
  v.object({ type: v.literal('watch'), tabId: tabIdSchema }),
  /** Requests what the developer tools report about a tab, as `requests` events; a port watches one thing at a time. */
  v.object({ type: v.literal('watch-requests'), tabId: tabIdSchema }),
  /** The photo finish is drawn from `compare`. */
  v.object({ type: v.literal('race'), origin: originSchema }),
  v.object({ type: v.literal('cancel-race'), origin: originSchema }),
  /** Races one after the other, within the helper's budget. */
  v.object({
    type: v.literal('race-all'),
    origins: v.pipe(v.array(originSchema), v.maxLength(MAX_PAGE_ORIGINS), v.readonly()),
  }),
  /** Cancels every race started by a click, running or waiting. */
  v.object({ type: v.literal('stop-races') }),
  v.object({ type: v.literal('reconnect-helper') }),
  /** Allows or no longer allows an origin to be steered. */
  v.object({ type: v.literal('steer'), origin: originSchema, on: v.boolean() }),
  /** Requests the helper's state now and on every change, as `helper` events. */
  v.object({ type: v.literal('watch-helper') }),
  /** Runs the helper's doctor; answered by `doctor`. */
  v.object({ type: v.literal('doctor') }),
  /** Deletes everything: ledger, pages in memory, steering, and the helper's host cache; answered by `wiped`. */
  v.object({ type: v.literal('wipe') }),
  /** Records the responses that wait for their timings, so that a report has them; answered by `settled`. */
  v.object({ type: v.literal('settle') }),
]);
export type PopupRequest = v.InferOutput<typeof popupRequestSchema>;
