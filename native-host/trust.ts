// The helper's trust anchors: one list of roots and one chain verifier for both transports, so that trust never makes
// them differ. Publicly known roots are kept apart, because browsers refuse QUIC under any other.

import { X509Certificate } from 'node:crypto';
import { readFile } from 'node:fs/promises';
import { getCACertificates } from 'node:tls';
import { messageOf } from '@photofinish/shared/web/untrusted';
import { loadQuicAddon, type TrustStore } from './quic/addon.ts';

const PEM_CERTIFICATE = /-----BEGIN CERTIFICATE-----[^-]+-----END CERTIFICATE-----/g;

/**
 * The certificates as PEM. Throws an error that names the file and its fault: with a file that holds no certificate Node
 * would trust nothing, and say so only when a connection fails.
 */
export function certificatesIn(file: string, text: string): string {
  const certificates = text.match(PEM_CERTIFICATE) ?? [];
  if (certificates.length === 0) throw new Error(`the CA file ${file} holds no PEM certificate`);
  for (const [index, certificate] of certificates.entries()) {
    try {
      new X509Certificate(certificate);
    } catch (error) {
      throw new Error(`certificate ${index + 1} in the CA file ${file} is broken: ${messageOf(error)}`);
    }
  }
  return certificates.join('\n');
}

/** PEM texts; an element of `extra` may hold several certificates. */
interface Roots {
  /** Publicly known roots, as bundled with the runtime (Mozilla's list). */
  readonly bundled: readonly string[];
  /** Roots of the system and of the user's CA files that are not bundled. */
  readonly extra: readonly string[];
}

export interface Trust {
  /** Whether attempts offer ML-KEM key shares. */
  readonly postQuantum: boolean;
  /** The roots, read on the first call. Throws when the addon, which reads the system's, cannot be loaded. */
  roots(): Roots;
  /**
   * The roots as a store of the QUIC addon, created on the first call. The addon verifies the chains of its own
   * handshakes, and those of TCP by the same rules. Throws when the addon cannot be loaded.
   */
  store(): TrustStore;
}

async function readCaFile(file: string): Promise<string> {
  const text = await readFile(file, 'utf8').catch((error: unknown) => {
    throw new Error(`cannot read the CA file ${file}: ${messageOf(error)}`);
  });
  return certificatesIn(file, text);
}

/** What a certificate says, however its lines are wrapped. */
function contentsOf(pem: string): string {
  return pem.split('\n').join('');
}

/** A certificate as PEM, in lines of 64 characters (RFC 7468 section 2). */
export function pemOf(der: Uint8Array): string {
  const base64 = Buffer.from(der).toString('base64');
  return `-----BEGIN CERTIFICATE-----\n${base64.replaceAll(/.{64}(?=.)/g, '$&\n')}\n-----END CERTIFICATE-----\n`;
}

/** By which users of OpenSSL name certificates. */
const CERTIFICATE_VARIABLES = ['SSL_CERT_FILE', 'SSL_CERT_DIR'] as const;

/**
 * The system's roots, and those that the variables name. Read by the addon, for which the variables replace the
 * system's; a user who names one more CA expects the others to stay.
 */
function systemRoots(): readonly Uint8Array[] {
  const addon = loadQuicAddon();
  const set = CERTIFICATE_VARIABLES.flatMap((name) => {
    const value = process.env[name];
    return value === undefined ? [] : [[name, value] as const];
  });
  const named = set.some(([, value]) => value !== '') ? addon.systemRoots() : [];
  try {
    for (const [name] of set) delete process.env[name];
    return [...addon.systemRoots(), ...named];
  } finally {
    for (const [name, value] of set) process.env[name] = value;
  }
}

function readRoots(caPems: readonly string[]): Roots {
  const bundled = getCACertificates('bundled');
  // Not by Node, which parses every file of the system's list, and holds up the loop for tens of milliseconds.
  const others = [...systemRoots().map(pemOf), ...caPems];
  const extra = new Map(others.map((pem) => [contentsOf(pem), pem]));
  // Most of the system's are the same, and every one of a list costs time, here and with each chain.
  for (const pem of bundled) extra.delete(contentsOf(pem));
  return { bundled, extra: [...extra.values()] };
}

function trustOf(caPems: readonly string[], postQuantum: boolean): Trust {
  let roots: Roots | undefined;
  let store: TrustStore | undefined;
  const trust: Trust = {
    postQuantum,
    roots() {
      roots ??= readRoots(caPems);
      return roots;
    },
    store() {
      const { bundled, extra } = trust.roots();
      store ??= new (loadQuicAddon().TrustStore)([...bundled], [...extra], postQuantum);
      return store;
    },
  };
  return trust;
}

/**
 * Trust in the bundled roots, the system's, and those in `caFiles` (PEM). Rejects with an error that names the file that
 * cannot be used, and its fault.
 */
export async function readTrust(caFiles: readonly string[], postQuantum = true): Promise<Trust> {
  const pems: string[] = [];
  for (const file of caFiles) pems.push(await readCaFile(file));
  return trustOf(pems, postQuantum);
}
