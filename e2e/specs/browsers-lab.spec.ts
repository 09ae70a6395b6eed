// Real browsers as clients of the laboratory: new profiles that reach Caddy over HTTP/2 and return over HTTP/3. The
// link's delay makes QUIC, with one round trip less, ready first; times are asserted only as lower bounds that no
// browser can violate.
import { setTimeout as sleep } from 'node:timers/promises';
import { expect, test } from '@playwright/test';
import { isAbsent, type LabTrial, type Opener } from '../lab/client.ts';
import { BROWSER_CLIENTS } from '../lab/clients/browsers.ts';
import { openServedTestbed, type ServedTestbed } from '../lab/testbed.ts';
import { networkUnavailable } from '../network/open.ts';
import { GO_MISSING } from '../test-programs.ts';

const ONE_WAY_MS = 100;
const ROUND_TRIP_MS = 2 * ONE_WAY_MS;
/** Browsers round their clocks. */
const ROUNDING_MS = 1;
/** On a machine that pauses, QUIC may lose once although it is a round trip ahead. */
const RETURNS = 3;

let testbed: ServedTestbed | undefined;

test.beforeAll(async () => {
  const why = await networkUnavailable('tun');
  test.skip(why !== null, why ?? '');
  testbed = await openServedTestbed().catch((error: Error) => {
    test.skip(error.message === GO_MISSING, GO_MISSING);
    throw error;
  });
  await testbed.server.shape({ up: { delayMs: ONE_WAY_MS }, down: { delayMs: ONE_WAY_MS } });
});
test.afterAll(async () => testbed?.close());

/** Waits until packets of earlier visits have arrived: the client's kernel answers for browsers that have exited. */
async function quietTestbed(): Promise<ServedTestbed> {
  if (testbed === undefined) throw new Error('there is no testbed');
  for (;;) {
    await testbed.server.report();
    await sleep(3 * ROUND_TRIP_MS);
    const { up, down } = await testbed.server.report();
    if (up.delivered + down.delivered === 0) return testbed;
  }
}

async function visit(open: Opener, trials: number): Promise<LabTrial[]> {
  if (testbed === undefined) throw new Error('there is no testbed');
  const client = await open(testbed);
  if (isAbsent(client)) throw new Error(client.why);
  try {
    return await client.run(trials);
  } finally {
    await client.close();
  }
}

/** `roundTrips`: until the handshake is complete; the response takes one more. */
function expectTimes({ establishedMs, firstByteMs }: LabTrial, roundTrips: number): void {
  expect(establishedMs).toBeGreaterThanOrEqual(roundTrips * ROUND_TRIP_MS - ROUNDING_MS);
  expect(firstByteMs).toBeGreaterThanOrEqual((roundTrips + 1) * ROUND_TRIP_MS - ROUNDING_MS);
}

for (const { name, first, second } of [
  { name: 'Chromium', first: BROWSER_CLIENTS['chromium-first'], second: BROWSER_CLIENTS['chromium-second'] },
  { name: 'Firefox', first: BROWSER_CLIENTS['firefox-first'], second: BROWSER_CLIENTS['firefox-second'] },
]) {
  test(`${name} reaches Caddy over HTTP/2, anew in each trial`, async () => {
    const trials = await visit(first, 2);
    expect(trials.map(({ adopted }) => adopted)).toEqual(['h2', 'h2']);
    for (const trial of trials) expectTimes(trial, 2);
  });

  test(`${name} returns over HTTP/3, with a new connection and a full handshake`, async () => {
    let trials: LabTrial[] = [];
    for (let returns = 0; returns < RETURNS && trials[0]?.adopted !== 'h3'; returns += 1)
      trials = await visit(second, 1);
    expect(trials.map(({ adopted }) => adopted)).toEqual(['h3']);
    for (const trial of trials) expectTimes(trial, 1);
  });

  test(`${name} starts and exits without sending anything`, async () => {
    const { client } = await quietTestbed();
    const counters = [
      await client.countSent({ transport: 'tcp' }),
      await client.countSent({ transport: 'udp' }),
    ];
    expect(await visit(second, 0)).toEqual([]);
    expect(await Promise.all(counters.map((counter) => counter.read()))).toEqual([0, 0]);
  });
}
