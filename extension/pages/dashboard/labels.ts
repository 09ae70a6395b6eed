// The dashboard's numbers and names for display.

import { catalogLanguage } from '@photofinish/shared/language/catalog';
import type { Mode } from '@photofinish/shared/race/terms';
import type { Adoption } from '@photofinish/shared/report/adoption';
import { NETWORK_UNKNOWN } from '@photofinish/shared/web/network-name';
import { hiddenCountText, type ObservationModes } from '@photofinish/shared/web/observation';
import { getMessage } from '../../common/catalog.ts';
import { type NetworkNames, nameOrKey } from '../../common/network-names.ts';

const FINE_PERCENT = 10;

/** A share in percent: integral from ten on, with one decimal below, and never 0 or 100 unless exact. */
export function percentText(part: number, whole: number): string {
  if (whole === 0) return getMessage('dashboardNone');
  const percent = (100 * part) / whole;
  if (part > 0 && percent < 0.1) return getMessage('dashboardPercentBelow', { value: 0.1 });
  if (part < whole && percent > 99.9) return getMessage('dashboardPercentAbove', { value: 99.9 });
  const fine = percent < FINE_PERCENT || (percent > 99 && percent < 100);
  return getMessage('dashboardPercent', { value: fine ? Number(percent.toFixed(1)) : Math.round(percent) });
}

/** The share of HTTP/3 among the known, with the number hidden beside it. */
export function adoptionText({ h3, known, ...rest }: Adoption, modes: ObservationModes): string {
  const hidden = hiddenCountText(rest.hidden, modes);
  if (known === 0) return getMessage('dashboardAllHidden', { hidden });
  return getMessage('dashboardAdoptionText', { share: percentText(h3, known), h3, known, hidden });
}

interface Formats {
  readonly language: string;
  readonly instants: Intl.DateTimeFormat;
  readonly ages: Intl.RelativeTimeFormat;
}

let made: Formats | null = null;

/** A page of rows formats hundreds of values; creating a formatter costs more than using it. */
function formats(): Formats {
  const language = catalogLanguage();
  if (made?.language !== language)
    made = {
      language,
      instants: new Intl.DateTimeFormat(language, { dateStyle: 'medium', timeStyle: 'short' }),
      // Not "yesterday", which 25 hours ago need not be.
      ages: new Intl.RelativeTimeFormat(language, { numeric: 'always', style: 'short' }),
    };
  return made;
}

/** An instant as day and minute in the reader's own time zone. */
export function instantText(atMs: number): string {
  return formats().instants.format(atMs);
}

const AGES = [
  ['day', 86_400_000],
  ['hour', 3_600_000],
  ['minute', 60_000],
] as const;

/** How long ago an instant was, in its largest whole unit. */
export function agoText(atMs: number, nowMs: number): string {
  const age = Math.max(0, nowMs - atMs);
  const [unit, sizeMs] = AGES.find(([, ms]) => age >= ms) ?? ['second', 1000];
  return unit === 'second'
    ? getMessage('dashboardJustNow')
    : formats().ages.format(-Math.floor(age / sizeMs), unit);
}

let names: NetworkNames = new Map();

/** Sets the user's names for networks, used for everything written from now on. */
export function useNames(next: NetworkNames): void {
  names = next;
}

/** A network by its name, or else its label; without a helper there is neither. */
export function networkText(network: string): string {
  return network === NETWORK_UNKNOWN ? getMessage('dashboardNetworkUnknown') : nameOrKey(names, network);
}

/** A race's mode as shown in the tables. */
export function modeText(mode: Mode): string {
  return mode === 'compare' ? getMessage('dashboardModeCompare') : getMessage('dashboardModeOther', { mode });
}
