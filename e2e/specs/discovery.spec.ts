// Discovery by the command line, with a real DNS server and real origins: DNS records decide where HTTP/3 is tried on a
// first visit, and missing ones delay nothing.
import { type OriginRace, raceDocumentSchema } from '@photofinish/shared/race/outcome';
import * as v from 'valibot';
import { type HostScript, type RunningDns, startDns } from '../origins/dns.ts';
import { type RunningOrigins, startOrigins } from '../origins/start.ts';
import { test as base, expect, runPhotofinish } from './fixtures.ts';

const LOOPBACK = '127.0.0.1';

interface DiscoveryRun {
  readonly code: number | null;
  readonly race: OriginRace;
  readonly queries: readonly string[];
}

interface Worker {
  /** One name served at two places: over TCP only, and over UDP only on another port. */
  readonly split: RunningOrigins<'tcp' | 'quic'>;
}

interface Fixtures {
  /** Runs one cold race in mode `v3` with a DNS server that knows these names. */
  readonly race: (
    origin: { readonly origin: string; readonly ca: string },
    names: Readonly<Record<string, HostScript>>,
    ...args: string[]
  ) => Promise<DiscoveryRun>;
}

const test = base.extend<Fixtures, Worker>({
  split: [
    // biome-ignore lint/correctness/noEmptyPattern: Playwright reads the fixtures' names from the pattern.
    async ({}, use) => {
      const running = await startOrigins({
        origins: {
          tcp: { host: 'split.test', h3: false },
          quic: { host: 'split.test', h3: true, tcp: false },
        },
      });
      await use(running);
      await running.stop();
    },
    { scope: 'worker' },
  ],
  // biome-ignore lint/correctness/noEmptyPattern: Playwright reads the fixtures' names from the pattern.
  race: async ({}, use) => {
    const servers: RunningDns[] = [];
    await use(async ({ origin, ca }, names, ...args) => {
      const dns = await startDns(names);
      servers.push(dns);
      const shared = ['--mode', 'v3', '--memory', 'none', '--json', '--ca', ca, '--resolver', dns.resolver];
      const { code, stdout } = await runPhotofinish(['race', origin, ...shared, ...args]);
      const [race] = v.parse(raceDocumentSchema, JSON.parse(stdout)).races;
      if (race === undefined) throw new Error('the document holds no race');
      return { code, race, queries: dns.queries };
    });
    for (const dns of servers) dns.stop();
  },
});

const ALLOWED = '--allow-private';
const H3 = { priority: 1, alpn: ['h3', 'h2'] };

/** Arrives after every other answer, so that no race begins before the HTTP/3 endpoint is known. */
function last(...records: string[]) {
  return { records, afterMs: 300 };
}

/** The owner name of an origin's HTTPS records (RFC 9460 section 9.1). */
function serviceName({ host, port }: { readonly host: string; readonly port: number }): string {
  return `_${port}._https.${host}`;
}

function lookupOf(race: OriginRace, kind: string) {
  return race.discovered.names?.lookups.filter((lookup) => lookup.kind === kind) ?? [];
}

const SOON_MS = 5;
/** Delayed by about a round trip to a nearby resolver. */
function soon<Data>(...records: Data[]) {
  return { records, afterMs: SOON_MS };
}

for (const [how, records] of [
  ['another TargetName', { own: { ...H3, target: 'edge.test' }, edge: null }],
  ['AliasMode', { own: { priority: 0, target: 'edge.test' }, edge: { ...H3, target: '.' } }],
] as const)
  test(`${how}: the addresses of the target are awaited, and HTTP/3 comes first`, async ({ local, race }) => {
    const { origin, host, port } = local.origins.silent;
    const names: Record<string, HostScript> = {
      [host]: { A: soon(LOOPBACK) },
      [serviceName({ host, port })]: { HTTPS: soon(records.own) },
      'edge.test': { A: soon(LOOPBACK), ...(records.edge && { HTTPS: soon(records.edge) }) },
    };
    const found = await race({ origin, ca: local.caPath }, names, ALLOWED, '--trials', '40');
    // On a busy machine the DNS server itself may exceed the resolution delay, which HTTP/2 then does not wait for.
    expect(found.race.summary.adoption.h3).toBeGreaterThanOrEqual(30);
    const first = found.race.trials.find(({ adopted }) => adopted === 'h3')?.attempts[0];
    expect([first?.protocol, first?.host, first?.source]).toEqual(['h3', 'edge.test', 'https-record']);
  });

