// A worker of a survey: pulls jobs of its vantage point, races them within the budgets, and publishes what the canaries
// vouch for. A job is acknowledged after its result is stored, so one that dies loses time and nothing else.
//
//   todo, later --> queue --> race --> held until the next good canary --> result stream --> acknowledged
//                     ^        |  \-> no budget now: later
//                     |        \----> opted out: dead
//                     \---- discarded by a failed canary or a changed network
import type { OriginRace } from '@photofinish/shared/race/outcome';
import type { Pace } from '../cli/race-pace.ts';
import { Complaint } from '../cli/usage.ts';
import { type Clock, within } from '../clock.ts';
import type { Network } from '../network/watch.ts';
import type { RunRace } from '../racer.ts';
import { Troubles } from './connect.ts';
import { budgetOf, type Control, Presence } from './control.ts';
import { type JobRaceParts, raceJob, surveySpec } from './job-race.ts';
import { Intake, type JobResult, Outbox } from './messages.ts';
import {
  type JetStreamClient,
  type JetStreamManager,
  type JsMsg,
  jetstream,
  jetstreamManager,
  type NatsConnection,
} from './nats.ts';
import { type OptOut, optOut } from './opt-out.ts';
import { Politeness } from './politeness.ts';
import { type JobSource, requestOf, type Survey, type Task, taskOf } from './schema.ts';
import { ACK_WAIT_MS, causeOf, MAX_UNACKNOWLEDGED, type SurveyNames, vantageConsumer } from './streams.ts';
import { MAX_JOB_HOLD_MS, Vantage, type VantageParts } from './vantage.ts';

/** Maximum number of results that wait for a canary, before one is raced early. */
const MAX_HELD_RESULTS = MAX_UNACKNOWLEDGED / 2;
/** Without canaries, results are published this often. */
const PUBLISH_EVERY_MS = 1000;
const RETRY_MS = 1000;
/** Postponed jobs that a worker holds while they wait for their budget. */
const MAX_WAITING = 64;
/** Delay for a busy address, about the duration of a race. */
const BUSY_MS = 250;
/** A job whose turn comes within this time is kept instead of postponed. */
const HOLDS_MS = 2000;

export interface WorkerParts {
  readonly connection: NatsConnection;
  readonly control: Control;
  readonly names: SurveyNames;
  readonly survey: Survey;
  readonly vantage: string;
  readonly worker: string;
  readonly race: RunRace;
  /**
   * Called with every result confirmed by a good canary; races then know what the fleet shares. Null: every race is
   * cold.
   */
  readonly share: ((race: OriginRace) => void) | null;
  readonly network: Network;
  readonly pace: Pace;
  /** The time between rounds of canaries, for a worker of that age. */
  readonly canaryEveryMs: (ageMs: number) => number;
  readonly clock: Clock;
  /** Ends when nothing is left to do for this vantage. */
  readonly drains: boolean;
  readonly signal: AbortSignal;
  readonly log: (message: string) => void;
  readonly progress: (measured: number) => void;
}

/** What fails, in words, when the worker's first announcement or a later one is not stored. */
const ANNOUNCING = 'the worker could not be announced';

/** In force until the control bucket is read. */
const NOBODY: OptOut = { refusesHost: () => false, refusesAddress: () => false };

class Worker {
  readonly #parts: WorkerParts;
  readonly #manager: JetStreamManager;
  readonly #presence: Presence;
  readonly #politeness: Politeness;
  readonly #jobs: JobRaceParts;
  readonly #outbox: Outbox;
  readonly #intake: Intake;
  readonly #vantage: Vantage;
  #optOut: OptOut = NOBODY;
  #optOutEntries: readonly string[] = [];
  #queue: Task[] = [];
  #racing = 0;
  /** Each race under way looks whether it may go on. */
  readonly #looks = new Set<() => void>();
  /** What ends the wait of each job that is kept until it has its turn. */
  readonly #waiting = new Set<() => void>();
  #measured = 0;
  /** Of all results that canaries have vouched for, one round's after the other's. */
  #publishing: Promise<void> = Promise.resolve();
  #changed = Promise.withResolvers<void>();
  /** Aborted, with the reason, when the worker must end because it failed. */
  readonly #failing = new AbortController();
  /** Aborted when the worker ends, by its owner or because it failed. */
  readonly #ending: AbortSignal;
  readonly #troubles: Troubles;

