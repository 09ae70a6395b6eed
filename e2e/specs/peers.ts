// Shared by the specs of failures: certificate chains, aioquic peers that use them, a network with a peer in it, and
// the command-line arguments for racing them.
import { type OriginRace, raceDocumentSchema } from '@photofinish/shared/race/outcome';
import type { AttemptErrorCode } from '@photofinish/shared/race/terms';
import * as v from 'valibot';
import { type Network, networkUnavailable, openNetwork } from '../network/open.ts';
import { type Chains, makeChains, type RunningAioquic, startAioquic } from '../origins/aioquic.ts';
import type { Identity } from '../origins/raw.ts';
import { test as base } from './fixtures.ts';

export const HOST = 'peer.test';
/** Limits attempts that would never end by themselves, but first have a handshake, even on a machine that pauses. */
const ENDLESS_MS = 4000;
/** Attempts that end by themselves are far quicker, even on a busy machine. */
const PATIENCE_MS = 20_000;

/** The aioquic behaviours that are raced; each is documented where it is implemented. */
const BEHAVIOURS = [
  'other-version',
  'other-alpn',
  'retry-for-ever',
  'retry-once',
  'alert',
  'certificate-required',
  'stream-too-many',
  'refuse',
  'close-transport',
  'close-application',
  'stateless-reset',
  'silent',
  'late',
  'settings-late',
  'settings-never',
  'settings-reserved',
  'settings-twice',
  'data-first',
  'goaway',
  'goaway-and-close',
  'reject',
  'reset',
  'want-older-http',
  'close-when-asked',
  'drip',
  'large-header',
  'huge-header',
  'endless-body',
  'misdirected',
] as const;
export type Behaviour = (typeof BEHAVIOURS)[number];

/** Chains that aioquic serves when nothing else is to go wrong. */
const BAD_CHAINS = ['expired', 'not-yet-valid', 'wrong-name', 'unknown-root'] as const;
export type BadChain = (typeof BAD_CHAINS)[number];

export interface Testbed {
  readonly chains: Chains;
  readonly aioquic: RunningAioquic<Behaviour | BadChain>;
  /** The host's valid chain. */
  readonly identity: Identity;
}

/** A client and a server in separate namespaces; the server's response is one large datagram. */
export type Path =
  | { readonly network: Network<'server'>; readonly ports: Readonly<Record<'ipv4' | 'ipv6', number>> }
  | { readonly unavailable: string };

export const test = base.extend<object, { testbed: Testbed; path: Path }>({
  testbed: [
    // biome-ignore lint/correctness/noEmptyPattern: Playwright reads the fixtures' names from the pattern.
    async ({}, use) => {
      const chains = await makeChains(HOST);
      const peers = [
        ...BEHAVIOURS.map((behaviour) => [behaviour, { behaviour, ...chains.files('p256') }]),
        ...BAD_CHAINS.map((name) => [name, { behaviour: 'answer', ...chains.files(name) }]),
      ];
      const aioquic = await startAioquic({ peers: Object.fromEntries(peers) });
      await use({ chains, aioquic, identity: await chains.read('p256') });
      await aioquic.stop();
      await chains.remove();
    },
    { scope: 'worker' },
  ],
  path: [
    async ({ testbed }, use) => {
      const unavailable = await networkUnavailable('veth');
      if (unavailable !== null) return use({ unavailable });
      const network = await openNetwork();
      const { server } = network.peers;
      const listening = (address: string) =>
        startAioquic({
          address,
          peers: { page: { behaviour: 'wide-answer', ...testbed.chains.files('p256') } },
          spawn: server.spawn,
        });
      const [v4, v6] = await Promise.all([listening(server.ipv4), listening(server.ipv6)]);
      await use({ network, ports: { ipv4: v4.ports.page, ipv6: v6.ports.page } });
      await network.close();
    },
    { scope: 'worker' },
  ],
});

export interface RaceExpectation {
  readonly address?: string;
  /** The expected failure, if any. */
  readonly code?: AttemptErrorCode;
  /** Whether it lasts until its time-out, as when the code is that of a time-out. */
  readonly endless?: boolean | undefined;
}

/** Arguments for one cold race of the host at this address, over one protocol only. */
export function raceArguments(
  port: number,
  mode: 'h3' | 'h2',
  caPath: string,
  { address = '127.0.0.1', code, endless = false }: RaceExpectation = {},
): string[] {
  const timeoutMs = endless || code?.endsWith('-timeout') ? ENDLESS_MS : PATIENCE_MS;
  const place = ['--resolve', `${HOST}:${port}:${address}`, '--allow-private', '--ca', caPath];
  const limits = ['--memory', 'none', '--no-fresh-quic', '--timeout', String(timeoutMs), '--json'];
  return ['race', `https://${HOST}:${port}`, '--mode', mode, ...limits, ...place];
}

/** The only race of the printed document. */
export function raceOf(stdout: string): OriginRace {
  const [race] = v.parse(raceDocumentSchema, JSON.parse(stdout)).races;
  if (race === undefined) throw new Error('the document holds no race');
  return race;
}
