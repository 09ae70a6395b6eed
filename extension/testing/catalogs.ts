// Provides unit tests with the extension's English catalog, from the files that the build merges: must be imported
// first.
import { readdirSync, readFileSync } from 'node:fs';
import { useCatalog } from '@photofinish/shared/language/catalog';

type Catalog = Readonly<Record<string, { readonly message: string; readonly description?: string }>>;

export const LANGUAGES = ['en', 'de'] as const;
const PLACES = [new URL('../_locales/', import.meta.url), new URL('../../shared/_locales/', import.meta.url)];

/** The catalog files of a language, by name. */
export function catalogFiles(language: string): ReadonlyMap<string, Catalog> {
  const files = PLACES.flatMap((place) => {
    const folder = new URL(`${language}/`, place);
    return readdirSync(folder).map((name): [string, Catalog] => [
      name,
      JSON.parse(readFileSync(new URL(name, folder), 'utf8')),
    ]);
  });
  return new Map(files);
}

/** Uses another language for all messages from now on. */
export function useLanguage(language: (typeof LANGUAGES)[number]): void {
  const catalog: Catalog = Object.assign({}, ...catalogFiles(language).values());
  useCatalog((key) => catalog[key]?.message ?? '', language);
}

useLanguage('en');
