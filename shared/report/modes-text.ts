// What figures counted in light mode do not say, in words: the same ones wherever figures are shown.
import { formatNumber, getMessage } from '../language/catalog.ts';
import { isUpperBound, type ObservationModes, ONLY_FULL } from '../web/observation.ts';

/** How many are hidden, or at most how many. */
export function hiddenCountText(hidden: number, modes: ObservationModes): string {
  return atMostText(formatNumber(hidden), hidden, modes);
}

/** A figure, such as a share, that counts `hidden` answers in words: as it is, or as an upper bound. */
export function atMostText(figure: string, hidden: number, modes: ObservationModes): string {
  return hidden > 0 && isUpperBound(modes) ? getMessage('atMost', { figure }) : figure;
}

const NAMES = { full: 'observationFull', light: 'observationLight' } as const;

/** `full + light`. */
export function modesText(modes: ObservationModes = ONLY_FULL): string {
  return modes.map((mode) => getMessage(NAMES[mode])).join(' + ');
}

/** That figures were counted in light mode, and what they lack; null: none were. */
export function lightNote(modes: ObservationModes): string | null {
  if (!isUpperBound(modes)) return null;
  const which = getMessage(modes.length > 1 ? 'countedLightPartly' : 'countedLight');
  return `${which} ${getMessage('lightLimits')}`;
}
