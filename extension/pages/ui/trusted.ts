// The one door for text that a browser would parse or run (Trusted Types): the extension's pages have a policy that
// refuses every other. Made when they are first needed, because the policy of a name can be made once in a page.

/** What of the interface is used; TypeScript knows none of it yet. */
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

/** A drawing of our own, to be parsed as XML and as nothing else. */
export function trustedDrawing(svg: string): string {
  return policy('photofinish-drawing', { createHTML: (text) => text })?.createHTML(svg) ?? svg;
}

/** The address of a script of the extension's own. Throws for any other. */
export function trustedScript(url: string): string {
  const createScriptURL = (asked: string): string => {
    if (!asked.startsWith(chrome.runtime.getURL(''))) throw new TypeError('not a script of the extension');
    return asked;
  };
  return policy('photofinish-script', { createScriptURL })?.createScriptURL(url) ?? url;
}
