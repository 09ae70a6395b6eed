// One turn of `p1`: a new server, a short warm-up, then one load, and what the server used for it.
import { isIP } from 'node:net';
import { setTimeout as pause } from 'node:timers/promises';
import { openNetwork } from '../../network/open.ts';
import { bufferBytes, mainThreadMs, memoryOf, processors, processorTimeOf, slabBytes } from '../../proc.ts';
import { scratchIn } from '../../scratch.ts';
import { RTT_MS } from '../cost/cells.ts';
import { seedOf } from '../cost/segment.ts';
import { giveMorePorts } from '../cost/servers.ts';
import { type Cell, TURN_SECONDS, type Turn, type TurnRecord, type Winners } from './cells.ts';
import {
  type Candidate,
  type Load,
  type LoadResult,
  PLAIN_PORT,
  type RunningTransports,
  runLoad,
  startTransports,
  TLS_PORT,
  type Transport,
} from './transports.ts';

/** Additional delay for TCP over IPv6, each way: SCTP, which takes two round trips, is established before it. */
const TCP_EXTRA_MS = 60;
const WARM_UP_MS = 500;
const LEAST_IDLE_SHARE = 0.03;
const MOST_FAILED_SHARE = 0.01;
/** Connections over a transport that should have lost: a busy machine delays the other more than the link does. */
const MOST_ASTRAY_SHARE = 0.05;
/** A start of the server and of two loads, and the ends of their connections. */
export const TURN_OVERHEAD_SECONDS = 1 + WARM_UP_MS / 1000;

export type Testbed = Awaited<ReturnType<typeof openTestbed>>;

/** The network of all turns, and the folder of the server's certificate; rejects if it cannot be opened. */
export async function openTestbed(seed: number, sctp: Transport) {
  const apart = { transport: 'tcp', family: 6, delayMs: TCP_EXTRA_MS } as const;
  const shape = { delayMs: RTT_MS / 2, apart };
  const transports = [...new Set<Transport>(['tcp', sctp, 'sctp', 'sctp-udp'])];
  await using opening = new AsyncDisposableStack();
  const dir = await scratchIn(opening, 'p1');
  const network = await openNetwork({ link: { kind: 'tun', shape, seed } });
  opening.defer(network.close);
  const { client } = network;
  const { server } = network.peers;
  await giveMorePorts(client);
  const closing = opening.move();
  return {
    client,
    server,
    sctp,
    /** Rejects if TCP or the transport raced against it is not available here. */
    async start(): Promise<RunningTransports> {
      const running = await startTransports(server, dir, transports, [server.ipv4, server.ipv6]);
      const missing = running.unavailable.find(({ transport }) => transport === 'tcp' || transport === sctp);
      if (missing === undefined) return running;
      await running.stop();
      throw new Error(`${missing.transport}: ${missing.reason}`);
    },
    close: () => closing.disposeAsync(),
  };
}

/** TCP wins over IPv4, SCTP over IPv6. */
function pathsOf({ way }: Cell, { server, sctp }: Testbed, served: readonly Candidate[]): Candidate[][] {
  if (way.kind === 'six') return [served.filter(({ transport }) => transport !== 'sctp-kernel')];
  const race = (address: string): Candidate[] =>
    (['tcp', sctp] as const).map((transport) => ({ transport, address }));
  if (way.kind === 'middlebox') return [race(server.ipv4)];
  const of: Readonly<Record<Exclude<Winners, 'half'>, Candidate[]>> = {
    tcp: way.hitShare === 1 ? [{ transport: 'tcp', address: server.ipv4 }] : race(server.ipv4),
    sctp: way.hitShare === 1 ? [{ transport: sctp, address: server.ipv6 }] : race(server.ipv6),
  };
  return way.winner === 'half' ? [of.tcp, of.sctp] : [of[way.winner]];
}

function loadOf(cell: Cell, testbed: Testbed, running: RunningTransports, seed: number): Load {
  const { security, way } = cell;
  const { certificatePath, served } = running;
  const alone = way.kind !== 'cached' || way.hitShare === 1;
  return {
    paths: pathsOf(cell, testbed, served),
    port: security === 'plain' ? PLAIN_PORT : TLS_PORT,
    tls: security === 'plain' ? null : { version: security, certificatePath },
    objectBytes: cell.objectBytes,
    perSecond: cell.perSecond,
    durationMs: 1000 * TURN_SECONDS,
    hitShare: alone ? 0 : way.hitShare,
    seed,
  };
}

