// Which results of a race are stored in the host cache, and which are not; and the pauses in which a forecast is
// answered.
import assert from 'node:assert/strict';
import { test } from 'node:test';
import type { OriginRace, Trial } from '@photofinish/shared/race/outcome';
import { verdictSaying } from '@photofinish/shared/testing/race-samples';
import { parseOrigin } from '@photofinish/shared/web/origin';
import { addressPolicy } from './address/guard.ts';
import { systemClock } from './clock.ts';
import { PACED_BY_PATH } from './race/pacing.ts';
import { openRacer, storeOutcome } from './racer.ts';
import { down, race, trial, up } from './testing/cache-samples.ts';
import { closedPort, LOOPBACK } from './testing/peers.ts';
import { countTurns, TURNS_OF_PAUSE } from './testing/virtual-time.ts';

function filed(trials: Trial[], facts: Partial<OriginRace> = {}): Trial[] | null {
  let seen: Trial[] | null = null;
  const verdict: OriginRace['verdict'] = verdictSaying('unknown', '');
  const recordRace = ({ trials: kept }: Pick<OriginRace, 'trials'>): void => {
    seen = kept;
  };
  storeOutcome({ recordRace }, { ...race(trials, facts), verdict });
  return seen;
}

const SOUND = trial(up('h3'));
const DISTURBED: Trial = {
  ...trial(down('h3', 'udp-timeout'), up('h2')),
  disturbed: 'outcome',
};

test('a trial caused by a busy machine is not stored', () => {
  assert.deepEqual(filed([DISTURBED, SOUND]), [SOUND]);
  assert.equal(filed([DISTURBED, DISTURBED]), null);
});

test('a trial of which only the times are disturbed is stored', () => {
  const late: Trial = { ...SOUND, disturbed: 'times' };
  assert.deepEqual(filed([late]), [late]);
});

test('an aborted race is not stored', () => {
  assert.equal(filed([SOUND], { error: { code: 'cancelled', message: 'stopped' } }), null);
});

test('there are pauses between the end of the last trial, its storage, and the reply', async (t) => {
  const turn = countTurns(t);
  let [failed, stored] = [0, 0];
  const run = await openRacer({
    ...{ ca: [], pins: new Map(), resolver: null, clock: systemClock },
    policy: addressPolicy(['127.0.0.0/8']),
    cache: {
      recall: () => null,
      recordRace: () => {
        stored = turn();
      },
      udpEvidence: () => ({ failedHosts: 0, reachedHosts: 0, reachedLater: false }),
    },
  });
  const origin = parseOrigin(`https://${LOOPBACK}:${await closedPort()}`);
  assert.ok(origin.ok);
  await run({
    ...{ origin: origin.value, network: 'home', mode: 'h2', memory: 'full', trials: 1, timeoutMs: 3000 },
    pacing: PACED_BY_PATH,
    onProgress: ({ event }) => {
      if (event === 'failed') failed = turn();
    },
  });
  const ended = turn();
  assert.ok(failed > 0 && stored > 0);
  // After the trial, before the record, and before the verdict; see race/run.test.ts.
  const before = 3 * TURNS_OF_PAUSE;
  assert.ok(stored - failed >= before + TURNS_OF_PAUSE, `${failed}, ${stored}`);
  assert.ok(ended - stored >= 2 * TURNS_OF_PAUSE, `${stored}, ${ended}`);
});
