// Firefox's implementation of the edition.
import { observeFirefox, waitForRequests as waitForHeads } from '../observe/firefox-observer.ts';
import * as served from '../steer/firefox-steering.ts';
import { openBrowserSteering as openSteering } from '../steer/firefox-steering.ts';
import type { EditionModule } from './interface.ts';

export const observeRequests: EditionModule['observeRequests'] = observeFirefox;
export const waitForRequests: EditionModule['waitForRequests'] = waitForHeads;
export const openBrowserSteering: EditionModule['openBrowserSteering'] = openSteering;
export const answerOf: EditionModule['answerOf'] = served.answerOf;
export const asServed: EditionModule['asServed'] = served.asServed;
