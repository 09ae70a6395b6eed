// Where a survey stands, from the server's own counts and the workers' announcements.
import { plural } from '../cli/text.ts';
import { type Announcement, budgetOf, type Control, WORKER_TIMEOUT_MS } from './control.ts';
import type { JetStreamManager } from './nats.ts';
import { type SurveyNames, vantagesOf } from './streams.ts';

export const STATUS_SCHEMA = 'photofinish.survey-status/1';

interface WorkerStatus extends Pick<Announcement, 'vantage' | 'worker' | 'measured' | 'sickSinceMs'> {
  /** How long ago it gave a sign of life: by the server's clock, as neither its own nor this machine's must be right. */
  readonly silentMs: number;
  readonly canariesOptedOut: boolean;
}

export type SurveyStatus = Readonly<Awaited<ReturnType<typeof statusOf>>>;

export async function statusOf(manager: JetStreamManager, control: Control, names: SurveyNames) {
  const state = control.state();
  const { streams } = names;
  const [todo, result, dead, vantages] = await Promise.all([
    manager.streams.info(streams.todo),
    manager.streams.info(streams.result),
    manager.streams.info(streams.dead),
    vantagesOf(manager, names),
  ]);
  const of = async (vantage: string) => {
    const [jobs, later] = await Promise.all([
      manager.consumers.info(streams.todo, vantage),
      manager.consumers.info(streams.later, vantage),
    ]);
    // Not delivered yet, delivered and not acknowledged, postponed for want of a budget; the others have a result, or
    // were given up.
    const waiting = jobs.num_pending;
    const inProgress = jobs.num_ack_pending + later.num_ack_pending;
    const postponed = later.num_pending;
    const done = todo.state.messages - waiting - inProgress - postponed;
    return { vantage, waiting, inProgress, postponed, done };
  };
  const workers = [...state.workers.values()];
  // Servers before 2.10 do not report their time.
  const nowMs =
    todo.ts === undefined ? Math.max(0, ...workers.map(({ storedAtMs }) => storedAtMs)) : Date.parse(todo.ts);
  return {
    schema: STATUS_SCHEMA,
    survey: names.survey,
    jobs: state.survey?.list.jobs ?? 0,
    loaded: todo.state.messages,
    paused: state.paused,
    budget: budgetOf(state),
    optOut: state.optOut.entries.length,
    vantages: await Promise.all(vantages.map(of)),
    workers: workers.map(
      ({ vantage, worker, measured, sickSinceMs, canariesOptedOut = false, storedAtMs }): WorkerStatus => ({
        ...{ vantage, worker, measured, sickSinceMs, canariesOptedOut },
        silentMs: Math.max(0, nowMs - storedAtMs),
      }),
    ),
    /** Batches of results that no collector has taken. */
    uncollected: result.state.messages,
    dead: dead.state.messages,
  };
}

function healthText({ sickSinceMs, canariesOptedOut }: WorkerStatus): string {
  if (canariesOptedOut) return 'all its canaries have opted out: it writes nothing';
  return sickSinceMs === null ? 'at work' : 'its canaries fail: it writes nothing';
}

function workerText(status: WorkerStatus): string {
  const { worker, vantage, measured, silentMs } = status;
  const seconds = Math.round(silentMs / 1000);
  const state =
    silentMs > WORKER_TIMEOUT_MS
      ? `silent for ${seconds} s; it keeps its share of the budget until it is withdrawn`
      : healthText(status);
  return `  worker ${worker} at ${vantage}: ${measured} measured, ${state}`;
}

/** For people. */
export function statusText(status: SurveyStatus): string {
  const { survey, jobs, loaded, paused, budget, vantages, workers, uncollected, dead } = status;
  const rate =
    budget === null
      ? []
      : [
          `budget: ${budget.perNetworkPerSecond} races/s for a network, ${budget.totalPerSecond === 0 ? 'no limit in total' : `${budget.totalPerSecond} in total`}`,
        ];
  return [
    `survey ${survey}: ${loaded} of ${plural(jobs, 'job')} loaded${paused ? ', paused' : ''}`,
    ...rate,
    ...vantages.map(
      (each) =>
        `${each.vantage}: ${each.done} done, ${each.inProgress} in progress, ${each.postponed} postponed, ${each.waiting} waiting`,
    ),
    ...workers.map(workerText),
    `${plural(uncollected, 'batch', 'batches')} not collected, ${plural(dead, 'job')} given up, ${status.optOut} opted out`,
  ].join('\n');
}
