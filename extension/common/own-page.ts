// Whether a message or a port comes from the extension itself, and from no content script of it.

/**
 * Whether a page of the extension itself speaks. By its origin, which browsers take from the document: what else they tell
 * of a sender may be what its process said.
 */
export function isOwnPage(
  { id, origin }: Pick<chrome.runtime.MessageSender, 'id' | 'origin'>,
  extension: Pick<typeof chrome.runtime, 'id' | 'getURL'> = chrome.runtime,
): boolean {
  return id === extension.id && `${origin}/` === extension.getURL('');
}
