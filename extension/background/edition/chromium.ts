// Chromium's own rooms.
import { observeChromium } from '../observe/chromium-observer.ts';
import type { EditionRooms } from './rooms.ts';

export const observeRequests: EditionRooms['observeRequests'] = observeChromium;

/** Chromium tells of a request before its page can. */
export const waitForRequests: EditionRooms['waitForRequests'] = () => 0;

/** Chromium obeys no header that an extension sets, so nothing is steered. */
export const openBrowserSteering: EditionRooms['openBrowserSteering'] = async () => null;

/** Answers tell nothing to steering, and carry no header of ours. */
export const answerOf: EditionRooms['answerOf'] = () => null;
export const asServed: EditionRooms['asServed'] = (request) => request;
