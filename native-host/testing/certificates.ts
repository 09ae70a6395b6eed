// Certificates for exactly the names that a test asks for, which those of the origin server's CA are not: they all name
// loopback too. Just enough DER (X.690) for a CA and what it issues (RFC 5280).
import { generateKeyPairSync, type KeyObject, sign } from 'node:crypto';
import { isIPv4 } from 'node:net';
import { pemOf } from '../trust.ts';

function der(tag: number, ...parts: readonly Uint8Array[]): Buffer {
  const content = Buffer.concat(parts);
  const { length } = content;
  const long = length < 0x100 ? [0x81, length] : [0x82, length >> 8, length & 0xff];
  return Buffer.concat([Buffer.of(tag, ...(length < 0x80 ? [length] : long)), content]);
}

const SEQUENCE = 0x30;
const SET = 0x31;
const INTEGER = 0x02;
const BIT_STRING = 0x03;
const OCTET_STRING = 0x04;
const OBJECT_ID = 0x06;
const UTF8_STRING = 0x0c;
const UTC_TIME = 0x17;
const GENERALIZED_TIME = 0x18;
const VERSION = 0xa0;
const EXTENSIONS = 0xa3;
/** Of a GeneralName. */
const DNS_NAME = 0x82;
const IP_ADDRESS = 0x87;

const object = (hex: string): Buffer => der(OBJECT_ID, Buffer.from(hex, 'hex'));
const ECDSA_WITH_SHA256 = der(SEQUENCE, object('2a8648ce3d040302'));
const COMMON_NAME = object('550403');
const BASIC_CONSTRAINTS = object('551d13');
const SUBJECT_ALT_NAME = object('551d11');
const IS_CA = der(SEQUENCE, Buffer.from('0101ff', 'hex'));

function named(name: string): Buffer {
  return der(SEQUENCE, der(SET, der(SEQUENCE, COMMON_NAME, der(UTF8_STRING, Buffer.from(name)))));
}

function generalName(name: string): Buffer {
  return isIPv4(name)
    ? der(IP_ADDRESS, Buffer.from(name.split('.').map(Number)))
    : der(DNS_NAME, Buffer.from(name));
}

interface Request {
  readonly subject: string;
  readonly key: KeyObject;
  readonly extension: Buffer;
}

let serial = 0;

function issued({ subject, key, extension }: Request, issuer: string, issuerKey: KeyObject): string {
  serial += 1;
  const from = der(UTC_TIME, Buffer.from('200101000000Z'));
  const until = der(GENERALIZED_TIME, Buffer.from('21200101000000Z'));
  const content = der(
    SEQUENCE,
    der(VERSION, der(INTEGER, Buffer.of(2))),
    der(INTEGER, Buffer.of(1, serial)),
    ECDSA_WITH_SHA256,
    named(issuer),
    der(SEQUENCE, from, until),
    named(subject),
    key.export({ type: 'spki', format: 'der' }),
    der(EXTENSIONS, der(SEQUENCE, extension)),
  );
  const signature = der(BIT_STRING, Buffer.of(0), sign('sha256', content, issuerKey));
  return pemOf(der(SEQUENCE, content, ECDSA_WITH_SHA256, signature));
}

export interface Leaf {
  readonly cert: string;
  readonly key: string;
}

/** PEM. */
interface ThrowawayCa {
  readonly cert: string;
  /** A certificate for these names and IPv4 addresses alone. */
  issue(...names: readonly string[]): Leaf;
}

export function throwawayCa(): ThrowawayCa {
  const keys = () => generateKeyPairSync('ec', { namedCurve: 'P-256' });
  const ca = keys();
  const extended = (kind: Buffer, value: Buffer): Buffer => der(SEQUENCE, kind, der(OCTET_STRING, value));
  const subject = 'Photofinish test CA';
  const constraints = extended(BASIC_CONSTRAINTS, IS_CA);
  return {
    cert: issued({ subject, key: ca.publicKey, extension: constraints }, subject, ca.privateKey),
    issue(...names) {
      const { publicKey, privateKey } = keys();
      const extension = extended(SUBJECT_ALT_NAME, der(SEQUENCE, ...names.map(generalName)));
      const request = { subject: 'Photofinish test server', key: publicKey, extension };
      return {
        cert: issued(request, subject, ca.privateKey),
        key: String(privateKey.export({ type: 'pkcs8', format: 'pem' })),
      };
    },
  };
}
