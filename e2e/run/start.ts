// `npm start`: a demonstration of the whole product. Builds, serves local origins (or uses real ones), opens Chromium
// with extension and helper, visits, races, and exports the report; finally prints the protocol used and the forecast
// for each origin.
import { mkdir, rm } from 'node:fs/promises';
import { join, relative } from 'node:path';
import { type Origin, parseOrigin } from '@photofinish/shared/web/origin';
import { openSession, type Session } from '../browsers/session.ts';
import { startDnsFor } from '../origins/dns.ts';
import { ORIGIN_KINDS, type OriginSettings, startOrigins } from '../origins/start.ts';
import { TOP } from '../scratch.ts';
import { build } from './artefacts.ts';
import { BadUsage, readCommandLine, usageOf } from './command-lines.mjs';
import { beginStep, heading, printLine } from './display.ts';
import { endCommandsOnSignals } from './step-command.ts';
import { tour } from './tour.ts';

const DIR = join(TOP, '.photofinish', 'start');
const SESSION_DIR = join(DIR, 'session');
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
  /** Whether the local origins go on running after the tour. */
  readonly keep: boolean;
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
  return {
    origins: names.map(readOrigin),
    headless: values.headless ?? !display,
    keep: values.keep ?? false,
  };
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
  const isLocal = options.origins.length === 0;
  const served = isLocal
    ? await startOrigins({ origins: localOrigins(), dir: join(SESSION_DIR, 'origins') })
    : null;
  const origins = served
    ? Object.values(served.origins).map(({ origin }) => readOrigin(origin))
    : options.origins;
  const dns = served && (await startDnsFor(Object.values(served.origins)));
  let session: Session | null = null;
  try {
    const step = beginStep('Chromium with the extension and the helper');
    const { headless } = options;
    const local = served ?? undefined;
    session = await openSession({
      browser: 'chromium',
      dir: SESSION_DIR,
      headless,
      local,
      resolver: dns?.resolver,
    });
    step.end(true, session.version);
    const ok = await tour(session, origins, { local: isLocal, headless, reportDir: REPORT_DIR });
    const [first] = origins;
    if (options.keep && first && served && dns) await keep(first, served.caPath, dns.resolver);
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
