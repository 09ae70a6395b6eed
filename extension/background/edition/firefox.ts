// Firefox's implementation of the edition.
import { observeFirefox, waitForRequests as waitForHeads } from '../observe/firefox-observer.ts';
import * as served from '../steer/firefox-steering.ts';
import { openBrowserSteering as openSteering } from '../steer/firefox-steering.ts';
import type { EditionRooms } from './rooms.ts';

export const observeRequests: EditionRooms['observeRequests'] = observeFirefox;
export const waitForRequests: EditionRooms['waitForRequests'] = waitForHeads;
export const openBrowserSteering: EditionRooms['openBrowserSteering'] = openSteering;
export const answerOf: EditionRooms['answerOf'] = served.answerOf;
export const asServed: EditionRooms['asServed'] = served.asServed;
