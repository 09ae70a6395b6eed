// The conditions of every number on the page, always visible: browser, network, period, and what is counted.

import { browserVersion } from '../../common/browser.ts';
import { getMessage } from '../../common/catalog.ts';
import { BROWSER } from '../../common/edition.ts';
import type { HelperState } from '../../common/messages.ts';
import { dayWords } from '../charts/days.ts';
import { connectBackground } from '../ui/background-port.ts';
import { byId, make } from '../ui/elements.ts';
import { networkWords } from './labels.ts';
import type { Total } from './load.ts';
import { overviewOf } from './overview.ts';
import type { Period, State } from './state.ts';

let version = '';
let helper: HelperState | null = null;

/** Starts to query browser and helper; calls `told` when one of them is known. */
export function watchConditions(told: () => void): void {
  void browserVersion().then((found) => {
    version = found;
    told();
  });
  connectBackground({
    onEvent(event) {
      if (event.type !== 'helper') return;
      helper = event.helper;
      told();
    },
    onOpen: (port) => void port.send({ type: 'watch-helper' }),
  });
}

/** The current network according to the helper; null while no helper reports it. */
function connectedNetwork(): string | null {
  return helper?.state === 'ready' ? helper.network : null;
}

function browserWords(): string {
  const name = BROWSER === 'firefox' ? 'Firefox' : 'Chromium';
  return version === '' || version === 'unknown' ? name : `${name} ${version}`;
}

function networkCondition(chosen: string | null): string {
  const now = connectedNetwork();
  const shown = chosen === null ? getMessage('dashboardAllNetworks') : networkWords(chosen);
  if (now !== null) return getMessage('dashboardNetworkNow', { shown, now: networkWords(now) });
  return helper === null || helper.state === 'connecting'
    ? shown
    : getMessage('dashboardNetworkNoHelper', { shown });
}

/** Writes the line beneath the filters. */
export function renderConditions(state: State, period: Period, totals: readonly Total[]): void {
  const { days, recordedDays } = overviewOf(totals, period, state.network);
  const fromDay = dayWords(period.fromDay, true);
  const toDay = dayWords(period.toDay, true);
  const entries = [
    [
      getMessage('dashboardPeriod'),
      getMessage('dashboardPeriodWords', { fromDay, toDay, recorded: recordedDays, days: days.length }),
    ],
    [getMessage('dashboardBrowser'), browserWords()],
    [getMessage('dashboardNetwork'), networkCondition(state.network)],
    [getMessage('dashboardCounted'), getMessage('dashboardCountedWords')],
  ] as const;
  const nodes = entries.map(([name, words]) => {
    const entry = make('div');
    const value = make('dd');
    value.append(make('bdi', '', words));
    entry.append(make('dt', '', name), value);
    return entry;
  });
  byId('conditions').replaceChildren(...nodes);
}
