// How the forms of a report write conditions, shares and instants, so that page, summary and comparison agree.

import { say } from '../language/words.ts';
import { protocolName } from '../web/protocol.ts';
import { type Adoption, adoptionPercent } from './adoption.ts';
import type { Report } from './report.ts';

const BROWSER_NAMES: Record<Report['browser']['name'], string> = { chromium: 'Chromium', firefox: 'Firefox' };
/** The label of a network that no helper recognised. */
const NETWORK_UNKNOWN = 'unknown';

/** `Chromium 156.0`. */
export function browserWords({ name, version }: Report['browser']): string {
  return `${BROWSER_NAMES[name]} ${version}`;
}

/** Names of networks by their labels, where a report has them. */
export type NetworkNames = Report['networkNames'];

/** A network by its name, or else its label. */
export function networkWords(network: string, names: NetworkNames): string {
  if (names !== undefined && Object.hasOwn(names, network)) return names[network] ?? network;
  return network === NETWORK_UNKNOWN ? say('reportNetworkUnknown') : network;
}

/** Every network that what is counted came over; the helper's own where that was not kept. */
export function networksWords({
  network,
  networks,
  networkNames,
}: Pick<Report, 'network' | 'networks' | 'networkNames'>): string {
  const all = networks === undefined || networks.length === 0 ? [network] : networks;
  return all.map((label) => networkWords(label, networkNames)).join(', ');
}

/** To the minute, in UTC: `2026-11-21 15:33 UTC`. */
export function instantWords(at: string | number): string {
  const iso = new Date(at).toISOString();
  return `${iso.slice(0, 10)} ${iso.slice(11, 16)} UTC`;
}

export function periodWords({ from, to }: Report['period']): string {
  return say('reportFromTo', { from: instantWords(from), to: instantWords(to) });
}

/** The share of HTTP/3, `unknown` where nothing is known. */
export function shareWords(adoption: Adoption): string {
  const percent = adoptionPercent(adoption);
  return percent === null ? protocolName('unknown') : say('percent', { value: percent });
}

/** `75 % (3 of 4, 2 hidden)`. */
export function shareCountsWords(adoption: Adoption): string {
  const { h3: part, known: whole, hidden } = adoption;
  return say('reportShareCounts', { share: shareWords(adoption), part, whole, hidden });
}
