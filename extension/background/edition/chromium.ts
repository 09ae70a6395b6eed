// Chromium's implementation of the edition.
import { observeChromium } from '../observe/chromium-observer.ts';
import type { EditionRooms } from './rooms.ts';

export const observeRequests: EditionRooms['observeRequests'] = observeChromium;

/** Chromium reports a request before its page can. */
export const waitForRequests: EditionRooms['waitForRequests'] = () => 0;

/** Chromium ignores headers set by an extension, so nothing is steered. */
export const openBrowserSteering: EditionRooms['openBrowserSteering'] = async () => null;

/** Answers carry no header of ours, so steering learns nothing from them. */
export const answerOf: EditionRooms['answerOf'] = () => null;
export const asServed: EditionRooms['asServed'] = (request) => request;
