import assert from 'node:assert/strict';
import { test } from 'node:test';
import { timingAllowed } from './edition.ts';

const PAGE = 'https://page.test';
const OTHER = 'https://other.test/x';

function allowed(values: readonly string[], by: string | null = PAGE, firstUrl = OTHER, url = firstUrl) {
  const headers = [{ name: 'Date', value: 'now' }, ...values.map((value) => ({ name: TAO, value }))];
  return timingAllowed(headers, { by, firstUrl, url });
}
const TAO = 'Timing-Allow-Origin';

test('`*` allows every origin, alone or in a list', () => {
  assert.equal(allowed(['*']), true);
  assert.equal(allowed(['https://a.test, *']), true);
  assert.equal(allowed(['*'], null), true);
});

test('a list allows exactly the origins in it, over several lines too', () => {
  assert.equal(allowed([`https://a.test,${PAGE}`]), true);
  assert.equal(allowed(['https://a.test', PAGE]), true);
  assert.equal(allowed(['https://page.test:8443, https://page.test.a.test']), false);
  assert.equal(allowed(['HTTPS://PAGE.TEST']), false);
  assert.equal(allowed([PAGE], null), false);
});

test('`null` allows opaque origins and no others', () => {
  assert.equal(allowed(['null'], 'null'), true);
  assert.equal(allowed([PAGE], 'null'), false);
  assert.equal(allowed(['null']), false);
  assert.equal(allowed(['null'], null), false);
});

test('without the header only a page’s own origin shows its timings', () => {
  assert.equal(allowed([]), false);
  assert.equal(allowed([], PAGE, `${PAGE}/x`), true);
  assert.equal(allowed([], PAGE, 'https://page.test.a.test/x'), false);
  assert.equal(allowed([], 'null'), false);
});

test('a chain that left the page’s origin needs permission, and from server to server its origin is opaque', () => {
  assert.equal(allowed([], PAGE, OTHER, `${PAGE}/x`), false);
  assert.equal(allowed([PAGE], PAGE, OTHER, `${PAGE}/x`), false);
  assert.equal(allowed(['null'], PAGE, OTHER, `${PAGE}/x`), true);
  assert.equal(allowed([PAGE], PAGE, OTHER, 'https://other.test/y'), true);
  assert.equal(allowed([PAGE], PAGE, `${PAGE}/x`, OTHER), true);
});

test('without any header field the result is unknown', () => {
  const asked = { by: PAGE, firstUrl: OTHER, url: OTHER };
  assert.equal(timingAllowed([], asked), null);
  assert.equal(timingAllowed(undefined, asked), null);
});
