// P1's transports: a server over TCP and SCTP, and a load on it, each a process of photofinish-sctp in a namespace.
import * as v from 'valibot';
import { whenReady } from '../../child-process.ts';
import type { Namespace } from '../../network/namespace.ts';
import { rustProgram } from '../../test-programs.ts';
import { figure } from '../journal.ts';

/** With the arguments `serve`, `load` or `trials` and settings as JSON. */
export const PROGRAM = rustProgram('photofinish-sctp');

/** `sctp-udp`: RFC 6951. `sctp`: directly over IP, in user space. */
export const TRANSPORTS = ['tcp', 'sctp-udp', 'sctp', 'sctp-kernel'] as const;
export type Transport = (typeof TRANSPORTS)[number];

export interface Candidate {
  readonly transport: Transport;
  readonly address: string;
}

export const PLAIN_PORT = 80;
export const TLS_PORT = 443;
/** RFC 6951 section 6.1. */
export const ENCAPSULATION_PORT = 9899;

const candidateEntries = { transport: v.picklist(TRANSPORTS), address: v.string() };

const readySchema = v.object({
  certificatePath: v.string(),
  served: v.array(v.object(candidateEntries)),
  unavailable: v.array(v.object({ ...candidateEntries, reason: v.string() })),
  /** SCTP's, in milliseconds. */
  timers: v.record(v.string(), figure),
});

const quantilesSchema = v.nullable(
  v.object({ p10: figure, median: figure, p90: figure, p99: figure, max: figure }),
);

/** The document of a load. */
export const loadSchema = v.object({
  scheduled: figure,
  ended: figure,
  ok: figure,
  races: figure,
  /** Races before the first request, which fill the cache; counted nowhere else. */
  learning: figure,
  winners: v.array(v.object({ ...candidateEntries, ofRaces: figure, all: figure })),
  failures: v.record(v.string(), figure),
  establishedMs: quantilesSchema,
  doneMs: quantilesSchema,
  lateMs: quantilesSchema,
  wasLate: v.boolean(),
  offeredPerSecond: figure,
  achievedPerSecond: figure,
  droppedPackets: figure,
});
export type LoadResult = v.InferOutput<typeof loadSchema>;

export interface RunningTransports extends v.InferOutput<typeof readySchema> {
  readonly pid: number;
  stop(): Promise<void>;
}

/**
 * Starts the server on these addresses of the namespace. What is not available there is named in `unavailable`. Rejects
 * with its error output if it does not start.
 */
export async function startTransports(
  inside: Namespace,
  dir: string,
  transports: readonly Transport[],
  addresses: readonly string[],
  encapsulationPort = ENCAPSULATION_PORT,
): Promise<RunningTransports> {
  const ports = { plainPort: PLAIN_PORT, tlsPort: TLS_PORT, encapsulationPort };
  const child = inside.spawn(PROGRAM, ['serve', JSON.stringify({ dir, addresses, transports, ...ports })]);
  const { line, pid, stop } = await whenReady('the SCTP server', child);
  return { ...v.parse(readySchema, JSON.parse(line)), pid, stop };
}

export interface Load {
  /** Ways to the server, used in turn; the candidates of each race. */
  readonly paths: readonly (readonly Candidate[])[];
  readonly port: number;
  readonly tls: { readonly version: '1.2' | '1.3'; readonly certificatePath: string } | null;
  /** What wins: the first answer, SYN ACK or INIT ACK, or the first connection. Default: `established`. */
  readonly rule?: 'answer' | 'established';
  /** `echo`: the server returns what it gets. Default: `http`. */
  readonly exchange?: 'http' | 'echo';
  readonly objectBytes: number;
  readonly perSecond: number;
  readonly durationMs: number;
  /** The share of requests that find the outcome of an earlier race; default: 0. */
  readonly hitShare?: number;
  readonly timeoutMs?: number;
  readonly seed: number;
}

/** Makes the requests and resolves when the last has ended. Rejects with the program's error output if it fails. */
export async function runLoad(inside: Namespace, load: Load): Promise<LoadResult> {
  const result = await inside.runOrThrow(PROGRAM, ['load', JSON.stringify(load)]);
  return v.parse(loadSchema, JSON.parse(result));
}
