// Whom the helper trusts: one list of roots for both contenders, so that a difference between them is never the list.
// Publicly known roots are kept apart, because browsers refuse QUIC under any other.
import { X509Certificate } from 'node:crypto';
import { readFile } from 'node:fs/promises';
import { getCACertificates } from 'node:tls';

/** PEM texts; an element of `extra` may hold several certificates. */
export interface Roots {
  /** Publicly known roots, as bundled with the runtime (Mozilla's list). */
  readonly bundled: readonly string[];
  /** Those of the system and of the user's CA files. */
  readonly extra: readonly string[];
}

export interface Trust {
  /** The roots, read on the first call: the system's list alone takes tens of milliseconds. */
  roots(): Roots;
  /** Whether a verified chain (DER, leaf first, each issued by the next) also ends in a publicly known root. */
  endsInKnownRoot(chain: readonly Uint8Array[]): boolean;
}

export type TrustResult =
  | { readonly ok: true; readonly value: Trust }
  /** `message` names the file and what is wrong with it. */
  | { readonly ok: false; readonly message: string };

const PEM_CERTIFICATE = /-----BEGIN CERTIFICATE-----[^-]+-----END CERTIFICATE-----/g;

function reason(error: unknown): string {
  return error instanceof Error ? error.message : String(error);
}

async function readCaFile(file: string): Promise<{ pem: string } | { message: string }> {
  let text: string;
  try {
    text = await readFile(file, 'utf8');
  } catch (error) {
    return { message: `cannot read the CA file ${file}: ${reason(error)}` };
  }
  const certificates = text.match(PEM_CERTIFICATE) ?? [];
  if (certificates.length === 0) return { message: `the CA file ${file} holds no PEM certificate` };
  for (const [index, certificate] of certificates.entries()) {
    try {
      new X509Certificate(certificate);
    } catch (error) {
      return { message: `certificate ${index + 1} in the CA file ${file} is broken: ${reason(error)}` };
    }
  }
  return { pem: certificates.join('\n') };
}

function readRoots(caPems: readonly string[]): Roots {
  return {
    bundled: getCACertificates('bundled'),
    extra: [...new Set(getCACertificates('system')), ...caPems],
  };
}

/** Bundled roots by subject; a few share one. */
function bySubject(pems: readonly string[]): Map<string, X509Certificate[]> {
  return Map.groupBy(
    pems.map((pem) => new X509Certificate(pem)),
    (root) => root.subject,
  );
}

/**
 * Whether `certificate` is one of `roots` or was issued by one. The second matters for servers that send a cross-signed
 * root: the chain as sent then leads on to an older root, while the one that verified it is ours.
 */
function isAnchored(certificate: X509Certificate, roots: ReadonlyMap<string, X509Certificate[]>): boolean {
  const same = roots.get(certificate.subject) ?? [];
  if (same.some((root) => root.raw.equals(certificate.raw))) return true;
  const issuers = roots.get(certificate.issuer) ?? [];
  return issuers.some((root) => certificate.checkIssued(root) && certificate.verify(root.publicKey));
}

function trustOf(caPems: readonly string[]): Trust {
  let roots: Roots | undefined;
  let known: ReadonlyMap<string, X509Certificate[]> | undefined;
  return {
    roots() {
      roots ??= readRoots(caPems);
      known ??= bySubject(roots.bundled);
      return roots;
    },
    endsInKnownRoot(chain) {
      known ??= bySubject(getCACertificates('bundled'));
      const bundled = known;
      return chain.some((der) => isAnchored(new X509Certificate(der), bundled));
    },
  };
}

/** Trust in the bundled roots, the system's, and those in `caFiles` (PEM); says which file cannot be used, and why. */
export async function readTrust(caFiles: readonly string[]): Promise<TrustResult> {
  const pems: string[] = [];
  for (const file of caFiles) {
    const read = await readCaFile(file);
    if ('message' in read) return { ok: false, message: read.message };
    pems.push(read.pem);
  }
  return { ok: true, value: trustOf(pems) };
}
