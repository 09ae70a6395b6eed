// The dashboard's entry: what the URL asks for, what the ledger contains, and which view draws it. The ledger is read
// here in the page, which never writes to it.
import '../../common/catalog.ts';
import { getMessage } from '../../common/catalog.ts';
import { loadNames, type NetworkNames, onNames } from '../../common/network-names.ts';
import { DAY_MS, dayOf } from '../../common/records/schema.ts';
import { pageStore } from '../../common/store/page-store.ts';
import { troubleText } from '../../ledger/database.ts';
import { openLedger } from '../../ledger/ledger.ts';
import { dayStartMs } from '../charts/days.ts';
import { byId, setText } from '../ui/elements.ts';
import { typedHost } from '../ui/format.ts';
import { writeMessages } from '../ui/page-messages.ts';
import { type Columns, createColumns, writeGains } from './columns.ts';
import { originDetail } from './detail-view.ts';
import { createFilters, renderConditions, watchConditions } from './filters.ts';
import { useNames } from './labels.ts';
import { keepLive, loadAll, loadFirst, loadRaces, loadTotals, type Total } from './load.ts';
import { OriginsView, PAGE_ROWS, renderVerdicts } from './origins-view.ts';
import { createOverviewView } from './overview-view.ts';
import { gainsOf, type RaceSummary } from './race-samples.ts';
import { RacesView } from './races-view.ts';
import { periodOf, readState, type State, writeState } from './state.ts';
import { countVerdicts, type Filter, filterRows } from './table-model.ts';

writeMessages();

const ledger = openLedger();
let state = readState(location.search, location.hash);
let totals: readonly Total[] = [];
let columns: Columns = createColumns();
let revision = 0;
/** Whether columns and races have been loaded completely. */
let complete = false;
let races: readonly RaceSummary[] = [];
let racesComplete = false;

/**
 * Which parts depend on which changes of the state; the others are left alone, so that sorting does not redraw them.
 */
const PARTS = ['overview', 'origins', 'verdicts', 'races'] as const;
type Part = (typeof PARTS)[number];
const SEEN_IN: Record<keyof State, readonly Part[]> = {
  period: PARTS,
  from: PARTS,
  to: PARTS,
  site: PARTS,
  network: ['overview', 'races'],
  by: ['overview'],
  group: ['origins'],
  query: ['origins'],
  mark: ['origins'],
  verdict: ['origins', 'verdicts'],
  sort: ['origins'],
  direction: ['origins'],
  page: ['origins'],
};
/** These decide which totals are read. */
const READ_ANEW: readonly (keyof State)[] = ['period', 'from', 'to', 'site'];

const filters = createFilters(change);
const overview = createOverviewView();
const racesView = new RacesView(ledger);
const origins = new OriginsView({
  change,
  detail: (origin, site) => originDetail(ledger, origin, site, () => periodOf(state, Date.now())),
});

/** What the state selects; verdicts are counted without the verdict filter itself. */
function filterNow(whole: boolean): Filter {
  const { fromDay, toDay } = periodOf(state, Date.now());
  const { site, mark, verdict } = state;
  const query = typedHost(state.query);
  const filter = { site, sinceMs: dayStartMs(fromDay), untilMs: dayStartMs(toDay) + DAY_MS };
  return whole ? { ...filter, query, mark, verdict } : { ...filter, query: '', mark: null, verdict: null };
}

const draw: Record<Part, () => void> = {
  overview() {
    const period = periodOf(state, Date.now());
    filters.render(state, period, totals);
    overview.render(totals, period, state);
    renderConditions(state, period, totals);
  },
  origins() {
    origins.render({ columns, revision, complete, state, filter: filterNow(true), nowMs: Date.now() });
  },
  verdicts() {
    const counts = countVerdicts(columns, filterRows(columns, filterNow(false)));
    renderVerdicts(counts, complete, state.verdict, (verdict) => {
      change({ verdict, group: 'origin', page: 1 });
      if (verdict !== null) byId('origins').scrollIntoView();
    });
  },
  races() {
    const period = periodOf(state, Date.now());
    const ofSite = state.site === null ? races : racesOfSite(state.site);
    racesView.render({ races: ofSite, complete: racesComplete, state, period });
  },
};

/** Races belong to origins; a site's races are those of the origins it uses. */
function racesOfSite(site: string): RaceSummary[] {
  const id = columns.siteIds.get(site);
  const used = new Set(columns.origins.filter((_, row) => columns.arrays.site[row] === id));
  return races.filter(({ origin }) => used.has(origin));
}

