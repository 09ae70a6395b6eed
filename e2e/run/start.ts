// `npm start`: a demonstration of the whole product. Builds, serves local origins (or uses real ones), opens Chromium
// with extension and helper, visits, races, and exports the report; finally prints the protocol used and the forecast
// for each origin.

import { mkdir, readFile, rm } from 'node:fs/promises';
import { join, relative } from 'node:path';
import { setTimeout } from 'node:timers/promises';
import { adoptionPercent } from '@photofinish/shared/report/adoption';
import {
  PROTOCOL_COLUMNS,
  type Report,
  type ReportOrigin,
  type ReportSite,
  reportSchema,
  totalOf,
} from '@photofinish/shared/report/report';
import { type Origin, originParts, parseOrigin } from '@photofinish/shared/web/origin';
import { PROTOCOL_NAMES, protocolFromAlpn } from '@photofinish/shared/web/protocol';
import { messageOf } from '@photofinish/shared/web/untrusted';
import * as v from 'valibot';
import { navigationProtocol, type Tab } from '../browsers/browser.ts';
import {
  type OriginRow,
  openSession,
  type Popup,
  type ReportFormat,
  type Session,
} from '../browsers/session.ts';
import { startDnsFor } from '../origins/dns.ts';
import { everyKind, startOrigins } from '../origins/start.ts';
import { TOP } from '../scratch.ts';
import { build } from './artefacts.ts';
import { BadUsage, readCommandLine, usageOf } from './command-lines.mjs';
import { beginStep, figures, formatTable, heading, printLine } from './display.ts';
import { endCommandsOnSignals } from './step-command.ts';

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
  const message = messageOf(error);
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
type PopupRows = ReadonlyMap<Origin, readonly OriginRow[]>;

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

/** Real pages load from dozens of origins; the report lists the rest. */
const SHOWN_ORIGINS = 12;

function protocolsUsed({ protocols }: ReportOrigin): string {
  const used = PROTOCOL_COLUMNS.map(([, name]) => name).filter((name) => protocols[name] > 0);
  return used.map((name) => `${name} ${protocols[name]}`).join(', ') || '–';
}

function forecastOf(row: OriginRow | undefined): string {
  if (row === undefined) return '–';
  const sign = { right: '✓ ', wrong: '✗ ' };
  return `${row.scored === null ? '' : sign[row.scored]}${row.forecast}`;
}

function adoptionLine({ site, adoption: { byRequest } }: ReportSite): string {
  const percent = adoptionPercent(byRequest);
  const share =
    percent === null
      ? 'share unknown'
      : `${percent} % HTTP/3 of ${byRequest.known} known ${byRequest.known === 1 ? 'request' : 'requests'}`;
  return `${site}: ${share}, ${byRequest.hidden} hidden`;
}

/** A page belongs to the site of its own registrable domain. */
function rowsOfSite(site: string, popups: PopupRows): readonly OriginRow[] {
  const hosts = [...popups].map(([origin, rows]) => ({ host: originParts(origin).host, rows }));
  return hosts.find(({ host }) => host === site || host.endsWith(`.${site}`))?.rows ?? [];
}

/** The tables of all sites. */
function formatAdoption(report: Report, popups: PopupRows): string {
  const columns = ['origin', 'protocol used', figures('requests'), 'forecast', 'verdict'];
  const sections = report.sites.map((site) => {
    const rows = rowsOfSite(site.site, popups);
    const origins = site.origins.toSorted((a, b) => totalOf(b.protocols) - totalOf(a.protocols));
    const lines = origins.slice(0, SHOWN_ORIGINS).map((origin) => {
      const row = rows.find((candidate) => candidate.origin === origin.origin);
      const requests = String(totalOf(origin.protocols));
      return [origin.origin, protocolsUsed(origin), requests, forecastOf(row), origin.verdict.code];
    });
    const more = origins.length - lines.length;
    const rest = more > 0 ? `\nand ${more} more in the report` : '';
    return `${adoptionLine(site)}\n${formatTable(columns, lines)}${rest}`;
  });
  return sections.join('\n\n');
}

interface TourOptions {
  /** Whether the origins are local ones, which have a page with resources from all of them. */
  readonly local: boolean;
  readonly headless: boolean;
  /** Replaced as soon as there is something to report. */
  readonly reportDir: string;
}

/**
 * Visits and races the origins, displays what was recorded and writes the report; returns whether every origin was
 * visited and raced. If none could be visited, there is no report.
 */
