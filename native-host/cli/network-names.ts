// How the command line writes and reads networks: by the name that the user gave, else by the key.
import { printable } from './text.ts';

/** What the user calls networks, by their keys. */
export type NetworkNames = ReadonlyMap<string, string>;

export const NO_NAMES: NetworkNames = new Map();

/** The keys that go by a name. */
export function keysNamed(name: string, names: NetworkNames): readonly string[] {
  return [...names].flatMap(([key, each]) => (each === name ? [key] : []));
}

/** A network for people; of two with one name the key tells which. */
export function networkLabel(network: string, names: NetworkNames): string {
  const name = names.get(network);
  if (name === undefined) return printable(network);
  return keysNamed(name, names).length > 1 ? `${printable(name)} (${printable(network)})` : printable(name);
}

/** What a user wrote for a network: the key that goes by that name alone, else the text itself. */
export function networkMeant(text: string, names: NetworkNames): string {
  const [key, ...others] = keysNamed(text.normalize().trim(), names);
  return key !== undefined && others.length === 0 ? key : text;
}
