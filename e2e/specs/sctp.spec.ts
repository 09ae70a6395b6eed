// The laboratory's SCTP against usrsctp, in both roles, and its own server and client: every transport, TLS, the race,
// and a path on which only TCP gets through.
import { existsSync } from 'node:fs';
import { readFile, rm, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { expect, test } from '@playwright/test';
import { isAbsent } from '../lab/client.ts';
import { sctpPlain, sctpTls } from '../lab/clients/peers.ts';
import { record } from '../lab/experiment.ts';
import { readJournal } from '../lab/journal.ts';
import {
  type Candidate,
  ENCAPSULATION_PORT,
  type Load,
  type LoadResult,
  PLAIN_PORT,
  type RunningTransports,
  runLoad,
  startTransports,
  TLS_PORT,
  type Transport,
} from '../lab/p1/transports.ts';
import { P1, p1, parseOptions } from '../lab/p1.ts';
import { openServedTestbed } from '../lab/testbed.ts';
import type { Shape } from '../network/link.ts';
import { type Network, networkUnavailable, openNetwork } from '../network/open.ts';
import { USRSCTP } from '../run/find-browser.mjs';
import { scratchDirectory } from '../scratch.ts';

const SCTP_TRANSPORTS = ['sctp-udp', 'sctp'] as const;
const OBJECTS = [1024, 35_840] as const;
/** Each way. */
const DELAY_MS = 5;
const LOSS: Shape['loss'] = { kind: 'independent', share: 0.05 };
/** usrsctp's client takes more than a second for each; the lossy ones are at least 200 packets. */
const EXCHANGES = { clean: 4, lossy: 8 };
/** usrsctp waits three seconds for its first retransmission, and each time twice as long: the fourth is after 45 s. */
const ECHO_TIMEOUT_MS = 120_000;
const LOSSY_TIMEOUT_MS = 300_000;
/** Our server's objects, among usrsctp's diagnostics. */
const BODY = /x{8,}/g;
/** The echo service (RFC 862), and what usrsctp's server reads at once. */
const ECHO_PORT = 7;
const ECHO_BYTES = 8192;

let network: Network<'server'> | undefined;
let dir: string;
let served: RunningTransports | undefined;

test.beforeEach(async () => {
  const why = await networkUnavailable('tun');
  test.skip(why !== null, why ?? '');
  dir = await scratchDirectory('sctp');
});
test.afterEach(async () => {
  await served?.stop();
  await network?.close();
  served = undefined;
  network = undefined;
  await rm(dir, { recursive: true, force: true });
});

async function open(shape: Shape = { delayMs: DELAY_MS }) {
  network = await openNetwork({ link: { kind: 'tun', shape, seed: 5 } });
  return { client: network.client, server: network.peers.server };
}

/** Our server, with all that this machine offers. */
async function openServed(transports: readonly Transport[], shape?: Shape) {
  const { client, server } = await open(shape);
  const { ipv4, ipv6 } = server;
  const running = await startTransports(server, dir, transports, [ipv4, ipv6]);
  served = running;
  const [missing] = running.unavailable;
  test.skip(missing !== undefined, `${missing?.transport}: ${missing?.reason}`);
  return { client, server, running };
}

const load = (parts: Partial<Load> & Pick<Load, 'paths'>): Load => ({
  port: PLAIN_PORT,
  tls: null,
  objectBytes: 1024,
  perSecond: 100,
  durationMs: 500,
  timeoutMs: 20_000,
  seed: 1,
  ...parts,
});

function expectAllServed({ scheduled, ok, failures, droppedPackets }: LoadResult): void {
  expect(failures).toEqual({});
  expect(ok).toBe(scheduled);
  expect(scheduled).toBeGreaterThan(20);
  expect(droppedPackets).toBe(0);
}

for (const transport of SCTP_TRANSPORTS)
  for (const loss of [undefined, LOSS]) {
    const lossy = loss !== undefined;
    const shape = { delayMs: DELAY_MS, ...(lossy && { loss }) };
    const title = `over ${transport === 'sctp' ? 'IP' : 'UDP'}, ${lossy ? '5 % loss' : 'without loss'}`;
    const encapsulation = transport === 'sctp' ? '0' : String(ENCAPSULATION_PORT);

    test(`usrsctp's client gets objects from our server: ${title}`, async () => {
      test.skip(!existsSync(USRSCTP.client), USRSCTP.missing);
      test.setTimeout(LOSSY_TIMEOUT_MS);
      const { client, server } = await openServed([transport], shape);
      const exchanges = lossy ? EXCHANGES.lossy : EXCHANGES.clean;
      for (let exchange = 0; exchange < exchanges; exchange += 1) {
        const bytes = OBJECTS[exchange % OBJECTS.length] ?? 0;
        const words = [server.ipv4, String(PLAIN_PORT), '0', encapsulation, encapsulation, `/${bytes}`];
        const { stdout } = await client.run(USRSCTP.client, words);
        expect(stdout).toContain('HTTP/1.0 200 OK');
        expect(stdout.match(BODY)?.join('')).toHaveLength(bytes);
      }
      await expectLosses(lossy);
    });

    test(`our client and usrsctp's echo server: ${title}`, async () => {
      test.skip(!existsSync(USRSCTP.server), USRSCTP.missing);
      test.setTimeout(LOSSY_TIMEOUT_MS);
      const { client, server } = await open(shape);
      const echo = server.spawn(USRSCTP.server, [encapsulation, encapsulation], { stdio: 'ignore' });
      const paths = [[{ transport, address: server.ipv4 }]];
      const settings = load({
        paths,
        port: ECHO_PORT,
        exchange: 'echo',
        objectBytes: ECHO_BYTES,
        timeoutMs: ECHO_TIMEOUT_MS,
      });
      // It tells nobody when it listens: an association that is not answered is repeated.
      expectAllServed(await runLoad(client, settings));
      await expectLosses(lossy);
      echo.kill();
    });
  }

async function expectLosses(lossy: boolean): Promise<void> {
  const report = await network?.peers.server.report();
  expect((report?.up.lost ?? 0) + (report?.down.lost ?? 0) > 0).toBe(lossy);
}

test('every transport serves both objects over both families, plain and with both versions of TLS', async () => {
  const { client, server, running } = await openServed(['tcp', 'sctp-udp', 'sctp']);
  const { certificatePath } = running;
  expect(running.timers).toMatchObject({ initialMs: 1000, minMs: 200 });
  for (const transport of ['tcp', 'sctp-udp', 'sctp'] as const)
    for (const version of [null, '1.2', '1.3'] as const) {
      const paths = [server.ipv4, server.ipv6].map((address) => [{ transport, address }]);
      const secured = version === null ? {} : { port: TLS_PORT, tls: { version, certificatePath } };
      for (const objectBytes of OBJECTS) {
        const result = await runLoad(client, load({ paths, objectBytes, ...secured }));
        expectAllServed(result);
        expect(result.winners.map((each) => each.address).toSorted()).toEqual([server.ipv4, server.ipv6]);
        // TCP is established after one round trip, SCTP after two.
        const roundTrips = transport === 'tcp' ? 1 : 2;
        expect(result.establishedMs?.p10).toBeGreaterThanOrEqual(roundTrips * 2 * DELAY_MS);
      }
    }
});

const raceOf = (address: string, other: Transport = 'sctp-udp'): Candidate[] => [
  { transport: 'tcp', address },
  { transport: other, address },
];

test('the path decides the race, and the cache leaves out the loser', async () => {
  // TCP over IPv6 arrives later than any busy machine's SCTP, whose server is a program, while TCP's is the kernel.
  const shape: Shape = { delayMs: DELAY_MS, apart: { transport: 'tcp', family: 6, delayMs: 5000 } };
  const { client, server } = await openServed(['tcp', 'sctp-udp'], shape);
  const paths = [raceOf(server.ipv4), raceOf(server.ipv6)];
  const winners = ({ winners }: LoadResult) => winners.map(({ transport, address }) => [transport, address]);
  const expected = [
    ['tcp', server.ipv4],
    ['sctp-udp', server.ipv6],
  ];
  for (const hitShare of [0, 0.5, 1]) {
    const sent = await client.countSent({ transport: 'udp', family: 4 });
    const result = await runLoad(client, load({ paths, hitShare, durationMs: 1000 }));
    expectAllServed(result);
    expect(winners(result)).toEqual(expected);
    const shareOfRaces = result.races / result.ended;
    expect(Math.abs(shareOfRaces - (1 - hitShare))).toBeLessThan(0.15);
    // Over IPv4 every race sends an INIT and aborts its answer, and a hit sends nothing.
    const ofRaces = result.winners.find(({ transport }) => transport === 'tcp')?.ofRaces ?? 0;
    const learning = hitShare === 0 ? 0 : 1;
    const packets = await sent.read();
    expect(packets).toBeGreaterThanOrEqual(ofRaces + learning);
    expect(packets).toBeLessThanOrEqual(3 * (ofRaces + learning));
  }
});

test('by the first answer SCTP may win although TCP is established earlier', async () => {
  // SCTP is answered after 600 ms and established after 1200, TCP after 900.
  const shape: Shape = { delayMs: 300, apart: { transport: 'tcp', delayMs: 150 } };
  const { client, server } = await openServed(['tcp', 'sctp-udp'], shape);
  for (const [rule, winner] of [
    ['answer', 'sctp-udp'],
    ['established', 'tcp'],
  ] as const) {
    const settings = load({ paths: [raceOf(server.ipv4)], rule, perSecond: 20, durationMs: 5000 });
    const result = await runLoad(client, settings);
    expect(result.failures).toEqual({});
    const won = result.winners.find(({ transport }) => transport === winner)?.all ?? 0;
    // The other rule has the other winner, but a server that gets no processor for that long lets TCP be answered first:
    // every race that is under way during a pause of two seconds.
    expect(won / result.ended).toBeGreaterThan(0.4);
  }
});

test('six candidates at once have one winner, with TLS on it alone', async () => {
  const { client, server, running } = await openServed(['tcp', 'sctp', 'sctp-udp']);
  const six = (['tcp', 'sctp', 'sctp-udp'] as const).flatMap((transport) =>
    [server.ipv4, server.ipv6].map((address) => ({ transport, address })),
  );
  const tls = { version: '1.2', certificatePath: running.certificatePath } as const;
  const result = await runLoad(client, load({ paths: [six], port: TLS_PORT, tls }));
  expectAllServed(result);
  expect(result.races).toBe(result.ended);
  expect(new Set(result.winners.map(({ transport }) => transport))).toEqual(new Set(['tcp']));
});

for (const [transport, obstacle] of [
  ['sctp', { transport: 'sctp', effect: 'drop' }],
  ['sctp-udp', { transport: 'udp', effect: 'drop', port: ENCAPSULATION_PORT }],
] as const)
  test(`a middlebox that drops ${transport} leaves the race to TCP, and says so without it`, async () => {
    const { client, server } = await openServed(['tcp', transport]);
    const alone = load({ paths: [[{ transport, address: server.ipv4 }]], timeoutMs: 1500 });
    const before = await runLoad(client, { ...alone, timeoutMs: 20_000 });
    expect(before.failures).toEqual({});
    await server.obstruct([obstacle]);
    const raced = await runLoad(client, load({ paths: [raceOf(server.ipv4, transport)] }));
    expect(raced.failures).toEqual({});
    expect(raced.winners).toMatchObject([{ transport: 'tcp', all: raced.scheduled }]);
    const after = await runLoad(client, alone);
    expect(after.failures).toEqual({ 'timed-out': after.scheduled });
  });

test('the experiment measures its turns once, also if it is interrupted', async () => {
  const words = '--seconds 3 --object 1 --tls plain --loads 20 --cells tcp-hit0,sctp-hit100,tcp-hit100,six';
  const experiment = p1(parseOptions(words.split(' ')));
  const turns = async () => (await readJournal(dir, P1))?.turns ?? [];
  const { complete } = await record(experiment, dir);
  expect(complete).toBe(true);
  const all = await turns();
  expect(all.map(({ scenario }) => scenario).toSorted()).toEqual([
    '1k-plain-20rps-sctp-hit100',
    '1k-plain-20rps-six',
    '1k-plain-20rps-tcp-hit0',
    '1k-plain-20rps-tcp-hit100',
  ]);
  for (const { scenario, trials, load: result } of all) {
    expect(result.failures, scenario).toEqual({});
    expect(trials).toHaveLength(1);
    expect(trials[0]?.requests).toBeGreaterThan(10);
    expect(trials[0]?.serverMs).toBeGreaterThan(0);
    const alone = scenario.endsWith('hit100');
    expect(result.races, scenario).toBe(alone ? 0 : result.ended);
    if (alone) expect(result.winners).toHaveLength(1);
  }

  // As if it had been killed while it wrote the third line.
  const file = join(dir, 'trials.jsonl');
  const lines = (await readFile(file, 'utf8')).split('\n');
  await writeFile(file, [...lines.slice(0, 2), lines[2]?.slice(0, 100)].join('\n'));
  await record(p1(parseOptions(words.split(' '))), dir);
  const again = await turns();
  expect(again.slice(0, 2)).toEqual(all.slice(0, 2));
  expect(again.map(({ scenario }) => scenario).toSorted()).toEqual(
    all.map(({ scenario }) => scenario).toSorted(),
  );
});

for (const [peer, roundTrips] of [
  [sctpPlain, 2],
  [sctpTls, 3],
] as const)
  test(`as a client of adoption it is established after ${roundTrips} round trips`, async () => {
    const testbed = await openServedTestbed();
    try {
      await testbed.server.shape({ up: { delayMs: DELAY_MS }, down: { delayMs: DELAY_MS } });
      const opened = await peer(testbed);
      if (isAbsent(opened)) throw new Error(opened.why);
      const trials = await opened.run(5);
      expect(trials).toHaveLength(5);
      for (const { adopted, establishedMs, error } of trials) {
        expect([adopted, error]).toEqual(['http/1.0', undefined]);
        expect(establishedMs).toBeGreaterThanOrEqual(roundTrips * 2 * DELAY_MS);
      }
      await opened.close();
    } finally {
      await testbed.close();
    }
  });
