// How pages show the helper's state, and that retries do not make them flicker.
import '../../testing/catalogs.ts';
import assert from 'node:assert/strict';
import { test } from 'node:test';
import type { HelperState } from '../../common/messages.ts';
import { shownState, stateText } from './helper-panel.ts';

const MISSING: HelperState = { state: 'missing' };
const CONNECTING: HelperState = { state: 'connecting' };
const READY: HelperState = {
  state: 'ready',
  program: 'photofinish 1.0.0',
  network: 'net-1',
  networkName: null,
};

test('every state has its own sentence with its details', () => {
  const states: HelperState[] = [
    CONNECTING,
    MISSING,
    READY,
    { state: 'not-asked' },
    { state: 'crashed', message: 'It fell.' },
    { state: 'incompatible', message: 'It is old.' },
  ];
  const texts = states.map((state) => stateText(state).text);
  assert.equal(new Set(texts).size, states.length);
  assert.match(stateText(READY).text, /photofinish 1\.0\.0.*net-1/);
  assert.match(texts[4] ?? '', /It fell\./);
  assert.match(texts[5] ?? '', /It is old\./);
});

test('a retry for a missing helper is not shown, its end is', () => {
  assert.equal(shownState(null, CONNECTING), CONNECTING);
  assert.equal(shownState(MISSING, CONNECTING), MISSING);
  assert.equal(shownState(MISSING, READY), READY);
  assert.equal(shownState(READY, CONNECTING), CONNECTING);
  assert.equal(shownState({ state: 'not-asked' }, CONNECTING), CONNECTING);
});
