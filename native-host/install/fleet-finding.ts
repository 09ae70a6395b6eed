// The doctor's finding about the fleet cache, if one is configured: whether its bucket can be used, what is copied of it,
// and why values were refused.
import { existsSync } from 'node:fs';
import type { DoctorFinding as Finding } from '@photofinish/shared/port/doctor';
import { SHARED_REFUSALS, type SharedRefusal, type SharedRefusals } from '../cache/record.ts';
import { openHostCache, type SharedStats } from '../cache/store.ts';
import { ago, plural } from '../cli/text.ts';
import { systemClock } from '../clock.ts';
import type { FleetSettings } from '../config.ts';
import { helperFinding } from './addon-finding.ts';

const NOTHING_SHARED: SharedStats = { outcomes: 0, newestAtMs: null, refused: {} };

const REFUSED_BECAUSE: Record<SharedRefusal, string> = {
  malformed: 'not an outcome',
  unauthenticated: "not made with the organisation's salt",
  outdated: 'older than a day',
  ahead: "ahead of this machine's clock",
};

function refusedWords(refused: SharedRefusals): string {
  const counted = SHARED_REFUSALS.flatMap((reason) => {
    const n = refused[reason];
    return n === undefined ? [] : [`${n} ${REFUSED_BECAUSE[reason]}`];
  });
  return counted.length === 0 ? '' : `; refused until now: ${counted.join(', ')}`;
}

/** Only what a file keeps is a copy: where it cannot be opened, the helper's is not seen. */
function copiedWords(cachePath: string): string {
  const cache = existsSync(cachePath) ? openHostCache({ path: cachePath, clock: systemClock }) : null;
  const isKept = cache === null || cache.stats().store === 'sqlite';
  const { outcomes, newestAtMs, refused } = cache?.sharedStats() ?? NOTHING_SHARED;
  cache?.close();
  if (!isKept) return '';
  const age = newestAtMs === null ? '' : `, the newest from ${ago(newestAtMs, systemClock.epochMs())}`;
  const copied = plural(outcomes, 'outcome is', 'outcomes are');
  return `; ${copied} copied here${age}${refusedWords(refused)}`;
}

/** Under `cache`, because extensions of earlier versions know no other check for it. */
export async function fleetFinding(settings: FleetSettings, cachePath: string): Promise<Finding> {
  const { heldInBucket } = await import('../fleet/fleet.ts');
  const copied = copiedWords(cachePath);
  try {
    const held = plural(await heldInBucket(settings), 'value');
    const text = `fleet cache: the bucket "${settings.bucket}" holds ${held}${copied}`;
    return helperFinding('cache', 'ok', text);
  } catch (error) {
    const text = `fleet cache: the bucket "${settings.bucket}" cannot be used: ${(error as Error).message}${copied}`;
    return helperFinding('cache', 'problem', text, 'Check "fleet" in the settings file, and the server.');
  }
}
