// How the command line writes and reads networks: by the user's name, otherwise by the key.
import { printable } from './text.ts';

/** The user's names for networks, by key. */
export type NetworkNames = ReadonlyMap<string, string>;

export const NO_NAMES: NetworkNames = new Map();

/** The keys with a name. */
export function keysNamed(name: string, names: NetworkNames): readonly string[] {
  return [...names].flatMap(([key, each]) => (each === name ? [key] : []));
}

/** A network for people; if two have the same name the key is added. */
export function networkLabel(network: string, names: NetworkNames): string {
  const name = names.get(network);
  if (name === undefined) return printable(network);
  return keysNamed(name, names).length > 1 ? `${printable(name)} (${printable(network)})` : printable(name);
}

/** The network meant by a user's text: the key if only one has that name, otherwise the text itself. */
export function networkMeant(text: string, names: NetworkNames): string {
  const [key, ...others] = keysNamed(text.normalize().trim(), names);
  return key !== undefined && others.length === 0 ? key : text;
}
