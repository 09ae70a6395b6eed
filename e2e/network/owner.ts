// Whose a network namespace is: its name carries the process that made it, so that whatever a killed process left
// behind can be told from what a living one still uses.
import { readdirSync } from 'node:fs';
import { startOf } from '../proc.ts';

/** Where iproute2 keeps named network namespaces. */
const NAMED = '/run/netns';
const PREFIX = 'photofinish';
const NAME = /^photofinish-(?<pid>\d+)-(?<start>\d+)-\d+-[a-z0-9]+$/;

/** A process; its start, in clock ticks since boot, tells it from a later one with the same number. */
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

/** The name of one end of an owner's `serial`th network; a role is of small letters and digits. */
export function namespaceName({ pid, start }: Owner, serial: number, role: string): string {
  const name = [PREFIX, pid, start, serial, role].join('-');
  if (!NAME.test(name)) throw new RangeError(`"${role}" cannot be part of a namespace's name`);
  return name;
}

/** Who made the namespace of that name; null if it is none of ours. */
export function ownerOf(name: string): Owner | null {
  const { pid, start } = NAME.exec(name)?.groups ?? {};
  return pid === undefined ? null : { pid: Number(pid), start: Number(start) };
}

/** Namespaces of ours whose process is gone. */
export function orphanedNamespaces(): string[] {
  let names: string[];
  try {
    names = readdirSync(NAMED);
  } catch {
    // Nobody has made one since the machine started.
    return [];
  }
  return names.filter((name) => {
    const owner = ownerOf(name);
    return owner !== null && startOf(owner.pid) !== owner.start;
  });
}
