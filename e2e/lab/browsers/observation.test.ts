// What a client did, from packets and log lines as they are recorded.
import assert from 'node:assert/strict';
import { test } from 'node:test';
import { encode } from 'dns-packet';
import { observe, type Packet, readRequest, recentConnections } from './observation.ts';

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
