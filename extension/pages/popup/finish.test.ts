import '../../testing/catalogs.ts';
import assert from 'node:assert/strict';
import { test } from 'node:test';
import type { Progress } from '@photofinish/shared/port/wire';
import { liveFinish, NO_PROGRESS, progressed } from './finish.ts';

function fold(events: [Progress['event'], Progress['contender'], number, number][]) {
  return events.reduce(
    (live, [event, transport, trial, atMs]) =>
      progressed(live, { id: 1, type: 'progress', event, contender: transport, trial, trials: 6, atMs }),
    NO_PROGRESS,
  );
}

test('before any event both lanes are empty', () => {
  const finish = liveFinish(NO_PROGRESS);
  assert.deepEqual(
    finish.lanes.map((lane) => lane.state),
    ['absent', 'absent'],
  );
  assert.equal(finish.caption, 'racing');
});

test('a started lane runs, an established one has its time', () => {
  const running = liveFinish(fold([['started', 'h3', 1, 0]]));
  assert.equal(running.lanes[0].state, 'running');
  const later = liveFinish(
    fold([
      ['started', 'h3', 1, 0],
      ['established', 'h3', 1, 50],
      ['adopted', 'h3', 1, 50],
      ['started', 'h2', 2, 0],
      ['established', 'h2', 2, 108],
      ['first-byte', 'h2', 2, 150],
      ['started', 'h2', 3, 0],
    ]),
  );
  assert.deepEqual(
    later.lanes.map((lane) => lane.establishedMs),
    [50, 108],
  );
  assert.equal(later.lanes[1].firstByteMs, 150);
  assert.equal(later.caption, 'racing, pair 2 of at most 3');
});

test('lanes show the median of the trials done so far, and never a margin', () => {
  const finish = liveFinish(
    fold(
      [1, 2, 3].flatMap((pair) => [
        ['started', 'h3', 2 * pair - 1, 0],
        ['established', 'h3', 2 * pair - 1, 10 * pair],
        ['started', 'h2', 2 * pair, 0],
        ['established', 'h2', 2 * pair, 50],
      ]),
    ),
  );
  assert.equal(finish.lanes[0].establishedMs, 20);
  assert.deepEqual(finish.lanes[0].trialsMs, [10, 20, 30]);
  assert.equal(finish.result, null);
});

test('a failed transport shows at once', () => {
  const finish = liveFinish(
    fold([
      ['started', 'h3', 1, 0],
      ['failed', 'h3', 1, 2],
    ]),
  );
  assert.equal(finish.lanes[0].state, 'failed');
});
