// Messages on the native port if the helper is replaced, confused or cut off: the extension reports that and keeps
// working.
import '../../testing/catalogs.ts';
import assert from 'node:assert/strict';
import { test } from 'node:test';
import { WIRE_PROTOCOL } from '@photofinish/shared/port/wire';
import { inputs, mutatedJson } from '@photofinish/shared/testing/hostile';
import fc from 'fast-check';
import { HelperError } from '../../common/helper/state.ts';
import { createHelperPort } from './port.ts';

const HELLO = { id: 0, type: 'hello', protocol: WIRE_PROTOCOL, program: 'photofinish 1.0.0' };
const forecast = {
  origin: 'https://a.test',
  reachable: { protocol: 'h3', basis: 'raced', ageMs: 5, fresh: true },
  expected: { protocol: 'h2', basis: 'observed' },
  hit: true,
};
const chunks = [
  { id: 1, type: 'chunk', seq: 0, last: false, data: '{"id":1,"type":"wipe",' },
  { id: 1, type: 'chunk', seq: 1, last: true, data: '"wiped":3}' },
];
const REPLIES = [
  HELLO,
  { id: 1, type: 'forecast', forecasts: [forecast], network: 'net-1d44ea1a8671e8f3' },
  { id: 1, type: 'progress', event: 'adopted', contender: 'h3', trial: 1, trials: 3, atMs: 1.5 },
  { id: 1, type: 'wipe', wiped: 3 },
  { id: 0, type: 'error', code: 'bad-json', message: 'x' },
  { id: 1, type: 'error', code: 'internal', message: 'x' },
  ...chunks,
];
const message = fc.oneof(mutatedJson(REPLIES), fc.constantFrom(...REPLIES));

test('for any messages in any order nothing throws, and every request is answered or rejected', async () => {
  await fc.assert(
    fc.asyncProperty(fc.array(message, { minLength: 1, maxLength: 5 }), async (messages) => {
      let receive: (message: unknown) => void = () => {};
      let close: (why: string | null) => void = () => {};
      const port = createHelperPort({
        connect: () => ({
          postMessage: () => {},
          disconnect: () => {},
          onMessage: (listen) => {
            receive = listen;
          },
          onDisconnect: (listen) => {
            close = listen;
          },
        }),
        clock: { later: () => () => {} },
        program: 'test 1',
        onState: () => {},
      });
      port.connect();
      receive(HELLO);
      const { reply } = port.ask({ type: 'wipe' }, { timeoutMs: 1000 });
      const ended = reply.then(
        (answer) => answer.type,
        (error: unknown) => error,
      );
      for (const each of messages) receive(structuredClone(each));
      close('the helper has ended');
      const end = await ended;
      assert.ok(typeof end === 'string' || end instanceof HelperError, String(end));
    }),
    inputs(10_000),
  );
});
