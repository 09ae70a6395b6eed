// What is shown beneath an open row: the verdict in words with all other findings, what is known about the origin, its
// own timeline, and its races with their photo finish.

import { formatNumber } from '@photofinish/shared/language/catalog';
import { formatBytes } from '@photofinish/shared/language/markup';
import type { OriginRace } from '@photofinish/shared/race/outcome';
import { otherFindings, verdictText } from '@photofinish/shared/verdict/verdict-text';
import type { Origin } from '@photofinish/shared/web/origin';
import { getMessage } from '../../common/catalog.ts';
import type { DayRow, OriginRecord } from '../../common/records/schema.ts';
import { judgedRace, verdictOfRecord } from '../../common/verdict.ts';
import { troubleText } from '../../ledger/database.ts';
import type { Ledger } from '../../ledger/ledger.ts';
import { make } from '../ui/elements.ts';
import { meansLink, pointToCode } from '../ui/means-link.ts';
import { createFigure, raceFigure } from './figures.ts';
import { instantText } from './labels.ts';
import { overviewOf, totalsOfRows } from './overview.ts';
import { adoptionDrawing } from './overview-view.ts';
import type { Period } from './state.ts';

/** Races drawn initially; the others are counted. */
const RACES_DRAWN = 3;
let opened = 0;

type DetailLedger = Pick<Ledger, 'recordsOf' | 'races' | 'daysOf'>;

function verdictSection(record: OriginRecord, race: OriginRace | undefined): HTMLElement {
  const verdict = verdictOfRecord(record, race);
  const section = make('div', 'said');
  const means = meansLink();
  pointToCode(means, verdict.code);
  section.append(make('p', 'verdict-text', verdictText(verdict)), means);
  const findings = otherFindings(verdict);
  if (findings.length > 0) {
    const list = make('ul');
    list.append(...findings.map((finding) => make('li', '', finding.text)));
    section.append(list);
  }
  return section;
}

function facts(record: OriginRecord): HTMLElement {
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
  const list = make('dl', 'facts');
  for (const [name, value] of entries) {
    const entry = make('div');
    const words = make('dd');
    const isolated = make('bdi', '', value);
    if (name === 'Alt-Svc' || name === getMessage('dashboardAddress')) isolated.dir = 'ltr';
    words.append(isolated);
    entry.append(make('dt', '', name), words);
    list.append(entry);
  }
  return list;
}

function timeline(rows: readonly DayRow[], period: Period): HTMLElement {
  const section = make('div', 'timeline');
  section.append(make('h3', '', getMessage('dashboardTimeline')));
  const host = make('div');
  section.append(host);
  opened += 1;
  const overview = overviewOf(totalsOfRows(rows), period, null);
  createFigure(host).draw(adoptionDrawing(overview, 'request', `timeline-${opened}`));
  return section;
}

function racesSection(races: readonly OriginRace[]): HTMLElement {
  const section = make('div', 'origin-races');
  section.append(make('h3', '', getMessage('dashboardRaces')));
  if (races.length === 0) {
    section.append(make('p', 'what', getMessage('dashboardNotRaced')));
    return section;
  }
  const newest = races.toReversed();
  section.append(...newest.slice(0, RACES_DRAWN).map(raceFigure));
  const count = newest.length - RACES_DRAWN;
  if (count > 0)
    section.append(
      make('p', 'what', getMessage('dashboardOlderRaces', { count, number: formatNumber(count) })),
    );
  return section;
}

/** The detail of one origin on one site; it fills itself when the ledger has answered. */
export function originDetail(
  ledger: DetailLedger,
  origin: Origin,
  site: string,
  period: Period,
): HTMLElement {
  const detail = make('div', 'origin-detail');
  detail.ariaBusy = 'true';
  const fill = async (): Promise<void> => {
    const [records, races, days] = await Promise.all([
      ledger.recordsOf([origin], site),
      ledger.races(origin),
      ledger.daysOf(origin, site),
    ]);
    const record = records.get(origin);
    if (record === undefined) {
      detail.replaceChildren(make('p', '', getMessage('dashboardGone')));
      return;
    }
    const start = make('div', 'column');
    start.append(verdictSection(record, judgedRace(races)), facts(record));
    detail.replaceChildren(start, timeline(days, period), racesSection(races));
  };
  void fill()
    .catch((error) => detail.replaceChildren(make('p', 'trouble', troubleText(error))))
    .finally(() => {
      detail.ariaBusy = 'false';
    });
  return detail;
}
