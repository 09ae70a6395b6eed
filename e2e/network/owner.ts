// Whose a network namespace is: its name carries the process that made it, so that whatever a killed process left
// behind can be told from what a living one still uses.
import { readdirSync, readFileSync } from 'node:fs';

/** Where iproute2 keeps named network namespaces. */
const NAMED = '/run/netns';
const PREFIX = 'photofinish';
const NAME = /^photofinish-(?<pid>\d+)-(?<start>\d+)-\d+-[a-z0-9]+$/;
/** Of /proc/PID/stat, counted behind the command in parentheses (proc_pid_stat(5), field 22). */
const START_FIELD = 19;

/** A process; its start, in clock ticks since boot, tells it from a later one with the same number. */
export interface Owner {
  readonly pid: number;
  readonly start: number;
}

/** The start of a process from the text of its /proc/PID/stat; the command in it may contain anything. */
export function startOf(stat: string): number {
  const fields = stat.slice(stat.lastIndexOf(')') + 2).split(' ');
  return Number(fields[START_FIELD]);
}

function readStart(pid: number | 'self'): number | null {
  try {
    return startOf(readFileSync(`/proc/${pid}/stat`, 'utf8'));
  } catch {
    // It has ended.
    return null;
  }
}

/** This process. Throws where there is no /proc. */
export function thisProcess(): Owner {
  const start = readStart('self');
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
    return owner !== null && readStart(owner.pid) !== owner.start;
  });
}