test('an HTTPS record leads to HTTP/3 on the first visit, without any earlier advertisement', async ({
  local,
  race,
}) => {
  const { origin, host, port } = local.origins.silent;
  const found = await race(
    { origin, ca: local.caPath },
    {
      [host]: { A: last(LOOPBACK) },
      [serviceName({ host, port })]: { HTTPS: [{ ...H3, target: host }] },
    },
    ALLOWED,
  );
  expect(found.code).toBe(0);
  const [trial] = found.race.trials;
  expect(trial?.adopted).toBe('h3');
  expect(trial?.attempts[0]).toMatchObject({
    protocol: 'h3',
    address: LOOPBACK,
    port,
    source: 'https-record',
  });
  const { names } = found.race.discovered;
  expect(names?.services).toMatchObject([{ priority: 1, target: host, alpn: ['h3', 'h2'], ttlSeconds: 60 }]);
  expect(names?.addresses).toContainEqual({ host, address: LOOPBACK, source: 'a', ttlSeconds: 60 });
  expect(found.queries).toContain(`HTTPS ${serviceName({ host, port })}`);
});

test('an ALPN identifier that is not text does not hide the others of its record (RFC 9460 section 7.1.1)', async ({
  local,
  race,
}) => {
  const { origin, host, port } = local.origins.silent;
  // The record's target is ".", its own owner name (section 2.5.2).
  const record = { rdata: '00010000010006028a8a026833' };
  const script = {
    [host]: { A: last(LOOPBACK) },
    [serviceName({ host, port })]: { HTTPS: [record], A: [LOOPBACK] },
  };
  const to = { origin, ca: local.caPath };
  const found = await race(to, script, ALLOWED);
  expect(found.race.trials[0]?.attempts[0]).toMatchObject({ protocol: 'h3', outcome: 'adopted' });
  expect(found.race.discovered.names?.services[0]?.alpn).toContain('h3');
});

test('a port of three octets invalidates its RRset: neither it nor its port is used (RFC 9460 section 2.2)', async ({
  local,
  race,
}) => {
  const { origin, host, port } = local.origins.silent;
  const HTTPS = [{ ...H3, target: host }, { rdata: '0010000001000302683200030003123400' }];
  const to = { origin, ca: local.caPath };
  const found = await race(
    to,
    { [host]: { A: last(LOOPBACK) }, [serviceName({ host, port })]: { HTTPS } },
    ALLOWED,
  );
  expect(found.race.trials[0]?.adopted).toBe('h2');
  expect(found.race.trials[0]?.attempts.map((attempt) => [attempt.protocol, attempt.port])).toEqual([
    ['h2', port],
  ]);
  expect(found.race.discovered.names?.services.every((service) => service.incompatible)).toBe(true);
});

test('without an HTTPS record only HTTP/2 is tried', async ({ local, race }) => {
  const { origin, host } = local.origins.silent;
  const found = await race({ origin, ca: local.caPath }, { [host]: { A: [LOOPBACK] } }, ALLOWED);
  expect(found.code).toBe(0);
  const [trial] = found.race.trials;
  expect(trial?.adopted).toBe('h2');
  expect(trial?.attempts.map((attempt) => attempt.protocol)).toEqual(['h2']);
  expect(lookupOf(found.race, 'HTTPS')).toMatchObject([{ outcome: 'empty', records: 0 }]);
});

test('HTTP/3 uses port and target of the record; the certificate must be that of the origin', async ({
  split,
  race,
}) => {
  const { tcp, quic } = split.origins;
  const found = await race(
    { origin: tcp.origin, ca: split.caPath },
    {
      [tcp.host]: { A: last(LOOPBACK) },
      // Without the hint the origin's own address, known first, could win before the target's is known.
      [serviceName(tcp)]: {
        HTTPS: [{ priority: 1, target: 'svc.test', alpn: ['h3'], port: quic.port, hints: [LOOPBACK] }],
      },
      'svc.test': { A: ['127.0.0.1'] },
    },
    ALLOWED,
  );
  const [trial] = found.race.trials;
  expect(trial?.adopted).toBe('h3');
  const [won] = trial?.attempts.filter((attempt) => attempt.outcome === 'adopted') ?? [];
  expect(won).toMatchObject({ protocol: 'h3', port: quic.port, host: 'svc.test', source: 'https-record' });
});

