// The check of a certificate's names gives what Node's own gives for the certificate in its older form.
import assert from 'node:assert/strict';
import type { X509Certificate } from 'node:crypto';
import { test } from 'node:test';
import { checkServerIdentity, type PeerCertificate } from 'node:tls';
import { checkNames } from './tls-socket.ts';

const NAMES = [
  'DNS:a.test',
  'DNS:b.test, DNS:*.a.test',
  'DNS:b.test, IP Address:127.0.0.1',
  'IP Address:127.0.0.1',
  'IP Address:0:0:0:0:0:0:0:1',
  'DNS:"x\\u002c DNS:a.test"',
  'URI:"https://a.test/\\u002c DNS:a.test"',
  'email:a.test',
  undefined,
];
const SUBJECTS = [{ CN: 'a.test' }, { CN: ['b.test', '*.a.test'] }, { O: 'a.test' }, {}];
const HOSTS = ['a.test', 'A.test.', 'x.a.test', 'x.y.a.test', '127.0.0.1', '::1', 'ä.test'];

function certificate(parts: Pick<X509Certificate, 'subjectAltName' | 'toLegacyObject'>): X509Certificate {
  return parts as X509Certificate;
}

test('names and subject are judged as by Node, with its reasons', () => {
  for (const subjectAltName of NAMES)
    for (const subject of SUBJECTS)
      for (const host of HOSTS) {
        const legacy = { subject, subjectaltname: subjectAltName } as unknown as PeerCertificate;
        const ours = checkNames(certificate({ subjectAltName, toLegacyObject: () => legacy }), host);
        const which = `${host} of ${subjectAltName}, ${JSON.stringify(subject)}`;
        assert.equal(ours?.message, checkServerIdentity(host, legacy)?.message, which);
      }
});

test('a certificate whose names suffice is not translated', () => {
  const toLegacyObject = () => assert.fail('it was translated');
  assert.equal(
    checkNames(certificate({ subjectAltName: 'DNS:a.test', toLegacyObject }), 'a.test'),
    undefined,
  );
});

test('no certificate names no host', () => {
  assert.equal(
    (checkNames(undefined, 'a.test') as NodeJS.ErrnoException | undefined)?.code,
    'ERR_TLS_CERT_ALTNAME_INVALID',
  );
});
