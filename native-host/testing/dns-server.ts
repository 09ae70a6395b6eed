// A DNS server on loopback for tests of discovery: the real client queries it over UDP, and the test scripts its
// answers.
import { createSocket } from 'node:dgram';
import { EventEmitter, once } from 'node:events';
import { isIPv4 } from 'node:net';
import type { TestContext } from 'node:test';
import { decode, encode, type Answer as Packet } from 'dns-packet';
import { addressBytes } from '../address/address-bytes.ts';
import type { QueryKind } from '../discover/answer.ts';

/** Response codes (RFC 1035 section 4.1.1). */
const CODES = { NXDOMAIN: 3, SERVFAIL: 2, REFUSED: 5 } as const;
/** The package's name for HTTPS records, of which it only knows the type number. */
const HTTPS = 'UNKNOWN_65';

export interface HttpsScript {
  readonly priority?: number;
  readonly target?: string;
  readonly alpn?: readonly string[];
  readonly port?: number;
  readonly hints?: readonly string[];
}

/** Records (addresses, or HTTPS records), a response code, or silence. */
type Reply =
  | {
      readonly records: readonly (string | HttpsScript)[];
      readonly ttl?: number;
      /** Holds the answer back until then. */
      readonly after?: Promise<unknown>;
    }
  | keyof typeof CODES
  | 'silence';

/** `nth` counts the questions for this name and type from 1. */
export type Script = (name: string, kind: QueryKind, nth: number) => Reply;

export interface DnsTestbed {
  readonly server: string;
  /** Every question so far, as `A a.test`. */
  readonly asked: readonly string[];
  /** Those that are not answered, or whose answer is held back. */
  readonly held: ReadonlySet<string>;
  /** Resolves once that question has been asked. */
  received(question: string): Promise<void>;
}

function parameter(key: number, value: Buffer): Buffer {
  const head = Buffer.alloc(4);
  head.writeUInt16BE(key, 0);
  head.writeUInt16BE(value.length, 2);
  return Buffer.concat([head, value]);
}

function labels(name: string): Buffer {
  const parts = name.split('.').filter((label) => label !== '');
  return Buffer.concat([
    ...parts.map((label) => Buffer.from([label.length, ...Buffer.from(label)])),
    Buffer.of(0),
  ]);
}

/** The RDATA of an HTTPS record (RFC 9460 section 2.2). */
function httpsData({ priority = 1, target = '.', alpn = [], port, hints = [] }: HttpsScript): Buffer {
  const bytesOf = (v4: boolean): Buffer =>
    Buffer.from(hints.filter((hint) => isIPv4(hint) === v4).flatMap((hint) => addressBytes(hint)));
  const [hints4, hints6] = [bytesOf(true), bytesOf(false)];
  return Buffer.concat([
    Buffer.of(priority >> 8, priority & 0xff),
    labels(target),
    ...(alpn.length > 0
      ? [parameter(1, Buffer.concat(alpn.map((id) => Buffer.from([id.length, ...Buffer.from(id)]))))]
      : []),
    ...(port === undefined ? [] : [parameter(3, Buffer.of(port >> 8, port & 0xff))]),
    ...(hints4.length > 0 ? [parameter(4, hints4)] : []),
    ...(hints6.length > 0 ? [parameter(6, hints6)] : []),
  ]);
}

function packetOf(name: string, kind: QueryKind, record: string | HttpsScript, ttl: number): Packet {
  if (typeof record === 'string') return { type: kind === 'A' ? 'A' : 'AAAA', name, ttl, data: record };
  return { type: HTTPS, name, ttl, data: httpsData(record) } as unknown as Packet;
}

/** Starts a scripted server, stopped after the test. */
export async function dnsTestbed(t: TestContext, script: Script): Promise<DnsTestbed> {
  const socket = createSocket('udp4');
  const asked: string[] = [];
  const held = new Set<string>();
  const questions = new EventEmitter();
  let open = true;
  socket.on('message', async (bytes, peer) => {
    const query = decode(bytes);
    const [question] = query.questions ?? [];
    if (question === undefined) return;
    const kind = ((question.type as string) === HTTPS ? 'HTTPS' : question.type) as QueryKind;
    const name = `${kind} ${question.name}`;
    asked.push(name);
    const reply = script(question.name, kind, asked.filter((one) => one === name).length);
    const code = typeof reply === 'string' && reply !== 'silence' ? CODES[reply] : 0;
    const { records = [], after = null, ttl = 300 } = typeof reply === 'string' ? {} : reply;
    if (reply === 'silence' || after !== null) held.add(name);
    questions.emit('question');
    if (reply === 'silence') return;
    if (after !== null) {
      await after;
      held.delete(name);
    }
    if (!open) return;
    const answers = records.map((record) => packetOf(question.name, kind, record, ttl));
    const flags = 0x0180 | code;
    const answer = encode({ type: 'response', id: query.id ?? 0, flags, questions: [question], answers });
    socket.send(answer, peer.port, peer.address);
  });
  socket.bind(0, '127.0.0.1');
  await once(socket, 'listening');
  t.after(() => {
    open = false;
    socket.close();
  });
  return {
    server: `127.0.0.1:${socket.address().port}`,
    asked,
    held,
    async received(question) {
      while (!asked.includes(question)) await once(questions, 'question');
    },
  };
}

/** Records of a few names; every other name does not exist. */
export function zone(
  names: Readonly<Record<string, Partial<Record<QueryKind, readonly (string | HttpsScript)[]>>>>,
): Script {
  return (name, kind) => {
    const records = names[name.toLowerCase()];
    return records === undefined ? 'NXDOMAIN' : { records: records[kind] ?? [] };
  };
}
