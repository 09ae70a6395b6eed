// Messages: parameters, plural forms by the language's own rules, numbers in the language's format.
import assert from 'node:assert/strict';
import { test } from 'node:test';
import { catalogLanguage, formatNumber, getMessageByKey, useCatalog } from './catalog.ts';

const MESSAGES: Readonly<Record<string, string>> = {
  plain: 'Raced {host}.',
  requests_one: '{count} request',
  requests_few: '{count} requests (few)',
  requests_other: '{count} requests',
};
const speak = (language: string): void => useCatalog((key) => MESSAGES[key] ?? '', language);

test('parameters fill the placeholders of their names; missing ones stay visible', () => {
  speak('en');
  assert.equal(getMessageByKey('plain', { host: 'a.test' }), 'Raced a.test.');
  assert.equal(getMessageByKey('plain', { host: '{host} $1' }), 'Raced {host} $1.');
  assert.equal(getMessageByKey('plain'), 'Raced {host}.');
});

test('a count selects the plural form of the language, or the general one', () => {
  speak('en');
  assert.equal(getMessageByKey('requests', { count: 1 }), '1 request');
  assert.equal(getMessageByKey('requests', { count: 0 }), '0 requests');
  speak('pl');
  assert.equal(getMessageByKey('requests', { count: 3 }), '3 requests (few)');
  assert.equal(getMessageByKey('requests', { count: 5 }), '5 requests');
});

test('numbers are formatted in the language', () => {
  speak('de');
  assert.equal(catalogLanguage(), 'de');
  assert.equal(formatNumber(1234.5), '1.234,5');
});

test('a key without a message is returned itself, so that nothing is ever blank', () => {
  speak('en');
  assert.equal(getMessageByKey('nothing'), 'nothing');
});
