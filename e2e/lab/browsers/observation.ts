// What a client did in one visit, from the packets on its devices and from the server's log, not from what it says: the
// DNS queries, the connection attempts, and the request that the server answered.
import { fileURLToPath } from 'node:url';
import { decode } from 'dns-packet';
import * as v from 'valibot';
import { openLineChannel } from '../../child-process.ts';
import type { Namespace } from '../../network/namespace.ts';
import { kindOf } from '../../origins/dns.ts';
import { protocolOf } from '../../origins/stack.ts';
import { PYTHON, PYTHON_FLAGS, requirePython } from '../../test-programs.ts';
import { figure } from '../journal.ts';

const SCRIPT = fileURLToPath(new URL('capture.py', import.meta.url));

const port = v.pipe(v.number(), v.integer(), v.minValue(0));
const packetSchema = v.object({
  /** By the kernel's wall clock, milliseconds since 1970. */
  atMs: v.number(),
  family: v.picklist([4, 6]),
  transport: v.picklist(['udp', 'tcp']),
  source: port,
  destination: port,
  /** TCP's (RFC 9293 section 3.1), the lower eight bits. */
  flags: v.optional(v.number()),
  /** The first byte of a datagram to or from another port than that of DNS. */
  first: v.optional(v.number()),
  /** Of DNS messages, hexadecimal. */
  payload: v.optional(v.string()),
});
export type Packet = v.InferOutput<typeof packetSchema>;

const lineSchema = v.union([packetSchema, v.string(), v.number()]);

export interface Capture {
  /** The packets since the last call that have passed until now. Rejects if the program has ended. */
  take(): Promise<Packet[]>;
  close(): Promise<void>;
}

/** Starts a capture of those ports on the devices of a namespace; resolves once it runs. */
export async function startCapture(
  namespace: Namespace,
  devices: readonly string[],
  ports: readonly number[],
): Promise<Capture> {
  requirePython();
  const child = namespace.spawn(PYTHON, [...PYTHON_FLAGS, SCRIPT, ports.join(','), ...devices]);
  const { next, send, stop } = openLineChannel('the capture', child);
  /** What it prints before the line by which it says that it is ready, or that it has reported everything. */
  const untilMark = async () => {
    const packets: Packet[] = [];
    for (;;) {
      const line = v.parse(lineSchema, JSON.parse(await next()));
      if (typeof line !== 'object') return packets;
      packets.push(line);
    }
  };
  await untilMark();
  return {
    take() {
      send(0);
      return untilMark();
    },
    close: stop,
  };
}

const HTTPS_PORT = 443;
const DNS_PORT = 53;
/** RFC 9293 section 3.1. */
const SYN = 0x02;
const ACK = 0x10;
/** RFC 9000 section 17.2.2: a long header of the type Initial; the lower four bits are protected. */
const TYPE_BITS = 0xf0;
const INITIAL = 0xc0;
const KINDS = ['A', 'AAAA', 'HTTPS'] as const;

/** Times are milliseconds from the visit's first packet, a query or an attempt. */
export const observationSchema = v.object({
  queries: v.array(v.object({ kind: v.picklist(KINDS), atMs: figure, answeredMs: v.nullable(figure) })),
  /** A TCP connection, or the datagrams of one local UDP port, in the order of their beginning. */
  attempts: v.array(
    v.object({
      transport: v.picklist(['udp', 'tcp']),
      family: v.picklist([4, 6]),
      atMs: figure,
      /** The first packet in return. */
      answeredMs: v.nullable(figure),
    }),
  ),
  /** The request in the server's log; null if none arrived. */
  request: v.nullable(v.object({ protocol: v.picklist(['h1', 'h2', 'h3']), family: v.picklist([4, 6]) })),
  /** Why the client gave up, in its own words. */
  error: v.optional(v.string()),
});
export type Observation = v.InferOutput<typeof observationSchema>;

const requestSchema = v.object({
  request: v.object({ remote_ip: v.string(), proto: v.string(), host: v.string() }),
});

export interface LoggedRequest extends NonNullable<Observation['request']> {
  readonly host: string;
}

/** A line of Caddy's access log. Throws for anything else. */
export function readRequest(line: string): LoggedRequest {
  const { remote_ip, proto, host } = v.parse(requestSchema, JSON.parse(line)).request;
  const served = protocolOf(proto);
  const protocol = served === 'http/1.1' ? 'h1' : served;
  // Clients may name the default port.
  return { host: host.replace(/:443$/, ''), protocol, family: remote_ip.includes(':') ? 6 : 4 };
}

