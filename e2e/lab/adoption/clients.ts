// All clients that `adoption` can measure, in the order of the tables: ours, its ablations, and the others.
import type { ClientKind, Opener } from '../client.ts';
import {
  chromiumFirst,
  chromiumSecond,
  firefoxFirst,
  firefoxHappyFirst,
  firefoxHappySecond,
  firefoxSecond,
} from '../clients/browsers.ts';
import { curl, goAltSvc, goRace, quinn, sctpPlain, sctpTls, undici } from '../clients/peers.ts';
import { ours, type PhotofinishClientOptions } from '../photofinish.ts';

export interface ClientChoice {
  readonly name: string;
  readonly kind: ClientKind;
  /** Measured only on request: shows the effect of one idea. */
  readonly ablation: boolean;
  /** Trials per cell under `--full`. */
  readonly fullTrials: number;
  readonly open: Opener;
}

/** Hypotheses are judged on these. */
export const FULL_TRIALS = { ours: 1000, peer: 100, browser: 30 } as const;

function own(options: PhotofinishClientOptions, ablation = false): ClientChoice {
  const { ours: fullTrials } = FULL_TRIALS;
  return { name: options.name, kind: 'ours', ablation, fullTrials, open: ours(options) };
}

function without(options: PhotofinishClientOptions): ClientChoice {
  return own(options, true);
}

function other(kind: 'peer' | 'browser', name: string, open: Opener): ClientChoice {
  return { name, kind, ablation: false, fullTrials: FULL_TRIALS[kind], open };
}

/** quinn's default before it has measured a round trip (RFC 9002 section 6.2.2). */
const UNKNOWN_RTT = ['--initial-rtt', '333'];
/** P2's fixed connection start delay. */
const FIXED_DELAY = ['--start-delay', '10'];

const KNOWN = { mode: 'race', known: true } as const;

export const CLIENTS: readonly ClientChoice[] = [
  own({ name: 'race', title: 'race, first contact', mode: 'race' }),
  own({ name: 'race-known', title: 'race, known host', ...KNOWN }),
  own({ name: 'alt-svc', title: 'Alt-Svc, first contact', mode: 'alt-svc' }),
  own({ name: 'alt-svc-known', title: 'Alt-Svc, known host', mode: 'alt-svc', known: true }),
  without({
    name: 'race-classical',
    title: 'race, first contact, no post-quantum key share',
    mode: 'race',
    options: ['--no-post-quantum'],
  }),
  without({
    name: 'race-known-classical',
    title: 'race, known host, no post-quantum key share',
    ...KNOWN,
    options: ['--no-post-quantum'],
  }),
  without({
    name: 'race-one-quic',
    title: 'race, first contact, without the fresh QUIC attempt',
    mode: 'race',
    options: ['--no-fresh-quic'],
  }),
  without({
    name: 'race-known-one-quic',
    title: 'race, known host, without the fresh QUIC attempt',
    ...KNOWN,
    options: ['--no-fresh-quic'],
  }),
  without({
    name: 'race-known-default-rtt',
    title: 'race, known host, RTT not used for the first Initial',
    ...KNOWN,
    options: UNKNOWN_RTT,
  }),
  without({
    name: 'race-known-fixed-delay',
    title: 'race, known host, start delay fixed at 10 ms',
    ...KNOWN,
    options: FIXED_DELAY,
  }),
  // The client that ours is compared with needs as many trials.
  { ...other('peer', 'go-race', goRace), fullTrials: FULL_TRIALS.ours },
  { ...other('peer', 'go-alt-svc', goAltSvc), fullTrials: FULL_TRIALS.ours },
  other('peer', 'curl', curl),
  other('peer', 'quinn', quinn),
  other('peer', 'undici', undici),
  other('peer', 'sctp-udp', sctpPlain),
  other('peer', 'sctp-udp-tls', sctpTls),
  other('browser', 'chromium-first', chromiumFirst),
  other('browser', 'chromium-second', chromiumSecond),
  other('browser', 'firefox-first', firefoxFirst),
  other('browser', 'firefox-second', firefoxSecond),
  other('browser', 'firefox-he3-first', firefoxHappyFirst),
  other('browser', 'firefox-he3-second', firefoxHappySecond),
];
