// The collector: moves results from the server into the archive. A batch is removed from the server once its segment is
// on disk, and the names of the segments tell where to resume, so that nothing is lost or written twice.
import * as v from 'valibot';
import { Complaint, EXIT_FAILED } from '../cli/usage.ts';
import type { Clock } from '../clock.ts';
import {
  DEAD_FILE,
  isOfFiles,
  prepareArchive,
  readSurvey,
  segmentName,
  segmentsIn,
  writeSurvey,
  writeWhole,
} from './archive.ts';
import { isFull, reasonOf, Troubles } from './connect.ts';
import type { Control } from './control.ts';
import { DeliverPolicy, type JetStreamClient, type JetStreamManager } from './nats.ts';
import { deadSchema, MAX_DELIVERIES_REASON, postponedSchema, type Survey, valueIn } from './schema.ts';
import { fetched, type SurveyNames, vantagesOf } from './streams.ts';

/** A segment is written once it has this much, or has waited that long. */
const SEGMENT_BYTES = 16 * 1024 * 1024;
const SEGMENT_MS = 60_000;
const FETCH_MS = 1000;
const FETCH_BATCHES = 64;
const RETRY_MS = 1000;
const DEAD_AT_A_TIME = 1000;
const DEAD_MS = 10_000;

export interface CollectionParts {
  readonly client: JetStreamClient;
  readonly manager: JetStreamManager;
  readonly control: Control;
  readonly names: SurveyNames;
  readonly dir: string;
  readonly clock: Clock;
  /** Ends this pass once it has what the server had; called whenever the server has nothing more. */
  readonly isDone: () => boolean;
  readonly signal: AbortSignal;
  readonly log: (message: string) => void;
  /** Called if the directory is new and other results have left the server: they are in another one. */
  readonly isPart: () => void;
  readonly wrote: (segment: string, batches: number) => void;
}

/** Collects one vantage's results until done, and calls `works` after each read; what it has then is written. */
async function collectVantage(parts: CollectionParts, vantage: string, works: () => void): Promise<void> {
  const { client, manager, names, dir, clock, signal } = parts;
  const subject = names.resultSubject(vantage);
  const removeUntil = (seq: number) =>
    manager.streams.purge(names.streams.result, { filter: subject, seq: seq + 1 });
  let batches: { readonly seq: number; readonly data: Uint8Array }[] = [];
  let bytes = 0;
  let sinceMs = 0;
  /** What waited is written at once: a collector that is killed every half minute would otherwise write nothing. */
  let isCatchingUp = true;

  async function write(): Promise<void> {
    const [first] = batches;
    const final = batches.at(-1);
    if (first === undefined || final === undefined) return;
    const name = segmentName({ vantage, first: first.seq, last: final.seq });
    writeWhole(
      dir,
      name,
      batches.map(({ data }) => data),
    );
    parts.wrote(name, batches.length);
    batches = [];
    bytes = 0;
    await removeUntil(final.seq);
  }

  // What a collector that died had on disk but not yet removed from the server.
  const last = segmentsIn(dir).findLast((segment) => segment.vantage === vantage)?.last ?? 0;
  if (last > 0) await removeUntil(last);
  const consumer = await client.consumers.get(names.streams.result, {
    filter_subjects: subject,
    deliver_policy: DeliverPolicy.StartSequence,
    opt_start_seq: last + 1,
  });
  while (!signal.aborted) {
    let pulled = 0;
    const some = { max_messages: FETCH_BATCHES, expires: FETCH_MS };
    for await (const { seq, data } of fetched(consumer, some, signal)) {
      if (batches.length === 0) sinceMs = clock.nowMs();
      batches.push({ seq, data });
      bytes += data.length;
      pulled += 1;
    }
    works();
    const done = pulled === 0 && parts.isDone();
    const hasCaughtUp = isCatchingUp && pulled < FETCH_BATCHES;
    if (hasCaughtUp || bytes >= SEGMENT_BYTES || done || clock.nowMs() - sinceMs >= SEGMENT_MS) await write();
    if (hasCaughtUp) isCatchingUp = false;
    if (done) return;
  }
  await write();
}

const advisorySchema = v.object({ stream: v.string(), consumer: v.string(), stream_seq: v.number() });

/** A message of the stream `dead` as a line of the archive; null if it is neither a job nor an advisory. */
async function deadOf({ manager, names }: CollectionParts, data: Uint8Array): Promise<object | null> {
  const dead = valueIn(deadSchema, data);
  if (dead !== null) return dead;
  const advisory = valueIn(advisorySchema, data);
  if (advisory === null) return null;
  const { stream, consumer, stream_seq: seq } = advisory;
  const message = stream === names.streams.later ? await manager.streams.getMessage(stream, { seq }) : null;
  const postponed = message === null ? null : valueIn(postponedSchema, message.data);
  return { vantage: consumer, job: postponed?.job ?? seq, reason: MAX_DELIVERIES_REASON };
}

