// A DNS server on loopback that gives every question the same short answer, because what it has to say is no address.
import { createSocket } from 'node:dgram';
import { once } from 'node:events';

export interface DnsPeer {
  /** `address:port`, as `--resolver` takes it. */
  readonly resolver: string;
  stop(): void;
}

/** Response codes of RFC 1035 section 4.1.1. */
export const NO_ERROR = 0;
export const SERVER_FAILURE = 2;
export const NAME_ERROR = 3;

const LOOPBACK = '127.0.0.1';
/** QR, RD copied by every resolver's wish, RA. */
const RESPONSE_FLAGS = 0x8180;
const HEADER_BYTES = 12;
/** Type and class follow the name in a question. */
const QUESTION_TAIL_BYTES = 4;

/** The question's section, which an answer repeats. */
function questionOf(query: Buffer): Buffer {
  let end = HEADER_BYTES;
  for (let length = query[end] ?? 0; length > 0; length = query[end] ?? 0) end += length + 1;
  return query.subarray(HEADER_BYTES, end + 1 + QUESTION_TAIL_BYTES);
}

/** Answers every question with this response code and no record. */
export async function startDns(responseCode: number): Promise<DnsPeer> {
  const socket = createSocket('udp4');
  socket.on('message', (query, { port }) => {
    const header = Buffer.alloc(HEADER_BYTES);
    query.copy(header, 0, 0, 2);
    header.writeUInt16BE(RESPONSE_FLAGS | responseCode, 2);
    header.writeUInt16BE(1, 4);
    socket.send(Buffer.concat([header, questionOf(query)]), port, LOOPBACK);
  });
  socket.bind(0, LOOPBACK);
  await once(socket, 'listening');
  return { resolver: `${LOOPBACK}:${socket.address().port}`, stop: () => socket.close() };
}
