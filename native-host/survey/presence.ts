// A worker's name in its survey: taken when no other process has it, announced while it works, withdrawn when it ends
// in an orderly way. The number of names divides the budgets.
import { Complaint, EXIT_FAILED } from '../cli/usage.ts';
import type { Clock } from '../clock.ts';
import { type Announcement, type Control, GONE_AFTER_MS, HEARTBEAT_MS, workerKey } from './control.ts';

export interface PresenceParts {
  readonly control: Control;
  readonly vantage: string;
  readonly worker: string;
  readonly clock: Clock;
}

export class Presence {
  readonly #parts: PresenceParts;
  readonly #news: () => Pick<Announcement, 'measured' | 'sickSinceMs'>;
  readonly #session = crypto.randomUUID();
  #beat: NodeJS.Timeout | null = null;

  /** `news`: what changes from one announcement to the next. */
  constructor(parts: PresenceParts, news: () => Pick<Announcement, 'measured' | 'sickSinceMs'>) {
    this.#parts = parts;
    this.#news = news;
  }

  #seen(): Announcement | undefined {
    return this.#parts.control.state().workers.get(workerKey(this.#parts));
  }

  #announce(): Promise<void> {
    const { control, vantage, worker, clock } = this.#parts;
    const seenAtMs = clock.epochMs();
    return control.announce({ vantage, worker, session: this.#session, seenAtMs, ...this.#news() });
  }

  /**
   * Waits until no other process of this name gives a sign of life, then takes the name. `pause` waits for a change of
   * the control bucket, at most that long. Throws a Complaint if the other one lives.
   */
  async take(pause: (atMostMs: number) => Promise<void>, signal: AbortSignal): Promise<void> {
    const { clock, vantage, worker } = this.#parts;
    // An announcement of ours may have arrived although its acknowledgement did not.
    const seen = this.#seen();
    const before = seen?.session === this.#session ? undefined : seen;
    const untilMs = clock.nowMs() + GONE_AFTER_MS;
    while (before !== undefined && clock.nowMs() < untilMs && !signal.aborted) {
      const now = this.#seen();
      if (now === undefined) break;
      if (now.session !== before.session || now.seenAtMs !== before.seenAtMs)
        throw new Complaint(
          'bad-survey',
          `a worker ${worker} at ${vantage} is running; name this one with --worker`,
        );
      await pause(untilMs - clock.nowMs());
    }
    await this.#announce();
    // A server that is away is reconnected to; the next announcement tells the same.
    this.#beat = setInterval(() => void this.#announce().catch(() => {}), HEARTBEAT_MS);
  }

  /** Whether another process has taken the name since: this one was silent for too long. */
  isTaken(): boolean {
    const seen = this.#seen();
    return this.#beat !== null && seen !== undefined && seen.session !== this.#session;
  }

  takenOver(): Complaint {
    const { vantage, worker } = this.#parts;
    return new Complaint('bad-survey', `another worker ${worker} at ${vantage} took over`, EXIT_FAILED);
  }

  /** Stops announcing; withdraws if the worker leaves in an orderly way. */
  async end(orderly: boolean): Promise<void> {
    if (this.#beat === null) return;
    clearInterval(this.#beat);
    const { control, vantage, worker } = this.#parts;
    if (orderly) await control.withdraw({ vantage, worker }).catch(() => {});
  }
}
