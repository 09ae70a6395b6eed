// A worker of a survey: pulls jobs of its vantage point, races them within the budgets, and publishes what the canaries
// vouch for. A job is acknowledged after its result is stored, so one that dies loses time and nothing else.
//
//   todo, later --> queue --> race --> held until the next good canary --> result stream --> acknowledged
//                     ^        |  \-> no budget now: later
//                     |        \----> opted out: dead
//                     \---- discarded by a failed canary or a changed network
import type { OriginRace } from '@photofinish/shared/race/outcome';
import { parseOrigin } from '@photofinish/shared/web/origin';
import type { Pace } from '../cli/race-pace.ts';
import { Complaint } from '../cli/usage.ts';
import type { Clock } from '../clock.ts';
import type { Network } from '../network/watch.ts';
import { besideOthers, type Racing } from '../racing.ts';
import { CanaryWatch, HeldResults, reachOfCanaries } from './canary.ts';
import { budgetOf, type Control } from './control.ts';
import { VantageEvidence } from './facts.ts';
import { type JobSource, requestOf, type Task, taskOf } from './job.ts';
import { type JobRacing, raceJob, surveySpec } from './job-race.ts';
import {
  type Consumer,
  type JetStreamClient,
  type JetStreamManager,
  jetstream,
  jetstreamManager,
  type NatsConnection,
} from './nats.ts';
import { type OptOut, optOut } from './opt-out.ts';
import { type Measured, Outbox } from './outbox.ts';
import { Politeness } from './politeness.ts';
import { Presence } from './presence.ts';
import type { Survey } from './result.ts';
import { ACK_WAIT_MS, MAX_UNACKNOWLEDGED, type SurveyNames, vantageConsumer } from './streams.ts';

/** One pair, which shows what each transport reaches; a canary is near enough to answer in that time. */
const CANARY_TRIAL = { trials: 1, pairs: 1, timeoutMs: 3000 } as const;
/** Results that wait for a canary at most: then one is asked early. */
const MOST_HELD = MAX_UNACKNOWLEDGED / 2;
/** How long a sick vantage keeps its jobs before it lets them go. */
const KEEPS_JOBS_MS = 600_000;
/** Without canaries, results are published this often. */
const PUBLISH_EVERY_MS = 1000;
const FETCH_MS = 1000;
const RETRY_MS = 1000;
/** Postponed jobs that a worker holds while they wait for their budget. */
const MOST_WAITING = 64;
/** Where an address is busy, and no time is known: about a race. */
const BUSY_MS = 250;
/** A job that has its turn within this time is not worth a message. */
const HOLDS_MS = 2000;
/** While more jobs than that are postponed, no further ones are taken from the list. */
const MOST_POSTPONED = 1000;

export interface WorkerParts {
  readonly connection: NatsConnection;
  readonly control: Control;
  readonly names: SurveyNames;
  readonly survey: Survey;
  readonly vantage: string;
  readonly worker: string;
  readonly race: Racing;
  /** Told of every result that a good canary vouches for; races then know what the fleet shares. Null: each is cold. */
  readonly share: ((race: OriginRace) => void) | null;
  readonly network: Network;
  readonly pace: Pace;
  /** The time between rounds of canaries, for a worker of that age. */
  readonly canaryEveryMs: (ageMs: number) => number;
  readonly clock: Clock;
  /** Ends when nothing is left to do for this vantage. */
  readonly drains: boolean;
  readonly signal: AbortSignal;
  readonly say: (message: string) => void;
  readonly progress: (measured: number) => void;
}

/** In force until the control bucket is read. */
const NOBODY: OptOut = { refusesHost: () => false, refusesAddress: () => false };

