// Every chain is served and verified on both transports: over QUIC by webpki, over TCP by OpenSSL and then by the QUIC
// side's rules as well. Whatever either refuses is `certificate-invalid` on both.
import { type AttemptError, raceDocumentSchema, type Trial } from '@photofinish/shared/race/outcome';
import type { CertificateReason } from '@photofinish/shared/race/terms';
import * as v from 'valibot';
import { type Chains, makeChains, startAioquic } from '../origins/aioquic.ts';
import { HTTP2_ACTS, startHttp2 } from '../origins/raw.ts';
import { test as base, expect, runPhotofinish } from './fixtures.ts';

const HOST = 'www.peer.test';
const LOOPBACK = '127.0.0.1';
/** Lets Node's server present chains that its client would reject. */
const ANY_STRENGTH = 'DEFAULT:@SECLEVEL=0';

const GOOD = [
  'p256',
  'p384',
  'ed25519',
  'rsa-2048',
  'intermediate',
  'two-intermediates',
  'wildcard',
  'address',
  'constrained-in-bounds',
] as const;

/** The defect, and the reason given over QUIC and over TCP: one value if the two verifiers agree. */
const BAD: Readonly<
  Record<string, CertificateReason | readonly [quic: CertificateReason, tcp: CertificateReason]>
> = {
  expired: 'expired',
  'not-yet-valid': 'not-yet-valid',
  'wrong-name': 'wrong-name',
  // Node would fall back to the common name: webpki's result counts.
  'common-name-only': 'wrong-name',
  'wildcard-too-wide': 'wrong-name',
  'unknown-root': 'unknown-issuer',
  'self-signed': 'unknown-issuer',
  // OpenSSL would accept it.
  'authority-as-leaf': 'other',
  // webpki never treats a root as expired, so the QUIC side removes it from its list.
  'expired-root': ['unknown-issuer', 'expired'],
  'expired-intermediate': 'expired',
  'missing-intermediate': 'unknown-issuer',
  'intermediate-no-ca': 'other',
  // webpki does not check key usage: an additional rule of ours.
  'intermediate-may-not-sign': 'other',
  'intermediate-for-clients': 'other',
  'path-too-long': 'other',
  'name-excluded': 'other',
  'name-not-permitted': 'other',
  'for-clients': 'other',
  'key-may-not-sign': 'other',
  'critical-unknown': 'other',
  sha1: 'other',
  // webpki does not check the leaf's key: an additional rule of ours.
  'rsa-1024': 'other',
  'rsa-1024-intermediate': ['bad-signature', 'other'],
  tampered: 'bad-signature',
};

const NAMES = [...GOOD, ...Object.keys(BAD)];
const MODES = ['h3', 'h2'] as const;
type Mode = (typeof MODES)[number];

interface ServersByChain {
  readonly chains: Chains;
  readonly ports: Readonly<Record<Mode, Readonly<Record<string, number>>>>;
}

const hostOf = (name: string) => (name === 'address' ? LOOPBACK : HOST);

/** Races every chain over one protocol in one run; returns the only trial of each. */
async function raceAll({ ports }: ServersByChain, mode: Mode, caFiles: readonly string[]) {
  const places = NAMES.map((name) => ({ host: hostOf(name), port: ports[mode][name] }));
  const origins = places.map(({ host, port }) => `https://${host}:${port}`);
  const pins = places.flatMap(({ host, port }) =>
    host === HOST ? ['--resolve', `${host}:${port}:${LOOPBACK}`] : [],
  );
  const trust = caFiles.flatMap((file) => ['--ca', file]);
  const options = ['--mode', mode, '--memory', 'none', '--json', '--allow-private', '--concurrency', '4'];
  const { stdout } = await runPhotofinish(['race', ...origins, ...options, ...trust, ...pins]);
  const { races } = v.parse(raceDocumentSchema, JSON.parse(stdout));
  const trials = races.map((race) => ({ trial: race.trials[0], knownRoot: race.discovered.knownRoot }));
  return new Map(NAMES.map((name, index) => [name, trials[index]]));
}

type TrustRaces = Awaited<ReturnType<typeof raceAll>>;

const test = base.extend<object, { served: ServersByChain; judged: Readonly<Record<Mode, TrustRaces>> }>({
  served: [
    // biome-ignore lint/correctness/noEmptyPattern: Playwright reads the fixtures' names from the pattern.
    async ({}, use) => {
      const chains = await makeChains(HOST);
      const quic = await startAioquic({
        peers: Object.fromEntries(
          NAMES.map((name) => [name, { behaviour: 'answer', ...chains.files(name) }]),
        ),
      });
      const tcp = await Promise.all(
        NAMES.map(async (name) =>
          startHttp2({ ...(await chains.read(name)), ciphers: ANY_STRENGTH }, HTTP2_ACTS.answer),
        ),
      );
      const tcpPorts = Object.fromEntries(NAMES.map((name, index) => [name, tcp[index]?.port ?? 0]));
      await use({ chains, ports: { h3: quic.ports, h2: tcpPorts } });
      for (const peer of tcp) peer.stop();
      await quic.stop();
      await chains.remove();
    },
    { scope: 'worker' },
  ],
  judged: [
    async ({ served }, use) => {
      const { caPath } = served.chains;
      await use({ h3: await raceAll(served, 'h3', [caPath]), h2: await raceAll(served, 'h2', [caPath]) });
    },
    { scope: 'worker' },
  ],
});

const errorOf = (trial: Trial | undefined): AttemptError | undefined => trial?.attempts[0]?.error;

for (const name of GOOD)
  for (const mode of MODES)
    test(`${name} is trusted over ${mode}, under a private root`, ({ judged }) => {
      const raced = judged[mode].get(name);
      expect(raced?.trial?.adopted, errorOf(raced?.trial)?.message).toBe(mode);
      expect(raced?.knownRoot).toBe(false);
    });

for (const [name, reasons] of Object.entries(BAD)) {
  const [quic, tcp] = typeof reasons === 'string' ? [reasons, reasons] : reasons;
  for (const [mode, reason] of [
    ['h3', quic],
    ['h2', tcp],
  ] as const)
    test(`${name} is certificate-invalid over ${mode}: ${reason}`, ({ judged }) => {
      const error = errorOf(judged[mode].get(name)?.trial);
      expect(error).toMatchObject({ code: 'certificate-invalid', reason });
      // The reason first, then text that is more than an identifier.
      expect(error?.message).toMatch(new RegExp(`^${reason}: \\S+ .+`));
    });
}

test('without --ca nothing under the test root is trusted, by either', async ({ served }) => {
  for (const mode of MODES) {
    const raced = await raceAll(served, mode, []);
    for (const name of GOOD) {
      const error = errorOf(raced.get(name)?.trial);
      expect(error, `${name} over ${mode}`).toMatchObject({
        code: 'certificate-invalid',
        reason: 'unknown-issuer',
      });
    }
  }
});
