// Chromium's implementation of the edition.
import { observeChromium } from '../observe/chromium-observer.ts';
import type { EditionModule } from './interface.ts';

export const observeRequests: EditionModule['observeRequests'] = observeChromium;

/** Chromium reports a request before its page can. */
export const waitForRequests: EditionModule['waitForRequests'] = () => 0;

/** Chromium ignores headers set by an extension, so nothing is steered. */
export const openBrowserSteering: EditionModule['openBrowserSteering'] = async () => null;

/** Answers carry no header of ours, so steering learns nothing from them. */
export const answerOf: EditionModule['answerOf'] = () => null;
export const asServed: EditionModule['asServed'] = (request) => request;
