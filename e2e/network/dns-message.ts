// The few DNS messages a laboratory needs (RFC 1035 section 4, RFC 9460): a question read, an answer written.
import { isIP } from 'node:net';

/** What a name has; a name without an entry does not exist. */
export interface ZoneEntry {
  readonly a?: readonly string[];
  readonly aaaa?: readonly string[];
  /** ServiceMode records for the name itself, by priority. */
  readonly https?: readonly { readonly priority: number; readonly alpn: readonly string[] }[];
}

/** Names in small letters, without the dot at the end. */
export type Zone = Readonly<Record<string, ZoneEntry>>;

const HEADER_BYTES = 12;
const TYPES = { A: 1, AAAA: 28, HTTPS: 65 } as const;
const CLASS_IN = 1;
const TTL_SECONDS = 60;
/** Response and authoritative; the bit that asks for recursion is given back. */
const FLAGS = 0x8400;
const RECURSION_DESIRED = 0x0100;
const NAME_ERROR = 3;
/** A pointer to the question's name (RFC 1035 section 4.1.4). */
const QUESTION_NAME = 0xc000 | HEADER_BYTES;
const SVC_KEY_ALPN = 1;

function u16(...values: number[]): Buffer {
  const bytes = Buffer.alloc(2 * values.length);
  for (const [index, value] of values.entries()) bytes.writeUInt16BE(value, 2 * index);
  return bytes;
}

function readQuestion(message: Buffer): { name: string; type: number; end: number } {
  const labels: string[] = [];
  let at = HEADER_BYTES;
  for (let length = message.readUInt8(at); length > 0; length = message.readUInt8(at)) {
    labels.push(message.toString('latin1', at + 1, at + 1 + length));
    at += 1 + length;
  }
  return { name: labels.join('.').toLowerCase(), type: message.readUInt16BE(at + 1), end: at + 5 };
}

/** The bytes of an address literal. Throws a RangeError for anything else. */
function addressBytes(address: string): Buffer {
  if (isIP(address) === 4) return Buffer.from(address.split('.').map(Number));
  if (isIP(address) !== 6) throw new RangeError(`${address} is no address`);
  const [head = '', tail] = address.split('::');
  const groups = (text: string) => text.split(':').filter((group) => group !== '');
  const [before, after] = [groups(head), groups(tail ?? '')];
  const zeros = new Array<string>(8 - before.length - after.length).fill('0');
  return u16(...[...before, ...zeros, ...after].map((group) => Number.parseInt(group, 16)));
}

function serviceBytes(priority: number, alpn: readonly string[]): Buffer {
  const value = Buffer.concat(alpn.map((id) => Buffer.from([id.length, ...Buffer.from(id)])));
  const ownName = Buffer.from([0]);
  return Buffer.concat([u16(priority), ownName, u16(SVC_KEY_ALPN, value.length), value]);
}

function recordsOf(entry: ZoneEntry, type: number): Buffer[] {
  if (type === TYPES.A) return (entry.a ?? []).map(addressBytes);
  if (type === TYPES.AAAA) return (entry.aaaa ?? []).map(addressBytes);
  if (type !== TYPES.HTTPS) return [];
  return (entry.https ?? []).map(({ priority, alpn }) => serviceBytes(priority, alpn));
}

/** The answer to a query from the zone. Throws a RangeError for what is no query. */
export function answerQuery(query: Buffer, zone: Zone): Buffer {
  const { name, type, end } = readQuestion(query);
  const entry = zone[name];
  const records = entry === undefined ? [] : recordsOf(entry, type);
  const flags = FLAGS | (query.readUInt16BE(2) & RECURSION_DESIRED) | (entry === undefined ? NAME_ERROR : 0);
  const answers = records.map((data) =>
    Buffer.concat([u16(QUESTION_NAME, type, CLASS_IN, 0, TTL_SECONDS, data.length), data]),
  );
  const header = u16(query.readUInt16BE(0), flags, 1, records.length, 0, 0);
  return Buffer.concat([header, query.subarray(HEADER_BYTES, end), ...answers]);
}