function change(changes: Partial<State>): void {
  const keys = (Object.keys(changes) as (keyof State)[]).filter((key) => changes[key] !== state[key]);
  if (keys.length === 0) return;
  state = { ...state, ...changes };
  history.replaceState(
    null,
    '',
    `${location.pathname}${location.search}${writeState(location.search, state)}`,
  );
  const parts = new Set(keys.flatMap((key) => SEEN_IN[key]));
  const drawParts = (): void => {
    for (const part of PARTS) if (parts.has(part)) draw[part]();
  };
  if (keys.some((key) => READ_ANEW.includes(key))) void readTotals().then(drawParts, showTrouble);
  else drawParts();
}

/** Only the newest read counts: an older one that ends later is ignored. */
let reading = 0;
async function readTotals(): Promise<void> {
  reading += 1;
  const own = reading;
  const { site } = state;
  const read = await loadTotals(ledger, periodOf(state, Date.now()), site);
  if (own === reading) totals = read;
}

function showTrouble(error: unknown): void {
  const notice = byId('trouble');
  setText(notice, error === null ? '' : troubleText(error));
  notice.hidden = error === null;
  if (error === null) return;
  byId('opening').hidden = true;
  byId('view').ariaBusy = 'false';
}

function drawAll(): void {
  revision += 1;
  const empty = columns.size === 0 && totals.length === 0 && races.length === 0 && state.site === null;
  // Races are read last, and may be all there is.
  if (empty && !racesComplete) return;
  byId('opening').hidden = true;
  byId('empty').hidden = !empty;
  byId('full').hidden = empty;
  if (!empty) for (const part of PARTS) draw[part]();
}

async function loadEverything(): Promise<void> {
  columns = await loadAll(ledger, (loaded) => {
    setText(byId('load'), getMessage('dashboardLoading', { loaded }));
  });
  writeGains(columns, gainsOf(races));
  complete = true;
  setText(byId('load'), '');
  drawAll();
  races = await loadRaces(ledger);
  racesComplete = true;
  writeGains(columns, gainsOf(races));
  drawAll();
}

async function open(): Promise<void> {
  const first = openFirst();
  // If that read fails, only reads of the ledger are repeated.
  const others = first.then(openOthers, openOthers);
  await first;
  await Promise.all([loadEverything(), others]);
  byId('view').ariaBusy = 'false';
}

async function openFirst(): Promise<void> {
  const [first] = await Promise.all([loadFirst(ledger, state.site, PAGE_ROWS), readTotals()]);
  columns = first;
  drawAll();
}

/** What no read of the ledger has to precede; none of it is needed for the first paint. */
async function openOthers(): Promise<void> {
  const follow = (names: NetworkNames): void => {
    useNames(names);
    drawAll();
  };
  onNames(pageStore, follow);
  // The background may have to start first; until then networks are shown by key.
  const named = loadNames(pageStore).then(follow, console.error);
  watchConditions(() => renderConditions(state, periodOf(state, Date.now()), totals));
  await Promise.all([openReports().catch(showTrouble), named]);
}

async function openReports(): Promise<void> {
  const [{ createReportView }, { createCompareView }] = await Promise.all([
    import('./report-view.ts'),
    import('./compare-view.ts'),
  ]);
  createReportView({
    period: () => periodOf(state, Date.now()),
    siteNames: () => columns.siteNames,
  });
  createCompareView();
}

function wireSections(): void {
  for (const link of document.querySelectorAll<HTMLAnchorElement>('[data-section]'))
    link.addEventListener('click', (event) => {
      // The fragment holds the state, so links to sections must not change it.
      event.preventDefault();
      const section = byId(link.dataset['section'] ?? '');
      section.tabIndex = -1;
      section.focus({ preventScroll: true });
      section.scrollIntoView();
    });
}

wireSections();
// What scrolls horizontally must be scrollable by keyboard too.
for (const region of document.querySelectorAll<HTMLElement>('.scroll')) region.tabIndex = 0;
addEventListener('hashchange', () => change(readState(location.search, location.hash)));
void open()
  .catch(showTrouble)
  .finally(() =>
    keepLive({
      ledger,
      today: () => dayOf(Date.now()),
      known: () => ({ columns, complete, races }),
      async changed(next) {
        ({ races } = next);
        racesComplete = true;
        await readTotals();
        writeGains(columns, gainsOf(races));
        showTrouble(null);
        drawAll();
      },
      reload: async () => {
        await readTotals();
        await loadEverything();
        showTrouble(null);
      },
      failed: showTrouble,
    }),
  );
