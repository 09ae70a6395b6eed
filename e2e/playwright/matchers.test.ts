// Which protocols the assertion compares: of a page its document's own, of an origin on it all that it used; and what its
// message says of a server that Chromium does not reach over HTTP/3.
import assert from 'node:assert/strict';
import { test } from 'node:test';
import '@photofinish/shared/language/english';
import { message } from '@photofinish/shared/language/message';
import { NO_REQUESTS, type ProtocolCounts } from '@photofinish/shared/report/adoption';
import type { BrowserContext, Page } from '@playwright/test';
import type { OriginView, PageView } from '../../extension/common/messages.ts';
import { registerContext } from './extension.ts';
import {
  adoption,
  adoptionIn,
  expect,
  originsOf,
  type PageEvidence,
  reasonText,
  usedProtocols,
  usedText,
} from './matchers.ts';
import type { SeenDocument } from './responses.ts';

const A = 'https://a.test' as OriginView['origin'];

/** What is known of a page with one origin. */
function pageWith(
  { protocol, counts }: { readonly protocol: PageView['protocol']; readonly counts: Partial<ProtocolCounts> },
  document: Partial<PageView>,
  seen: SeenDocument | null = null,
): PageEvidence {
  const own = { origin: A, protocol, counts: { ...NO_REQUESTS, ...counts } };
  const view = {
    origin: A,
    protocol,
    delivery: 'network',
    documentProtocol: null,
    origins: [own],
    ...document,
  };
  return { view: view as unknown as PageView, extended: true, seen };
}

test('a page came over the protocol of its document, whatever its origin used after it', () => {
  const switched = pageWith({ protocol: 'h3', counts: { h2: 3, h3: 1 } }, { documentProtocol: 'h2' });
  assert.deepEqual(usedProtocols(switched, undefined), ['h2']);
  assert.equal(usedText(switched, undefined), 'it came over h2');
  const early = pageWith({ protocol: 'h3', counts: { h3: 1 } }, {});
  assert.deepEqual(usedProtocols(early, undefined), [], 'the document is not reported yet');
});

test('an origin on the page used each protocol that one of its responses came over, the newest first', () => {
  const switched = pageWith({ protocol: 'h3', counts: { h2: 3, h3: 1, unknown: 1 } }, {});
  assert.deepEqual(usedProtocols(switched, A), ['h3', 'h2', 'unknown']);
  assert.equal(usedText(switched, A), 'it came over h3 and h2 and an unknown protocol');
  assert.deepEqual(usedProtocols(switched, 'https://unseen.test'), []);
  assert.equal(usedText(switched, 'https://unseen.test'), 'nothing of it was seen');
});

test('responses that are not counted yet are pending, according to whoever counts', () => {
  const seen: SeenDocument = { url: `${A}/`, protocol: 'h2', routed: false, pending: 2, origins: new Map() };
  const page = pageWith({ protocol: 'h2', counts: { h2: 3 } }, { pending: 1 }, seen);
  assert.deepEqual(adoptionIn(page), {
    h3: 0,
    known: 3,
    hidden: 0,
    pending: 1,
    sources: { extension: 3, playwright: 0 },
  });
  assert.equal(adoptionIn({ view: null, extended: false, seen }).pending, 2);
});

test('a document that did not come over the network has no protocol, and the message says why', () => {
  const document = { documentProtocol: 'unknown', delivery: 'http-cache' } as const;
  const cached = pageWith({ protocol: 'h3', counts: { h3: 1 } }, document);
  assert.deepEqual(usedProtocols(cached, undefined), ['unknown']);
  assert.equal(usedText(cached, undefined), 'it came from the HTTP cache, so no protocol is known');
});

test('Playwright names the protocol of a document that the extension could not see', () => {
  const counts = { ...NO_REQUESTS, h2: 1 };
  const origins = new Map([[A, { counts, routed: 0, complete: true, newest: 'h2' as const }]]);
  const seen: SeenDocument = { url: `${A}/`, protocol: 'h2', routed: false, pending: 0, origins };
  const hidden = pageWith(
    { protocol: 'unknown', counts: { unknown: 1 } },
    { documentProtocol: 'unknown' },
    seen,
  );
  assert.deepEqual(usedProtocols(hidden, undefined), ['h2']);
});

