// Kernel accounting from /proc: start, processor time and memory of a process, sockets of its network namespace, and
// the slab caches that hold sockets and packets of the whole kernel.
import { readdirSync, readFileSync } from 'node:fs';

/** Linux reports processor time in hundredths of a second (USER_HZ) on every architecture that Node runs on. */
const MS_PER_TICK = 10;
const BYTES_PER_KIB = 1024;
const KIB_PER_MIB = 1024;
const PAGE_BYTES = 4096;
const NS_PER_MS = 1e6;

export interface ProcessorTime {
  /** In user mode. */
  readonly userMs: number;
  /** In kernel mode on its behalf. */
  readonly systemMs: number;
}

/**
 * The fields after the command name, which may itself contain spaces and parentheses; the first is field 3, the state.
 */
function fieldsBehindName(stat: string): string[] {
  return stat.slice(stat.lastIndexOf(')') + 2).split(' ');
}

/** From `/proc/PID/stat` (proc_pid_stat(5), fields 14 and 15). Throws if the format differs. */
export function parseProcessStat(stat: string): ProcessorTime {
  const fields = fieldsBehindName(stat);
  const [userMs, systemMs] = [fields[11], fields[12]].map((ticks) => Number(ticks) * MS_PER_TICK);
  if (!Number.isFinite(userMs) || !Number.isFinite(systemMs))
    throw new Error(`not a process's stat: ${stat}`);
  return { userMs: userMs as number, systemMs: systemMs as number };
}

/**
 * Start time in clock ticks since boot (field 22), which distinguishes a process from a later one with the same pid.
 */
export function parseStart(stat: string): number {
  return Number(fieldsBehindName(stat)[19]);
}

export interface Processors {
  readonly busyMs: number;
  readonly idleMs: number;
}

/** The first line of `/proc/stat` (proc_stat(5)): all processors together; steal time is busy. */
export function parseProcessors(stat: string): Processors {
  const line = /^cpu +([\d ]+)$/m.exec(stat)?.[1];
  if (line === undefined) throw new Error('/proc/stat has no line for all processors');
  // user, nice, system, idle, iowait, irq, softirq, steal; guest time is included in the first two.
  const times = line
    .split(' ')
    .slice(0, 8)
    .map((ticks) => Number(ticks) * MS_PER_TICK);
  const idleMs = (times[3] ?? 0) + (times[4] ?? 0);
  return { idleMs, busyMs: times.reduce((sum, ms) => sum + ms, 0) - idleMs };
}

export interface ProcessMemory {
  readonly rssBytes: number;
  /** Proportional set size: shared pages divided by the number of processes that share them. */
  readonly pssBytes: number;
}

/** From `/proc/PID/smaps_rollup`. */
export function parseMemory(rollup: string): ProcessMemory {
  const bytes = (name: string) => {
    const kib = new RegExp(`^${name}: +(\\d+) kB$`, 'm').exec(rollup)?.[1];
    if (kib === undefined) throw new Error(`smaps_rollup has no ${name}`);
    return Number(kib) * BYTES_PER_KIB;
  };
  return { rssBytes: bytes('Rss'), pssBytes: bytes('Pss') };
}

export interface Sockets {
  readonly tcp: number;
  readonly timeWait: number;
  readonly udp: number;
}

/** Of one namespace, from `/proc/PID/net/sockstat` and `sockstat6`; only TIME-WAIT counts both families together. */
export function parseSockets(ipv4: string, ipv6: string): Sockets {
  const count = (text: string, line: string, name: string) =>
    Number(new RegExp(`^${line}:.* ${name} (\\d+)`, 'm').exec(text)?.[1] ?? 0);
  return {
    tcp: count(ipv4, 'TCP', 'inuse') + count(ipv6, 'TCP6', 'inuse'),
    timeWait: count(ipv4, 'TCP', 'tw'),
    udp: count(ipv4, 'UDP', 'inuse') + count(ipv6, 'UDP6', 'inuse'),
  };
}

/** Of all namespaces: buffer memory of TCP and UDP, from the `mem` pages of `/proc/net/sockstat`. */
export function parseBufferBytes(sockstat: string): number {
  const pages = [...sockstat.matchAll(/^(?:TCP|UDP):.* mem (\d+)/gm)].map((match) => Number(match[1]));
  return pages.reduce((sum, count) => sum + count, 0) * PAGE_BYTES;
}