class Worker {
  readonly #parts: WorkerParts;
  readonly #client: JetStreamClient;
  readonly #manager: JetStreamManager;
  readonly #presence: Presence;
  readonly #politeness: Politeness;
  readonly #jobs: JobRacing;
  readonly #evidence = new VantageEvidence();
  readonly #canaries = new CanaryWatch();
  readonly #held = new HeldResults<Task, OriginRace>();
  readonly #outbox: Outbox;
  /** Aborts the races under way when the network changes or the worker ends. */
  #round = new AbortController();
  #network: string;
  /** The machine is between networks: a race would be told of the wrong one. */
  #moving = false;
  #stopWatching: () => void = () => {};
  #optOut: OptOut = NOBODY;
  #optOutEntries: readonly string[] = [];
  #queue: Task[] = [];
  #racing = 0;
  #postponedCount = 0;
  #postponedAtMs = Number.NEGATIVE_INFINITY;
  #waiting = 0;
  #measured = 0;
  #sickSinceMs: number | null = null;
  /** The streams that had nothing when last asked. */
  readonly #nothingPulled = new Set<JobSource>();
  #changed = Promise.withResolvers<void>();
  /** Why the worker must end; null: it need not. */
  #failure: unknown = null;

  constructor(parts: WorkerParts, client: JetStreamClient, manager: JetStreamManager, network: string) {
    this.#parts = parts;
    this.#client = client;
    this.#manager = manager;
    this.#network = network;
    const { clock, race } = parts;
    this.#politeness = new Politeness(this.#limits(), clock.nowMs());
    this.#presence = new Presence(parts, () => ({
      measured: this.#measured,
      sickSinceMs: this.#sickSinceMs,
    }));
    this.#outbox = new Outbox({ client, ...parts, insist: (what, run) => this.#insist(what, run) });
    this.#jobs = { race, politeness: this.#politeness, optOut: () => this.#optOut, clock };
  }

  #limits() {
    const { control, survey } = this.#parts;
    const state = control.state();
    const { perNetworkPerSecond, totalPerSecond } = budgetOf(state) ?? survey;
    return {
      perNetworkPerSecond,
      totalPerSecond,
      workers: Math.max(1, state.workers.size),
      paused: state.paused,
    };
  }

  /** Everybody who waits for something looks again. */
  #change(): void {
    this.#changed.resolve();
    this.#changed = Promise.withResolvers();
  }

  get #over(): boolean {
    return this.#parts.signal.aborted || this.#failure !== null;
  }

  /** Waits for a change, at most that long. */
  async #pause(atMostMs: number): Promise<void> {
    const { promise, resolve } = Promise.withResolvers<void>();
    const forget = this.#parts.clock.after(atMostMs, resolve);
    await Promise.race([promise, this.#changed.promise]);
    forget();
  }

  /** What the control bucket says now. */
  heed(): void {
    const { control, clock, say } = this.#parts;
    const { entries } = control.state().optOut;
    // Announcements change nothing in it, and it may be long.
    const read = entries === this.#optOutEntries ? null : optOut(entries);
    this.#optOutEntries = entries;
    if (read?.ok) this.#optOut = read.value;
    else if (read !== null) say(`the new opt-out list is not in force: ${read.message}`);
    this.#politeness.setLimits(this.#limits(), clock.nowMs());
    if (this.#presence.isTaken()) this.#fail(this.#presence.takenOver());
    this.#change();
    // After a pause, what was taken before it.
    this.#begin();
  }

  #fail(error: unknown): void {
    this.#failure ??= error;
    this.#round.abort();
    this.#change();
  }

  /** Repeats until it succeeds: a server that restarts, or has no room, loses nothing that we hold. */
  async #insist(what: string, run: () => Promise<unknown>): Promise<boolean> {
    let told = false;
    while (!this.#over) {
      try {
        await run();
        return true;
      } catch (error) {
        if (error instanceof Complaint) throw error;
        if (!told) this.#parts.say(`${what}: ${(error as Error).message}; trying again until it works`);
        told = true;
        await this.#pause(RETRY_MS);
      }
    }
    return false;
  }

  /** Keeps a job for a moment, in its place: it stays unacknowledged until it has its turn. */
  #hold(task: Task, forMs: number): void {
    this.#waiting += 1;
    this.#parts.clock.after(forMs, () => {
      this.#waiting -= 1;
      this.#queue.push(task);
      this.#change();
      this.#begin();
    });
  }

  async #postpone(task: Task, inMs: number): Promise<void> {
    const isShort = inMs <= HOLDS_MS && this.#waiting < MOST_WAITING;
    if (task.from === 'later' || isShort) return this.#hold(task, inMs);
    return this.#outbox.postpone(task);
  }

  async #run(task: Task): Promise<void> {
    const { survey, share } = this.#parts;
    const request = task.job === null ? null : requestOf(task.job);
    if (request === null) return this.#outbox.giveUp(task, 'bad-job');
    const { signal } = this.#round;
    const where = { network: this.#network, signal };
    const memory = share === null ? 'none' : 'hints';
    const outcome = await raceJob(this.#jobs, surveySpec(survey, request, where, memory));
    if (outcome.kind === 'opted-out') return this.#outbox.giveUp(task, 'opt-out');
    if (outcome.kind === 'postponed') {
      const { againMs, backsOff } = outcome;
      const inMs = againMs === null ? BUSY_MS : Math.max(0, againMs - this.#parts.clock.nowMs());
      // Kept, its jobs would hold up those of all other networks.
      if (backsOff && task.from === 'later' && inMs > KEEPS_JOBS_MS)
        return this.#outbox.giveUp(task, 'no-answer');
      return this.#postpone(task, inMs);
    }
    if (outcome.kind === 'cancelled' || signal.aborted) {
      if (!this.#over) this.#queue.push(task);
      return;
    }
    // Given back meanwhile: another worker has it.
    if (!this.#outbox.owes(task.message)) return;
    this.#evidence.add(outcome.race);
    this.#held.add({ job: task, result: outcome.race, endedMs: this.#parts.clock.nowMs() });
  }

  /** Starts as many races as the pace allows. */
  #begin(): void {
    const { pace, control } = this.#parts;
    while (
      !this.#over &&
      !this.#moving &&
      this.#sickSinceMs === null &&
      !control.state().paused &&
      this.#racing < pace.limit()
    ) {
      const task = this.#queue.shift();
      if (task === undefined) return;
      // Let go meanwhile: another worker has it.
      if (!this.#outbox.owes(task.message)) continue;
      this.#racing += 1;
      void this.#run(task)
        .catch((error: unknown) => this.#fail(error))
        .finally(() => {
          this.#racing -= 1;
          pace.over();
          this.#change();
          this.#begin();
        });
    }
  }

  /** How many more jobs may be pulled: at most twice as many as are raced at a time. */
  #room(from: JobSource): number {
    const { control, pace } = this.#parts;
    if (this.#sickSinceMs !== null || control.state().paused) return 0;
    if (this.#held.size >= MOST_HELD) return 0;
    const room = 2 * pace.limit() - this.#racing - this.#queue.length;
    return from === 'later' ? Math.min(room, MOST_WAITING - this.#waiting) : room;
  }

  async #pull(from: JobSource): Promise<void> {
    const { names, vantage, drains } = this.#parts;
    let consumer: Consumer | null = null;
    while (!this.#over) {
      const room = this.#room(from);
      // In batches: each question costs a round trip.
      if (room < (from === 'todo' ? this.#parts.pace.limit() : 1)) {
        await this.#pause(FETCH_MS);
        continue;
      }
      try {
        consumer ??= await this.#client.consumers.get(names.streams[from], vantage);
        if (from === 'todo' && (await this.#postponed()) > MOST_POSTPONED) {
          await this.#pause(FETCH_MS);
          continue;
        }
        let pulled = 0;
        for await (const message of await consumer.fetch({ max_messages: room, expires: FETCH_MS })) {
          pulled += 1;
          this.#outbox.owe(message);
          this.#queue.push(taskOf(message, from));
          this.#begin();
        }
        if (pulled > 0) this.#nothingPulled.clear();
        else this.#nothingPulled.add(from);
        this.#change();
        if (pulled === 0 && drains && (await this.#isDone())) return;
      } catch (error) {
        this.#parts.say(`jobs could not be pulled: ${(error as Error).message}; trying again until it works`);
        consumer = null;
        await this.#pause(RETRY_MS);
      }
    }
  }

  /** How many jobs were postponed, as of the last second. */
  async #postponed(): Promise<number> {
    const { names, vantage, clock } = this.#parts;
    if (clock.nowMs() - this.#postponedAtMs >= FETCH_MS) {
      this.#postponedAtMs = clock.nowMs();
      const { num_pending } = await this.#manager.consumers.info(names.streams.later, vantage);
      this.#postponedCount = num_pending;
    }
    return this.#postponedCount;
  }

  /** Whether nothing is left for this vantage, for any of its workers. */
  async #isDone(): Promise<boolean> {
    const { names, vantage, control } = this.#parts;
    const jobs = control.state().survey?.list.jobs ?? Number.POSITIVE_INFINITY;
    const [todo, later, stream] = await Promise.all([
      this.#manager.consumers.info(names.streams.todo, vantage),
      this.#manager.consumers.info(names.streams.later, vantage),
      this.#manager.streams.info(names.streams.todo),
    ]);
    return (
      stream.state.messages >= jobs &&
      [todo, later].every(({ num_pending, num_ack_pending }) => num_pending + num_ack_pending === 0)
    );
  }

  /** Nothing more comes and nothing is under way, so nothing is gained by waiting for the next canary. */
  #isExhausted(): boolean {
    const idle = this.#racing + this.#queue.length + this.#waiting === 0;
    return this.#parts.drains && idle && this.#nothingPulled.size === 2;
  }

  /** Publishes results with verdicts that take the other hosts of this vantage into account. */
  #publish(released: readonly Measured[]): Promise<void> {
    const told = released.map(({ job, result }) => ({
      job,
      result: besideOthers(result, () => this.#evidence.except(result.origin)),
    }));
    for (const { result } of told) this.#parts.share?.(result);
    return this.#outbox.publish(told, (results) => {
      this.#measured += results;
      this.#parts.progress(this.#measured);
    });
  }

  /** Races under way saw the path that failed, and what they and earlier ones said of it is no evidence of this one. */
  #endRaces(): void {
    this.#round.abort();
    this.#round = new AbortController();
    this.#evidence.forget();
  }

  /** What was measured since the last good canary is measured again. */
  #discard(): void {
    this.#queue.push(...this.#held.discard().map(({ job }) => job));
  }

  async #raceCanaries(): Promise<readonly OriginRace[]> {
    const { survey, race } = this.#parts;
    const { signal } = this.#round;
    const requests = survey.canaries.flatMap((text) => {
      const origin = parseOrigin(text);
      const isUsed = origin.ok && !this.#optOut.refusesHost(origin.value.host);
      return isUsed ? [{ origin: origin.value, mode: 'compare' as const }] : [];
    });
    const where = { network: this.#network, signal };
    const mayUse = (addresses: readonly string[]): boolean =>
      !addresses.some((address) => this.#optOut.refusesAddress(address));
    return Promise.all(
      requests.map((request) => race({ ...surveySpec(survey, request, where), ...CANARY_TRIAL, mayUse })),
    );
  }

  /** One round: results that ended before a good one are published. */
  async #canaryRound(): Promise<void> {
    const { clock, control, survey, say } = this.#parts;
    const { signal } = this.#round;
    const beganMs = clock.nowMs();
    if (this.#moving) return;
    if (survey.canaries.length === 0) return this.#publish(this.#held.release(beganMs));
    if (control.state().paused) return;
    const races = await this.#raceCanaries();
    if (signal.aborted) return;
    const health = this.#canaries.heard(reachOfCanaries(races), clock.nowMs());
    if (health.state === 'sick') {
      if (this.#sickSinceMs === null) {
        this.#endRaces();
        say('the canaries fail: nothing is written until they succeed again');
      }
      this.#discard();
      this.#sickSinceMs ??= clock.epochMs();
      if (clock.nowMs() - health.sinceMs >= KEEPS_JOBS_MS) this.#letGo();
      return;
    }
    const recovers = this.#sickSinceMs !== null;
    if (recovers) say('the canaries succeed again');
    this.#sickSinceMs = null;
    if (health.state === 'changed') this.#endRaces();
    if (health.state === 'changed' || recovers) this.#discard();
    else {
      for (const race of races) this.#evidence.add(race);
      await this.#publish(this.#held.release(beganMs));
    }
    this.#begin();
    this.#change();
  }

  /** Jobs go back to the server, for another worker. */
  #letGo(): void {
    this.#outbox.letGo();
    this.#queue = [];
  }

  async #watchCanaries(done: () => boolean): Promise<void> {
    const { clock, survey, canaryEveryMs } = this.#parts;
    const beganMs = clock.nowMs();
    while (!this.#over && !done()) {
      await this.#canaryRound();
      const nowMs = clock.nowMs();
      const everyMs = survey.canaries.length === 0 ? PUBLISH_EVERY_MS : canaryEveryMs(nowMs - beganMs);
      const untilMs = nowMs + everyMs;
      while (!this.#over && !done() && clock.nowMs() < untilMs) {
        if (this.#held.size >= MOST_HELD) break;
        if (this.#held.size > 0 && this.#isExhausted()) break;
        await this.#pause(untilMs - clock.nowMs());
      }
    }
  }

  /** The path is another one: what is held was measured on the old one, or on both. */
  #watchNetwork(): () => void {
    const { network, say } = this.#parts;
    return network.watch(this.#network, () => {
      say('the network changed: what was measured since the last good canary is measured again');
      this.#endRaces();
      this.#canaries.forget();
      this.#discard();
      this.#moving = true;
      void network.settled().then((key) => {
        this.#moving = false;
        if (this.#over) return;
        this.#network = key;
        this.#stopWatching = this.#watchNetwork();
        this.#begin();
        this.#change();
      });
    });
  }

  async run(): Promise<number> {
    const { names, vantage, signal } = this.#parts;
    const onAbort = (): void => {
      this.#round.abort();
      this.#change();
    };
    signal.addEventListener('abort', onAbort, { once: true });
    const inProgress = setInterval(() => this.#outbox.stillWorking(), ACK_WAIT_MS / 3);
    try {
      await this.#insist('the worker could not be announced', () =>
        this.#presence.take((atMostMs) => this.#pause(atMostMs), signal),
      );
      for (const from of ['todo', 'later'] as const)
        await this.#insist('jobs cannot be asked for', () =>
          vantageConsumer(this.#manager, names, from, vantage),
        );
      this.#stopWatching = this.#watchNetwork();
      let pulled = false;
      const pulls = Promise.all([this.#pull('todo'), this.#pull('later')]).finally(() => {
        pulled = true;
        this.#change();
      });
      await Promise.all([pulls, this.#watchCanaries(() => pulled).catch((error) => this.#fail(error))]);
      if (this.#failure !== null) throw this.#failure;
    } finally {
      this.#stopWatching();
      clearInterval(inProgress);
      signal.removeEventListener('abort', onAbort);
      this.#letGo();
      await this.#presence.end(this.#failure === null);
    }
    return this.#measured;
  }
}

/**
 * Works until the signal is aborted or, if it drains, until nothing is left. Returns how many results it stored. Throws
 * a Complaint if another worker has the name, and the error of a race if a transport cannot be loaded.
 */
export async function work(parts: WorkerParts): Promise<number> {
  const client = jetstream(parts.connection);
  const manager = await jetstreamManager(parts.connection, { checkAPI: false });
  const worker = new Worker(parts, client, manager, await parts.network.settled());
  await parts.control.follow(() => worker.heed());
  worker.heed();
  return worker.run();
}