interface Question {
  readonly id: number;
  readonly kind: (typeof KINDS)[number];
  readonly answer: boolean;
}

/** The question of a DNS message on that name; null for other names and types. */
function questionOn(host: string, payload: string): Question | null {
  const { id = 0, type, questions } = decode(Buffer.from(payload, 'hex'));
  const [question] = questions ?? [];
  if (question?.name.toLowerCase() !== host) return null;
  const known = KINDS.find((each) => each === kindOf(question));
  return known === undefined ? null : { id, kind: known, answer: type === 'response' };
}

/** The first of a flow's packets in each direction. */
interface Flow {
  readonly atMs: number;
  answeredMs: number | null;
}

function queriesIn(packets: readonly Packet[], host: string) {
  const flows = new Map<string, Flow & { readonly kind: Question['kind'] }>();
  for (const { atMs, payload, source, destination } of packets) {
    const question = payload === undefined ? null : questionOn(host, payload);
    if (question === null) continue;
    const { id, kind, answer } = question;
    const client = source === DNS_PORT ? destination : source;
    const key = `${client} ${id} ${kind}`;
    const known = flows.get(key);
    if (!answer && known === undefined) flows.set(key, { kind, atMs, answeredMs: null });
    else if (answer && known !== undefined) known.answeredMs ??= atMs;
  }
  return [...flows.values()];
}

/** Identifies a connection by the client's end; null for packets of other ports than that of HTTPS. */
export function connectionOf({ transport, family, source, destination }: Packet): string | null {
  if (source !== HTTPS_PORT && destination !== HTTPS_PORT) return null;
  return `${transport} ${family} ${destination === HTTPS_PORT ? source : destination}`;
}

/** Six repetitions of a SYN, the last after a minute (tcp_syn_retries), and no QUIC client goes on for as long. */
const REPEATED_WITHIN_MS = 130_000;

/**
 * The connections whose packets may still arrive: ports are used again later, and a packet that begins a connection on
 * one of these is an attempt of its own. `lastSeenMs` has the time of each connection's last packet.
 */
export function recentConnections(
  lastSeenMs: ReadonlyMap<string, number>,
  nowMs: number,
): ReadonlySet<string> {
  return new Set(
    [...lastSeenMs].flatMap(([connection, atMs]) => (nowMs - atMs < REPEATED_WITHIN_MS ? connection : [])),
  );
}

/** Whether a packet begins a connection, or repeats that: TCP's SYN, QUIC's Initial. */
function opens({ transport, flags = 0, first = 0 }: Packet): boolean {
  return transport === 'tcp' ? (flags & (SYN | ACK)) === SYN : (first & TYPE_BITS) === INITIAL;
}

function attemptsIn(packets: readonly Packet[], earlier: ReadonlySet<string>) {
  const flows = new Map<string, Flow & Pick<Packet, 'transport' | 'family'>>();
  for (const packet of packets) {
    const { atMs, transport, family, destination } = packet;
    const connection = connectionOf(packet);
    if (connection === null || earlier.has(connection)) continue;
    const known = flows.get(connection);
    if (destination !== HTTPS_PORT && known !== undefined) known.answeredMs ??= atMs;
    else if (destination === HTTPS_PORT && known === undefined && opens(packet))
      flows.set(connection, { transport, family, atMs, answeredMs: null });
  }
  return [...flows.values()];
}

interface VisitTraffic {
  /** Of one visit, in any order. */
  readonly packets: readonly Packet[];
  /** Connections that began before the visit, which may still be closing. */
  readonly earlier: ReadonlySet<string>;
  /** The name visited; queries for others are not the visit's. */
  readonly host: string;
  readonly request: LoggedRequest | null;
  readonly error?: string | undefined;
}

/** The observation of a visit, in milliseconds to three decimals. */
export function observe({ packets, earlier, host, request, error }: VisitTraffic): Observation {
  const inOrder = packets.toSorted((a, b) => a.atMs - b.atMs);
  const [queries, attempts] = [queriesIn(inOrder, host), attemptsIn(inOrder, earlier)];
  const startMs = Math.min(...[...queries, ...attempts].map(({ atMs }) => atMs));
  const since = (atMs: number) => Math.round((atMs - startMs) * 1000) / 1000;
  const shifted = <T extends Flow>(flow: T) => ({
    ...flow,
    atMs: since(flow.atMs),
    answeredMs: flow.answeredMs === null ? null : since(flow.answeredMs),
  });
  return {
    queries: queries.map(shifted),
    attempts: attempts.map(shifted),
    request: request && { protocol: request.protocol, family: request.family },
    ...(error !== undefined && { error }),
  };
}
