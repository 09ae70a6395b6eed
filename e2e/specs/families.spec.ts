// Real races over both address families: an origin with an IPv4 and an IPv6 address, and paths on which one family or
// one transport is blocked. HTTP/3 counts as lost only if it is lost on both.
import { type Attempt, type RaceDocument, raceDocumentSchema } from '@photofinish/shared/race/outcome';
import * as v from 'valibot';
import { PHOTOFINISH } from '../lab/client.ts';
import type { Obstacle } from '../network/namespace.ts';
import { networkUnavailable, openNetwork, type Peer } from '../network/open.ts';
import { startDnsInside } from '../origins/dns.ts';
import { startOrigins } from '../origins/start.ts';
import { expect, test } from './fixtures.ts';

const HOST = 'both.test';
/** The default port of browsers and helper. */
const PORT = 443;

/** A client and an origin that speaks HTTP/3 and HTTP/2 at one address of each family; DNS names both. */
interface Testbed {
  readonly server: Peer;
  /** Options that let the command line find the origin by DNS, and trust it. */
  readonly byName: readonly string[];
  /** Like `byName`, but with this address, without a look-up. */
  pinned(address: string): readonly string[];
  /** Runs `photofinish race` on the client and validates its document. Rejects if there is none. */
  race(...args: string[]): Promise<RaceDocument>;
  close(): Promise<void>;
}

/** Rejects if networks are unavailable; check `networkUnavailable` first. */
async function openTestbed(): Promise<Testbed> {
  const network = await openNetwork();
  const { client } = network;
  const { server } = network.peers;
  try {
    const settings = { host: HOST, address: '::', port: PORT, h3: true, altSvc: 'auto' };
    const running = await startOrigins({ origins: { both: settings }, inside: server });
    const close = async () => {
      await running.stop();
      await network.close();
    };
    const HTTPS = [{ priority: 1, target: '.', alpn: ['h3', 'h2'] }];
    const names = { [HOST]: { A: [server.ipv4], AAAA: [server.ipv6], HTTPS } };
    const { resolver } = await startDnsInside(server, server.ipv4, names);

    const { origin } = running.origins.both;
    const reach = ['--allow-private', '--ca', running.caPath];
    return {
      server,
      byName: [...reach, '--resolver', resolver],
      pinned: (address) => [...reach, '--resolve', `${HOST}:${PORT}:[${address}]`],
      async race(...args) {
        const { stdout, stderr } = await client.run(PHOTOFINISH, ['race', origin, '--json', ...args]);
        if (stdout === '') throw new Error(stderr);
        return v.parse(raceDocumentSchema, JSON.parse(stdout));
      },
      close,
    };
  } catch (error) {
    await network.close();
    throw error;
  }
}

type Transport = Obstacle['transport'];

// Only for the origin's port: DNS must work even if UDP is blocked.
const obstacle =
  (effect: Obstacle['effect']) =>
  (transport: Transport, family: 4 | 6): Obstacle => ({ transport, family, effect, port: PORT });
const drop = obstacle('drop');
const refuse = obstacle('refuse');

interface Case {
  readonly what: string;
  readonly obstacles: readonly Obstacle[];
  readonly adopted: 'h3' | 'h2';
  readonly family: 4 | 6;
  /** Attempts that must have been made, with their failures. */
  readonly failures?: readonly (readonly [Attempt['protocol'], 4 | 6, string])[];
}

const CASES: readonly Case[] = [
  { what: 'clean', obstacles: [], adopted: 'h3', family: 6 },
  { what: 'UDP lost on IPv6', obstacles: [drop('udp', 6)], adopted: 'h3', family: 4 },
  { what: 'UDP lost on IPv4', obstacles: [drop('udp', 4)], adopted: 'h3', family: 6 },
  { what: 'TCP lost on IPv6', obstacles: [drop('tcp', 6)], adopted: 'h3', family: 6 },
  { what: 'TCP lost on IPv4', obstacles: [drop('tcp', 4)], adopted: 'h3', family: 6 },
  { what: 'TCP lost on both', obstacles: [drop('tcp', 4), drop('tcp', 6)], adopted: 'h3', family: 6 },
  { what: 'IPv6 dead', obstacles: [drop('udp', 6), drop('tcp', 6)], adopted: 'h3', family: 4 },
  { what: 'IPv4 dead', obstacles: [drop('udp', 4), drop('tcp', 4)], adopted: 'h3', family: 6 },
  { what: 'UDP lost on both', obstacles: [drop('udp', 4), drop('udp', 6)], adopted: 'h2', family: 6 },
  {
    what: 'UDP lost on both, TCP lost on IPv6',
    obstacles: [drop('udp', 4), drop('udp', 6), drop('tcp', 6)],
    adopted: 'h2',
    family: 4,
  },
  {
    what: 'UDP refused on IPv6',
    obstacles: [refuse('udp', 6)],
    adopted: 'h3',
    family: 4,
    failures: [['h3', 6, 'udp-refused']],
  },
  {
    what: 'UDP refused on both',
    obstacles: [refuse('udp', 4), refuse('udp', 6)],
    adopted: 'h2',
    family: 6,
    failures: [
      ['h3', 6, 'udp-refused'],
      ['h3', 4, 'udp-refused'],
    ],
  },
  {
    what: 'UDP refused on both, TCP refused on IPv6',
    obstacles: [refuse('udp', 4), refuse('udp', 6), refuse('tcp', 6)],
    adopted: 'h2',
    family: 4,
    failures: [['h2', 6, 'tcp-refused']],
  },
];

