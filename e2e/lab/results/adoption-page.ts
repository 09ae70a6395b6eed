// A run of `adoption` as the page that a reviewer reads: set-up, the link's accuracy, goals, plots, the paper's tables,
// and every miss explained.
import { escapeMarkup as esc } from '@photofinish/shared/markup';
import type { describeMachine } from '../../bench/result.ts';
import { formatElapsed } from '../../run/display.ts';
import { comparisonPlots, distributionPlots, signsOf } from './adoption-plots.ts';
import type { Derived } from './figures.ts';
import type { GoalRow } from './goal-row.ts';
import { linkAccuracy } from './link-accuracy.ts';
import { MISSES_TITLE, MISSING_TITLE, missingClients, tellMisses } from './misses.ts';
import { goalCounts, goalsMarkup, labPage, section, tableMarkup } from './page-frame.ts';
import { PAPER_CITATION } from './paper.ts';
import { signMarkup } from './plots/drawing.ts';
import { linkTable, paperTables, type ResultRow } from './tables.ts';

/** What it was measured on. */
export type Machine = ReturnType<typeof describeMachine>;

const instant = (ms: number) => `${new Date(ms).toISOString().slice(0, 16).replace('T', ' ')} UTC`;

function conditions({ run }: Derived, machine: Machine): (readonly [string, string])[] {
  const { ours, peer, browser } = run.trials;
  const versions = Object.entries(
    Object.assign({ ...machine.versions }, ...run.contestants.map(({ versions }) => versions)),
  );
  return [
    ['Measured', `${instant(run.startedAtMs)}, ${formatElapsed(run.endedAtMs - run.startedAtMs)}`],
    ['Trials in a cell', `ours ${ours}, peers ${peer}, browsers ${browser}`],
    ['Goals', run.full ? 'judged (--full)' : 'trends only'],
    ['Seed', String(run.seed)],
    ['Machine', `${machine.cpu}, ${machine.cores} cores, ${machine.memoryGiB} GiB, ${machine.system}`],
    ['Versions', versions.map(([name, version]) => `${name} ${version}`).join(', ')],
  ];
}

const SETUP = `<p>Two network namespaces, client and server, are joined by one emulated link. Half of a cell's delay is added in each direction; losses are independent, from server to client, from a seeded generator. The server is Caddy with its defaults. Clients make cold connections one after the other: new sockets, no session resumption, no 0-RTT, no memory but what the row's name says. A known host was raced twenty times on the same link before the cell; none of that counts.</p>
<p>Within a cell the clients take turns in small batches, in an order drawn anew for each round. A trial has 30&nbsp;s. One that fails stays in the denominator of adoption and enters every mean as 30,000 ms; none is dropped and none is repeated. Established is the end of the secure handshake by the client's own clock. Shares carry 95 % Wilson intervals; means, percentiles and ratios of means 95 % bootstrap intervals with the run's seed; ratios of misses MOVER-R intervals on the Wilson limits (Donner and Zou 2012), which need no correction where nobody missed.</p>`;

const GOALS_NOTE = `<p class="what">A goal holds if the favourable end of the 95 % interval meets it; "whole interval" says that the unfavourable end does too. With fewer than 1000 trials on either side, or without <code>--full</code>, nothing is judged and a trend is given. P2 is the paper; the Go client follows the paper's published code and was measured in the same minutes.</p>`;

function missesMarkup({ run }: Derived): string {
  const told = tellMisses(run).map(({ title, causes, lines }) => {
    const items = [...causes, ...lines].map((line) => `<li>${esc(line)}</li>`);
    return `<h3>${esc(title)}</h3><ul>${items.join('')}</ul>`;
  });
  const note = `<p class="what">Times are milliseconds from the start of the trial; a dash: it did not come to that. Where the link loses packets, misses are counted by cause; every trial is in trials.csv.</p>`;
  return told.length === 0 ? '<p>None.</p>' : note + told.join('');
}

function tablesMarkup(derived: Derived): string {
  const signs = signsOf(derived);
  const sign = ({ client = '' }: ResultRow) => {
    const own = signs.get(client);
    return own === undefined ? '' : signMarkup(own);
  };
  const missing = missingClients(derived.run).map((line) => `<li>${esc(line)}</li>`);
  const absent = missing.length === 0 ? '' : `<h3>${MISSING_TITLE}</h3><ul>${missing.join('')}</ul>`;
  return paperTables(derived)
    .map((table) => tableMarkup(table, sign))
    .join('')
    .concat(absent);
}

/** The whole page. */
export function adoptionPage(derived: Derived, goals: readonly GoalRow[], machine: Machine): string {
  const comparisons = comparisonPlots(derived);
  const main = [
    goalCounts(goals),
    section('setup', 'Set-up', SETUP),
    section('emulator', "The emulator's accuracy", tableMarkup(linkTable(linkAccuracy(derived.run)))),
    section('goals', 'Goals', GOALS_NOTE + goalsMarkup(goals)),
    ...(comparisons === '' ? [] : [section('comparisons', 'Adoption and means', comparisons)]),
    section('tables', "The paper's tables, with everyone beside", tablesMarkup(derived)),
    section(
      'distributions',
      'Distribution of the time to established',
      `<p class="what">One strip for each client holds every trial, at its time over the link's round trip. Height goes with the square root of how many trials there are, the fullest place of each strip being equally high, so that one in a thousand is still seen. The upright line is the median, like all of the drawing less the round trip; failed trials count in it and are named at the end.</p>${distributionPlots(derived)}`,
    ),
    section('misses', MISSES_TITLE, missesMarkup(derived)),
  ];
  return labPage({
    title: 'Adoption of HTTP/3 and time to established, by delay and by loss',
    lead: 'Photofinish, the published figures and other clients, over the same emulated link in the same minutes.',
    conditions: conditions(derived, machine),
    main: main.join('\n'),
    footer: `<p>${esc(PAPER_CITATION)}</p><p>How this was measured, and what may be wrong with it: docs/laboratory.md.</p>`,
  });
}
