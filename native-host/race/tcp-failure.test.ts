// Which errors of a socket concern the path to the server, and which only this machine; who ended a TLS handshake. And
// the check of a certificate's names gives what Node's own gives for the certificate in its older form.
import assert from 'node:assert/strict';
import type { X509Certificate } from 'node:crypto';
import { test } from 'node:test';
import { checkServerIdentity, type PeerCertificate } from 'node:tls';
import { checkNames } from './h2.ts';
import { connectError } from './tcp-failure.ts';

function refusedWith(code: string) {
  const error = Object.assign(new Error(`connect ${code} 192.0.2.1:443`), { code });
  return connectError(error, { connected: false, judged: false });
}
const beforeConnecting = (code: string) => refusedWith(code).code;

test('a socket that this machine lacks says nothing about the server', () => {
  for (const code of [
    'EMFILE',
    'ENFILE',
    'ENOBUFS',
    'ENOMEM',
    'EADDRNOTAVAIL',
    'EADDRINUSE',
    'EPERM',
    'EINVAL',
  ])
    assert.equal(beforeConnecting(code), 'internal', code);
});

test('what this machine forbids is told as that, and not as a lack of sockets', {
  skip: process.platform === 'win32',
}, () => {
  assert.match(refusedWith('EPERM').message, /^this machine refuses to send over TCP: connect EPERM/);
  assert.match(refusedWith('EMFILE').message, /^no TCP socket can be opened: /);
});

test('a refused port, an unreachable host, no route and silence are told apart', () => {
  assert.equal(beforeConnecting('ECONNREFUSED'), 'tcp-refused');
  // A kernel without IPv6.
  assert.equal(beforeConnecting('EAFNOSUPPORT'), 'no-route');
  for (const code of ['EHOSTUNREACH', 'EACCES'])
    assert.equal(beforeConnecting(code), 'tcp-unreachable', code);
  for (const code of ['ENETUNREACH', 'ENETDOWN']) assert.equal(beforeConnecting(code), 'no-route', code);
  assert.equal(beforeConnecting('ETIMEDOUT'), 'tcp-timeout');
});

test('a blackhole route is no fault of ours, and any other invalid call is', {
  skip: process.platform !== 'linux',
}, () => {
  const invalid = (call: object) =>
    connectError(Object.assign(new Error('EINVAL'), { code: 'EINVAL', ...call }), {
      connected: false,
      judged: false,
    });
  for (const address of ['192.0.2.1', '2001:db8::1'])
    assert.deepEqual(invalid({ syscall: 'connect', address }), {
      code: 'tcp-unreachable',
      message: 'a blackhole route of this machine discards what is sent there',
    });
  assert.equal(invalid({ syscall: 'bind', address: '192.0.2.1' }).code, 'internal');
  assert.deepEqual(invalid({ syscall: 'connect', address: 'fe80::1' }), {
    code: 'no-route',
    message: 'a link-local address does not say on which interface it is',
  });
});

function duringHandshake(code: string) {
  const error = Object.assign(new Error('the whole message'), { code, reason: 'why' });
  return connectError(error, { connected: true, judged: false });
}

test("a server's alert is named, and what OpenSSL itself refuses is not told as one", () => {
  for (const [code, alert] of [
    ['ERR_SSL_SSLV3_ALERT_HANDSHAKE_FAILURE', 'handshake_failure'],
    ['ERR_SSL_TLSV1_UNRECOGNIZED_NAME', 'unrecognized_name'],
    ['ERR_SSL_TLSV1_UNSUPPORTED_EXTENSION', 'unsupported_extension'],
  ] as const)
    assert.deepEqual(duringHandshake(code), {
      code: 'tls-alert',
      message: `the server sent the TLS alert ${alert}`,
      wireCode: alert,
    });
  for (const code of ['ERR_SSL_DH_KEY_TOO_SMALL', 'ERR_SSL_BAD_ECPOINT'])
    assert.deepEqual(duringHandshake(code), { code: 'tls-alert', message: 'why', endedBy: 'client' });
});

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
