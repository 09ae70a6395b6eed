// The catalogs: every language has all messages, with the same parameters, and its own plural forms.
import assert from 'node:assert/strict';
import { test } from 'node:test';
import { PLURAL_FORMS } from '@photofinish/shared/language/catalog';
import { catalogFiles, LANGUAGES } from './testing/catalogs.ts';

const FORM = new RegExp(`_(${PLURAL_FORMS.join('|')})$`);
const baseOf = (key: string) => key.replace(FORM, '');
const holes = (message: string) => [...new Set(message.match(/\{\w+\}/g))].sort();

for (const language of LANGUAGES) {
  const files = catalogFiles(language);

  test(`${language}: no key is in two files, and every key is one that browsers accept`, () => {
    const seen = new Map<string, string>();
    for (const [file, catalog] of files)
      for (const key of Object.keys(catalog)) {
        assert.match(key, /^[A-Za-z0-9_]+$/);
        assert.equal(seen.get(key.toLowerCase()), undefined, `${key} in ${file}`);
        seen.set(key.toLowerCase(), file);
      }
  });

  test(`${language}: every message has text, and none contains what browsers would replace`, () => {
    for (const catalog of files.values())
      for (const [key, { message }] of Object.entries(catalog)) {
        assert.notEqual(message.trim(), '', key);
        assert.doesNotMatch(message, /\$/, `${key}: browsers read $ as the start of a placeholder`);
      }
  });

  test(`${language}: messages with counts have a form for every category of the language`, () => {
    const { pluralCategories } = new Intl.PluralRules(language).resolvedOptions();
    for (const catalog of files.values()) {
      const counted = new Set(
        Object.keys(catalog)
          .filter((key) => FORM.test(key))
          .map(baseOf),
      );
      for (const base of counted)
        for (const form of pluralCategories) assert.ok(`${base}_${form}` in catalog, `${base}_${form}`);
    }
  });

  test(`${language}: has all messages of English, with the same parameters`, () => {
    for (const [file, english] of catalogFiles('en')) {
      const own = files.get(file) ?? {};
      const bases = (catalog: object) => [...new Set(Object.keys(catalog).map(baseOf))].sort();
      assert.deepEqual(bases(own), bases(english), file);
      for (const [key, { message }] of Object.entries(own)) {
        const other = english[key] ?? english[`${baseOf(key)}_other`];
        if (other && !FORM.test(key)) assert.deepEqual(holes(message), holes(other.message), key);
      }
    }
  });
}
