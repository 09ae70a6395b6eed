// A DNS server with scripted answers for every name: records, delayed, lost, refused, or by the thousand.
import { createSocket, type Socket as UdpSocket } from 'node:dgram';
import { once } from 'node:events';
import { createServer, isIPv4, type Server as TcpServer, type Socket as TcpSocket } from 'node:net';
import { createInterface } from 'node:readline';
import { fileURLToPath } from 'node:url';
import { decode, encode, type Question } from 'dns-packet';
import { whenReady } from '../child-process.ts';
import type { Namespace } from '../network/namespace.ts';

/** An HTTPS record (RFC 9460); priority 0 is AliasMode. */
export interface HttpsRecord {
  readonly priority: number;
  /** `.` means the name that owns the record. */
  readonly target: string;
  readonly alpn?: readonly string[];
  readonly port?: number;
  readonly hints?: readonly string[];
}

/** Immediate records, delayed records, no response, or SERVFAIL. */
type Answer<Data> =
  | readonly Data[]
  | { readonly records: readonly Data[]; readonly afterMs: number }
  | 'lost'
  | 'SERVFAIL';

/** An HTTPS record's RDATA, in hexadecimal. */
interface RawRecord {
  readonly rdata: string;
}

export interface HostScript {
  readonly A?: Answer<string>;
  readonly AAAA?: Answer<string>;
  readonly HTTPS?: Answer<HttpsRecord | RawRecord>;
  /** The name is an alias for this one, whatever type is queried. */
  readonly CNAME?: string;
}

export interface RunningDns {
  /** `address:port`, the format of `--resolver`. */
  readonly resolver: string;
  /** Every query so far, such as `HTTPS both.test`. */
  readonly queries: readonly string[];
  stop(): void;
}

const LOOPBACK = '127.0.0.1';
const DNS_PORT = 53;
/** A server inside a namespace is a process that runs this file. */
const PROCESS = fileURLToPath(import.meta.url);
const TTL_SECONDS = 60;
const TYPES = { A: 1, CNAME: 5, AAAA: 28, HTTPS: 65 } as const;
/** A compression pointer to the query's name (RFC 1035 section 4.1.4), so that 4,000 records fit into one message. */
const QUERIED_NAME = Buffer.of(0xc0, 0x0c);
const CLASS_IN = 1;
const ANSWER_COUNT_AT = 6;
/** Larger responses are truncated over UDP, and the client retries over TCP. */
const MAX_UDP_BYTES = 1232;
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
  // The package encodes addresses only as part of a record.
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
  return Buffer.concat([QUERIED_NAME, u16(TYPES[kind]), u16(CLASS_IN), ttl, u16(data.length), data]);
}

type Data = string | HttpsRecord | RawRecord;

const encoded = new WeakMap<readonly Data[], readonly Buffer[]>();

/** Encoded once: thousands of records take a while. */
function recordsOf(kind: keyof typeof TYPES, records: readonly Data[]): readonly Buffer[] {
  const known = encoded.get(records) ?? records.map((record) => recordOf(kind, dataOf(record)));
  encoded.set(records, known);
  return known;
}

type Names = Readonly<Record<string, HostScript>>;

interface Reply {
  readonly message: Buffer;
  /** The truncated response (TC) that makes the client retry over TCP. */
  readonly truncated: Buffer;
  readonly afterMs: number;
}

/** What a question asks for. The package names a type that it does not know, such as that of HTTPS, by its number. */
export const kindOf = ({ type }: Question): string => (type === `UNKNOWN_${TYPES.HTTPS}` ? 'HTTPS' : type);

/** The response to a query; null for none. */
function replyTo(bytes: Buffer, names: Names, queries: string[]): Reply | null {
  const query = decode(bytes);
  const [question] = query.questions ?? [];
  if (question === undefined) return null;
  const kind = kindOf(question) as 'A' | 'AAAA' | 'HTTPS';
  queries.push(`${kind} ${question.name}`);
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

/** One query and its response over TCP, each preceded by its length (RFC 1035 section 4.2.2). */
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

/** Listens on one port for both transports; 0 chooses a free one. */
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

/** Starts a server for these names, by default on loopback; every other name is NXDOMAIN. */
export async function startDns(
  names: Names,
  { address, port } = { address: LOOPBACK, port: 0 },
): Promise<RunningDns> {
  const timers = new Set<NodeJS.Timeout>();
  const queries: string[] = [];
  const { udp, tcp, port: own } = await listen(names, address, port);
  udp.on('message', (bytes, peer) => {
    const reply = replyTo(bytes, names, queries);
    if (reply === null) return;
    const fits = reply.message.length <= MAX_UDP_BYTES;
    const send = (): void => udp.send(fits ? reply.message : reply.truncated, peer.port, peer.address);
    timers.add(setTimeout(send, reply.afterMs));
  });
  return {
    resolver: `${address}:${own}`,
    queries,
    stop() {
      for (const timer of timers) clearTimeout(timer);
      udp.close();
      tcp.close();
    },
  };
}

/** Starts a server that knows where these origins on loopback are; no record there advertises anything. */
export function startDnsFor(origins: readonly { readonly host: string }[]): Promise<RunningDns> {
  return startDns(Object.fromEntries(origins.map(({ host }) => [host, { A: [LOOPBACK] }])));
}

/**
 * Starts such a server as a process inside a namespace, on port 53 of one of its IPv4 addresses; it ends with `stop`, and
 * with the network. Rejects if it cannot listen.
 */
export async function startDnsInside(inside: Namespace, address: string, names: Names) {
  const child = inside.spawn(process.execPath, [PROCESS, address]);
  child.stdin.write(`${JSON.stringify(names)}\n`);
  const { line: resolver, stop } = await whenReady('the DNS server', child);
  return { resolver, stop };
}

// As a separate process: `dns.ts ADDRESS` answers on port 53 according to the script, one line of JSON on standard
// input, prints its address, and exits when standard input closes.
if (import.meta.main) {
  const [address = ''] = process.argv.slice(2);
  const input = createInterface(process.stdin).once('close', () => process.exit(0));
  const [names] = await once(input, 'line');
  const { resolver } = await startDns(JSON.parse(names), { address, port: DNS_PORT });
  process.stdout.write(`${resolver}\n`);
}
