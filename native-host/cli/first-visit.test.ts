// Why HTTP/3 was not what a first visit used, by what its attempts did.
import '@photofinish/shared/language/english';
import assert from 'node:assert/strict';
import { test } from 'node:test';
import { attempt, trial } from '@photofinish/shared/testing/race-samples';
import { whyNotFirst } from './first-visit.ts';

const h2 = attempt({ protocol: 'h2', startedMs: 20, establishedMs: 31, outcome: 'adopted' });
const why = (...h3: Partial<typeof h2>[]) =>
  whyNotFirst(
    trial([...h3.map((over) => attempt({ protocol: 'h3', outcome: 'cancelled', ...over })), h2], 'h2'),
    'b.test',
  );

test('each reason for which HTTP/2 comes first has words of its own', () => {
  assert.match(why(), /no address of b\.test, where it leads, was known before/);
  assert.match(
    why({ startedMs: 54 }),
    /was started 34(\.0)? ms later, when .* addresses of b\.test had come/,
  );
  assert.match(why({ startedMs: 10 }), /its handshake took longer/);
  const error = { code: 'udp-timeout', message: 'silence' } as const;
  assert.match(why({ startedMs: 10, outcome: 'failed', error }), /that failed \(.*UDP.*\)/);
});
