// One browser for many consecutive installations, since starting it takes longer than most of what is tested. The
// browser itself installs the extension for each and uninstalls it afterwards, with its storage and permissions. What
// the browser has learnt about sites persists: that is fresh only for origins on ports that no earlier test used.
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
  settleIn,
} from './session.ts';

/**
 * One installation: settings and host cache are created in `dir`; its origins must be among those that the browser
 * trusts.
 */
type GuestOptions = Pick<SessionOptions, 'dir' | 'local' | 'helper' | 'consent'>;

export interface KeptBrowser {
  /** As `openSession`, without the launch. The session can neither restart the browser nor change its permissions. */
  open(options: GuestOptions): Promise<Session>;
  /** Removes everything that was installed, including the helper's manifest. */
  clear(): Promise<void>;
  end(): Promise<void>;
}

const refuse = (what: string) => async (): Promise<never> => {
  throw new Error(`${what} takes a browser of the test's own`);
};

async function removeHelper(files: SessionFiles): Promise<void> {
  // Firefox's launcher is in the user's home directory.
  // The browser still runs, and may write there meanwhile.
  for (const directory of [hostDirectory(files), join(files.home, '.local')])
    await rm(directory, { recursive: true, force: true, maxRetries: 10 });
}

/** Starts a browser to be reused; `local` lists every host that any of its installations may visit. */
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
