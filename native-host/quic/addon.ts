// Loads the addon (QUIC and DNS), lazily: a helper that only answers forecasts never pays for it.
// The file lies beside the bundle in a build and in `napi/` in the source tree.

import { existsSync } from 'node:fs';
import { createRequire } from 'node:module';
import { join } from 'node:path';
import type * as Quic from './napi/index.d.ts';

export type {
  AttemptFailure,
  AttemptOptions,
  ChainVerdict,
  ConnectResult,
  DnsAnswer,
  DnsQuestion,
  DnsResolver,
  DnsService,
  QuicAttempt,
  RequestOptions,
  RequestResult,
  Traffic,
  TrustStore,
} from './napi/index.d.ts';

/** What the addon exports. */
export type QuicAddon = typeof Quic;

const CANDIDATES = ['photofinish-quic.node', 'napi/photofinish-quic.node'];

let loaded: QuicAddon | undefined;

/** The addon, loaded on the first call. Throws when it was not built, or not for this platform. */
export function loadQuicAddon(): QuicAddon {
  loaded ??= requireAddon();
  return loaded;
}

function requireAddon(): QuicAddon {
  const files = CANDIDATES.map((candidate) => join(import.meta.dirname, candidate));
  const file = files.find((candidate) => existsSync(candidate));
  if (file === undefined) {
    throw new Error('the QUIC addon is not built; run: npm run build:quic -w native-host');
  }
  return createRequire(import.meta.filename)(file) as QuicAddon;
}
