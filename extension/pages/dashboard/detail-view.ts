// What is shown beneath an open row: the verdict in words with all other findings, what is known about the origin, its
// own timeline, and its races with their photo finish.

import { formatNumber } from '@photofinish/shared/language/catalog';
import { formatBytes } from '@photofinish/shared/language/markup';
import type { OriginRace } from '@photofinish/shared/race/outcome';
import type { Verdict } from '@photofinish/shared/race/verdict-schema';
import { otherFindings, verdictText } from '@photofinish/shared/verdict/verdict-text';
import type { Origin } from '@photofinish/shared/web/origin';
import { getMessage } from '../../common/catalog.ts';
import type { DayRow, OriginRecord } from '../../common/records/schema.ts';
import { judgedRace, verdictOfRecord } from '../../common/verdict.ts';
import { troubleText } from '../../ledger/database.ts';
import type { Ledger } from '../../ledger/ledger.ts';
import { leftToRight, make, setText } from '../ui/elements.ts';
import { meansLink, pointToCode } from '../ui/means-link.ts';
import { factEntry } from './controls.ts';
import { createFigure, raceFigure } from './figures.ts';
import { instantText, networkText } from './labels.ts';
import { overviewOf, totalsOfRows } from './overview.ts';
import { adoptionDrawing } from './overview-view.ts';
import type { Period } from './state.ts';

/** Races drawn initially; the others are counted. */
const RACES_DRAWN = 3;
let opened = 0;

type DetailLedger = Pick<Ledger, 'recordsOf' | 'races' | 'daysOf'>;

interface Section<Shown> {
  readonly element: HTMLElement;
  readonly draw: (shown: Shown) => void;
}

function verdictSection(): Section<Verdict> {
  const words = make('p', 'verdict-text');
  const means = meansLink();
  const list = make('ul');
  const element = make('div', 'said', words, means, list);
  const draw = (verdict: Verdict): void => {
    const findings = otherFindings(verdict);
    setText(words, verdictText(verdict));
    pointToCode(means, verdict.code);
    list.replaceChildren(...findings.map((finding) => make('li', '', finding.text)));
    list.hidden = findings.length === 0;
  };
  return { element, draw };
}

function factEntries(record: OriginRecord): HTMLElement[] {
  const { delivered } = record;
  const elsewhere = getMessage('dashboardDeliveredText', {
    cache: delivered['http-cache'],
    worker: delivered['service-worker'],
    prefetch: delivered.prefetch,
  });
  const entries: [string, string][] = [
    [getMessage('dashboardFirstSeen'), instantText(record.firstSeenMs)],
    [getMessage('dashboardSeen'), instantText(record.lastSeenMs)],
    [getMessage('dashboardAddress'), record.address ?? '–'],
    ['Alt-Svc', record.altSvc ?? '–'],
    [getMessage('dashboardBytes'), formatBytes(record.bytes)],
    [getMessage('dashboardElsewhere'), elsewhere],
  ];
  const technical = ['Alt-Svc', getMessage('dashboardAddress')];
  return entries.map(([name, value]) =>
    factEntry(name, technical.includes(name) ? leftToRight(value) : make('bdi', '', value)),
  );
}

function timelineSection(): Section<{ readonly rows: readonly DayRow[]; readonly period: Period }> {
  const host = make('div');
  const element = make('div', 'timeline', make('h3', '', getMessage('dashboardTimeline')), host);
  opened += 1;
  const id = `timeline-${opened}`;
  const figure = createFigure(host);
  return {
    element,
    draw: ({ rows, period }) =>
      figure.draw(adoptionDrawing(overviewOf(totalsOfRows(rows), period, null), 'request', id)),
  };
}

function raceElements(races: readonly OriginRace[]): HTMLElement[] {
  if (races.length === 0) return [make('p', 'what', getMessage('dashboardNotRaced'))];
  const newest = races.toReversed();
  const figures = newest.slice(0, RACES_DRAWN).map(raceFigure);
  const count = newest.length - RACES_DRAWN;
  if (count <= 0) return figures;
  return [
    ...figures,
    make('p', 'what', getMessage('dashboardOlderRaces', { count, number: formatNumber(count) })),
  ];
}

function racesSection(): Section<readonly OriginRace[]> {
  const element = make('div', 'origin-races');
  let drawn = '';
  const draw = (races: readonly OriginRace[]): void => {
    // Visits must not close a table of a race's numbers that is being read.
    const next = JSON.stringify(races.map((race) => [race, networkText(race.network)]));
    if (next === drawn) return;
    drawn = next;
    element.replaceChildren(make('h3', '', getMessage('dashboardRaces')), ...raceElements(races));
  };
  return { element, draw };
}

export interface OriginDetail {
  readonly element: HTMLElement;
  /** Reads the ledger, and draws once it has answered; until then the previous content remains. */
  readonly refresh: () => void;
}

/** The detail of one origin on one site, empty until its first `refresh`. */
export function originDetail(
  ledger: DetailLedger,
  origin: Origin,
  site: string,
  period: () => Period,
): OriginDetail {
  const element = make('div', 'origin-detail');
  const facts = make('dl', 'facts');
  const verdict = verdictSection();
  const start = make('div', 'column', verdict.element, facts);
  const timeline = timelineSection();
  const raced = racesSection();

  const fill = async (isNewest: () => boolean): Promise<void> => {
    const [records, races, rows] = await Promise.all([
      ledger.recordsOf([origin], site),
      ledger.races(origin),
      ledger.daysOf(origin, site),
    ]);
    if (!isNewest()) return;
    const record = records.get(origin);
    if (record === undefined) {
      element.replaceChildren(make('p', '', getMessage('dashboardGone')));
      return;
    }
    // Inserting them again would take the focus.
    if (start.parentElement !== element) element.replaceChildren(start, timeline.element, raced.element);
    verdict.draw(verdictOfRecord(record, judgedRace(races)));
    facts.replaceChildren(...factEntries(record));
    timeline.draw({ rows, period: period() });
    raced.draw(races);
  };

  let reading = 0;
  const refresh = (): void => {
    reading += 1;
    const own = reading;
    const isNewest = () => own === reading;
    element.ariaBusy = 'true';
    void fill(isNewest)
      .catch((error) => {
        if (isNewest()) element.replaceChildren(make('p', 'trouble', troubleText(error)));
      })
      .finally(() => {
        if (isNewest()) element.ariaBusy = 'false';
      });
  };
  return { element, refresh };
}
