// A DNS server with a script for every name: records of its own kind, late, lost, refused, or by the thousand.
import { createSocket, type Socket as UdpSocket } from 'node:dgram';
import { once } from 'node:events';
import { createServer, isIPv4, type Server as TcpServer, type Socket as TcpSocket } from 'node:net';
import { decode, encode } from 'dns-packet';

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
type Answer<Data> =
  | readonly Data[]
  | { readonly records: readonly Data[]; readonly afterMs: number }
  | 'lost'
  | 'SERVFAIL';

/** An HTTPS record as its octets, in hexadecimal. */
interface RawRecord {
  readonly rdata: string;
}

export interface HostScript {
  readonly A?: Answer<string>;
  readonly AAAA?: Answer<string>;
  readonly HTTPS?: Answer<HttpsRecord | RawRecord>;
  /** The name is another name for this one, whatever is asked. */
  readonly CNAME?: string;
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
const TYPES = { A: 1, CNAME: 5, AAAA: 28, HTTPS: 65 } as const;
/** Points at the name of the question (RFC 1035 section 4.1.4), so that 4,000 records fit into one message. */
const ASKED_NAME = Buffer.of(0xc0, 0x0c);
const CLASS_IN = 1;
const ANSWER_COUNT_AT = 6;
/** More is asked for over TCP, as the truncated answer over UDP says. */
const MOST_UDP_BYTES = 1232;
const TRUNCATED = 0x0200;
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
  if (isIPv4(address)) return Buffer.from(address.split('.').map(Number));
  // The package writes an address as it stands in a record of its own.
  const message = encode({ type: 'response', answers: [{ type: 'AAAA', name: '.', data: address }] });
  return message.subarray(-16);
}

function nameBytes(name: string): Buffer {
  const labels = name.split('.').filter((label) => label !== '');
  return Buffer.concat([...labels.map(prefixed), Buffer.of(0)]);
}

function httpsData({ priority, target, alpn = [], port, hints = [] }: HttpsRecord): Buffer {
  const hintsOf = (v4: boolean) =>
    Buffer.concat(hints.filter((hint) => isIPv4(hint) === v4).map(addressBytes));
  return Buffer.concat([
    u16(priority),
    nameBytes(target),
    parameter('alpn', Buffer.concat(alpn.map(prefixed))),
    parameter('port', port === undefined ? Buffer.alloc(0) : u16(port)),
    parameter('ipv4Hint', hintsOf(true)),
    parameter('ipv6Hint', hintsOf(false)),
  ]);
}

function dataOf(record: Data): Buffer {
  if (typeof record === 'string') return addressBytes(record);
  return 'rdata' in record ? Buffer.from(record.rdata, 'hex') : httpsData(record);
}

function recordOf(kind: keyof typeof TYPES, data: Buffer): Buffer {
  const ttl = Buffer.alloc(4);
  ttl.writeUInt32BE(TTL_SECONDS);
  return Buffer.concat([ASKED_NAME, u16(TYPES[kind]), u16(CLASS_IN), ttl, u16(data.length), data]);
}

type Data = string | HttpsRecord | RawRecord;

const encoded = new WeakMap<readonly Data[], readonly Buffer[]>();

/** Made once: thousands of them take their time. */
function recordsOf(kind: keyof typeof TYPES, records: readonly Data[]): readonly Buffer[] {
  const known = encoded.get(records) ?? records.map((record) => recordOf(kind, dataOf(record)));
  encoded.set(records, known);
  return known;
}

type Names = Readonly<Record<string, HostScript>>;

interface Reply {
  readonly message: Buffer;
  /** Says instead that the answer is to be asked for over TCP. */
  readonly truncated: Buffer;
  readonly afterMs: number;
}

