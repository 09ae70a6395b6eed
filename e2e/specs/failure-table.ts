// The failures of single attempts, as a table: code, cause, peer and transport. Failures that need more than a peer's
// address are in the spec itself.
import type { AttemptErrorCode, CertificateReason } from '@photofinish/shared/race/terms';
import {
  CLOSED_PORT,
  HTTP1_ACTS,
  HTTP2_ACTS,
  refusingUdpPort,
  startGoAway,
  startHttp1,
  startHttp2,
  startNoise,
  startPlain,
  startSilence,
  startTls,
  startVersionNegotiation,
} from '../origins/raw.ts';
import type { BadChain, Behaviour, Testbed } from './peers.ts';

interface FailingEndpoint {
  readonly port: number;
  /** Whether an attempt there lasts until its time-out, whatever the code. */
  readonly endless?: boolean;
  stop?(): void;
}

export type FindEndpoint = (testbed: Testbed) => Promise<FailingEndpoint>;

/** What these omit is known only at the end of the attempt. */
const ENDLESS: readonly (Behaviour | BadChain)[] = ['settings-never', 'goaway'];
const ofAioquic =
  (name: Behaviour | BadChain): FindEndpoint =>
  async ({ aioquic }) => ({ port: aioquic.ports[name], endless: ENDLESS.includes(name) });
const http2 =
  (act: keyof typeof HTTP2_ACTS): FindEndpoint =>
  ({ identity }) =>
    startHttp2(identity, HTTP2_ACTS[act]);
const http1 =
  (act: keyof typeof HTTP1_ACTS): FindEndpoint =>
  ({ identity }) =>
    startHttp1(identity, HTTP1_ACTS[act]);
const tlsWith =
  (chain: BadChain): FindEndpoint =>
  async ({ chains }) =>
    startTls(await chains.read(chain));

export type Case = readonly [
  code: AttemptErrorCode,
  how: string,
  peer: 'aioquic' | 'raw UDP' | 'raw TCP' | 'the kernel' | 'node:tls' | 'node:http2' | 'node:https',
  mode: 'h3' | 'h2',
  where: FindEndpoint,
  /** The expected message, or the certificate's reason. */
  says: RegExp | CertificateReason,
];

