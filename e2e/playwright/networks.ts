// The networks in reports of tests. The helper names them by digests under the salt beside its host cache, and each test
// has a cache of its own: with a salt of its own too, reports of one network would be of different ones.
import { existsSync } from 'node:fs';
import { dirname } from 'node:path';
import type { Report } from '@photofinish/shared/report/report';
import { isRecognisable, UNIDENTIFIED } from '@photofinish/shared/web/network-name';
import { defaultCachePath } from '../../native-host/config.ts';
import { keptSalt, readSalt, saltPath } from '../../native-host/network/key.ts';

/**
 * The salt of this machine, the same for all tests and for the user's own helper; null if nothing is kept here, or if the
 * helper would replace what is. Whether the machine will be there for the next run is known only where the helper's state
 * directory exists: it is not created.
 */
export function machineSalt(env: NodeJS.ProcessEnv = process.env): Uint8Array | null {
  const path = saltPath(defaultCachePath(env));
  if (!existsSync(dirname(path))) return null;
  if (keptSalt(path).state === 'none') readSalt(path);
  const kept = keptSalt(path);
  return kept.state === 'kept' ? kept.salt : null;
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
