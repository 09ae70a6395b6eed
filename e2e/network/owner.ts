// Ownership of network namespaces: the name contains the process that made it, so that leftovers of a killed process
// can be distinguished from namespaces in use.
import { readdirSync } from 'node:fs';
import { startOf } from '../proc.ts';

/** Where iproute2 keeps named network namespaces. */
const NAMED = '/run/netns';
const PREFIX = 'photofinish';
const NAME = /^photofinish-(?<pid>\d+)-(?<start>\d+)-\d+-[a-z0-9]+$/;

/** A process; its start time, in clock ticks since boot, distinguishes it from a later one with the same pid. */
export interface Owner {
  readonly pid: number;
  readonly start: number;
}

/** This process. Throws where there is no /proc. */
export function thisProcess(): Owner {
  const start = startOf('self');
  if (start === null) throw new Error('/proc/self/stat cannot be read');
  return { pid: process.pid, start };
}

/** The name of one end of an owner's `serial`th network; a role consists of lower-case letters and digits. */
export function namespaceName({ pid, start }: Owner, serial: number, role: string): string {
  const name = [PREFIX, pid, start, serial, role].join('-');
  if (!NAME.test(name)) throw new RangeError(`"${role}" cannot be part of a namespace's name`);
  return name;
}

/** The owner of a namespace by its name; null if it is not one of ours. */
export function ownerOf(name: string): Owner | null {
  const { pid, start } = NAME.exec(name)?.groups ?? {};
  return pid === undefined ? null : { pid: Number(pid), start: Number(start) };
}

/** Our namespaces whose owner has exited. */
export function orphanedNamespaces(): string[] {
  let names: string[];
  try {
    names = readdirSync(NAMED);
  } catch {
    // The directory is missing: no namespace has been created since boot.
    return [];
  }
  return names.filter((name) => {
    const owner = ownerOf(name);
    return owner !== null && startOf(owner.pid) !== owner.start;
  });
}