export const CASES: readonly Case[] = [
  ['udp-timeout', 'silence', 'raw UDP', 'h3', startSilence, /no datagram came back/],
  [
    'udp-refused',
    'a closed port',
    'the kernel',
    'h3',
    async () => ({ port: await refusingUdpPort() }),
    /refused/,
  ],
  ['handshake-timeout', 'noise', 'raw UDP', 'h3', startNoise, /datagrams came back/],
  [
    'handshake-timeout',
    'Retry without an end',
    'aioquic',
    'h3',
    ofAioquic('retry-for-ever'),
    /Retry \d+ times/,
  ],
  [
    'version-mismatch',
    'Version Negotiation to versions of nobody',
    'raw UDP',
    'h3',
    startVersionNegotiation,
    /version/,
  ],
  ['version-mismatch', 'QUIC version 2 alone', 'aioquic', 'h3', ofAioquic('other-version'), /version/],
  ['alpn-mismatch', 'hq-interop alone', 'aioquic', 'h3', ofAioquic('other-alpn'), /./],
  ['certificate-invalid', 'expired', 'aioquic', 'h3', ofAioquic('expired'), 'expired'],
  ['certificate-invalid', 'not yet valid', 'aioquic', 'h3', ofAioquic('not-yet-valid'), 'not-yet-valid'],
  ['certificate-invalid', 'for a different name', 'aioquic', 'h3', ofAioquic('wrong-name'), 'wrong-name'],
  [
    'certificate-invalid',
    'under an unknown root',
    'aioquic',
    'h3',
    ofAioquic('unknown-root'),
    'unknown-issuer',
  ],
  [
    'tls-alert',
    'access_denied',
    'aioquic',
    'h3',
    ofAioquic('alert'),
    /peer refused.*TLS alert access_denied/,
  ],
  [
    'tls-alert',
    'a client certificate demanded',
    'aioquic',
    'h3',
    ofAioquic('certificate-required'),
    /TLS alert certificate_required/,
  ],
  [
    'connection-closed',
    'a stream that it may not open',
    'aioquic',
    'h3',
    ofAioquic('stream-too-many'),
    /STREAM_LIMIT_ERROR/,
  ],
  [
    'connection-closed',
    'CONNECTION_REFUSED before the handshake is done',
    'aioquic',
    'h3',
    ofAioquic('refuse'),
    /0x2\b/,
  ],
  ['connection-closed', 'a transport code after it', 'aioquic', 'h3', ofAioquic('close-transport'), /0x1\b/],
  [
    'connection-closed',
    'an application code after it',
    'aioquic',
    'h3',
    ofAioquic('close-application'),
    /gone fishing.*0x102/,
  ],
  [
    'connection-closed',
    'a code in place of the answer',
    'aioquic',
    'h3',
    ofAioquic('close-when-asked'),
    /0x102/,
  ],
  [
    'stateless-reset',
    'a server that has forgotten',
    'aioquic',
    'h3',
    ofAioquic('stateless-reset'),
    /does not know/,
  ],
  [
    'h3-error',
    'another frame before SETTINGS',
    'aioquic',
    'h3',
    ofAioquic('settings-late'),
    /H3_MISSING_SETTINGS/,
  ],
  ['h3-error', 'SETTINGS never sent', 'aioquic', 'h3', ofAioquic('settings-never'), /never sent .*SETTINGS/],
  ['h3-error', "HTTP/2's settings", 'aioquic', 'h3', ofAioquic('settings-reserved'), /H3_SETTINGS_ERROR/],
  ['h3-error', 'one setting twice', 'aioquic', 'h3', ofAioquic('settings-twice'), /H3_SETTINGS_ERROR/],
  ['h3-error', 'a body before its header', 'aioquic', 'h3', ofAioquic('data-first'), /H3_FRAME_UNEXPECTED/],
  ['h3-error', 'a stream reset', 'aioquic', 'h3', ofAioquic('reset'), /0x102/],
  [
    'response-too-large',
    'a header of 300 KB',
    'aioquic',
    'h3',
    ofAioquic('huge-header'),
    /larger than the 256 KiB/,
  ],
  ['version-fallback', 'H3_VERSION_FALLBACK', 'aioquic', 'h3', ofAioquic('want-older-http'), /0x110/],
  ['goaway', 'GOAWAY for the request under way', 'aioquic', 'h3', ofAioquic('goaway'), /shutting down/],
  ['goaway', 'GOAWAY and an orderly close', 'aioquic', 'h3', ofAioquic('goaway-and-close'), /./],
  ['goaway', 'H3_REQUEST_REJECTED', 'aioquic', 'h3', ofAioquic('reject'), /unprocessed.*0x10b/],
  ['misdirected', '421', 'aioquic', 'h3', ofAioquic('misdirected'), /421/],
  ['response-timeout', 'no response', 'aioquic', 'h3', ofAioquic('silent'), /in time/],
  ['response-timeout', 'a response that drips', 'aioquic', 'h3', ofAioquic('drip'), /in time/],

  ['tcp-refused', 'a closed port', 'the kernel', 'h2', async () => ({ port: CLOSED_PORT }), /ECONNREFUSED/],
  ['handshake-timeout', 'TCP, and silence', 'raw TCP', 'h2', () => startPlain(() => {}), /TCP connected/],
  [
    'alpn-mismatch',
    'acme-tls/1 alone',
    'node:tls',
    'h2',
    ({ identity }) => startTls({ ...identity, ALPNProtocols: ['acme-tls/1'] }),
    /neither/,
  ],
  ['certificate-invalid', 'expired', 'node:tls', 'h2', tlsWith('expired'), 'expired'],
  ['certificate-invalid', 'not yet valid', 'node:tls', 'h2', tlsWith('not-yet-valid'), 'not-yet-valid'],
  ['certificate-invalid', 'for a different name', 'node:tls', 'h2', tlsWith('wrong-name'), 'wrong-name'],
  [
    'certificate-invalid',
    'under an unknown root',
    'node:tls',
    'h2',
    tlsWith('unknown-root'),
    'unknown-issuer',
  ],
  [
    'tls-alert',
    'a server without a certificate',
    'node:tls',
    'h2',
    () => startTls({}),
    /TLS alert handshake_failure/,
  ],
  [
    'tls-alert',
    'a client certificate demanded',
    'node:tls',
    'h2',
    ({ identity }) => startTls({ ...identity, requestCert: true }),
    /TLS alert certificate_required/,
  ],
  [
    'tls-alert',
    'TLS 1.1 alone',
    'node:tls',
    'h2',
    ({ identity }) =>
      startTls({ ...identity, maxVersion: 'TLSv1.1', minVersion: 'TLSv1', ciphers: 'DEFAULT:@SECLEVEL=0' }),
    /TLS alert protocol_version|unsupported protocol/,
  ],
  [
    'tls-alert',
    'no TLS at all',
    'raw TCP',
    'h2',
    () => startPlain((socket) => socket.end('HTTP/1.1 400 Bad Request\r\n\r\n')),
    /does not speak TLS/,
  ],
  [
    'connection-closed',
    'FIN in the handshake',
    'raw TCP',
    'h2',
    () => startPlain((socket) => socket.end()),
    /./,
  ],
  [
    'connection-closed',
    'RST in the handshake',
    'raw TCP',
    'h2',
    () => startPlain((socket) => socket.resetAndDestroy()),
    /ECONNRESET/,
  ],
  ['connection-closed', 'closed in place of the answer', 'node:http2', 'h2', http2('close'), /./],
  ['connection-closed', 'a stream reset', 'node:http2', 'h2', http2('reset'), /INTERNAL_ERROR/],
  [
    'response-too-large',
    'a header of 300 KB over HTTP/1.1',
    'node:https',
    'h2',
    http1('hugeHeader'),
    /larger than the 256 KiB/,
  ],
  ['connection-closed', 'half a body over HTTP/1.1', 'node:https', 'h2', http1('truncate'), /./],
  ['connection-closed', 'an answer that is no HTTP', 'node:https', 'h2', http1('noHttp'), /./],
  [
    'goaway',
    'GOAWAY for the request under way',
    'node:tls',
    'h2',
    ({ identity }) => startGoAway(identity),
    /GOAWAY/,
  ],
  ['goaway', 'GOAWAY with ENHANCE_YOUR_CALM', 'node:http2', 'h2', http2('calm'), /ENHANCE_YOUR_CALM/],
  ['goaway', 'REFUSED_STREAM', 'node:http2', 'h2', http2('refuse'), /REFUSED_STREAM/],
  ['misdirected', '421', 'node:http2', 'h2', http2('misdirected'), /421/],
  ['misdirected', '421 over HTTP/1.1', 'node:https', 'h2', http1('misdirected'), /421/],
  ['response-timeout', 'no response', 'node:http2', 'h2', http2('silence'), /no complete response/],
  ['response-timeout', 'a response that drips', 'node:http2', 'h2', http2('drip'), /no complete response/],
  [
    'response-timeout',
    'a response that drips over HTTP/1.1',
    'node:https',
    'h2',
    http1('drip'),
    /no complete response/,
  ],
];

/** Unusual behaviour that must not be a failure. */
export const HARMLESS: readonly (readonly [
  how: string,
  peer: string,
  mode: 'h3' | 'h2',
  where: FindEndpoint,
])[] = [
  ['a Retry costs a round trip and no more', 'aioquic', 'h3', ofAioquic('retry-once')],
  ['an endless body is cut at the cap', 'aioquic', 'h3', ofAioquic('endless-body')],
  ['an endless body is cut at the cap', 'node:http2', 'h2', http2('endlessBody')],
  ['a header of 120 KB is read', 'aioquic', 'h3', ofAioquic('large-header')],
  ['a header of 120 KB is read', 'node:http2', 'h2', http2('largeHeader')],
];