test('a document that a route of the test answered has no protocol, and the message says why', () => {
  const origins = new Map([[A, { counts: NO_REQUESTS, routed: 1, complete: true, newest: null }]]);
  const seen: SeenDocument = { url: `${A}/`, protocol: 'unknown', routed: true, pending: 0, origins };
  const mocked = pageWith(
    { protocol: 'unknown', counts: { unknown: 1 } },
    { documentProtocol: 'unknown' },
    seen,
  );
  assert.deepEqual(usedProtocols(mocked, undefined), ['unknown']);
  assert.equal(usedText(mocked, undefined), 'a route of the test answered it, so no protocol is known');
});

/** A page with this URL, in a context of the fixtures without the extension or in somebody else's. */
function fakePage(url: string, { registered = true }: { readonly registered?: boolean } = {}): Page {
  const context = {} as BrowserContext;
  if (registered) registerContext(context, { extension: null, namesNetworks: false });
  return { url: () => url, context: () => context, mainFrame: () => null } as unknown as Page;
}

test('a page of a context that is not of the fixtures is refused at once', async () => {
  const page = fakePage(`${A}/`, { registered: false });
  const refused = /of another context: use the fixture `page`/;
  await assert.rejects(adoption(page), refused);
  await assert.rejects(originsOf(page), refused);
  await assert.rejects(expect(page).toHaveUsedProtocol('h2'), refused);
  await assert.rejects(expect(page).not.toHaveUsedProtocol('h2'), refused);
});

test('nothing is counted of a page that failed to load, or that no server sent', async () => {
  for (const [url, why] of [
    ['chrome-error://chromewebdata/', /the page failed to load/],
    ['about:neterror?e=connectionFailure', /the page failed to load/],
    ['about:blank', /no server sent about:blank/],
    ['data:text/html,x', /no server sent/],
  ] as const) {
    await assert.rejects(adoption(fakePage(url)), why);
    await assert.rejects(originsOf(fakePage(url)), why);
    await assert.rejects(expect(fakePage(url)).toHaveUsedProtocol('h3', { timeout: 0 }), why);
    await assert.rejects(expect(fakePage(url)).not.toHaveUsedProtocol('h3', { timeout: 0 }), why);
  }
});

test('what is no page, protocol or option is refused, whatever is asserted', async () => {
  const page = fakePage(`${A}/`);
  const refused = async (received: unknown, args: readonly unknown[], why: RegExp) => {
    for (const assertion of [expect(received as Page), expect(received as Page).not])
      await assert.rejects(async () => Reflect.apply(assertion.toHaveUsedProtocol, assertion, args), why);
  };
  class LocatorLike {}
  await refused(page, ['http/2'], /"http\/2" is no protocol .* h3, h2, http\/1\.1, http\/1\.0, unknown/);
  await refused(
    page,
    ['h3', { origin: 'https://a.test/page' }],
    /origin: "https:\/\/a\.test\/page" has a path/,
  );
  await refused(page, ['h3', { origin: 'http://a.test' }], /is not https/);
  await refused(page, ['h3', { orgin: A }], /origin and timeout, not orgin/);
  await refused(page, ['h3', { timeout: '2s' }], /milliseconds/);
  await refused(page, ['h3', 2000], /options as an object, not 2000/);
  await refused(page, ['h3', null], /options as an object, not null/);
  await refused(new LocatorLike(), ['h3'], /a Playwright page, not LocatorLike/);
  await refused(`${A}/`, ['h3'], /a Playwright page, not "https:\/\/a\.test\/"/);
  await assert.rejects(adoption(`${A}/` as unknown as Page), /a Playwright page, not "/);
  await assert.rejects(originsOf(undefined as unknown as Page), /a Playwright page, not undefined/);
});

test('for a server of one’s own the message says what Chromium needs', () => {
  const textFor = (
    host: string,
    code: 'h3-browser-avoids' | 'h3-not-offered',
    expected: 'h3' | 'h2' = 'h3',
  ) => {
    const verdict = { code, findings: [{ code, ...message('verdictPrivateRoot') }] };
    const origin = `https://${host}` as OriginView['origin'];
    const evidence = pageWith({ protocol: 'h2', counts: { h2: 1 } }, { origin, verdict });
    return reasonText(evidence, expected, undefined);
  };
  const hint = /only with a certificate under a public root, or with the arguments/;
  for (const host of ['a.test', 'localhost:8443', 'intranet', 'www.localhost', '127.0.0.1:8443', '[::1]'])
    assert.match(textFor(host, 'h3-browser-avoids'), hint, host);
  assert.doesNotMatch(textFor('example.org', 'h3-browser-avoids'), hint);
  assert.doesNotMatch(textFor('a.test', 'h3-not-offered'), hint);
  assert.doesNotMatch(textFor('a.test', 'h3-browser-avoids', 'h2'), hint);
});
