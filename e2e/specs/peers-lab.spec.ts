// The laboratory's peers: each makes cold connections and adopts the expected protocol on a path that leaves no choice,
// or is long enough to decide every race. Times are asserted only as lower bounds, which a busy machine cannot violate.
import { expect, test } from '@playwright/test';
import { type Client, isAbsent, type Opener } from '../lab/client.ts';
import { curl, goAltSvc, goH3, goRace, quinn, undici } from '../lab/clients/peers.ts';
import { openServedTestbed, type ServedTestbed } from '../lab/testbed.ts';
import type { Obstacle } from '../network/namespace.ts';
import { networkUnavailable } from '../network/open.ts';
import { GO_MISSING } from '../test-programs.ts';

const TRIALS = 3;
/**
 * HTTP/3 answers after two round trips, TCP after three plus its start delay. A server that waits for the processor
 * loses that lead: its kernel answers TCP at once.
 */
const ROUND_TRIP_MS = 300;
/** A millisecond for clocks other than the link's. */
const CLOCKS_MS = 1;

const LOST_UDP: Obstacle = { transport: 'udp', effect: 'drop' };
const LOST_TCP: Obstacle = { transport: 'tcp', effect: 'drop' };

/** Round trips until the handshakes of a cold connection are complete. */
const ROUND_TRIPS = { h3: 1, h2: 2 } as const;
type AdoptedProtocol = keyof typeof ROUND_TRIPS;

const RACING: readonly Opener[] = [goRace, curl];
const EXPECTED: readonly (readonly [AdoptedProtocol, readonly Opener[]])[] = [
  ['h3', [...RACING, goH3, quinn]],
  ['h2', [goAltSvc, undici]],
];

let testbed: ServedTestbed | null = null;
let why: string | null = null;

test.beforeAll(async () => {
  why = await networkUnavailable('tun');
  if (why !== null) return;
  testbed = await openServedTestbed().catch((error: Error) => {
    if (error.message !== GO_MISSING) throw error;
    why = GO_MISSING;
    return null;
  });
});
test.afterAll(() => testbed?.close());

function localTestbed(): ServedTestbed {
  test.skip(why !== null, why ?? '');
  if (testbed === null) throw new Error('there is no testbed');
  return testbed;
}

async function present(opener: Opener, on: ServedTestbed): Promise<Client> {
  const entry = await opener(on);
  if (isAbsent(entry)) throw new Error(`${entry.name} is absent: ${entry.why}`);
  return entry;
}

for (const [protocol, openers] of EXPECTED)
  test(`over a clean path ${protocol} is adopted by the clients that must, cold every time`, async () => {
    const at = localTestbed();
    const way = { delayMs: ROUND_TRIP_MS / 2 };
    await at.server.shape({ up: way, down: way });
    await at.server.obstruct([]);
    for (const opener of openers) {
      const peer = await present(opener, at);
      const trials = await peer.run(TRIALS);
      await peer.close();
      const atLeastMs = ROUND_TRIPS[protocol] * ROUND_TRIP_MS - CLOCKS_MS;
      expect(Object.values(peer.versions).join(' '), peer.name).toMatch(/\d\.\d/);
      expect(
        trials.map(({ adopted }) => adopted),
        peer.name,
      ).toEqual(Array(TRIALS).fill(protocol));
      for (const { establishedMs, firstByteMs } of trials) {
        expect(establishedMs, peer.name).toBeGreaterThanOrEqual(atLeastMs);
        if (firstByteMs !== null) expect(firstByteMs).toBeGreaterThanOrEqual(atLeastMs + ROUND_TRIP_MS);
      }
    }
  });

for (const [adopted, lost, obstacle] of [
  ['h2', 'UDP', LOST_UDP],
  ['h3', 'TCP', LOST_TCP],
] as const)
  test(`where ${lost} is lost, the racing clients adopt ${adopted}`, async () => {
    const at = localTestbed();
    await at.server.shape({ up: {}, down: {} });
    await at.server.obstruct([obstacle]);
    for (const opener of RACING) {
      const peer = await present(opener, at);
      const trials = await peer.run(TRIALS);
      await peer.close();
      expect(
        trials.map((trial) => trial.adopted),
        peer.name,
      ).toEqual(Array(TRIALS).fill(adopted));
    }
  });
