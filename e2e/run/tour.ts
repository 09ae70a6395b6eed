// The guided tour: visits, races and the export, performed through browser and popup as a user would.
import { join } from 'node:path';
import { setTimeout } from 'node:timers/promises';
import { type Origin, originParts } from '@photofinish/shared/web/origin';
import { PROTOCOL_NAMES, protocolFromAlpn } from '@photofinish/shared/web/protocol';
import type { OriginRow, Popup, ReportFormat } from '../browsers/popup.ts';
import type { Session } from '../browsers/session.ts';
import { navigationProtocol, type Tab } from '../browsers/tab.ts';
import { beginStep, heading } from './display.ts';

/** Enough for a browser to learn about HTTP/3 on the first visit, use it on the next, and be forecast on the last. */
const VISITS = 4;
/** Time spent on a page. Observations are recorded when a page has settled, and then sent to the helper. */
const LOOK_MS = 1000;
const NAVIGATION_TIMEOUT_MS = 20_000;
const FORMATS: readonly ReportFormat[] = ['html', 'json', 'csv'];

/** An origin whose page loaded, with its tab. */
export interface Stop {
  readonly origin: Origin;
  readonly tab: Tab;
}

/** The browser's error without Playwright's call log. */
function firstLine(error: unknown): string {
  const message = error instanceof Error ? error.message : String(error);
  return message.split('\n')[0]?.replace(/^page\.goto: /, '') ?? message;
}

async function open(tab: Tab, url: string): Promise<string> {
  await tab.goto(url, { timeoutMs: NAVIGATION_TIMEOUT_MS });
  const protocol = protocolFromAlpn(await navigationProtocol(tab));
  await setTimeout(LOOK_MS);
  return protocol === null ? 'unknown' : PROTOCOL_NAMES[protocol];
}

/** Each change of protocol, in order. */
function changes(protocols: readonly string[]): string {
  return protocols.filter((protocol, index) => protocol !== protocols[index - 1]).join(', then ');
}

async function visit(tab: Tab, origin: Origin): Promise<Stop | null> {
  const step = beginStep(`visiting ${origin}`);
  const protocols: string[] = [];
  try {
    for (let count = 1; count <= VISITS; count += 1) {
      step.detail(`visit ${count} of ${VISITS}  ${changes(protocols)}`);
      protocols.push(await open(tab, `${origin}/`));
    }
    step.end(true, changes(protocols));
    return { origin, tab };
  } catch (error) {
    step.end(false, firstLine(error));
    await tab.close();
    return null;
  }
}

/** Opens every origin several times, each in its own tab; returns those that responded. */
export async function visitAll(session: Session, origins: readonly Origin[]): Promise<Stop[]> {
  heading('Visits');
  const stops: Stop[] = [];
  for (const origin of origins) {
    const stop = await visit(await session.newTab(), origin);
    if (stop !== null) stops.push(stop);
  }
  return stops;
}

/** Opens one page that loads resources from all origins, so that the report has cross-origin requests. */
export async function visitMixedPage(stop: Stop, origins: readonly Origin[]): Promise<void> {
  const step = beginStep(`a page at ${stop.origin} with resources from ${origins.length} origins`);
  const query = new URLSearchParams({ resources: '24', from: origins.join(',') });
  step.end(true, await open(stop.tab, `${stop.origin}/page?${query}`));
}

async function raceAt(stop: Stop, popup: Popup): Promise<boolean> {
  const step = beginStep(`racing ${originParts(stop.origin).host}`);
  step.detail('HTTP/3 and HTTP/2 in turn');
  try {
    const { ok, words } = await popup.race();
    step.end(ok, words);
    return ok;
  } catch (error) {
    step.end(false, firstLine(error));
    return false;
  }
}

/** The popup's rows for the last page of each visited origin. */
export type PopupRows = ReadonlyMap<Origin, readonly OriginRow[]>;

export interface RaceOutcomes {
  readonly rows: PopupRows;
  /** Whether every race produced a result of any kind. */
  readonly ok: boolean;
}

/** Presses *Race now* in the popup of every stop. */
export async function raceAll(session: Session, stops: readonly Stop[]): Promise<RaceOutcomes> {
  if (stops.length > 0) heading('Races');
  const rows = new Map<Origin, readonly OriginRow[]>();
  let ok = true;
  for (const stop of stops) {
    const popup = await session.openPopup(stop.tab);
    ok = (await raceAt(stop, popup)) && ok;
    rows.set(stop.origin, await popup.origins());
    await popup.tab.close();
  }
  return { rows, ok };
}

/** Exports the report of all sites in every format; returns the file paths by format. */
export async function exportReports(popup: Popup, dir: string): Promise<Record<ReportFormat, string>> {
  const file = (format: ReportFormat) => join(dir, `report.${format}`);
  for (const format of FORMATS) await popup.exportAllSites(format, file(format));
  return { html: file('html'), json: file('json'), csv: file('csv') };
}
