import '../../testing/catalogs.ts';
import assert from 'node:assert/strict';
import { test } from 'node:test';
import type { HelperState, PageState } from '../../common/messages.ts';
import { asideText, helperFix, helperText, isEmptyErrorResponse, stateText } from './origin-state-text.ts';

const STATES: Exclude<PageState, 'recorded'>[] = [
  'loading',
  'failed',
  'not-https',
  'file',
  'browser-page',
  'source',
  'guarded',
  'not-recorded',
  'private',
  'excluded',
  'no-options',
  'no-access',
];

test('every page state except a record has its own text', () => {
  const words = STATES.map((state) => stateText({ state, error: null }));
  assert.equal(new Set(words.map((w) => w?.text)).size, STATES.length);
  assert.equal(new Set(words.map((w) => w?.title)).size, STATES.length);
  assert.ok(words.every((w) => w?.text.endsWith('.')));
  assert.equal(stateText({ state: 'recorded', error: null }), null);
});

test('a page without a record is not claimed to be older than Photofinish', () => {
  assert.match(
    stateText({ state: 'not-recorded', error: null })?.text ?? '',
    /before Photofinish recorded here, or its data was deleted/,
  );
});

test('of an error status without content it is not said that the page did not load', () => {
  const error = 'net::ERR_HTTP_RESPONSE_CODE_FAILURE';
  const words = stateText({ state: 'failed', error });
  assert.match(
    words?.text ?? '',
    /^The server answered with an error status and no content, .* not visible\./,
  );
  assert.equal(isEmptyErrorResponse({ state: 'failed', error }), true);
  const others = { state: 'failed', error: 'net::ERR_CONNECTION_REFUSED' } as const;
  assert.match(stateText(others)?.text ?? '', /did not load/);
  assert.equal(isEmptyErrorResponse(others), false);
});

test('if the user can do something there is a button for it', () => {
  const actions = STATES.flatMap((state) => stateText({ state, error: null })?.remedy?.action ?? []);
  assert.deepEqual(actions, ['reload', 'options', 'options', 'access']);
});

test('a page that was not loaded for this visit says so first', () => {
  const aside = (more: Partial<Parameters<typeof asideText>[0]>) =>
    asideText({ arrival: 'loaded', delivery: 'network', protocol: 'h3', ...more });
  assert.equal(aside({}), '');
  assert.match(aside({ delivery: 'http-cache' }), /HTTP cache/);
  assert.match(aside({ arrival: 'bfcache', delivery: 'http-cache' }), /from the back\/forward cache/);
  assert.match(aside({ arrival: 'prerendered' }), /prerendered/);
  assert.match(aside({ arrival: 'bfcache', protocol: 'unknown' }), /from the back\/forward cache/);
  assert.equal(aside({ delivery: 'http-cache', protocol: 'unknown' }), '', 'the verdict says it');
});

test('every state of the helper has a text, and the broken ones say how to fix them', () => {
  const states: HelperState[] = [
    { state: 'connecting' },
    { state: 'ready', program: 'photofinish 1.0.0', network: 'net', networkName: null },
    { state: 'not-asked' },
    { state: 'missing' },
    { state: 'crashed', message: 'it ended with code 1' },
    { state: 'incompatible', message: 'speaks version 2.' },
    { state: 'incompatible', message: 'speaks version 0.', older: 'helper' },
    { state: 'incompatible', message: 'speaks version 2.', older: 'extension' },
    { state: 'incompatible', message: 'refused', foreign: true },
  ];
  const words = states.map(helperText);
  assert.deepEqual(
    words.map((w) => w.label),
    [
      'helper starting',
      'helper 1.0.0',
      'helper not enabled',
      'no helper',
      'helper stopped',
      'helper version mismatch',
      'helper version mismatch',
      'helper version mismatch',
      'helper for another extension',
    ],
  );
  assert.deepEqual(
    words.map((w) => w.help?.command),
    [undefined, undefined, null, 'install', 'doctor', 'doctor', 'install', null, 'install'],
  );
  const what = words.map((w) => w.help?.what ?? '');
  assert.match(what[5] ?? '', /speaks version 2\. Recording works .* Update the older of the two\./);
  assert.match(
    what[6] ?? '',
    /^The helper is older than this extension: .* To install the version that matches, run:$/,
  );
  assert.match(what[7] ?? '', /^This extension is older than the helper: .* Update this extension/);
  for (const [i, state] of states.entries()) {
    const fix = helperFix(state);
    assert.equal(what[i]?.endsWith(':') ?? false, fix !== null && fix.command !== null);
    assert.ok(fix === null || what[i]?.endsWith(fix.how), 'the pages say the same');
  }
});
