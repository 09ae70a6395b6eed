import assert from 'node:assert/strict';
import { test } from 'node:test';
import { originOfUrl } from './origin.ts';
import { OTHER_ORIGINS, roomOf, SITE_DAY_ORIGINS, SITE_ORIGINS } from './site-quota.ts';

test('a site has room for what is new to it until the day or the whole is full', () => {
  assert.equal(roomOf({ kept: 0, today: 0 }), SITE_DAY_ORIGINS);
  assert.equal(roomOf({ kept: 10, today: SITE_DAY_ORIGINS - 1 }), 1);
  assert.equal(roomOf({ kept: SITE_ORIGINS - 3, today: 0 }), 3);
  assert.equal(roomOf({ kept: SITE_ORIGINS + 1, today: SITE_DAY_ORIGINS + 1 }), 0);
});

test('what stands for the others is an origin like any', () => {
  assert.equal(originOfUrl(`${OTHER_ORIGINS}/`)?.origin, OTHER_ORIGINS);
});
