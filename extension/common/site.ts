// The site of a page: its registrable domain. Browsers partition Alt-Svc and sockets by it, so records are too. The
// only importer of the public-suffix list.
import { getDomain, parse } from '#public-suffixes';

/**
 * The registrable domain of a host, private suffixes (`github.io`) included because browsers partition by them. IP
 * addresses, single labels and public suffixes are their own site. IPv6 is given without brackets.
 */
export function siteOfHost(host: string): string {
  const name = host.startsWith('[') ? host.slice(1, -1) : host;
  return getDomain(name, { allowPrivateDomains: true, extractHostname: false }) ?? name;
}

/** Whether names below it are registered, each a site of its own: `com`, `co.uk`, `github.io`. */
export function isPublicSuffix(host: string): boolean {
  const { publicSuffix, isIcann, isPrivate } = parse(host, {
    allowPrivateDomains: true,
    extractHostname: false,
  });
  // What the list does not know is a suffix by its default rule: `localhost`, names of an intranet.
  return publicSuffix === host && (isIcann === true || isPrivate === true);
}

/** The site of a top-level page's URL or origin; null unless it is http or https. */
export function siteOfUrl(url: string): string | null {
  if (!URL.canParse(url)) return null;
  const { protocol, hostname } = new URL(url);
  return (protocol === 'https:' || protocol === 'http:') && hostname !== '' ? siteOfHost(hostname) : null;
}
