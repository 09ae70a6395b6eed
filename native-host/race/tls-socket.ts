// TLS over TCP, and the judgement of a server's certificate there: its names by Node's rules, and the chain that OpenSSL
// has accepted by the QUIC transport's too. Each judges rules that the other does not, and both transports must satisfy
// both.
import type { X509Certificate } from 'node:crypto';
import { isIP } from 'node:net';
import type { Duplex } from 'node:stream';
import {
  type ConnectionOptions,
  checkServerIdentity,
  connect,
  type DetailedPeerCertificate,
  type SecureContext,
  type TLSSocket,
} from 'node:tls';
import type { ChainVerdict, TrustStore } from '../quic/addon.ts';
import type { AttemptTarget } from './transport.ts';

/** In place of a certificate in Node's older form. */
const UNTRANSLATED = {} as DetailedPeerCertificate;

/**
 * Reads the server's certificate, undefined without one. Spares the connection the translation of its whole chain, keys
 * included, into Node's older form: Node makes one for `checkServerIdentity` alone, which is a sixth of what a
 * connection costs. To be called before the handshake.
 */
function certificateReader(socket: TLSSocket): () => X509Certificate | undefined {
  socket.getPeerCertificate = () => UNTRANSLATED;
  let read: X509Certificate | undefined;
  return () => {
    // Node takes the chain out of its connection with the first call.
    read ??= socket.getPeerX509Certificate();
    return read;
  };
}

/** Node's `checkServerIdentity`: why the certificate does not name `host`, undefined if it does. */
export function checkNames(certificate: X509Certificate | undefined, host: string): Error | undefined {
  if (certificate === undefined) return checkServerIdentity(host, UNTRANSLATED);
  const { subjectAltName } = certificate;
  const named = { ...UNTRANSLATED, ...(subjectAltName !== undefined && { subjectaltname: subjectAltName }) };
  if (checkServerIdentity(host, named) === undefined) return undefined;
  // Without a name among those, the subject may decide.
  return checkServerIdentity(host, certificate.toLegacyObject());
}

/** No resumption: no session is offered or stored. */
function tlsOptions(
  target: AttemptTarget,
  secureContext: SecureContext,
  alpn: readonly string[],
): ConnectionOptions {
  return {
    secureContext,
    // Explicit, because NODE_TLS_REJECT_UNAUTHORIZED would make this transport trust anybody.
    rejectUnauthorized: true,
    ALPNProtocols: [...alpn],
    // An address literal is not a valid server name (RFC 6066 section 3); the certificate is still checked against it.
    ...(isIP(target.host) === 0 && { servername: target.host }),
  };
}

interface SecureConnection {
  readonly socket: TLSSocket;
  /** The server's, once the handshake is done. */
  readonly certificate: () => X509Certificate | undefined;
}

/** Starts TLS over a stream to the target. */
export function secure(
  stream: Duplex,
  target: AttemptTarget,
  secureContext: SecureContext,
  alpn: readonly string[],
): SecureConnection {
  const socket: TLSSocket = connect({
    ...tlsOptions(target, secureContext, alpn),
    checkServerIdentity: () => checkNames(certificate(), target.host),
    socket: stream,
  });
  const certificate = certificateReader(socket);
  return { socket, certificate };
}

/** Verifies a chain that OpenSSL has accepted with the QUIC transport's verifier. */
export function judgeChain(
  certificate: X509Certificate | undefined,
  host: string,
  store: TrustStore,
): ChainVerdict {
  const chain: Buffer[] = [];
  for (let each = certificate; each !== undefined; each = each.issuerCertificate) chain.push(each.raw);
  return store.judge(host, chain);
}
