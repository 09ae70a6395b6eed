// A host where space may be short: it is truncated at its beginning, among the subdomains, and never within its
// registrable domain, which says whose it is.
import { part, setAttribute, setText } from './elements.ts';

/** Subdomains that are no longer than the ellipsis that would replace them. */
const SHORT_CHARS = 2;

/** A host as displayed, split before its registrable domain; the port stays with the domain. */
export function hostParts(label: string, site: string): readonly [subdomains: string, domain: string] {
  const host = label.replace(/:\d+$/, '');
  const at = host.endsWith(`.${site}`) ? host.length - site.length : 0;
  return at > SHORT_CHARS ? [label.slice(0, at), label.slice(at)] : ['', label];
}

function write(element: Element, beginning: string, end: string, title: string): void {
  setText(part(element, '.beginning bdi'), beginning);
  part(element, '.beginning').hidden = beginning === '';
  setText(part(element, '.end'), end);
  setAttribute(element, 'title', title);
}

/** Writes a host with this registrable domain into an element made for one; the title contains the full host. */
export function writeHost(element: Element, label: string, site: string): void {
  const [subdomains, domain] = hostParts(label, site);
  write(element, subdomains, domain, label);
}

/** Writes text in place of a host. */
export function writeInPlaceOfHost(element: Element, words: string): void {
  write(element, '', words, words);
}
