// The clients of `browsers`: Chromium, Firefox with and without Happy Eyeballs v3, and our command line in two modes.
import { rm } from 'node:fs/promises';
import { join } from 'node:path';
import { createInterface } from 'node:readline';
import * as v from 'valibot';
import { talkWith } from '../../child-process.ts';
import { scratchDirectory } from '../../scratch.ts';
import { type ClientKind, DEADLINE_MS, PHOTOFINISH, recordIn } from '../client.ts';
import {
  type BrowserName,
  type BrowserSettings,
  type ColdProfile,
  MEASURED_BROWSERS,
  START,
  versionOf,
} from '../clients/browsers.ts';
import type { Visitor, VisitorHost } from './testbed.ts';

/** Browsers run in a process inside the namespace that runs this file. */
const PROCESS = import.meta.filename;
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

function browser(name: BrowserName): Subject {
  const { title, ...measured } = MEASURED_BROWSERS[name];
  return {
    name,
    title,
    kind: 'browser',
    version: () => versionOf(measured.browser),
    async start({ client, program, hosts, spki, caPath }) {
      const dir = await scratchDirectory(`lab-${name}`);
      const settings: BrowserSettings = { ...measured, hosts, address: null, spki, caPath, dir };
      const { file, args } = program(process.execPath, [PROCESS, JSON.stringify(settings)]);
      const { next, tell, stop } = talkWith(name, client.spawn(file, args));
      const reply = async () => v.parse(replySchema, JSON.parse(await next()));
      const ask = async (command: Command) => {
        tell(command);
        return (await reply()).error;
      };
      const visit = (url: string) => ask({ do: 'visit', url });
      await reply();
      return {
        visit,
        forget: async () => void (await ask({ do: 'forget' })),
        learn: async (url) => void (await visit(url)),
        part: async () => void (await ask({ do: 'part' })),
        async close() {
          await stop();
          await rm(dir, { recursive: true, force: true });
        },
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
  browser('chromium'),
  browser('firefox'),
  browser('firefox-he3'),
  ours('race', 'ours, race'),
  ours('v3', 'ours, v3'),
];

const commandSchema = v.variant('do', [
  /** Closes the profile, if there is one, and opens another without history. */
  v.object({ do: v.literal('forget') }),
  v.object({ do: v.literal('visit'), url: v.string() }),
  /** Closes all connections of the profile, which keeps what it has learnt. */
  v.object({ do: v.literal('part') }),
]);
type Command = v.InferOutput<typeof commandSchema>;

/** The reply to a command; the error says why a visit failed. */
const replySchema = v.object({ error: v.optional(v.string()) });
type Reply = v.InferOutput<typeof replySchema>;

async function visit({ tab }: ColdProfile, url: string): Promise<Reply> {
  try {
    await tab.goto(url, { timeoutMs: DEADLINE_MS });
    return {};
  } catch (error) {
    return { error: String(error).split('\n')[0] ?? '' };
  }
}

async function obey(settings: BrowserSettings): Promise<void> {
  const running = await START[settings.browser](settings);
  let profile: ColdProfile | null = null;
  const reply = (message: Reply) => process.stdout.write(`${JSON.stringify(message)}\n`);
  try {
    reply({});
    for await (const line of createInterface(process.stdin)) {
      const command = v.parse(commandSchema, JSON.parse(line));
      if (command.do === 'forget') {
        await profile?.close();
        profile = await running.newProfile();
      }
      if (profile === null) throw new Error('there is no profile yet');
      if (command.do === 'part') await profile.partFromServers();
      reply(command.do === 'visit' ? await visit(profile, command.url) : {});
    }
  } finally {
    await running.close();
  }
}

if (import.meta.main) await obey(JSON.parse(process.argv[2] ?? '') as BrowserSettings);