/** Sockets, connections in SYN-RECV or TIME-WAIT, and packets. */
const NETWORK_CACHE = /^(?:TCP|UDP|tw_sock|request_sock|sock_inode|skbuff|tcp_bind)/;

/** Bytes of networking objects in use, from `/proc/slabinfo` (slabinfo(5)). */
export function parseSlabs(slabinfo: string): number {
  return slabinfo
    .split('\n')
    .filter((line) => NETWORK_CACHE.test(line))
    .map((line) => line.split(/ +/))
    .reduce((sum, [, active, , objectBytes]) => sum + Number(active) * Number(objectBytes), 0);
}

/** Null if this user may not read it, or the process has exited. */
function read<T>(file: string, parse: (text: string) => T): T | null {
  try {
    return parse(readFileSync(file, 'utf8'));
  } catch (error) {
    if (['EACCES', 'ENOENT', 'ESRCH'].includes((error as NodeJS.ErrnoException).code ?? '')) return null;
    throw error;
  }
}

/** Null if there is no such process, or no /proc. */
export const startOf = (pid: number | 'self') => read(`/proc/${pid}/stat`, parseStart);
/** How long its main thread has so far waited for a processor used by others; 0 if the system does not report it. */
export const coreWaitMs = (pid: number) =>
  read(`/proc/${pid}/schedstat`, (text) => Number(text.split(' ')[1]) / NS_PER_MS) ?? 0;
/** Processor time of its main thread, which is all of a process with one thread, in nanoseconds' resolution. */
export const mainThreadMs = (pid: number) =>
  read(`/proc/${pid}/schedstat`, (text) => Number(text.split(' ')[0]) / NS_PER_MS);
export const memoryOf = (pid: number) => read(`/proc/${pid}/smaps_rollup`, parseMemory);
export const processors = () => read('/proc/stat', parseProcessors);
export const bufferBytes = () => read('/proc/net/sockstat', parseBufferBytes);
/** Null if this user may not read it. */
export const slabBytes = () => read('/proc/slabinfo', parseSlabs);

/** Throws if the process has ended. */
export function processorTimeOf(pid: number): ProcessorTime {
  const time = read(`/proc/${pid}/stat`, parseProcessStat);
  if (time === null) throw new Error(`process ${pid} has ended during the measurement`);
  return time;
}

/** In both modes. Throws if the process has ended. */
export function busyMsOf(pid: number): number {
  const { userMs, systemMs } = processorTimeOf(pid);
  return userMs + systemMs;
}

/** Resident memory in MiB; throws if the system does not report it. */
export function residentMiB(pid: number): number {
  const kib = read(`/proc/${pid}/status`, (status) => /^VmRSS:\s+([0-9]+) kB$/m.exec(status)?.[1]);
  if (kib == null) throw new Error('the system does not tell resident memory');
  return Number(kib) / KIB_PER_MIB;
}

/** Of the process's network namespace. */
export function socketsOf(pid: number): Sockets | null {
  return read(`/proc/${pid}/net/sockstat`, (ipv4) =>
    read(`/proc/${pid}/net/sockstat6`, (ipv6) => parseSockets(ipv4, ipv6)),
  );
}

function parseParent(stat: string): number {
  return Number(fieldsBehindName(stat)[1]);
}

/** Fields 14 to 17: its own time and that of its children that have exited and were waited for. */
function parseWholeTimeMs(stat: string): number {
  return fieldsBehindName(stat)
    .slice(11, 15)
    .reduce((sum, ticks) => sum + Number(ticks) * MS_PER_TICK, 0);
}

function processes(): number[] {
  return readdirSync('/proc')
    .filter((entry) => /^\d+$/.test(entry))
    .map(Number);
}

/** Processor time so far of a process and all that descend from it. */
export function familyTimeMs(pid: number): number {
  const parents = new Map(processes().map((each) => [each, read(`/proc/${each}/stat`, parseParent)]));
  const descends = (each: number): boolean => {
    const parent = parents.get(each) ?? null;
    return each === pid || (parent !== null && parent > 1 && descends(parent));
  };
  return [...parents.keys()]
    .filter(descends)
    .reduce((sum, each) => sum + (read(`/proc/${each}/stat`, parseWholeTimeMs) ?? 0), 0);
}
