// HTTP/2 frames as octets (RFC 9113 section 4.1), for misbehaving peers.
const TYPES = { DATA: 0, HEADERS: 1, PRIORITY: 2, SETTINGS: 4, PING: 6, CONTINUATION: 9 } as const;

/** A type by its name, or an unregistered one. */
export type Http2FrameKind = keyof typeof TYPES | number;

/** One frame without flags. */
export function http2Frame(kind: Http2FrameKind, stream: number, payload: Buffer): Buffer {
  const head = Buffer.alloc(9);
  head.writeUIntBE(payload.length, 0, 3);
  head.writeUInt8(typeof kind === 'number' ? kind : TYPES[kind], 3);
  head.writeUInt32BE(stream, 5);
  return Buffer.concat([head, payload]);
}
