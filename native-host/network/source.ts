// The one thing each platform gives: what can be seen of the network at a glance, and what has to be asked for.
import type { Clock } from '../clock.ts';
import type { NetworkFacts } from './key.ts';
import { linuxMachine, linuxSource } from './linux.ts';
import { macosSource, macosSystem } from './macos.ts';
import { windowsSource, windowsSystem } from './windows.ts';

export interface Glance {
  /** While it stays equal the machine may be taken to be where it was. */
  readonly mark: string;
  /** While it stays equal the network need not be another one, though `mark` differs: an address not yet resolved. */
  readonly place: string;
  /** What identifies the network; null: no route leads out; `ask`: more than a glance is needed. */
  readonly facts: NetworkFacts | null | 'ask';
  /** After how long the same mark proves nothing any more; null: every change shows in the mark. */
  readonly goodForMs: number | null;
}

export interface NetworkSource {
  /** Looks without waiting, cheaply enough for every forecast. Never throws. */
  glance(): Glance;
  /** Asks for the rest, for two seconds at most; null: no route leads out. Rejects when nothing can be told. */
  examine(): Promise<NetworkFacts | null>;
}

/** The source of a platform; null where networks cannot be told apart. */
export function systemSource(platform: NodeJS.Platform, clock: Pick<Clock, 'after'>): NetworkSource | null {
  if (platform === 'linux') return linuxSource(linuxMachine(clock));
  if (platform === 'darwin') return macosSource(macosSystem(clock));
  if (platform === 'win32') return windowsSource(windowsSystem());
  return null;
}
