// Alt-Svc from hostile servers: mutations of fields that servers send and of those that have broken parsers.
import assert from 'node:assert/strict';
import { test } from 'node:test';
import fc from 'fast-check';
import { inputs, mutatedText } from '../testing/hostile.ts';
import { parseAltSvc } from './alt-svc.ts';

const CORPUS = [
  'h3=":443"; ma=86400',
  'h3=":443"; ma=2592000,h3-29=":443"; ma=2592000',
  'clear',
  'h3="alt.test:8443"; ma=60; persist=1, h2=":443"',
  'h3=[2001:db8::1]:443',
  'h3="[2001:db8::1]:443";ma=1',
  'w%3Dx%3Ay="a:1"',
  'h3=":443"; ma="86400"; v="46,43"',
  'h3=":443\\"; ma=1',
  '"""""""""""',
  'h3=":99999999999999999999"; ma=99999999999999999999',
  `${'h3=":1",'.repeat(300)}`,
  `h3=":1"${';a=1'.repeat(500)}`,
  '%%%%%="%":1',
  ',,,,;;;;====',
];

test('for any field value, parsing terminates, never throws, and keeps its limits', () => {
  const property = fc.property(mutatedText(CORPUS), (text) => {
    const { alternatives, clear, skipped } = parseAltSvc(text);
    assert.ok(alternatives.length <= 32 && !(clear && alternatives.length > 0) && skipped >= 0);
    for (const { port, maxAgeSeconds, host } of alternatives) {
      assert.ok(Number.isInteger(port) && port >= 1 && port <= 65_535);
      assert.ok(Number.isInteger(maxAgeSeconds) && maxAgeSeconds >= 0 && maxAgeSeconds <= 2 ** 31);
      assert.match(host, /^[a-z0-9._\-:[\]]*$/);
    }
  });
  fc.assert(property, { ...inputs(20_000), examples: CORPUS.map((text) => [text]) });
});
