// `npm start`: a demonstration of the whole product. Builds, serves local origins (or uses real ones), opens Chromium
// with extension and helper, visits, races, and exports the report; finally prints the protocol used and the forecast
// for each origin.
import { mkdir, readFile, rm } from 'node:fs/promises';
import { join, relative } from 'node:path';
import { adoptionPercent } from '@photofinish/shared/report/adoption';
import {
  type Report,
  type ReportOrigin,
  type ReportSite,
  reportSchema,
} from '@photofinish/shared/report/report';
import { type Origin, originParts, parseOrigin } from '@photofinish/shared/web/origin';
import * as v from 'valibot';
import type { OriginRow } from '../browsers/popup.ts';
import { openSession, type Session } from '../browsers/session.ts';
import { startDnsFor } from '../origins/dns.ts';
import { ORIGIN_KINDS, type OriginSettings, startOrigins } from '../origins/start.ts';
import { TOP } from '../scratch.ts';
import { build } from './artefacts.ts';
import { BadUsage, readCommandLine, usageOf } from './command-lines.mjs';
import { beginStep, formatTable, heading, printLine } from './display.ts';
import { endCommandsOnSignals } from './step-command.ts';
import { exportReports, type PopupRows, raceAll, visitAll, visitMixedPage } from './tour.ts';

/** Real pages load from dozens of origins; the report lists the rest. */
const SHOWN_ORIGINS = 12;

const total = ({ protocols }: ReportOrigin) =>
  protocols.h3 + protocols.h2 + protocols['http/1.1'] + protocols.unknown;

function protocolsUsed({ protocols }: ReportOrigin): string {
  const used = (['h3', 'h2', 'http/1.1', 'unknown'] as const).filter((name) => protocols[name] > 0);
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
    percent === null ? 'share unknown' : `${percent} % HTTP/3 of ${byRequest.known} known requests`;
  return `${site}: ${share}, ${byRequest.hidden} hidden`;
}

/** A page belongs to the site of its own registrable domain. */
function rowsOfSite(site: string, popups: PopupRows): readonly OriginRow[] {
  const hosts = [...popups].map(([origin, rows]) => ({ host: originParts(origin).host, rows }));
  return hosts.find(({ host }) => host === site || host.endsWith(`.${site}`))?.rows ?? [];
}

/** The tables of all sites. */
function formatAdoption(report: Report, popups: PopupRows): string {
  const columns = [
    { title: 'origin' },
    { title: 'protocol used' },
    { title: 'requests', align: 'right' },
    { title: 'forecast' },
    { title: 'verdict' },
  ] as const;
  const sections = report.sites.map((site) => {
    const rows = rowsOfSite(site.site, popups);
    const origins = site.origins.toSorted((a, b) => total(b) - total(a));
    const lines = origins.slice(0, SHOWN_ORIGINS).map((origin) => {
      const row = rows.find((candidate) => candidate.origin === origin.origin);
      const requests = String(total(origin));
      return [origin.origin, protocolsUsed(origin), requests, forecastOf(row), origin.verdict.code];
    });
    const more = origins.length - lines.length;
    const rest = more > 0 ? `\nand ${more} more in the report` : '';
    return `${adoptionLine(site)}\n${formatTable(columns, lines)}${rest}`;
  });
  return sections.join('\n\n');
}

const DIR = join(TOP, '.photofinish', 'start');
const REPORT_DIR = join(DIR, 'report');

/**
 * On loopback a page would finish before anything could be forecast; this is a typical round trip to a nearby server.
 */
const ANSWER_DELAY_MS = 20;

function localOrigins(): Record<string, OriginSettings> {
  const kinds = Object.entries(ORIGIN_KINDS);
  return Object.fromEntries(kinds.map(([name, kind]) => [name, { ...kind, answerDelayMs: ANSWER_DELAY_MS }]));
}

interface StartOptions {
  /** If empty, local origins are started. */
  readonly origins: readonly Origin[];
  readonly headless: boolean;
}

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
  return { origins: names.map(readOrigin), headless: values.headless ?? !display };
}

/** Displays what was recorded and writes the report; returns whether every origin was visited and raced. */
async function tour(
  session: Session,
  origins: readonly Origin[],
  local: boolean,
  headless: boolean,
): Promise<boolean> {
  const stops = await visitAll(session, origins);
  const [first] = stops;
  if (local && first) await visitMixedPage(first, origins);
  const raced = await raceAll(session, stops);

  heading('Report');
  const popup = await session.openPopup(first?.tab ?? null);
  const files = await exportReports(popup, REPORT_DIR);
  const paths = Object.values(files);
  if (headless) {
    const picture = join(DIR, 'popup.png');
    await popup.tab.screenshot(picture, { fullPage: true });
    paths.push(picture);
  }
  await popup.tab.close();
  const report = v.parse(reportSchema, JSON.parse(await readFile(files.json, 'utf8')));
  printLine(`\n${formatAdoption(report, raced.rows)}\n`);
  for (const path of paths) printLine(relative(TOP, path));
  return raced.ok && stops.length === origins.length;
}

async function run(options: StartOptions): Promise<boolean> {
  if (!(await build())) return false;
  // A fresh browser profile: otherwise it would not be seen learning about HTTP/3.
  await rm(DIR, { recursive: true, force: true });
  await mkdir(REPORT_DIR, { recursive: true, mode: 0o700 });

  heading('Browser');
  const isLocal = options.origins.length === 0;
  const served = isLocal ? await startOrigins({ origins: localOrigins(), dir: join(DIR, 'origins') }) : null;
  const origins = served
    ? Object.values(served.origins).map(({ origin }) => readOrigin(origin))
    : options.origins;
  const dns = served && (await startDnsFor(Object.values(served.origins)));
  let session: Session | null = null;
  try {
    const step = beginStep('Chromium with the extension and the helper');
    const { headless } = options;
    const local = served ?? undefined;
    session = await openSession({ browser: 'chromium', dir: DIR, headless, local, resolver: dns?.resolver });
    step.end(true, session.version);
    const ok = await tour(session, origins, isLocal, headless);
    if (!headless) {
      printLine('\nThe browser stays open; close it or press Ctrl-C to end.');
      await session.closed();
    }
    return ok;
  } finally {
    await session?.close();
    dns?.stop();
    await served?.stop();
  }
}

// Browser and origins are ended with this process.
endCommandsOnSignals();
try {
  process.exitCode = (await run(readArguments(process.argv.slice(2)))) ? 0 : 1;
} catch (error) {
  if (!(error instanceof BadUsage)) throw error;
  process.stderr.write(`${error.message}\n\n${usageOf('start')}\n`);
  process.exitCode = 2;
}
