// The networks in reports of tests. The helper names them by digests under the salt beside its host cache, and each test
// has a cache of its own: with a salt of its own too, reports of one network would be of different ones.
import { randomBytes } from 'node:crypto';
import { existsSync } from 'node:fs';
import { link, open, rm, writeFile } from 'node:fs/promises';
import { homedir } from 'node:os';
import { isAbsolute, join } from 'node:path';
import type { Report } from '@photofinish/shared/report/report';
import { isRecognisable, UNIDENTIFIED } from '@photofinish/shared/web/network-name';

const SALT_BYTES = 32;
/** What the helper refuses of a salt as well. */
const GROUP_OR_OTHERS_WRITE = 0o022;

/** Where the helper keeps its state (XDG Base Directory Specification). */
function stateDirectory({ XDG_STATE_HOME: base = '' }: NodeJS.ProcessEnv): string {
  return join(isAbsolute(base) ? base : join(homedir(), '.local/state'), 'photofinish');
}

async function readSalt(path: string): Promise<Uint8Array> {
  const file = await open(path);
  try {
    const { mode, size } = await file.stat();
    if (size !== SALT_BYTES || (mode & GROUP_OR_OTHERS_WRITE) !== 0) throw new Error(`${path} is no salt`);
    return await file.readFile();
  } finally {
    await file.close();
  }
}

/** Creates the salt as the helper does: a link appears with its content, and replaces none that is there. */
async function createSalt(path: string): Promise<void> {
  const fresh = randomBytes(SALT_BYTES);
  const draft = `${path}.${fresh.toString('hex', 0, 6)}`;
  await writeFile(draft, fresh, { mode: 0o600, flag: 'wx' });
  await link(draft, path).catch((error: NodeJS.ErrnoException) => {
    if (error.code !== 'EEXIST') throw error;
  });
  await rm(draft);
}

/**
 * The salt of this machine, the same for all tests and for the user's own helper; null if nothing is kept here. Whether
 * the machine will be there for the next run is known only where the helper's state directory exists: it is not created.
 */
export async function machineSalt(env: NodeJS.ProcessEnv = process.env): Promise<Uint8Array | null> {
  const directory = stateDirectory(env);
  const path = join(directory, 'cache.db.salt');
  try {
    if (!existsSync(directory)) return null;
    if (!existsSync(path)) await createSalt(path);
    return await readSalt(path);
  } catch {
    return null;
  }
}

/** The report of a test whose networks no other test recognises: their names would only seem to be of other networks. */
export function withoutNetworks(report: Report): Report {
  const labelOf = (network: string) => (isRecognisable(network) ? UNIDENTIFIED : network);
  const sites = report.sites.map((site) => ({
    ...site,
    origins: site.origins.map((origin) => ({
      ...origin,
      races: origin.races.map((race) => ({ ...race, network: labelOf(race.network) })),
    })),
  }));
  return {
    ...report,
    network: labelOf(report.network),
    ...(report.networks && { networks: [...new Set(report.networks.map(labelOf))] }),
    sites,
  };
}