/** Writes the jobs that were given up beside the results, all of them anew; also after an interrupt, the usual end. */
async function writeDead(parts: CollectionParts): Promise<void> {
  const { client, manager, names, dir, clock } = parts;
  const { state } = await manager.streams.info(names.streams.dead);
  const consumer = await client.consumers.get(names.streams.dead, {});
  const pieces: Buffer[] = [];
  for (let left = state.messages; left > 0; ) {
    const lines: string[] = [];
    let got = 0;
    const some = { max_messages: Math.min(left, DEAD_AT_A_TIME), expires: FETCH_MS };
    // After an interrupt too, which a server that is away must not outlast.
    const ending = new AbortController();
    const forget = clock.after(DEAD_MS, () => ending.abort());
    try {
      for await (const { data } of fetched(consumer, some, ending.signal)) {
        got += 1;
        const line = await deadOf(parts, data);
        if (line !== null) lines.push(`${JSON.stringify(line)}\n`);
      }
    } finally {
      forget();
    }
    if (got === 0) throw new Error(`the stream ${names.streams.dead} gives no more messages`);
    pieces.push(Buffer.from(lines.join('')));
    left -= got;
  }
  writeWhole(dir, DEAD_FILE, pieces);
}

/** Throws a Complaint if the directory has the results of another survey, which must neither be mixed nor removed. */
export function checkArchive(dir: string, survey: Survey): void {
  const before = readSurvey(dir);
  const key = ({ survey: name, createdAtMs, list }: Survey) =>
    JSON.stringify([name, createdAtMs, list.sha256]);
  if (before === null ? segmentsIn(dir).length === 0 : key(before) === key(survey)) return;
  throw new Complaint('bad-directory', `${dir} is the archive of another survey; name another directory`);
}

/**
 * Collects into a directory until done or aborted: every vantage that reads the list, also one that joins later.
 * A server that is away is waited for. Throws an error of the file system: what is not on disk stays on the server.
 */
export async function collect(given: CollectionParts): Promise<void> {
  const { manager, control, names, dir, clock } = given;
  prepareArchive(dir);
  // What fails for one vantage ends the others: they would fill the same disk.
  const stop = new AbortController();
  const signal = AbortSignal.any([given.signal, stop.signal]);
  const parts = { ...given, signal };
  const running = new Map<string, Promise<unknown>>();
  let failure: unknown = null;
  const fail = (error: unknown): undefined => {
    failure ??= error;
    stop.abort();
  };
  const keep = (vantage: string): Promise<unknown> =>
    insist(parts, `the results of ${vantage} cannot be read`, (works) =>
      collectVantage(parts, vantage, works),
    ).catch(fail);
  const { survey } = control.state();
  if (survey === null) throw new Error('a collector needs the survey');
  checkArchive(dir, survey);
  writeSurvey(dir, { ...readSurvey(dir), ...survey });
  if (segmentsIn(dir).length === 0) {
    const info = () => manager.streams.info(names.streams.result);
    const results = await insist(parts, 'the results cannot be read', info);
    if (results !== undefined && results.state.first_seq > 1) parts.isPart();
  }
  while (failure === null) {
    const list = async () => {
      const vantages = await vantagesOf(manager, names);
      if (vantages.some((vantage) => !running.has(vantage))) writeSurvey(dir, { ...survey, vantages });
      return vantages;
    };
    const vantages = await insist(parts, 'vantage points cannot be listed', list).catch(fail);
    for (const vantage of vantages ?? []) if (!running.has(vantage)) running.set(vantage, keep(vantage));
    const done = signal.aborted || parts.isDone();
    if (done) await Promise.all(running.values());
    if (done) break;
    await pause(clock, RETRY_MS);
  }
  await Promise.all(running.values());
  if (failure !== null) throw failure;
  await insist(parts, 'the jobs given up cannot be read', () => writeDead(parts));
}

/**
 * Repeats `run` while the server is unreachable. `run` may report early that it works again. Undefined if the collector
 * ends first. Rejects with an error of the file system, and with a Complaint if the server's disk is full.
 */
async function insist<T>(
  { clock, signal, log }: CollectionParts,
  what: string,
  run: (works: () => void) => Promise<T>,
): Promise<T | undefined> {
  const troubles = new Troubles(log);
  const works = (): void => troubles.over(what);
  for (;;)
    try {
      const result = await run(works);
      if (!signal.aborted) works();
      return result;
    } catch (error) {
      if (isOfFiles(error)) throw error;
      if (signal.aborted) return undefined;
      if (isFull(error))
        throw new Complaint(
          'no-server',
          `${reasonOf(error)}; then run the command again: nothing is lost`,
          EXIT_FAILED,
        );
      troubles.begun(what, error);
      await pause(clock, RETRY_MS);
    }
}

function pause(clock: Clock, ms: number): Promise<void> {
  return new Promise((resolve) => void clock.after(ms, resolve));
}
