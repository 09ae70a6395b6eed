// HTTP/2's error codes (RFC 9113 section 7) by name: Node and undici tell of some by number and of others by name.

/** In the registry's order, from 0. */
const NAMES = [
  'NO_ERROR',
  'PROTOCOL_ERROR',
  'INTERNAL_ERROR',
  'FLOW_CONTROL_ERROR',
  'SETTINGS_TIMEOUT',
  'STREAM_CLOSED',
  'FRAME_SIZE_ERROR',
  'REFUSED_STREAM',
  'CANCEL',
  'COMPRESSION_ERROR',
  'CONNECT_ERROR',
  'ENHANCE_YOUR_CALM',
  'INADEQUATE_SECURITY',
  'HTTP_1_1_REQUIRED',
] as const;

/** The name of a code, or the code itself where nobody has registered one. */
export function http2CodeName(code: number): string {
  return NAMES[code] ?? `0x${code.toString(16)}`;
}