test('AliasMode is followed to the services of its target', async ({ local, race }) => {
  const { origin, host, port } = local.origins.silent;
  const found = await race(
    { origin, ca: local.caPath },
    {
      [host]: { A: last(LOOPBACK) },
      [serviceName({ host, port })]: { HTTPS: [{ priority: 0, target: 'pool.test' }] },
      // With a hint, for the reason above.
      'pool.test': { A: [LOOPBACK], HTTPS: [{ ...H3, target: '.', hints: [LOOPBACK] }] },
    },
    ALLOWED,
  );
  const [trial] = found.race.trials;
  expect(trial?.adopted).toBe('h3');
  expect(trial?.attempts[0]).toMatchObject({ protocol: 'h3', port, host: 'pool.test' });
  expect(found.race.discovered.names?.services.map((service) => service.priority)).toEqual([0, 1]);
});

test('hints are used if the addresses of a target do not arrive', async ({ local, race }) => {
  const { origin, host, port } = local.origins.silent;
  const found = await race(
    { origin, ca: local.caPath },
    {
      [host]: { A: 'lost', AAAA: 'lost' },
      [serviceName({ host, port })]: { HTTPS: [{ ...H3, target: 'svc.test', hints: [LOOPBACK] }] },
      'svc.test': { A: 'lost', AAAA: 'lost' },
    },
    ALLOWED,
  );
  expect(found.race.trials[0]?.adopted).toBe('h3');
  expect(found.race.discovered.names?.addresses).toEqual([
    { host: 'svc.test', address: LOOPBACK, source: 'hint', ttlSeconds: 60 },
  ]);
});

test('a late answer for one family delays nothing, nor does a lost HTTPS answer', async ({ local, race }) => {
  const { origin, host, port } = local.origins.both;
  const late = await race(
    { origin, ca: local.caPath },
    {
      [host]: { A: last(LOOPBACK), AAAA: { records: ['::1'], afterMs: 4000 } },
      [serviceName({ host, port })]: { HTTPS: [{ ...H3, target: host }] },
    },
    ALLOWED,
  );
  expect(late.race.trials[0]?.adopted).toBe('h3');
  expect(late.race.trials[0]?.attempts.every((attempt) => attempt.address === LOOPBACK)).toBe(true);

  const lost = await race(
    { origin, ca: local.caPath },
    { [host]: { A: [LOOPBACK] }, [serviceName({ host, port })]: { HTTPS: 'lost' } },
    ALLOWED,
  );
  const [trial] = lost.race.trials;
  expect(trial?.adopted).toBe('h2');
  const [lookup] = lookupOf(lost.race, 'HTTPS');
  expect(lookup).toMatchObject({ outcome: 'failed', records: 0 });
  expect(trial?.attempts[0]?.startedMs).toBeLessThan(lookup?.tookMs ?? 0);
});

test('a failing server is dns-failed, a name without addresses no-address', async ({ local, race }) => {
  const { origin, host } = local.origins.both;
  const failing = await race(
    { origin, ca: local.caPath },
    { [host]: { A: 'SERVFAIL', AAAA: 'SERVFAIL', HTTPS: 'SERVFAIL' } },
  );
  expect([failing.code, failing.race.error?.code]).toEqual([1, 'dns-failed']);
  const empty = await race({ origin, ca: local.caPath }, { [host]: {} });
  expect([empty.code, empty.race.error?.code]).toEqual([1, 'no-address']);
  const nulled = { [host]: { A: ['0.0.0.0'], AAAA: ['::'] } };
  const blocking = await race({ origin, ca: local.caPath }, nulled, '--allow-private');
  expect([blocking.code, blocking.race.error?.code]).toEqual([1, 'no-address']);
});

test('DNS may not lead into the local network, unless the user allows it', async ({ local, race }) => {
  const { origin, host, port } = local.origins.both;
  const ca = local.caPath;
  const inner = await race({ origin, ca }, { [host]: { A: [LOOPBACK] } });
  expect([inner.code, inner.race.error?.code]).toEqual([1, 'blocked']);
  expect(inner.race.trials).toEqual([]);

  const service = {
    [serviceName({ host, port })]: { HTTPS: [{ ...H3, target: 'svc.test', hints: [LOOPBACK] }] },
  };
  const hinted = await race({ origin, ca }, { [host]: {}, 'svc.test': { A: [LOOPBACK] }, ...service });
  expect(hinted.race.error?.code).toBe('blocked');
});
