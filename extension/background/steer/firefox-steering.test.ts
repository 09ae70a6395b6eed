// A header set by steering never counts as sent by the server, whatever state the background is in.
import assert from 'node:assert/strict';
import { test } from 'node:test';
import { ENDED_REQUEST } from '../../testing/samples.ts';
import type { EndedRequest } from '../observe/requests.ts';
import { answerOf, asServed } from './firefox-steering.ts';

const OURS = 'h3=":443"; ma=3600';
const REQUEST: EndedRequest = {
  ...ENDED_REQUEST,
  documentId: null,
  kind: 'navigation',
  firstUrl: 'https://a.test/',
  url: 'https://a.test/',
  atMs: 5,
  protocol: 'h2',
  altSvc: null,
};
const steered = {
  isOurs: (origin: string, altSvc: string) => origin === 'https://a.test' && [OURS, 'clear'].includes(altSvc),
};
const altSvcOf = (more: Partial<EndedRequest>, steering: Parameters<typeof asServed>[1]) =>
  asServed({ ...REQUEST, ...more }, steering).altSvc;

test('our advertisement is recognised before the state is loaded, and from a cache', () => {
  assert.equal(altSvcOf({ altSvc: OURS }, null), null);
  assert.equal(altSvcOf({ altSvc: OURS }, steered), null);
  assert.equal(altSvcOf({ altSvc: OURS, fromCache: true }, steered), null);
  assert.equal(altSvcOf({ altSvc: 'clear', fromCache: true, url: 'https://b.test/' }, steered), null);
});

test('a clear is the server’s if nothing is steered, and so is what a server advertises', () => {
  assert.equal(altSvcOf({ altSvc: 'clear' }, steered), null);
  assert.equal(altSvcOf({ altSvc: 'clear' }, null), null);
  assert.equal(altSvcOf({ altSvc: 'clear', url: 'https://b.test/' }, steered), 'clear');
  assert.equal(altSvcOf({ altSvc: 'h3=":443"' }, steered), 'h3=":443"');
  assert.equal(altSvcOf({ altSvc: 'h3=":443"' }, null), 'h3=":443"');
  assert.equal(
    altSvcOf({ altSvc: OURS, url: 'https://b.test/' }, steered),
    OURS,
    'a server may send the same',
  );
  const forged = `${OURS}; photofinish=1`;
  assert.equal(altSvcOf({ altSvc: forged }, steered), forged, 'no mark makes a header ours');
});

test('steering receives answers over the network, with its own header', () => {
  const altSvc = OURS;
  assert.deepEqual(answerOf({ ...REQUEST, altSvc }), {
    origin: 'https://a.test',
    h3: false,
    document: true,
    altSvc,
    atMs: 5,
  });
  assert.equal(answerOf({ ...REQUEST, hop: true })?.document, false);
  assert.equal(answerOf({ ...REQUEST, fromCache: true }), null);
  assert.equal(answerOf({ ...REQUEST, protocol: null }), null);
});
