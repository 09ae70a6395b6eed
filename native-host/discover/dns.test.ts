import assert from 'node:assert/strict';
import { type TestContext, test } from 'node:test';
import { serviceRecordSchema } from '@photofinish/shared/race/discovered';
import * as v from 'valibot';
import { loadQuicAddon } from '../quic/addon.ts';
import { dnsTestbed, type Script, zone } from '../testing/dns-server.ts';
import type { Answer } from './answer.ts';
import { type Getaddrinfo, lastResort, openDns } from './dns.ts';

const never = new AbortController().signal;

function addressesOf(answer: Answer): readonly string[] {
  assert.ok(answer.ok && answer.kind !== 'HTTPS', JSON.stringify(answer));
  return answer.addresses.map(({ address }) => address);
}

/** The system's client with a server of ours instead of the configured ones. */
async function system(t: TestContext, script: Script, getaddrinfo?: Getaddrinfo) {
  const testbed = await dnsTestbed(t, script);
  const { DnsResolver } = loadQuicAddon();
  const systemResolver = () => new DnsResolver(testbed.server);
  const open = () =>
    openDns({ server: null, systemResolver, ...(getaddrinfo && { behindDns: getaddrinfo }) });
  return { ...testbed, open, dns: open() };
}

/** A getaddrinfo that must not be called. */
const unasked: Getaddrinfo = async (name) => assert.fail(`getaddrinfo was asked for ${name}`);

test("only the user's server is asked, for each type separately", async (t) => {
  const { server, asked } = await dnsTestbed(
    t,
    zone({
      'a.test': {
        A: ['192.0.2.1', '192.0.2.2'],
        AAAA: ['2001:db8::1'],
        HTTPS: [{ alpn: ['h3', 'h2'], port: 8443, hints: ['192.0.2.3'] }],
      },
    }),
  );
  const dns = openDns({ server, getaddrinfo: unasked });
  assert.deepEqual(addressesOf(await dns.ask('a.test', 'A', never)), ['192.0.2.1', '192.0.2.2']);
  assert.deepEqual(await dns.ask('a.test', 'AAAA', never), {
    ok: true,
    kind: 'AAAA',
    addresses: [{ address: '2001:db8::1', ttlSeconds: 300 }],
  });
  assert.deepEqual(await dns.ask('a.test', 'HTTPS', never), {
    ok: true,
    kind: 'HTTPS',
    services: [
      {
        owner: 'a.test',
        priority: 1,
        target: 'a.test',
        alpn: ['h3', 'h2'],
        noDefaultAlpn: false,
        port: 8443,
        ipv4Hints: ['192.0.2.3'],
        ipv6Hints: [],
        ech: false,
        incompatible: false,
        ttlSeconds: 300,
      },
    ],
  });
  assert.deepEqual(addressesOf(await dns.ask('none.test', 'A', never)), []);
  assert.deepEqual(asked, ['A a.test', 'AAAA a.test', 'HTTPS a.test', 'A none.test']);
});

test('a record of port 0, which must be ignored, is still one that outcomes and reports accept', async (t) => {
  const { server } = await dnsTestbed(t, zone({ 'a.test': { HTTPS: [{ alpn: ['h3'], port: 0 }] } }));
  const answer = await openDns({ server }).ask('a.test', 'HTTPS', never);
  assert.ok(answer.ok && answer.kind === 'HTTPS', JSON.stringify(answer));
  const [{ port, incompatible }] = v.parse(v.tuple([serviceRecordSchema]), answer.services);
  assert.deepEqual([port, incompatible], [0, true]);
});

test('HTTPS names of other ports, with their underscores, can be queried', async (t) => {
  const { server } = await dnsTestbed(t, zone({ '_8443._https.a.test': { HTTPS: [{ alpn: ['h3'] }] } }));
  const answer = await openDns({ server }).ask('_8443._https.a.test', 'HTTPS', never);
  assert.ok(answer.ok && answer.kind === 'HTTPS' && answer.services.length === 1, JSON.stringify(answer));
});

test('failures are answers with their reason', async (t) => {
  const { server } = await dnsTestbed(t, (name) => (name === 'refused.test' ? 'REFUSED' : 'SERVFAIL'));
  const dns = openDns({ server });
  const reason = async (name: string): Promise<string> => {
    const answer = await dns.ask(name, 'A', never);
    return answer.ok ? 'answered' : answer.message;
  };
  assert.match(await reason('failing.test'), /SERVFAIL/);
  assert.match(await reason('refused.test'), /REFUSED/);
  assert.match(await reason('a..test'), /no domain name/);
  assert.match(await reason('x'.repeat(64)), /no domain name/);
});

