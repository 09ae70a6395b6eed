// Loads the addon (QUIC and DNS), lazily: a helper that only answers forecasts never pays for it.
// The file lies beside the bundle in a build, in `napi/` in the source tree, and in a package of its own for each
// system where npm installed the helper.

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

/** The packages, by napi's names, of which npm installs the one whose system and C library fit. */
function addonPackages(): readonly string[] {
  const base = `@photofinish/quic-${process.platform}-${process.arch}`;
  if (process.platform === 'linux') return [`${base}-gnu`, `${base}-musl`];
  return [process.platform === 'win32' ? `${base}-msvc` : base];
}

function requireAddon(): QuicAddon {
  const require = createRequire(import.meta.filename);
  const file = CANDIDATES.map((candidate) => join(import.meta.dirname, candidate)).find(existsSync);
  if (file !== undefined) return require(file) as QuicAddon;
  const packages = addonPackages();
  for (const name of packages)
    try {
      return require(name) as QuicAddon;
    } catch (error) {
      // Only a package that is there and does not load has a reason to tell.
      if ((error as NodeJS.ErrnoException).code !== 'MODULE_NOT_FOUND') throw error;
    }
  throw new Error(`neither a build of the QUIC addon nor a package ${packages.join(' or ')} is there`);
}
