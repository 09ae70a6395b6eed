// A site as people write it: a host, an address pasted from the address bar, or a site already. Pure.
import { siteOfUrl } from '../../common/site.ts';

/** The registrable domain that the text means; null when it means none. */
export function siteFromEntry(text: string): string | null {
  const entry = text.trim();
  if (entry === '' || /\s/.test(entry)) return null;
  const url = /^[a-z][a-z0-9+.-]*:\/\//i.test(entry) ? entry : `https://${entry}`;
  return siteOfUrl(url);
}
