// Which errors of a socket concern the path to the server, and which only this machine.
import assert from 'node:assert/strict';
import { test } from 'node:test';
import { connectError } from './tcp-failure.ts';

function beforeConnecting(code: string): string {
  const error = Object.assign(new Error(`connect ${code} 192.0.2.1:443`), { code });
  return connectError(error, { connected: false, judged: false }).code;
}

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

test('a refused port, an unreachable host, no route and silence are told apart', () => {
  assert.equal(beforeConnecting('ECONNREFUSED'), 'tcp-refused');
  // A kernel without IPv6.
  assert.equal(beforeConnecting('EAFNOSUPPORT'), 'no-route');
  for (const code of ['EHOSTUNREACH', 'EACCES'])
    assert.equal(beforeConnecting(code), 'tcp-unreachable', code);
  for (const code of ['ENETUNREACH', 'ENETDOWN']) assert.equal(beforeConnecting(code), 'no-route', code);
  assert.equal(beforeConnecting('ETIMEDOUT'), 'tcp-timeout');
});
