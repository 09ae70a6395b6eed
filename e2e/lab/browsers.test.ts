// Which sweeps a run of `browsers` makes, and that none can disturb another; the steps of a turn in which QUIC fails,
// on a testbed that only notes them; and what a client did, from packets and log lines as they are recorded.
import assert from 'node:assert/strict';
import { test } from 'node:test';
import { encode } from 'dns-packet';
import {
  type Observation,
  observe,
  type Packet,
  readRequest,
  recentConnections,
} from './browsers/observation.ts';
import { SUBJECTS, type Subject } from './browsers/subjects.ts';
import { avoid, DELAYS_MS, hostOf, hostsOf, SWEEPS, WAYS, type Way } from './browsers/sweeps.ts';
import type { NamedTestbed, Visitor } from './browsers/testbed.ts';
import { expectedMs, parseOptions } from './browsers.ts';

test('everything at 21 delays unless the command line says otherwise', () => {
  const { sweeps, delaysMs, subjects, trials } = parseOptions([]);
  assert.deepEqual([sweeps.length, delaysMs.length, subjects.length], [SWEEPS.length, 21, 5]);
  assert.deepEqual(
    delaysMs.toSorted((a, b) => a - b),
    DELAYS_MS,
  );
  assert.ok(parseOptions(['--full']).trials > trials);
});

test('a part of it, in its own order', () => {
  const { sweeps, delaysMs, subjects } = parseOptions([
    '--sweeps=ipv6,quic-https',
    '--delays=250,0',
    '--only=v3,chromium',
    '--trials=2',
  ]);
  assert.deepEqual(
    [sweeps.map(({ name }) => name), delaysMs, subjects.map(({ name }) => name)],
    [
      ['quic-https', 'ipv6'],
      [0, 250],
      ['chromium', 'v3'],
    ],
  );
});

test('QUIC that fails is part of a run, on its own where only that is named', () => {
  assert.ok(parseOptions([]).ways.length > 0);
  const { sweeps, ways } = parseOptions(['--sweeps=broken-once']);
  assert.deepEqual([sweeps, ways.map(({ way, trials }) => [way.name, trials])], [[], [['broken-once', 1]]]);
  assert.ok(expectedMs(parseOptions(['--sweeps=broken-once'])) > 5 * 60_000);
  const hosts = SUBJECTS.map((subject) => hostOf(WAYS[0] as Way, subject).name);
  assert.equal(new Set(hosts).size, SUBJECTS.length, 'no client shares a host with another');
});

test('rejects what it does not know', () => {
  for (const [bad, why] of [
    ['--delays=251', /does not know "251"/],
    ['--sweeps=tcp', /does not know "tcp"/],
    ['--only=curl', /does not know "curl"/],
    ['--trials=0', /from 1 to/],
  ] as const)
    assert.throws(() => parseOptions([bad]), why);
  assert.throws(() => parseOptions(['--full', '--trials=3']), /one of --full and --trials/);
});

test('no two cells share a host, so that nothing learnt at one delay is known at another', () => {
  const names = hostsOf(SWEEPS, DELAYS_MS).map(({ name }) => name);
  assert.equal(new Set(names).size, SWEEPS.length * DELAYS_MS.length);
});

test('a run is expected to take what the recorded one took, and a longer run longer', () => {
  const minutes = expectedMs(parseOptions([])) / 60_000;
  assert.ok(minutes > 85 && minutes < 100, `${minutes}`);
  assert.ok(expectedMs(parseOptions(['--full'])) > 5 * expectedMs(parseOptions(['--trials=1'])));
});

/** Runs one turn of one client, which uses these protocols in turn; returns what happened, and its visits. */
async function stepsOf(name: string, protocols: readonly ('h2' | 'h3')[]) {
  const steps: string[] = [];
  const answers = [...protocols];
  const visitor: Visitor = {
    forget: async () => void steps.push('forget'),
    visit: async () => undefined,
    learn: async () => void steps.push('learn'),
    part: async () => void steps.push('part'),
    close: async () => void steps.push('close'),
  };
  const subject = { name: 'fake', start: async () => visitor } as unknown as Subject;
  const testbed = {
    server: {
      obstruct: async (obstacles: readonly object[]) =>
        void steps.push(obstacles.length > 0 ? 'break' : 'mend'),
      shape: async ({ up }: { up?: { apart?: object } }) =>
        void steps.push(up?.apart === undefined ? 'clean' : 'late'),
    },
    drain: async () => {},
    changeAddress: async () => void steps.push('other address'),
    async observe(): Promise<Observation> {
      steps.push('visit');
      const protocol = answers.shift() ?? 'h2';
      return { queries: [], attempts: [], request: { protocol, family: 4 } };
    },
  } as unknown as NamedTestbed;
  const way = WAYS.find((each) => each.name === name);
  assert.ok(way);
  const [client] = await avoid(testbed, way, [subject], 60_000, () => {});
  return { steps: steps.slice(2), visits: client?.visits ?? [] };
}

const LEARNT_TWICE = ['forget', 'learn', 'part', 'learn', 'part'];

test('QUIC is broken in one visit only, and the turn ends when HTTP/3 is back', async () => {
  const { steps, visits } = await stepsOf('broken-once', ['h2', 'h3']);
  const failing = ['break', 'part', 'visit', 'mend'];
  assert.deepEqual(steps, [...LEARNT_TWICE, ...failing, 'part', 'visit', 'mend', 'close']);
  assert.deepEqual(
    visits.map(({ request }) => request?.protocol),
    ['h2', 'h3'],
  );
  assert.equal(visits[0]?.startedMs, 0);
});

