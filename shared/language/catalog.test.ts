// Messages: parameters, plural forms by the language's own rules, numbers in the language's format. As data, their
// parameters become text only here, and messages missing from this catalog are never shown raw.
import assert from 'node:assert/strict';
import { test } from 'node:test';
import fc from 'fast-check';
import { catalogLanguage, formatNumber, getMessageByKey, intlForms, useCatalog } from './catalog.ts';
import { ENGLISH_FORMS } from './english.ts';
import { type Message, messageParts, messageText } from './message.ts';

const MESSAGES: Readonly<Record<string, string>> = {
  raced: 'Raced {host}.',
  requests_one: '{count} request',
  requests_few: '{count} requests (few)',
  requests_other: '{count} requests',
  milliseconds: '{value} ms',
  seconds: '{value} s',
  took: '{name} took {firstMs} and {secondMs}.',
  fails: 'Fails {places}.',
  place: '{where} ({why})',
  hosts_one: '{count} host of {all}',
  hosts_other: '{count} hosts of {all}',
  plain: 'Plain.',
};
const speak = (language: string): void =>
  useCatalog((key) => MESSAGES[key] ?? '', language, language === 'en' ? ENGLISH_FORMS : intlForms(language));

test('parameters fill the placeholders of their names; missing ones stay visible', () => {
  speak('en');
  assert.equal(getMessageByKey('raced', { host: 'a.test' }), 'Raced a.test.');
  assert.equal(getMessageByKey('raced', { host: '{host} $1' }), 'Raced {host} $1.');
  assert.equal(getMessageByKey('raced'), 'Raced {host}.');
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

const place = (where: string, why: Message): Message => ({ key: 'place', params: { where, why } });
const PLAIN: Message = { key: 'plain', params: {} };

test('numbers are formatted according to their names, in the current language', () => {
  speak('en');
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

// Hand-written English formatting equals that of `Intl`, and creates no formatter for the usual numbers.

const INTL = intlForms('en');
const values = fc.oneof(
  fc.double(),
  fc.integer(),
  fc.maxSafeInteger(),
  fc.tuple(fc.integer(), fc.integer({ min: 0, max: 8 })).map(([figures, places]) => figures / 10 ** places),
);

test('every number is formatted as by Intl', () => {
  const examples = [0, -0, 1000, -1234.5, 1.005, 0.05, 1e-7, 1e21, Number.NaN, -Infinity].map(
    (n): [number] => [n],
  );
  fc.assert(
    fc.property(values, (value) => assert.equal(ENGLISH_FORMS.number(value), INTL.number(value))),
    { examples },
  );
});

test('every number is rounded as by Intl', () => {
  const examples: [number, number][] = [
    [1.005, 2],
    [-0.04, 1],
    [-0, 0],
    [0.5, 0],
    [2.5, 0],
    [999.96, 1],
    [2 ** 53, 3],
  ];
  fc.assert(
    fc.property(values, fc.integer({ min: 0, max: 4 }), (value, decimals) =>
      assert.equal(ENGLISH_FORMS.decimals(value, decimals), INTL.decimals(value, decimals)),
    ),
    { examples },
  );
});

test('every count has the same plural form as in Intl', () => {
  fc.assert(
    fc.property(fc.maxSafeInteger(), (count) =>
      assert.equal(ENGLISH_FORMS.plural(count), INTL.plural(count)),
    ),
    { examples: [[1], [-1], [0], [1.5]] },
  );
});

test('the usual numbers create no formatter of Intl', (t) => {
  const made = t.mock.method(Intl, 'NumberFormat');
  const rules = t.mock.method(Intl, 'PluralRules');
  assert.equal(ENGLISH_FORMS.number(128_520), '128,520');
  assert.equal(ENGLISH_FORMS.decimals(18.25, 1), '18.3');
  assert.equal(ENGLISH_FORMS.plural(2), 'other');
  assert.deepEqual([made.mock.callCount(), rules.mock.callCount()], [0, 0]);
});
