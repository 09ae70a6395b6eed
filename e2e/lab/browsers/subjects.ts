// The clients of `browsers`: Chromium, Firefox with and without Happy Eyeballs v3, and our command line in two modes.
import { rm } from 'node:fs/promises';
import { join } from 'node:path';
import { scratchDirectory } from '../../scratch.ts';
import { type ClientKind, PHOTOFINISH, recordIn } from '../client.ts';
import { type BrowserName, MEASURED_BROWSERS, startBrowser, versionOf } from '../clients/browsers.ts';
import type { Visitor, VisitorHost } from './testbed.ts';

/** Our races that teach the client about the host. */
const LESSONS = 3;

/** `hints`: it reads what it has learnt, but not the outcome, so that it races. `full`: as in daily use. */
type Memory = 'hints' | 'full';

export interface Subject {
  /** Used in results and on the command line. */
  readonly name: string;
  readonly title: string;
  readonly kind: ClientKind;
  /** Its version; null if it is not installed. */
  version(): Promise<string | null>;
  /** `memory` is our command line's in measured visits; browsers always remember. */
  start(inside: VisitorHost, memory: Memory): Promise<Visitor>;
}

function browserSubject(name: BrowserName): Subject {
  const { title, browser } = MEASURED_BROWSERS[name];
  return {
    name,
    title,
    kind: 'browser',
    version: () => versionOf(browser),
    async start({ spawn, hosts, spki, caPath }) {
      const running = await startBrowser(name, spawn, { hosts, address: null, spki, caPath });
      return {
        ...running,
        visit: async (url) => (await running.visit(url)).error,
        learn: async (url) => void (await running.visit(url)),
      };
    },
  };
}

/** Learning visits write what they learn. */
function ours(mode: 'race' | 'v3', title: string): Subject {
  return {
    name: mode,
    title,
    kind: 'ours',
    version: async () => 'of this build',
    async start({ client, caPath, resolver }, memory) {
      const dir = await scratchDirectory(`lab-${mode}`);
      const cache = join(dir, 'host-cache.sqlite');
      const race = async (url: string, ...options: readonly string[]): Promise<string | undefined> => {
        const reach = ['--resolver', resolver, '--allow-private', '--ca', caPath, '--json'];
        const how = ['--mode', mode, '--cache', cache, ...options];
        const args = ['race', new URL(url).origin, ...reach, ...how, '--network', 'laboratory'];
        const { stdout, stderr } = await client.run(PHOTOFINISH, args);
        if (stdout === '') throw new Error(`${mode}: ${stderr}`);
        const trials = recordIn(stdout).trials;
        return trials.some(({ adopted }) => adopted === null) ? 'no protocol was adopted' : undefined;
      };
      return {
        forget: async () => {
          for (const more of ['', '-wal', '-shm']) await rm(`${cache}${more}`, { force: true });
        },
        visit: (url) => race(url, '--memory', memory),
        learn: async (url) => void (await race(url, '--memory', 'full', '--trials', String(LESSONS))),
        part: async () => {},
        close: () => rm(dir, { recursive: true, force: true }),
      };
    },
  };
}

export const SUBJECTS: readonly Subject[] = [
  browserSubject('chromium'),
  browserSubject('firefox'),
  browserSubject('firefox-he3'),
  ours('race', 'ours, race'),
  ours('v3', 'ours, v3'),
];
