// How a request's address is cut before one account of it is joined with another.
import { MAX_URL_CHARS } from './timing.ts';

/** Fragments never reach the network, and both halves cut at the same length. */
export function comparableUrl(url: string): string {
  const fragment = url.indexOf('#');
  return (fragment < 0 ? url : url.slice(0, fragment)).slice(0, MAX_URL_CHARS);
}