test('a cancelled question resolves at once, even if cancelled before it was asked', async (t) => {
  const { server, asked, received } = await dnsTestbed(t, () => 'silence');
  const dns = openDns({ server });
  const abort = new AbortController();
  const asking = dns.ask('a.test', 'A', abort.signal);
  await received('A a.test');
  abort.abort();
  assert.equal((await asking).ok, false);
  assert.equal((await dns.ask('a.test', 'A', abort.signal)).ok, false);
  assert.deepEqual(asked, ['A a.test']);
});

test('a name unknown to DNS may be known to getaddrinfo: it is called once, when both families are empty', async (t) => {
  let calls = 0;
  const { promises } = await import('node:dns');
  const counted: Getaddrinfo = (name) => {
    calls += 1;
    return promises.lookup(name, { all: true });
  };
  // An address in an old spelling (inet_aton), which no DNS server and every getaddrinfo knows.
  const { dns, asked } = await system(t, () => 'NXDOMAIN', counted);
  const [a, aaaa] = await Promise.all([dns.ask('127.1', 'A', never), dns.ask('127.1', 'AAAA', never)]);
  assert.deepEqual([addressesOf(a), addressesOf(aaaa)], [['127.0.0.1'], []]);
  assert.equal(calls, 1);
  assert.deepEqual(asked.toSorted(), ['A 127.1', 'AAAA 127.1']);
});

test('if one family has an address, or DNS fails and getaddrinfo finds nothing, the answer of DNS is used', async (t) => {
  const { dns } = await system(t, zone({ 'a.test': { A: ['192.0.2.1'] } }), unasked);
  const [aaaa, a] = await Promise.all([dns.ask('a.test', 'AAAA', never), dns.ask('a.test', 'A', never)]);
  assert.deepEqual([addressesOf(a), addressesOf(aaaa)], [['192.0.2.1'], []]);
  const failing = await system(
    t,
    () => 'SERVFAIL',
    () => Promise.reject(Object.assign(new Error('none'), { code: 'ENOTFOUND' })),
  );
  const answer = await failing.dns.ask('a.test', 'A', never);
  assert.match(answer.ok ? '' : answer.message, /SERVFAIL/);
});

test('two hundred dead names have no address although getaddrinfo hangs', async (t) => {
  let calls = 0;
  const stuck: Getaddrinfo = () => {
    calls += 1;
    return new Promise(() => {});
  };
  // Delays elapse immediately.
  const behindDns = lastResort(stuck, (_delayMs, run) => {
    const turn = setImmediate(run);
    return () => clearImmediate(turn);
  });
  const { open } = await system(t, () => 'NXDOMAIN', behindDns);
  const answers = await Promise.all(
    Array.from({ length: 200 }, async (_, n) => {
      const dns = open();
      return Promise.all([dns.ask(`dead${n}.test`, 'A', never), dns.ask(`dead${n}.test`, 'AAAA', never)]);
    }),
  );
  assert.ok(answers.flat().every((answer) => addressesOf(answer).length === 0));
  assert.equal(calls, 2, 'no more than it may have at once');
  const local = await open().ask('printer.local', 'A', never);
  assert.match(local.ok ? 'DNS has no say about it' : local.message, /ETIMEOUT/);
});

test('a server that does not answer is not the name’s fault, and getaddrinfo may still know it', async (t) => {
  const knows: Getaddrinfo = async () => [{ address: '192.0.2.7', family: 4 }];
  const knowing = await system(t, () => 'SERVFAIL', knows);
  assert.deepEqual(addressesOf(await knowing.dns.ask('a.test', 'A', never)), ['192.0.2.7']);
  const late: Getaddrinfo = () => Promise.reject(Object.assign(new Error('late'), { code: 'ETIMEOUT' }));
  const failing = await system(t, () => 'SERVFAIL', late);
  const answer = await failing.dns.ask('a.test', 'A', never);
  assert.match(answer.ok ? '' : answer.message, /SERVFAIL/);
});

test('without a configuration addresses come from getaddrinfo, and HTTPS says why there are no records', async () => {
  const dns = openDns({
    server: null,
    systemResolver: () => {
      throw new Error('there is no resolv.conf');
    },
  });
  assert.ok(addressesOf(await dns.ask('localhost', 'A', never)).every((address) => address === '127.0.0.1'));
  const [a, aaaa] = [await dns.ask('localhost', 'A', never), await dns.ask('localhost', 'AAAA', never)];
  assert.ok(addressesOf(a).length + addressesOf(aaaa).length > 0);
  const https = await dns.ask('localhost', 'HTTPS', never);
  assert.deepEqual(https, { ok: false, kind: 'HTTPS', message: 'there is no resolv.conf' });
});

test('a server may be given without a port, and an invalid one fails every question', async () => {
  const dns = openDns({ server: 'not-a-server' });
  const answer = await dns.ask('a.test', 'A', never);
  assert.match(answer.ok ? '' : answer.message, /address:port/);
  for (const server of ['127.0.0.1', '::1']) assert.doesNotThrow(() => openDns({ server }));
});
