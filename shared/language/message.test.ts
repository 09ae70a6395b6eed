// Messages as data: their parameters become text only here, and messages missing from this catalog are never shown raw.
import assert from 'node:assert/strict';
import { test } from 'node:test';
import { intlForms, useCatalog } from './catalog.ts';
import { ENGLISH_FORMS } from './english.ts';
import { type Message, messageParts, messageText } from './message.ts';

const MESSAGES: Readonly<Record<string, string>> = {
  milliseconds: '{value} ms',
  seconds: '{value} s',
  took: '{name} took {firstMs} and {secondMs}.',
  fails: 'Fails {places}.',
  place: '{where} ({why})',
  hosts_one: '{count} host of {all}',
  hosts_other: '{count} hosts of {all}',
  plain: 'Plain.',
};
const speak = (language: 'en' | 'de'): void =>
  useCatalog((key) => MESSAGES[key] ?? '', language, language === 'en' ? ENGLISH_FORMS : intlForms('de'));
speak('en');

const place = (where: string, why: Message): Message => ({ key: 'place', params: { where, why } });
const PLAIN: Message = { key: 'plain', params: {} };

test('numbers are formatted according to their names, in the current language', () => {
  const took = { key: 'took', params: { name: 'It', firstMs: 12.345, secondMs: 1234 } };
  const hosts = (count: number): Message => ({ key: 'hosts', params: { count, all: 1234.5 } });
  assert.equal(messageText(took), 'It took 12.3 ms and 1.23 s.');
  assert.equal(messageText(hosts(1)), '1 host of 1,234.5');
  speak('de');
  assert.equal(messageText(took), 'It took 12,3 ms and 1,23 s.');
  assert.equal(messageText(hosts(2)), '2 hosts of 1.234,5');
  speak('en');
});

test('durations are rounded to the step of their message, unless that is not a valid step', () => {
  const took = (stepMs: number) =>
    messageText({ key: 'took', params: { name: 'It', firstMs: 12.345, secondMs: 40, stepMs } });
  assert.equal(took(0.1), 'It took 12.3 ms and 40.0 ms.');
  assert.equal(took(10), 'It took 10 ms and 40 ms.');
  for (const none of [0, -1, 1e-300, 1e300]) assert.equal(took(none), 'It took 12.3 ms and 40 ms.');
});

test('messages can be nested, and listed one after the other', () => {
  const fails = { key: 'fails', params: { places: [place('a', PLAIN), place('b', place('c', PLAIN))] } };
  assert.equal(messageText(fails), 'Fails a (Plain.), b (c (Plain.)).');
  assert.deepEqual(
    messageParts(fails)?.map(({ param }) => param),
    [null, 'places', null],
  );
});

test('a message of another version has no text, however deeply it is nested', () => {
  const unknown: Message = { key: 'unheardOf', params: {} };
  assert.equal(messageText(unknown), null);
  assert.equal(messageText(place('a', unknown)), null);
  assert.equal(messageText({ key: 'fails', params: { places: [PLAIN, unknown] } }), null);
  assert.equal(
    messageText({ key: 'place', params: { where: 'a' } }),
    null,
    'a hole that nothing is given for',
  );
  assert.equal(messageText({ key: 'plain', params: { more: 'x' } }), 'Plain.', 'what it does not ask for');
});