test('QUIC that is broken from then on is not mended before the turn ends', async () => {
  const { steps } = await stepsOf('broken-still', ['h2', 'h3']);
  const visits = ['break', 'part', 'visit', 'part', 'visit'];
  assert.deepEqual(steps, [...LEARNT_TWICE, ...visits, 'mend', 'close']);
});

test('where HTTP/3 is not to have been used, one lesson teaches only Alt-Svc', async () => {
  const { steps } = await stepsOf('broken-unused', ['h2', 'h3']);
  assert.equal(steps.filter((step) => step === 'learn').length, 1);
});

test('after a late handshake the connections are kept once, and closed before nothing is late', async () => {
  const { steps } = await stepsOf('late-quic', ['h2', 'h2', 'h3']);
  const visits = ['late', 'part', 'visit', 'visit', 'clean', 'part', 'visit'];
  assert.deepEqual(steps, [...LEARNT_TWICE, ...visits, 'mend', 'close']);
});

const HOST = 'a.test';
const INITIAL = 0xc3;
const SHORT_HEADER = 0x43;
const [SYN, SYN_ACK] = [0x02, 0x12];

type PacketFields = Pick<Packet, 'atMs'> & Partial<Packet> & { readonly port?: number };

const sent = ({ port = 4000, ...own }: PacketFields): Packet => ({
  family: 6,
  transport: 'tcp',
  source: port,
  destination: 443,
  ...own,
});
const back = ({ port = 4000, ...own }: PacketFields): Packet => ({
  family: 6,
  transport: 'tcp',
  source: 443,
  destination: port,
  ...own,
});

function dns(atMs: number, name: string, type: 'A' | 'AAAA' | 'UNKNOWN_65', response = false): Packet {
  const questions = [{ name, type: type as 'A' }];
  const message = encode({ type: response ? 'response' : 'query', id: 7, questions });
  const ports = response ? { source: 53, destination: 5000 } : { source: 5000, destination: 53 };
  return { atMs, family: 4, transport: 'udp', ...ports, payload: message.toString('hex') };
}

function seen(packets: readonly Packet[], earlier: readonly string[] = []) {
  return observe({ packets, earlier: new Set(earlier), host: HOST, request: null });
}

test('times count from the first packet, in whatever order packets are reported', () => {
  const { attempts } = seen([
    back({ atMs: 1110.5, flags: SYN_ACK }),
    sent({ atMs: 1250, family: 4, port: 4001, flags: SYN }),
    sent({ atMs: 1000.25, flags: SYN }),
  ]);
  assert.deepEqual(attempts, [
    { transport: 'tcp', family: 6, atMs: 0, answeredMs: 110.25 },
    { transport: 'tcp', family: 4, atMs: 249.75, answeredMs: null },
  ]);
});

test('a port that was used long ago is an attempt again', () => {
  const lastSeenMs = new Map([
    ['udp 6 4000', 0],
    ['udp 6 4001', 60_000],
  ]);
  assert.deepEqual([...recentConnections(lastSeenMs, 130_000)], ['udp 6 4001']);
});

test('a retransmission is no second attempt, another port is', () => {
  const { attempts } = seen([
    sent({ atMs: 0, flags: SYN }),
    sent({ atMs: 1000, flags: SYN }),
    sent({ atMs: 1100, flags: SYN, port: 4001 }),
  ]);
  assert.deepEqual(
    attempts.map(({ atMs }) => atMs),
    [0, 1100],
  );
});

test('only an Initial begins a QUIC attempt, and only of a connection younger than the visit', () => {
  const { attempts } = seen(
    [
      sent({ atMs: 0, transport: 'udp', first: SHORT_HEADER }),
      sent({ atMs: 5, transport: 'udp', port: 4001, first: INITIAL }),
      sent({ atMs: 9, transport: 'udp', port: 4002, first: INITIAL }),
      back({ atMs: 20, transport: 'udp', port: 4002, first: INITIAL }),
    ],
    ['udp 6 4001'],
  );
  assert.deepEqual(attempts, [{ transport: 'udp', family: 6, atMs: 0, answeredMs: 11 }]);
});

test('queries on the host are matched with their answers; those on others do not count', () => {
  const { queries } = seen([
    dns(10, HOST, 'A'),
    dns(11, 'other.test', 'A'),
    dns(12, HOST, 'UNKNOWN_65'),
    dns(60, HOST, 'UNKNOWN_65', true),
  ]);
  assert.deepEqual(queries, [
    { kind: 'A', atMs: 0, answeredMs: null },
    { kind: 'HTTPS', atMs: 2, answeredMs: 50 },
  ]);
});

test('the server’s log tells protocol and family, also where the client names the default port', () => {
  const line = (proto: string, remote_ip: string, host: string) =>
    JSON.stringify({ ts: 1, request: { remote_ip, proto, host, uri: '/' } });
  assert.deepEqual(readRequest(line('HTTP/3.0', '2001:db8::1', HOST)), {
    host: HOST,
    protocol: 'h3',
    family: 6,
  });
  assert.deepEqual(readRequest(line('HTTP/2.0', '10.0.0.1', `${HOST}:443`)), {
    host: HOST,
    protocol: 'h2',
    family: 4,
  });
  assert.throws(() => readRequest(line('SPDY/3', '10.0.0.1', HOST)), /SPDY/);
});
