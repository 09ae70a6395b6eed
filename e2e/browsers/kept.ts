// One browser for many installations, one after the other: to start it takes longer than most of what is tested in it.
// The browser itself installs the extension for each and uninstalls it after, with everything that it stored and was
// allowed. What the browser knows of sites it keeps: that is fresh only for origins on ports of the test's own.
import { rm } from 'node:fs/promises';
import { join } from 'node:path';
import {
  hostDirectory,
  installHelper,
  type LaunchOptions,
  launch,
  makeDirectories,
  type Session,
  type SessionFiles,
  type SessionOptions,
  sessionFiles,
  sessionWith,
} from './session.ts';
import { settleIn } from './welcome.ts';

/** One installation: settings and host cache are made in `dir`; origins are among those that the browser trusts. */
type GuestOptions = Pick<SessionOptions, 'dir' | 'local' | 'helper' | 'consent'>;

export interface KeptBrowser {
  /** As `openSession` does, but for the launch. The session can neither restart the browser nor change what it allows. */
  open(options: GuestOptions): Promise<Session>;
  /** Takes away what was opened, down to the helper's manifest. */
  clear(): Promise<void>;
  end(): Promise<void>;
}

const refuse = (what: string) => async (): Promise<never> => {
  throw new Error(`${what} takes a browser of the test's own`);
};

async function removeHelper(files: SessionFiles): Promise<void> {
  // Firefox's launcher is with the user's data.
  for (const directory of [hostDirectory(files), join(files.home, '.local')])
    await rm(directory, { recursive: true, force: true });
}

/** Starts a browser that is kept; `local` names all hosts that any of its installations may visit. */
export async function keepBrowser(options: LaunchOptions): Promise<KeptBrowser> {
  const kept = sessionFiles(options.browser, options.dir);
  await makeDirectories(kept);
  const running = await launch({ ...options, installsLater: true }, kept);
  const { installer } = running;
  if (installer === null) throw new Error('this browser installs nothing');
  return {
    async open({ dir, local, helper = true, consent = helper }) {
      const { config, cache } = sessionFiles(options.browser, dir);
      const files = { ...kept, config, cache };
      if (helper) await installHelper(files, local);
      await installer.install();
      const session = sessionWith(files, () => running, {
        restart: refuse('a restart'),
        crash: refuse('a crash'),
        allowPrivateWindows: refuse('a private window'),
        close: refuse('an end of the browser'),
        abandon: refuse('an end of the browser'),
      });
      await settleIn(await session.openPage('options/options.html'), { fresh: true, consent });
      return session;
    },
    async clear() {
      await installer.uninstall();
      await removeHelper(kept);
    },
    end: () => running.abandon(),
  };
}
