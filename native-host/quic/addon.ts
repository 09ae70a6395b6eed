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

/** As it is called beside the bundle. */
export const ADDON_FILE = 'photofinish-quic.node';
const CANDIDATES = [ADDON_FILE, `napi/${ADDON_FILE}`];

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

/** The addon's file beside us or in its package; null where there is none. */
export function addonFile(): string | null {
  const beside = CANDIDATES.map((candidate) => join(import.meta.dirname, candidate)).find(existsSync);
  if (beside !== undefined) return beside;
  const { resolve } = createRequire(import.meta.filename);
  for (const name of addonPackages())
    try {
      return resolve(name);
    } catch {
      // Not for this system, or npm was told to leave it out.
    }
  return null;
}

function requireAddon(): QuicAddon {
  const file = addonFile();
  if (file === null) {
    const packages = addonPackages().join(' or ');
    throw new Error(`neither a build of the QUIC addon nor a package ${packages} is there`);
  }
  return createRequire(import.meta.filename)(file) as QuicAddon;
}