  constructor(parts: WorkerParts, client: JetStreamClient, manager: JetStreamManager, network: string) {
    this.#parts = parts;
    this.#manager = manager;
    const { clock, race } = parts;
    this.#ending = AbortSignal.any([parts.signal, this.#failing.signal]);
    const end = (): void => {
      this.#vantage.abort();
      this.#change();
    };
    this.#ending.addEventListener('abort', end, { once: true });
    this.#troubles = new Troubles(parts.log);
    this.#politeness = new Politeness(this.#limits(), clock.nowMs());
    this.#presence = new Presence(parts, {
      state: () => ({
        measured: this.#measured,
        sickSinceMs: this.#vantage.sickSinceMs,
        canariesOptedOut: this.#vantage.canariesOptedOut,
      }),
      stored: () => this.#troubles.over(ANNOUNCING),
      failed: (error) => this.#begunTrouble(ANNOUNCING, error),
    });
    this.#outbox = new Outbox({ client, ...parts, insist: (what, run) => this.#insist(what, run) });
    this.#intake = new Intake({
      ...parts,
      client,
      manager,
      room: (from) => this.#room(from),
      take: (message, from) => this.#take(message, from),
      changed: () => this.#change(),
      pause: (atMostMs) => this.#pause(atMostMs),
      ending: this.#ending,
      troubles: this.#troubles,
    });
    const vantage: VantageParts = {
      ...parts,
      optOut: () => this.#optOut,
      again: (tasks) => void this.#queue.push(...tasks),
      publish: (measured) => this.#publish(measured),
      letGo: () => this.#letGo(),
      recovered: () => this.#recovered(),
      isOver: () => this.#over,
    };
    this.#vantage = new Vantage(vantage, network);
    this.#jobs = {
      ...{ race, clock, politeness: this.#politeness, optOut: () => this.#optOut },
      isPaused: () => parts.control.state().paused,
      onChange: (look) => {
        this.#looks.add(look);
        return () => this.#looks.delete(look);
      },
    };
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
    return this.#ending.aborted;
  }

  /** Waits for a change, at most that long. */
  #pause(atMostMs: number): Promise<void> {
    return within(this.#parts.clock, atMostMs, this.#changed.promise);
  }

  /** What the control bucket says now. */
  follow(): void {
    const { control, clock, log } = this.#parts;
    const { entries } = control.state().optOut;
    // Announcements change nothing in it, and it may be long.
    const read = entries === this.#optOutEntries ? null : optOut(entries);
    this.#optOutEntries = entries;
    if (read?.ok) this.#optOut = read.value;
    else if (read !== null) log(`the new opt-out list is not in force: ${read.message}`);
    for (const look of this.#looks) look();
    this.#politeness.setLimits(this.#limits(), clock.nowMs());
    if (this.#presence.isTaken()) this.#fail(this.#presence.takenOver());
    this.#change();
    // After a pause, what was taken before it.
    this.#begin();
  }

  #fail(error: unknown): void {
    this.#failing.abort(error);
  }

  async #begunTrouble(what: string, error: unknown): Promise<void> {
    if (!this.#over) this.#troubles.begun(what, await causeOf(error, this.#manager, this.#parts.names));
  }

  /** Repeats until it succeeds: a server that restarts, or has no room, loses nothing that we hold. */
  async #insist(what: string, run: () => Promise<unknown>): Promise<boolean> {
    while (!this.#over) {
      try {
        await run();
        this.#troubles.over(what);
        return true;
      } catch (error) {
        if (error instanceof Complaint) throw error;
        await this.#begunTrouble(what, error);
        await this.#pause(RETRY_MS);
      }
    }
    return false;
  }

  /** Keeps a job for a moment, in its place: it stays unacknowledged until it has its turn. */
  #hold(task: Task, forMs: number): void {
    if (this.#over) return;
    const forget = this.#parts.clock.after(forMs, () => {
      this.#waiting.delete(forget);
      this.#queue.push(task);
      this.#change();
      this.#begin();
    });
    this.#waiting.add(forget);
  }

  async #postpone(task: Task, inMs: number): Promise<void> {
    const isShort = inMs <= HOLDS_MS && this.#waiting.size < MAX_WAITING;
    if (task.from === 'later' || isShort) return this.#hold(task, inMs);
    return this.#outbox.postpone(task);
  }

  async #run(task: Task): Promise<void> {
    const { survey, share } = this.#parts;
    const request = task.job === null ? null : requestOf(task.job);
    if (request === null) return this.#outbox.giveUp(task, 'bad-job');
    const where = this.#vantage.where();
    const memory = share === null ? 'none' : 'hints';
    const outcome = await raceJob(this.#jobs, surveySpec(survey, request, where, memory));
    if (outcome.kind === 'opted-out') return this.#outbox.giveUp(task, 'opt-out');
    if (outcome.kind === 'postponed') {
      const { againMs, backsOff } = outcome;
      const inMs = againMs === null ? BUSY_MS : Math.max(0, againMs - this.#parts.clock.nowMs());
      // Kept, its jobs would hold up those of all other networks.
      if (backsOff && task.from === 'later' && inMs > MAX_JOB_HOLD_MS)
        return this.#outbox.giveUp(task, 'no-answer');
      return this.#postpone(task, inMs);
    }
    if (outcome.kind === 'cancelled' || where.signal.aborted) {
      if (!this.#over) this.#queue.push(task);
      return;
    }
    // Given back meanwhile: another worker has it.
    if (!this.#outbox.owes(task)) return;
    this.#vantage.hold(task, outcome.race);
  }

  /** Starts as many races as the pace allows. */
  #begin(): void {
    const { pace, control } = this.#parts;
    while (!this.#over && this.#vantage.mayRace && !control.state().paused && this.#racing < pace.limit()) {
      const task = this.#queue.shift();
      if (task === undefined) return;
      // Let go meanwhile: another worker has it.
      if (!this.#outbox.owes(task)) continue;
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
    if (this.#vantage.sickSinceMs !== null || control.state().paused) return 0;
    if (this.#vantage.held >= MAX_HELD_RESULTS) return 0;
    const room = 2 * pace.limit() - this.#racing - this.#queue.length;
    return from === 'later' ? Math.min(room, MAX_WAITING - this.#waiting.size) : room;
  }

  /** Nothing more comes and nothing is under way, so nothing is gained by waiting for the next canary. */
  #isExhausted(): boolean {
    const idle = this.#racing + this.#queue.length + this.#waiting.size === 0;
    return this.#parts.drains && idle && this.#intake.isEmpty;
  }

  #take(message: JsMsg, from: JobSource): void {
    const task = taskOf(message, from);
    if (!this.#outbox.owe(task)) return;
    this.#queue.push(task);
    this.#begin();
  }

  #publish(measured: readonly JobResult[]): void {
    for (const { result } of measured) this.#parts.share?.(result);
    const stored = (results: number): void => {
      this.#measured += results;
      this.#parts.progress(this.#measured);
    };
    this.#publishing = this.#publishing
      .then(() => this.#outbox.publish(measured, stored))
      .catch((error: unknown) => this.#fail(error));
  }

  #recovered(): void {
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
      await this.#vantage.canaryRound();
      const nowMs = clock.nowMs();
      const everyMs = survey.canaries.length === 0 ? PUBLISH_EVERY_MS : canaryEveryMs(nowMs - beganMs);
      const untilMs = nowMs + everyMs;
      while (!this.#over && !done() && clock.nowMs() < untilMs) {
        if (this.#vantage.held >= MAX_HELD_RESULTS) break;
        if (this.#vantage.held > 0 && this.#isExhausted()) break;
        await this.#pause(untilMs - clock.nowMs());
      }
    }
  }

  async run(): Promise<number> {
    const { names, vantage, signal } = this.#parts;
    const inProgress = setInterval(() => this.#outbox.stillWorking(), ACK_WAIT_MS / 3);
    try {
      await this.#insist(ANNOUNCING, () => this.#presence.take((atMostMs) => this.#pause(atMostMs), signal));
      // Last that of the list, by which a vantage point is known: whoever looks finds both.
      for (const from of ['later', 'todo'] as const)
        await this.#insist('jobs cannot be asked for', () =>
          vantageConsumer(this.#manager, names, from, vantage),
        );
      this.#vantage.watchNetwork();
      let pulled = false;
      const pulls = this.#intake.run().finally(() => {
        pulled = true;
        this.#change();
      });
      await Promise.all([pulls, this.#watchCanaries(() => pulled).catch((error) => this.#fail(error))]);
      await this.#publishing;
      this.#failing.signal.throwIfAborted();
    } finally {
      this.#vantage.stopWatching();
      clearInterval(inProgress);
      // Their timers would keep the process alive for up to ten minutes.
      for (const forget of this.#waiting) forget();
      this.#letGo();
      await this.#presence.end(!this.#failing.signal.aborted);
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
  await parts.control.follow(() => worker.follow());
  worker.follow();
  return worker.run();
}