function readAll(pid: number, linkPid: number | null) {
  const time = processorTimeOf(pid);
  const preciseMs = mainThreadMs(pid);
  const all = processors();
  const link = linkPid === null ? null : processorTimeOf(linkPid);
  if (time === null || preciseMs === null || all === null || link === null)
    throw new Error('/proc does not report processor time');
  return { atMs: performance.now(), time, preciseMs, all, linkMs: link.userMs + link.systemMs };
}

/**
 * Why the load does not count as driven; empty if it does. Unless `anyWinner`, TCP should win over IPv4 and SCTP over
 * IPv6.
 */
export function faultsOf(load: LoadResult, idleShare: number, anyWinner = false): string[] {
  const percent = (share: number) => `${(100 * share).toFixed(1)} %`;
  const why: string[] = [];
  if (load.wasLate) why.push(`starts late: p99 ${(load.lateMs?.p99 ?? 0).toFixed(0)} ms`);
  if (load.droppedPackets > 0) why.push(`our own packets dropped: ${load.droppedPackets}`);
  if (idleShare < LEAST_IDLE_SHARE) why.push(`processors: ${percent(idleShare)} left`);
  const failed = load.scheduled === 0 ? 1 : (load.scheduled - load.ok) / load.scheduled;
  if (failed > MOST_FAILED_SHARE)
    why.push(`failed: ${percent(failed)} (${Object.keys(load.failures).join(', ') || 'nothing was sent'})`);
  const astray = load.winners.filter(
    ({ transport, address }) => (isIP(address) === 6) === (transport === 'tcp'),
  );
  const astrayShare = astray.reduce((sum, { all }) => sum + all, 0) / Math.max(1, load.ok);
  if (astrayShare > MOST_ASTRAY_SHARE && !anyWinner) why.push(`won by the other: ${percent(astrayShare)}`);
  return why;
}

async function measureOn(
  testbed: Testbed,
  turn: Turn,
  running: RunningTransports,
  seed: number,
): Promise<TurnRecord> {
  const { client, server } = testbed;
  const { pid } = running;
  const load = loadOf(turn.cell, testbed, running, seedOf(turn, seed));
  await runLoad(client, { ...load, durationMs: WARM_UP_MS, seed: (load.seed ^ 1) >>> 0 });
  const before = readAll(pid, server.linkPid);
  const inTheMiddle = pause(load.durationMs / 2).then(() => ({
    bufferBytes: bufferBytes(),
    slabBytes: slabBytes(),
  }));
  const result = await runLoad(client, load);
  const after = readAll(pid, server.linkPid);
  const idleMs = after.all.idleMs - before.all.idleMs;
  const idleShare = idleMs / (idleMs + after.all.busyMs - before.all.busyMs);
  return {
    kind: 'turn',
    scenario: turn.cell.id,
    turn: turn.round,
    endedAtMs: Date.now(),
    trials: [
      {
        seconds: (after.atMs - before.atMs) / 1000,
        requests: result.ended + result.learning,
        serverMs: after.preciseMs - before.preciseMs,
        serverUserMs: after.time.userMs - before.time.userMs,
        serverSystemMs: after.time.systemMs - before.time.systemMs,
        linkMs: after.linkMs - before.linkMs,
        serverPssBytes: memoryOf(pid)?.pssBytes ?? null,
        ...(await inTheMiddle),
      },
    ],
    drive: { idleShare, why: faultsOf(result, idleShare, turn.cell.way.kind === 'six') },
    load: result,
  };
}

/** Measures one turn. Rejects if the server or the client fails. */
export async function measureTurn(testbed: Testbed, turn: Turn, seed: number): Promise<TurnRecord> {
  const blocked = turn.cell.way.kind === 'middlebox';
  const transport = testbed.sctp === 'sctp-udp' ? 'udp' : 'sctp';
  const running = await testbed.start();
  try {
    if (blocked) await testbed.server.obstruct([{ transport, effect: 'drop' }]);
    return await measureOn(testbed, turn, running, seed);
  } finally {
    if (blocked) await testbed.server.obstruct([]);
    await running.stop();
  }
}