export async function tour(
  session: Session,
  origins: readonly Origin[],
  { local, headless, reportDir }: TourOptions,
): Promise<boolean> {
  const stops = await visitAll(session, origins);
  if (stops.length === 0) return false;
  const [first] = stops;
  if (local && first) await visitMixedPage(first, origins);
  const raced = await raceAll(session, stops);

  heading('Report');
  const popup = await session.openPopup(first?.tab ?? null);
  await rm(reportDir, { recursive: true, force: true });
  await mkdir(reportDir, { recursive: true, mode: 0o700 });
  const file = (format: ReportFormat) => join(reportDir, `report.${format}`);
  for (const format of FORMATS) await popup.exportAllSites(format, file(format));
  const paths = FORMATS.map(file);
  if (headless) {
    const picture = join(reportDir, 'popup.png');
    await popup.tab.screenshot(picture, { fullPage: true });
    paths.push(picture);
  }
  await popup.tab.close();
  const report = v.parse(reportSchema, JSON.parse(await readFile(file('json'), 'utf8')));
  printLine(`\n${formatAdoption(report, raced.rows)}\n`);
  for (const path of paths) printLine(relative(TOP, path));
  return raced.ok && stops.length === origins.length;
}

const DIR = join(TOP, '.photofinish', 'start');
const SESSION_DIR = join(DIR, 'session');
const REPORT_DIR = join(DIR, 'report');

/**
 * On loopback a page would finish before anything could be forecast; this is a typical round trip to a nearby server.
 */
const ANSWER_DELAY_MS = 20;

interface StartOptions {
  /** If empty, local origins are started. */
  readonly origins: readonly Origin[];
  readonly headless: boolean;
  /** Whether the local origins go on running after the tour. */
  readonly keep: boolean;
}

/** Throws BadUsage for anything else. */
function readOrigin(text: string): Origin {
  const result = parseOrigin(text);
  if (!result.ok) throw new BadUsage(result.message);
  return result.value.origin;
}

function readArguments(args: string[]): StartOptions {
  const { names, ...values } = readCommandLine('start', args);
  const { DISPLAY, WAYLAND_DISPLAY } = process.env;
  const display = process.platform === 'darwin' || Boolean(DISPLAY || WAYLAND_DISPLAY);
  if (values.headed && !display) throw new BadUsage('--headed needs a display; DISPLAY is not set');
  return {
    origins: names.map(readOrigin),
    headless: values.headless ?? !display,
    keep: values.keep ?? false,
  };
}

/** Starts local origins of every kind in `dir`, and a DNS server that knows them; they end with `closing`. */
export async function serveEveryKind(
  closing: AsyncDisposableStack,
  dir: string,
  settingsOf: Parameters<typeof everyKind>[0],
) {
  const local = closing.use(await startOrigins({ origins: everyKind(settingsOf), dir }));
  const running = Object.values(local.origins);
  const { resolver, stop } = await startDnsFor(running);
  closing.defer(stop);
  return { local, resolver, origins: running.map(({ origin }) => readOrigin(origin)) };
}

/** Runs until a signal ends this process, and with it the origins. */
async function keep(origin: Origin, caPath: string, resolver: string): Promise<never> {
  const reach = ['--resolver', resolver, '--ca', relative(TOP, caPath), '--allow-private'];
  printLine('\nThe origins keep running until Ctrl-C. To race one, in another terminal in the checkout:');
  printLine(`\nnpx photofinish race ${origin} --mode compare ${reach.join(' ')}`);
  return new Promise(() => {});
}

async function run(options: StartOptions): Promise<boolean> {
  if (!(await build())) return false;
  // A fresh browser profile: otherwise it would not be seen learning about HTTP/3.
  await rm(SESSION_DIR, { recursive: true, force: true });
  await mkdir(SESSION_DIR, { recursive: true, mode: 0o700 });

  heading('Browser');
  await using closing = new AsyncDisposableStack();
  const isLocal = options.origins.length === 0;
  const delayed = () => ({ answerDelayMs: ANSWER_DELAY_MS });
  const served = isLocal ? await serveEveryKind(closing, join(SESSION_DIR, 'origins'), delayed) : null;
  const { local, resolver, origins } = served ?? { origins: options.origins };
  const step = beginStep('Chromium with the extension and the helper');
  const { headless } = options;
  const session = await openSession({ browser: 'chromium', dir: SESSION_DIR, headless, local, resolver });
  closing.defer(() => session.close());
  step.end(true, session.version);
  const ok = await tour(session, origins, { local: isLocal, headless, reportDir: REPORT_DIR });
  const [first] = origins;
  if (options.keep && first && served) await keep(first, served.local.caPath, served.resolver);
  if (!headless) {
    printLine('\nThe browser stays open; close it or press Ctrl-C to end.');
    await session.closed();
  }
  return ok;
}

if (import.meta.main) {
  // Browser and origins are ended with this process.
  endCommandsOnSignals();
  try {
    process.exitCode = (await run(readArguments(process.argv.slice(2)))) ? 0 : 1;
  } catch (error) {
    if (!(error instanceof BadUsage)) throw error;
    process.stderr.write(`${error.message}\n\n${usageOf('start')}\n`);
    process.exitCode = 2;
  }
}
