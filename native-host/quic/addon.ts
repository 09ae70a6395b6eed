// Loads the addon (QUIC and DNS) lazily: a helper that only answers forecasts never needs it. The file is beside the
// bundle in a build, in `napi/` in the source tree, and in a separate package per system if npm installed the helper.

import { existsSync } from 'node:fs';
import { createRequire } from 'node:module';
import { join } from 'node:path';
import type * as Quic from './napi/index.d.ts';

export type {
  AttemptFailure,
  AttemptOptions,
  ChainVerdict,
  DnsAnswer,
  DnsQuestion,
  DnsResolver,
  DnsService,
  IncompleteResponse,
  QuicAttempt,
  TrustStore,
} from './napi/index.d.ts';

/** What the addon exports. */
export type QuicAddon = typeof Quic;

/** Its name beside the bundle. */
export const ADDON_FILE = 'photofinish-quic.node';
const CANDIDATES = [ADDON_FILE, `napi/${ADDON_FILE}`];

let loaded: QuicAddon | undefined;

/** The addon, loaded on the first call. Throws when it was not built, or not for this platform. */
export function loadQuicAddon(): QuicAddon {
  loaded ??= requireAddon();
  return loaded;
}

/** There is no addon at all, as opposed to one that does not load. */
export class AddonMissing extends Error {
  override readonly name = 'AddonMissing';
}

/** Determined by the C library of this process, so that the remedy names the right package. */
function cLibrary(): 'gnu' | 'musl' {
  const report = process.report.getReport() as {
    readonly header?: { readonly glibcVersionRuntime?: string };
  };
  return report.header?.glibcVersionRuntime === undefined ? 'musl' : 'gnu';
}

/** The package with the addon for this system, in napi's naming. */
export function addonPackage(): string {
  const base = `@photofinish/quic-${process.platform}-${process.arch}`;
  if (process.platform === 'linux') return `${base}-${cLibrary()}`;
  return process.platform === 'win32' ? `${base}-msvc` : base;
}

/** The addon's file beside us or in its package; null if there is none. */
export function addonFile(): string | null {
  const beside = CANDIDATES.map((candidate) => join(import.meta.dirname, candidate)).find(existsSync);
  if (beside !== undefined) return beside;
  const { resolve } = createRequire(import.meta.filename);
  try {
    return resolve(addonPackage());
  } catch {
    // npm silently skips an optional package that is unavailable.
    return null;
  }
}

function requireAddon(): QuicAddon {
  const file = addonFile();
  if (file === null) throw new AddonMissing(`the package ${addonPackage()} is not installed`);
  return createRequire(import.meta.filename)(file) as QuicAddon;
}
