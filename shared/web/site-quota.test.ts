import assert from 'node:assert/strict';
import { test } from 'node:test';
import { originOfUrl } from './origin.ts';
import { OTHER_ORIGINS, roomOf, SITE_DAY_ORIGINS, SITE_ORIGINS } from './site-quota.ts';

test('a site has room for new origins until its limit for the day or in total is reached', () => {
  assert.equal(roomOf({ kept: 0, today: 0 }), SITE_DAY_ORIGINS);
  assert.equal(roomOf({ kept: 10, today: SITE_DAY_ORIGINS - 1 }), 1);
  assert.equal(roomOf({ kept: SITE_ORIGINS - 3, today: 0 }), 3);
  assert.equal(roomOf({ kept: SITE_ORIGINS + 1, today: SITE_DAY_ORIGINS + 1 }), 0);
});

test('the placeholder for the others is a valid origin', () => {
  assert.equal(originOfUrl(`${OTHER_ORIGINS}/`)?.origin, OTHER_ORIGINS);
});
