// One run from the opening of the testbed to its last segment, going on where an earlier one was interrupted.
import { seededRandom } from '@photofinish/shared/testing/seeded-random';
import { beginStep, heading, say } from '../../run/display.ts';
import { formatDuration } from '../duration.ts';
import { record } from '../experiment.ts';
import { folderOf } from '../folder.ts';
import { loadLines } from '../load.ts';
import type { Testbed } from '../testbed.ts';
import { type Cell, cellsOf, SERVER_TITLES, type Segment, segmentsOf } from './cells.ts';
import { findLoads, TRIES_SECONDS } from './loads.ts';
import type { CostOptions } from './options.ts';
import { type Asked, COST, type CostJournal, type Loads } from './record.ts';
import { measureSegment, SEGMENT_OVERHEAD_SECONDS } from './segment.ts';
import { openLoadedTestbed } from './servers.ts';

export const DIR = folderOf('cost');

/** The cells of a run of these loads. */
function cellsOfRun(asked: Asked, loads: Loads): Cell[] {
  const { servers, objects, extent, cells: wanted } = asked;
  const driven = Object.fromEntries(loads.map((each) => [each.server, each.driven]));
  const all = cellsOf({ servers, objects, loads: driven, extent });
  return wanted === null ? all : all.filter(({ id }) => wanted.some((part) => id.includes(part)));
}

function askedOf(options: CostOptions): Asked {
  const { seconds, extent, servers, objects, loads, cells } = options;
  return {
    seconds,
    extent,
    servers: [...servers],
    objects: [...objects],
    loads: loads === null ? null : [...loads],
    cells: cells === null ? null : [...cells],
  };
}

async function loadsFor(testbed: Testbed, { servers, objects, loads, seed }: CostOptions): Promise<Loads> {
  if (loads !== null) return servers.map((server) => ({ server, driven: [...loads], notDriven: [] }));
  heading(
    `Loads that this machine drives (at most ${formatDuration(1000 * TRIES_SECONDS * servers.length)})`,
  );
  const found: Loads = [];
  for (const server of servers) {
    const step = beginStep(SERVER_TITLES[server]);
    const dearest = Math.max(...objects) as (typeof objects)[number];
    const result = await findLoads(testbed, server, dearest, seed, (perSecond) =>
      step.detail(`${perSecond} requests/s`),
    );
    const limits =
      result.notDriven.length === 0
        ? ''
        : `; not driven: ${result.notDriven.map(({ perSecond }) => perSecond).join(', ')} (${result.notDriven[0]?.why})`;
    step.end(result.driven.length > 0, `${result.driven.join(', ')} requests/s${limits}`);
    found.push(result);
  }
  return found;
}

async function measureAll(
  testbed: Testbed,
  journal: CostJournal,
  todo: readonly Segment[],
  seed: number,
): Promise<boolean> {
  const totalMs = todo.reduce((sum, { seconds }) => sum + 1000 * (seconds + SEGMENT_OVERHEAD_SECONDS), 0);
  heading(`${todo.length} segments, about ${formatDuration(totalMs)}`);
  const startedMs = performance.now();
  let failed = 0;
  for (const [index, segment] of todo.entries()) {
    const { cell, round } = segment;
    const step = beginStep(`${index + 1} of ${todo.length}  ${cell.id}, part ${round + 1}`);
    try {
      const measured = await measureSegment(testbed, segment, seed);
      await journal.append(measured);
      const leftMs = ((performance.now() - startedMs) / (index + 1)) * (todo.length - index - 1);
      const { why } = measured.drive;
      step.end(
        why.length === 0,
        `${why.length === 0 ? '' : `not driven: ${why.join('; ')}; `}${formatDuration(leftMs)} left`,
      );
    } catch (error) {
      failed += 1;
      step.end(false, error instanceof Error ? error.message : String(error));
    }
  }
  return failed === 0;
}

/**
 * Measures what was asked for; whether every segment was, driven or not. Rejects where the testbed cannot be opened, so
 * ask `networkUnavailable('tun')` first.
 */
export async function runCost(options: CostOptions): Promise<boolean> {
  for (const line of loadLines(': fewer loads are driven, and the others cost more')) say(line);
  const { seed, fresh } = options;
  const asked = askedOf(options);
  const { complete } = await record(
    {
      form: COST,
      seed,
      fresh,
      open: openLoadedTestbed,
      asked: () => asked,
      async find(testbed) {
        const loads = await loadsFor(testbed, options);
        return { loads, scenarios: cellsOfRun(asked, loads) };
      },
      measure(testbed, journal) {
        const done = new Set(journal.turns.map(({ scenario, turn }) => `${scenario} ${turn}`));
        const all = segmentsOf(journal.meta.found.scenarios, asked.seconds, seededRandom(seed));
        const todo = all.filter(({ cell, round }) => !done.has(`${cell.id} ${round}`));
        return measureAll(testbed, journal, todo, seed);
      },
    },
    DIR,
  );
  return complete;
}
