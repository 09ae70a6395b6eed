// Gives unit tests the extension's English, from the same files that the build merges: import it first.
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

/** Says everything from now on in another language. */
export function speak(language: (typeof LANGUAGES)[number]): void {
  const catalog: Catalog = Object.assign({}, ...catalogFiles(language).values());
  useCatalog((key) => catalog[key]?.message ?? '', language);
}

speak('en');