/** What a question is answered with; null: nothing. */
function replyTo(bytes: Buffer, names: Names, asked: string[]): Reply | null {
  const query = decode(bytes);
  const [question] = query.questions ?? [];
  if (question === undefined) return null;
  const kind = ((question.type as string) === HTTPS ? 'HTTPS' : question.type) as 'A' | 'AAAA' | 'HTTPS';
  asked.push(`${kind} ${question.name}`);
  const script = names[question.name.toLowerCase()];
  const answer: Answer<Data> = script?.[kind] ?? [];
  if (answer === 'lost') return null;
  const code = script === undefined ? NXDOMAIN : answer === 'SERVFAIL' ? SERVFAIL : 0;
  const { records, afterMs } =
    answer === 'SERVFAIL'
      ? { records: [], afterMs: 0 }
      : 'afterMs' in answer
        ? answer
        : { records: answer, afterMs: 0 };
  const answers =
    script?.CNAME === undefined ? recordsOf(kind, records) : [recordOf('CNAME', nameBytes(script.CNAME))];
  const headOf = (flags: number, count: number): Buffer => {
    const head = encode({ type: 'response', id: query.id ?? 0, flags: flags | code, questions: [question] });
    head.writeUInt16BE(count, ANSWER_COUNT_AT);
    return head;
  };
  const message = Buffer.concat([headOf(FLAGS, answers.length), ...answers]);
  return { message, truncated: headOf(FLAGS | TRUNCATED, 0), afterMs };
}

/** One question and its answer over TCP, each behind its length (RFC 1035 section 4.2.2). */
function answerOverTcp(socket: TcpSocket, names: Names): void {
  let received = Buffer.alloc(0);
  socket.on('error', () => {});
  socket.on('data', (bytes: Buffer) => {
    received = Buffer.concat([received, bytes]);
    if (received.length < 2 || received.length < 2 + received.readUInt16BE(0)) return;
    const reply = replyTo(received.subarray(2, 2 + received.readUInt16BE(0)), names, []);
    if (reply !== null) socket.end(Buffer.concat([u16(reply.message.length), reply.message]));
  });
}

interface Sockets {
  readonly udp: UdpSocket;
  readonly tcp: TcpServer;
  readonly port: number;
}

/** One port for both transports, a free one where it is 0. */
async function listen(names: Names, address: string, port: number): Promise<Sockets> {
  for (;;) {
    const udp = createSocket('udp4');
    udp.bind(port, address);
    await once(udp, 'listening');
    const tcp = createServer((socket) => answerOverTcp(socket, names));
    const listening = once(tcp, 'listening').then(
      () => true,
      () => false,
    );
    tcp.listen(udp.address().port, address);
    if (await listening) return { udp, tcp, port: udp.address().port };
    udp.close();
    if (port !== 0) throw new Error(`TCP port ${port} is taken`);
  }
}

/** Starts a server for these names, on loopback unless said; every other name does not exist. */
export async function startDns(
  names: Names,
  { address, port } = { address: LOOPBACK, port: 0 },
): Promise<RunningDns> {
  const timers = new Set<NodeJS.Timeout>();
  const asked: string[] = [];
  const { udp, tcp, port: own } = await listen(names, address, port);
  udp.on('message', (bytes, peer) => {
    const reply = replyTo(bytes, names, asked);
    if (reply === null) return;
    const fits = reply.message.length <= MOST_UDP_BYTES;
    const send = (): void => udp.send(fits ? reply.message : reply.truncated, peer.port, peer.address);
    timers.add(setTimeout(send, reply.afterMs));
  });
  return {
    resolver: `${address}:${own}`,
    asked,
    stop() {
      for (const timer of timers) clearTimeout(timer);
      udp.close();
      tcp.close();
    },
  };
}

// In a process of its own, so that it can run inside a namespace: `dns.ts ADDRESS NAMES` answers on UDP port 53 by the
// script in JSON, says where, and ends with its standard input.
if (import.meta.main) {
  const [address = '', names = '{}'] = process.argv.slice(2);
  const { resolver } = await startDns(JSON.parse(names), { address, port: 53 });
  process.stdout.write(`${resolver}\n`);
  process.stdin.on('end', () => process.exit(0)).resume();
}
