// The salt as commands read it: what became of one that could not be used stands on stderr.
import { readSalt, saltPath } from '../network/salt.ts';
import type { Terminal } from './terminal.ts';

/** The salt beside a cache, made if need be; says where another had to take its place. */
export function networkSalt(cachePath: string, terminal: Pick<Terminal, 'error'>): Uint8Array {
  return readSalt(saltPath(cachePath), (message) => terminal.error('salt-damaged', message));
}
