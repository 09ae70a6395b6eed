// `photofinish survey work`: what a worker races with, and the worker itself.
import { systemClock } from '../clock.ts';
import { systemSource } from '../network/source.ts';
import { watchNetwork } from '../network/watch.ts';
import { USER_AGENT } from '../race/request-limits.ts';
import { canaryEveryMs } from '../survey/canary.ts';
import { work } from '../survey/worker.ts';
import { joinForShared } from './fleet-joining.ts';
import { paceFor } from './race-pace.ts';
import { NO_CACHE, openRacingFor } from './racing.ts';
import { openSurvey, type SurveyContext } from './survey-context.ts';

/** Races as a worker of a vantage point until interrupted or drained; returns how many results it stored. */
export async function workHere(context: SurveyContext, vantage: string, drains: boolean): Promise<number> {
  const { command, terminal, connection, names, signal } = context;
  const { control, survey } = await openSurvey(context);
  const userAgent = survey.contact === null ? null : `${USER_AGENT} (+${survey.contact})`;
  const member = command.fleet ? await joinForShared(terminal) : null;
  try {
    const known = member === null ? NO_CACHE : { ...NO_CACHE, recall: member.recall };
    const race = await openRacingFor(command, known, userAgent);
    const network = watchNetwork({
      source: systemSource(process.platform, systemClock),
      // Keys of networks never leave the worker's memory as anything but a label of its records.
      salt: crypto.getRandomValues(new Uint8Array(16)),
      clock: systemClock,
    });
    return await work({
      share: member === null ? null : (result) => member.fleet.share(result),
      ...{ connection, control, names, survey, vantage, race, network, drains, signal },
      worker: command.worker,
      pace: paceFor(command.concurrency, systemClock.nowMs),
      canaryEveryMs,
      clock: systemClock,
      say: (message) => terminal.error('sick-vantage', message),
      progress: (measured) => terminal.progress(`${vantage}: ${measured} measured`),
    });
  } finally {
    await member?.close();
  }
}
