// Why an attempt failed and what a site operator can do about it, one entry for every code of the taxonomy. Each is the
// end of a sentence; {host} and {port} are the place, {message} is what was seen, {advert} is what names the place.
import type { AttemptError, AttemptErrorCode, CertificateReason } from './outcome.ts';

const CERTIFICATE: Record<CertificateReason, string> = {
  expired:
    'its certificate there has expired. Renew it, and restart what serves {port}: it may still hold the old one.',
  'not-yet-valid':
    'its certificate there is not valid yet. Check the dates of the certificate and the clock of the server.',
  'wrong-name':
    'the certificate there is for another name. Serve one that names the origin’s own host on {port}.',
  'unknown-issuer':
    'the certificate there ends in an issuer that is not trusted. Serve the whole chain, the intermediate certificates included, or one of a public issuer.',
  revoked: 'its certificate there is revoked. Replace it.',
  'bad-signature':
    'a signature in its certificate chain there does not verify. Serve the chain exactly as it was issued.',
  other: 'its certificate there is refused ({message}). Serve the same certificate as on TCP.',
};

const CAUSES: Record<Exclude<AttemptErrorCode, 'certificate-invalid'>, string> = {
  'dns-failed': '{host} cannot be looked up ({message}). Correct the name or its DNS.',
  'no-address': '{host} has no address. Add A and AAAA records, or correct the name.',
  'udp-refused': 'UDP there is refused. Open UDP {port} on the server or withdraw {advert}.',
  'udp-timeout':
    'nothing comes back over UDP. A firewall on the way drops it, or no QUIC server listens. Open UDP {port} or withdraw {advert}.',
  'handshake-timeout':
    'the QUIC handshake starts and never finishes. Look for a path that drops large UDP datagrams, or a server that is overloaded or repeats Retry.',
  'tcp-refused': 'TCP there is refused. Start the server, or open TCP {port}.',
  'tcp-timeout': 'nothing comes back over TCP. The host is down, or a firewall on the way drops TCP {port}.',
  'version-mismatch':
    'the server speaks no QUIC version that browsers speak. Enable QUIC version 1 (RFC 9000).',
  'alpn-mismatch':
    'the server there accepts no protocol that was offered (ALPN). Enable it in its configuration.',
  'tls-alert':
    'the TLS handshake is refused ({message}). Compare the TLS settings there with those that work; QUIC needs TLS 1.3.',
  'connection-closed':
    'the server closes the connection ({message}). Look at the server log for the reason, and whether a balancer in front knows this host.',
  'stateless-reset':
    'the server forgets the connection (stateless reset). Route all packets of one connection to one backend, by connection ID.',
  'h3-error':
    'the handshake works and HTTP/3 then breaks ({message}). Look at the server log for HTTP/3 errors.',
  goaway:
    'the server goes away before it answers (GOAWAY). It is being shut down or drained; if that lasts, look at its restarts and limits.',
  misdirected:
    'the server answers 421 (Misdirected Request). Configure this host there as on the origin, or withdraw {advert}.',
  'response-timeout':
    'the handshake works and the answer never comes. The usual cause is a path that loses packets larger than the handshake’s (path MTU): let ICMP "packet too big" through, or lower the MTU of the tunnel. Else the application behind does not answer.',
  blocked: 'the address policy refuses its address. Allow private addresses if the host is yours.',
  cancelled: 'the attempt was cancelled.',
};

export interface PlaceWords {
  readonly host: string;
  readonly port: number;
  /** What names the place and could be withdrawn, for example `the Alt-Svc header`. */
  readonly advert: string;
}

/** The cause and the remedy as the end of a sentence, with its full stop. */
export function causeWords(error: AttemptError, place: PlaceWords): string {
  const words =
    error.code === 'certificate-invalid' ? CERTIFICATE[error.reason ?? 'other'] : CAUSES[error.code];
  const fill: Record<string, string> = { ...place, port: String(place.port), message: error.message };
  return words.replace(/\{(\w+)\}/g, (_, name: string) => fill[name] ?? '');
}
