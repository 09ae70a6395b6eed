// Words of an experiment's command line: what every experiment that takes options reads them with.
import { type ParseArgsConfig, parseArgs } from 'node:util';

/** A mistake on the command line; its message says which. */
export class BadUsage extends Error {}

/** The link takes 32 bits, and a resumed run counts on from here. */
export const GREATEST_SEED = 2 ** 31;

/** Reads the options by name. Throws BadUsage for words that are none. */
export function readOptions<const Options extends NonNullable<ParseArgsConfig['options']>>(
  args: readonly string[],
  options: Options,
) {
  try {
    return parseArgs({ args: [...args], options, strict: true, allowPositionals: false }).values;
  } catch (error) {
    throw new BadUsage(error instanceof Error ? (error.message.split('\n')[0] ?? '') : String(error));
  }
}

/** Throws BadUsage for anything but a whole number within the bounds. */
export function wholeNumber(option: string, text: string, least: number, most: number): number {
  const value = /^\d{1,10}$/.test(text) ? Number(text) : Number.NaN;
  if (!(value >= least && value <= most))
    throw new BadUsage(`--${option} takes a whole number from ${least} to ${most}, not "${text}"`);
  return value;
}

/** The parts of a list with commas. */
export const listOf = (text: string): string[] => text.split(',').map((part) => part.trim());

/** Those of `all` that the list names, in the order of `all`; all without a list. Throws BadUsage for another name. */
export function choose<T>(
  option: string,
  list: string | undefined,
  all: readonly T[],
  nameOf: (each: T) => string,
): readonly T[] {
  if (list === undefined) return all;
  const wanted = listOf(list);
  const names = all.map(nameOf);
  const stranger = wanted.find((name) => !names.includes(name));
  if (stranger !== undefined)
    throw new BadUsage(`--${option} does not know "${stranger}". There are: ${names.join(', ')}`);
  return all.filter((each) => wanted.includes(nameOf(each)));
}
