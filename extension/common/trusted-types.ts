// The only way for text that a browser would parse or run (Trusted Types): the extension's content security policy
// forbids all others. A policy is created on first use, because there can be only one of a name.

/** The part of the API that is used; TypeScript does not know it yet. */
interface Factory {
  createPolicy(
    name: string,
    rules: { createHTML?(text: string): string; createScriptURL?(url: string): string },
  ): { createHTML(text: string): string; createScriptURL(url: string): string };
}

const factory = (): Factory | undefined => (globalThis as { readonly trustedTypes?: Factory }).trustedTypes;
const policies = new Map<string, ReturnType<Factory['createPolicy']>>();

function policy(name: string, rules: Parameters<Factory['createPolicy']>[1]) {
  const known = policies.get(name) ?? factory()?.createPolicy(name, rules);
  if (known !== undefined) policies.set(name, known);
  return known;
}

/** An SVG of our own, to be parsed only as XML. */
export function trustedDrawing(svg: string): string {
  return policy('photofinish-drawing', { createHTML: (text) => text })?.createHTML(svg) ?? svg;
}

/** The URL of one of the extension's own scripts. Throws for any other. */
export function trustedScript(url: string): string {
  const createScriptURL = (url: string): string => {
    if (!url.startsWith(chrome.runtime.getURL(''))) throw new TypeError('not a script of the extension');
    return url;
  };
  return policy('photofinish-script', { createScriptURL })?.createScriptURL(url) ?? url;
}