/** So long that HTTP/3 has been tried on both families before TCP starts, even on a busy machine. */
const PATIENT = ['--start-delay', '2000', '--timeout', '7000'];
/** The same for each address: a reachable one is used before the next is tried. */
const ONE_BY_ONE = ['--attempt-delay', '1000', '--timeout', '10000'];
const COLD = ['--memory', 'none'];

let testbed: Testbed | null = null;

function open(): Testbed {
  if (testbed === null) throw new Error('the testbed is not open');
  return testbed;
}

const addressOf = (family: 4 | 6) => (family === 4 ? open().server.ipv4 : open().server.ipv6);

test.beforeAll(async () => {
  if ((await networkUnavailable('veth')) === null) testbed = await openTestbed();
});
test.beforeEach(async () => {
  const why = await networkUnavailable('veth');
  test.skip(why !== null, why ?? '');
});
test.afterAll(() => testbed?.close());

for (const [mode, options] of [
  ['race', PATIENT],
  ['v3', ONE_BY_ONE],
] as const)
  for (const { what, obstacles, adopted, family, failures = [] } of CASES)
    test(`${mode}, ${what}: ${adopted} over IPv${family}`, async () => {
      await open().server.obstruct(obstacles);
      const document = await open().race('--mode', mode, ...options, ...COLD, ...open().byName);
      const [trial] = document.races[0]?.trials ?? [];
      expect(trial?.adopted).toBe(adopted);
      const winner = trial?.attempts.find(({ outcome }) => outcome === 'adopted');
      expect(winner).toMatchObject({ protocol: adopted, address: addressOf(family) });
      for (const [protocol, failed, code] of failures) {
        const address = addressOf(failed);
        const attempt = trial?.attempts.find((a) => a.protocol === protocol && a.address === address);
        expect(attempt?.error?.code, `${protocol} at ${address}`).toBe(code);
      }
      const broken = document.races[0]?.verdict.code === 'h3-advertised-unreachable';
      expect(broken && adopted === 'h3', 'HTTP/3 that was used is not called broken').toBe(false);
    });

test('race: HTTP/3 over IPv4 is found if UDP is lost on IPv6 only, late or in time, and used from then on', async ({
  dir,
}) => {
  await open().server.obstruct([drop('udp', 6)]);
  const cache = ['--cache', `${dir}/cache.db`];
  const race = () => open().race('--memory', 'full', ...cache, ...open().byName);
  const [first] = (await race()).races;
  const found = first?.trials[0]?.attempts.find((a) => a.protocol === 'h3' && a.address === addressOf(4));
  expect(['adopted', 'established-late']).toContain(found?.outcome);
  expect(first?.verdict.code).not.toBe('h3-advertised-unreachable');
  const [second] = (await race()).races;
  expect(second?.trials[0]).toMatchObject({ cacheHit: true, adopted: 'h3' });
});

test('race: with both families blocked it ends at its deadline, adopting nothing', async () => {
  await open().server.obstruct([drop('udp', 4), drop('udp', 6), drop('tcp', 4), drop('tcp', 6)]);
  const document = await open().race('--timeout', '4000', ...COLD, ...open().pinned(addressOf(6)));
  const [trial] = document.races[0]?.trials ?? [];
  expect(trial).toMatchObject({ adopted: null, establishedMs: null });
  expect(trial?.attempts.map((a) => a.error?.code).toSorted()).toEqual(['tcp-timeout', 'udp-timeout']);
});
