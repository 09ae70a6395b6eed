// A DNS server with a script for every name: records of its own kind, late, lost or refused.
import { createSocket } from 'node:dgram';
import { once } from 'node:events';
import { isIPv4 } from 'node:net';
import { decode, encode, type Answer as Packet } from 'dns-packet';

/** An HTTPS record (RFC 9460); priority 0 is AliasMode. */
export interface HttpsRecord {
  readonly priority: number;
  /** `.` stands for the name that has the record. */
  readonly target: string;
  readonly alpn?: readonly string[];
  readonly port?: number;
  readonly hints?: readonly string[];
}

/** Records at once, records that are late, no answer at all, or a server that fails. */
export type Answer<Data> =
  | readonly Data[]
  | { readonly records: readonly Data[]; readonly afterMs: number }
  | 'lost'
  | 'SERVFAIL';

/** An HTTPS record as its octets, in hexadecimal. */
export interface RawRecord {
  readonly rdata: string;
}

export interface HostScript {
  readonly A?: Answer<string>;
  readonly AAAA?: Answer<string>;
  readonly HTTPS?: Answer<HttpsRecord | RawRecord>;
}

export interface RunningDns {
  /** `address:port`, as `--resolver` takes it. */
  readonly resolver: string;
  /** Every question so far, as `HTTPS both.test`. */
  readonly asked: readonly string[];
  stop(): void;
}

const LOOPBACK = '127.0.0.1';
const TTL_SECONDS = 60;
/** What the package calls a type of which it knows the number alone. */
const HTTPS = 'UNKNOWN_65';
/** Recursion desired and available, and the codes of RFC 1035 section 4.1.1. */
const FLAGS = 0x0180;
const SERVFAIL = 2;
const NXDOMAIN = 3;
/** Keys of service parameters (RFC 9460 section 14.3.2). */
const KEYS = { alpn: 1, port: 3, ipv4Hint: 4, ipv6Hint: 6 } as const;

function u16(value: number): Buffer {
  return Buffer.of(value >> 8, value & 0xff);
}

function prefixed(text: string): Buffer {
  return Buffer.from([text.length, ...Buffer.from(text)]);
}

function parameter(key: keyof typeof KEYS, value: Buffer): Buffer {
  return value.length === 0 ? value : Buffer.concat([u16(KEYS[key]), u16(value.length), value]);
}

function addressBytes(address: string): Buffer {
  // The package writes an address as it stands in a record of its own.
  const type = isIPv4(address) ? 'A' : 'AAAA';
  const message = encode({ type: 'response', answers: [{ type, name: '.', data: address }] });
  return message.subarray(-(type === 'A' ? 4 : 16));
}

function httpsData({ priority, target, alpn = [], port, hints = [] }: HttpsRecord): Buffer {
  const hintsOf = (v4: boolean) =>
    Buffer.concat(hints.filter((hint) => isIPv4(hint) === v4).map(addressBytes));
  const labels = target.split('.').filter((label) => label !== '');
  return Buffer.concat([
    u16(priority),
    ...labels.map(prefixed),
    Buffer.of(0),
    parameter('alpn', Buffer.concat(alpn.map(prefixed))),
    parameter('port', port === undefined ? Buffer.alloc(0) : u16(port)),
    parameter('ipv4Hint', hintsOf(true)),
    parameter('ipv6Hint', hintsOf(false)),
  ]);
}

function packetOf(name: string, kind: keyof HostScript, record: string | HttpsRecord | RawRecord): Packet {
  const packet = { name, ttl: TTL_SECONDS };
  if (typeof record === 'string') return { ...packet, type: kind === 'AAAA' ? 'AAAA' : 'A', data: record };
  const data = 'rdata' in record ? Buffer.from(record.rdata, 'hex') : httpsData(record);
  return { ...packet, type: HTTPS, data } as unknown as Packet;
}

/** Starts a server for these names, on loopback unless said; every other name does not exist. */
export async function startDns(
  names: Readonly<Record<string, HostScript>>,
  { address, port } = { address: LOOPBACK, port: 0 },
): Promise<RunningDns> {
  const socket = createSocket('udp4');
  const timers = new Set<NodeJS.Timeout>();
  const asked: string[] = [];
  socket.on('message', (bytes, peer) => {
    const query = decode(bytes);
    const [question] = query.questions ?? [];
    if (question === undefined) return;
    const kind = ((question.type as string) === HTTPS ? 'HTTPS' : question.type) as keyof HostScript;
    asked.push(`${kind} ${question.name}`);
    const script = names[question.name.toLowerCase()];
    const answer: Answer<string | HttpsRecord | RawRecord> = script?.[kind] ?? [];
    if (answer === 'lost') return;
    const code = script === undefined ? NXDOMAIN : answer === 'SERVFAIL' ? SERVFAIL : 0;
    const { records, afterMs } =
      answer === 'SERVFAIL'
        ? { records: [], afterMs: 0 }
        : 'afterMs' in answer
          ? answer
          : { records: answer, afterMs: 0 };
    const message = encode({
      type: 'response',
      id: query.id ?? 0,
      flags: FLAGS | code,
      questions: [question],
      answers: records.map((record) => packetOf(question.name, kind, record)),
    });
    timers.add(setTimeout(() => socket.send(message, peer.port, peer.address), afterMs));
  });
  socket.bind(port, address);
  await once(socket, 'listening');
  return {
    resolver: `${address}:${socket.address().port}`,
    asked,
    stop() {
      for (const timer of timers) clearTimeout(timer);
      socket.close();
    },
  };
}
