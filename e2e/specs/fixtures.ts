// What every spec stands on: one origin of each kind per worker, Caddy beside them, and installations of the product
// that start with nothing learnt and end with their test.
import { execFile } from 'node:child_process';
import { readFile, rm } from 'node:fs/promises';
import { join } from 'node:path';
import { type Report, reportSchema } from '@photofinish/shared/report';
import { test as base } from '@playwright/test';
import * as v from 'valibot';
import { compileFirefox } from '../browsers/firefox-start.ts';
import type { Popup } from '../browsers/popup.ts';
import { openSession, type Session, type SessionOptions } from '../browsers/session.ts';
import type { Tab } from '../browsers/tab.ts';
import { GO_MISSING } from '../go-module.ts';
import { type RunningCaddy, startCaddy } from '../origins/caddy.ts';
import { ORIGIN_KINDS, type RunningOrigin, type RunningOrigins, startOrigins } from '../origins/start.ts';
import { BROWSERS, type BrowserKind, findBrowser } from '../run/find-browser.mjs';
import { scratchDirectory, TOP } from '../scratch.ts';

/** The command of this checkout. */
export const PHOTOFINISH = join(TOP, 'native-host/bin/photofinish');
const CADDY_HOST = 'caddy.test';

export type Kind = keyof typeof ORIGIN_KINDS;
export type Local = RunningOrigins<Kind>;

export interface CliResult {
  readonly code: number;
  readonly stdout: string;
  readonly stderr: string;
}

interface WorkerFixtures {
  readonly local: Local;
  /** The independent server; a spec that needs it is skipped where Go is missing. */
  readonly caddy: RunningCaddy | null;
  /** What every Firefox of the worker begins with; undefined for other browsers. */
  readonly compiled: string | undefined;
}

interface TestFixtures {
  /** The browser of this project. */
  readonly kind: BrowserKind;
  /** A directory of the test's own, removed with it. */
  readonly dir: string;
  /** A fresh profile of the project's browser with extension and helper. */
  readonly open: (options?: Partial<SessionOptions>) => Promise<Session>;
  /** The command line, allowed to reach the local origins. */
  readonly photofinish: (...args: string[]) => Promise<CliResult>;
}

/** Runs the command line as a user does; never rejects for an exit code. */
export function runPhotofinish(args: readonly string[], env: NodeJS.ProcessEnv = {}): Promise<CliResult> {
  return new Promise((resolve) => {
    const options = { maxBuffer: 64 * 1024 * 1024, env: { ...process.env, ...env } };
    execFile(PHOTOFINISH, args, options, (error, stdout, stderr) => {
      resolve({ code: error === null ? 0 : Number(error.code), stdout, stderr });
    });
  });
}

/** What lets the command line race local origins: where they are and whom to trust. */
export function reachLocal(caPath: string, origins: readonly RunningOrigin[]): string[] {
  const resolve = origins.flatMap(({ host, port }) => ['--resolve', `${host}:${port}:127.0.0.1`]);
  return ['--allow-private', '--ca', caPath, ...resolve];
}

export const test = base.extend<TestFixtures, WorkerFixtures>({
  local: [
    // biome-ignore lint/correctness/noEmptyPattern: Playwright reads the fixtures' names from the pattern.
    async ({}, use) => {
      const running = await startOrigins({ origins: ORIGIN_KINDS, certificateHosts: [CADDY_HOST] });
      await use(running);
      await running.stop();
    },
    { scope: 'worker' },
  ],
  caddy: [
    async ({ local }, use) => {
      const certificate = local.certificates[CADDY_HOST];
      if (certificate === undefined) throw new Error(`no certificate for ${CADDY_HOST}`);
      const caddy = await startCaddy({ host: CADDY_HOST, certificate, caPath: local.caPath }).catch(
        (error) => {
          if (error.message === GO_MISSING) return null;
          throw error;
        },
      );
      await use(caddy);
      await caddy?.stop();
    },
    // The first build of Caddy takes minutes.
    { scope: 'worker', timeout: 600_000 },
  ],
  compiled: [
    async ({ browserName, local }, use) => {
      if (browserName !== 'firefox' || findBrowser('firefox') === null) {
        await use(undefined);
        return;
      }
      const dir = await scratchDirectory('firefox');
      const extensionDir = join(TOP, 'extension', 'dist', 'firefox');
      await use(await compileFirefox(dir, { extensionDir, local, headless: true }));
      await rm(dir, { recursive: true, force: true, maxRetries: 5 });
    },
    { scope: 'worker' },
  ],
  // biome-ignore lint/correctness/noEmptyPattern: Playwright reads the fixtures' names from the pattern.
  dir: async ({}, use) => {
    const dir = await scratchDirectory('spec');
    await use(dir);
    await rm(dir, { recursive: true, force: true, maxRetries: 5 });
  },
  kind: async ({ browserName }, use) => {
    if (browserName === 'webkit') throw new Error('there is no edition for WebKit');
    await use(browserName);
  },
  open: async ({ compiled, dir, kind, local }, use, { skip }) => {
    const { names, variable } = BROWSERS[kind];
    skip(findBrowser(kind) === null, `no ${names[0]} on the path, and ${variable} names none`);
    const sessions: Session[] = [];
    await use(async (options) => {
      const session = await openSession({ browser: kind, dir, local, compiled, headless: true, ...options });
      sessions.push(session);
      return session;
    });
    for (const session of sessions) await session.abandon();
  },
  photofinish: async ({ local }, use) => {
    await use((...args) =>
      runPhotofinish([...args, ...reachLocal(local.caPath, Object.values(local.origins))]),
    );
  },
});

/** The report of all sites as the popup's user downloads it. */
export async function exportedReport(popup: Popup, dir: string): Promise<Report> {
  const file = join(dir, 'report.json');
  await popup.exportAllSites('json', file);
  return v.parse(reportSchema, JSON.parse(await readFile(file, 'utf8')));
}

/** The badge that the toolbar shows for that tab. */
export async function badgeText(popup: Popup, tab: Tab): Promise<string> {
  return popup.tab.evaluate(
    async (url) => {
      const shown = (await chrome.tabs.query({})).find((candidate) => candidate.url === url);
      return chrome.action.getBadgeText({ tabId: shown?.id ?? -1 });
    },
    await tab.url(),
  );
}

export { expect } from './expect.ts';
