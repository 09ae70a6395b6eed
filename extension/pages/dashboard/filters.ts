// The filters at the top, period, network, site and how adoption is counted, and beneath them the conditions of every
// number on the page.

import { browserLabel, browserVersion } from '../../common/browser.ts';
import { getMessage, type MessageKey } from '../../common/catalog.ts';
import type { HelperState } from '../../common/messages.ts';
import { dayText } from '../charts/days.ts';
import { connectBackground } from '../ui/background-port.ts';
import { byId, leftToRight, make, setValue } from '../ui/elements.ts';
import { choice, cross, factEntry, options } from './controls.ts';
import { networkText } from './labels.ts';
import type { Total } from './load.ts';
import { networksOf, overviewOf } from './overview.ts';
import { BASES, type Basis, isCustomPeriod, PERIODS, type Period, type State } from './state.ts';

const BASIS_NAMES: Record<Basis, MessageKey> = {
  request: 'dashboardByRequest',
  origin: 'dashboardByOrigin',
  navigation: 'dashboardByNavigation',
};
const CUSTOM = 'custom';

/** Creates the controls; changes are passed to `change`. */
export function createFilters(change: (changes: Partial<State>) => void) {
  const from = byId<HTMLInputElement>('from');
  const to = byId<HTMLInputElement>('to');
  const network = byId<HTMLSelectElement>('network');
  let shown: Period | null = null;

  const period = choice(
    byId('period'),
    'period',
    [
      ...PERIODS.map((days) => ({
        value: String(days),
        words: getMessage('dashboardDays', { count: days }),
      })),
      { value: CUSTOM, words: getMessage('dashboardCustom') },
    ],
    (value) => {
      const days = PERIODS.find((period) => String(period) === value) ?? null;
      const { fromDay, toDay } = shown ?? { fromDay: null, toDay: null };
      if (days === null) change({ period: null, from: fromDay, to: toDay, page: 1 });
      else change({ period: days, from: null, to: null, page: 1 });
    },
  );
  const basis = choice(
    byId('basis'),
    'basis',
    BASES.map((value) => ({ value, words: getMessage(BASIS_NAMES[value]) })),
    (by) => change({ by }),
  );
  const dated = (): void => {
    // A half-typed date is ignored; its year may be 0026, or have five digits.
    if (!isCustomPeriod(from.value, to.value)) return;
    change({ period: null, from: from.value, to: to.value, page: 1 });
  };
  from.addEventListener('change', dated);
  to.addEventListener('change', dated);
  options(network, [], (value) => change({ network: value === '' ? null : value }));
  byId('site-filter').addEventListener('click', () => {
    change({ site: null, page: 1 });
    // The pressed button disappears with the filter.
    network.focus();
  });

  return {
    render(state: State, next: Period, totals: readonly Total[]): void {
      shown = next;
      period.set(state.period === null ? CUSTOM : String(state.period));
      basis.set(state.by);
      byId('custom').hidden = state.period !== null;
      setValue(from, next.fromDay);
      setValue(to, next.toDay);
      from.max = next.toDay;
      to.min = next.fromDay;
      const networks = new Set(networksOf(totals));
      // A chosen network stays in the list, even if the period has no data for it.
      if (state.network !== null) networks.add(state.network);
      options(network, [
        { value: '', words: getMessage('dashboardAllNetworks') },
        ...[...networks].map((label) => ({ value: label, words: networkText(label) })),
      ]);
      network.value = state.network ?? '';
      writeSite(state.site);
    },
  };
}

function writeSite(site: string | null): void {
  const chip = byId('site-filter');
  chip.hidden = site === null;
  if (site === null) return;
  chip.replaceChildren(`${getMessage('dashboardSite')}: `, leftToRight(site), cross());
  chip.title = getMessage('dashboardAllSites');
  chip.ariaLabel = getMessage('dashboardSiteOnly', { site });
}

// The conditions are always visible: browser, network, period, and what is counted.

let browser = browserLabel();
let helper: HelperState | null = null;

/** Starts to query browser and helper; calls `onChange` when one of them is known. */
export function watchConditions(onChange: () => void): void {
  void browserVersion().then((version) => {
    browser = browserLabel(version);
    onChange();
  });
  connectBackground({
    onEvent(event) {
      if (event.type !== 'helper') return;
      helper = event.helper;
      onChange();
    },
    onOpen: (port) => void port.send({ type: 'watch-helper' }),
  });
}

function networkCondition(chosen: string | null): string {
  const shown = chosen === null ? getMessage('dashboardAllNetworks') : networkText(chosen);
  if (helper?.state === 'ready')
    return getMessage('dashboardNetworkNow', { shown, now: networkText(helper.network) });
  return helper === null || helper.state === 'connecting'
    ? shown
    : getMessage('dashboardNetworkNoHelper', { shown });
}

/** Writes the line beneath the filters. */
export function renderConditions(state: State, period: Period, totals: readonly Total[]): void {
  const { days, recordedDays } = overviewOf(totals, period, state.network);
  const fromDay = dayText(period.fromDay, true);
  const toDay = dayText(period.toDay, true);
  const entries = [
    [
      getMessage('dashboardPeriod'),
      getMessage('dashboardPeriodText', { fromDay, toDay, recorded: recordedDays, days: days.length }),
    ],
    [getMessage('dashboardBrowser'), browser],
    [getMessage('dashboardNetwork'), networkCondition(state.network)],
    [getMessage('dashboardCounted'), getMessage('dashboardCountedText')],
  ] as const;
  const nodes = entries.map(([name, words]) => factEntry(name, make('bdi', '', words)));
  byId('conditions').replaceChildren(...nodes);
}
