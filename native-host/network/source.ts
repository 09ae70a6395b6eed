// The interface of each platform: what can be seen of the network at a glance, and what has to be queried.
import type { Clock } from '../clock.ts';
import type { NetworkFacts } from './key.ts';
import { linuxMachine, linuxSource } from './linux.ts';
import { macosSource, macosSystem } from './macos.ts';
import { windowsSource, windowsSystem } from './windows.ts';

export interface NetworkSnapshot {
  /** While it is unchanged, the machine may be assumed to be on the same network. */
  readonly mark: string;
  /** While it is unchanged, the network may be the same although `mark` differs: an address is not resolved yet. */
  readonly place: string;
  /** What identifies the network; null: no route; `ask`: more than a snapshot is needed. */
  readonly facts: NetworkFacts | null | 'ask';
  /** How long an unchanged mark is reliable; null: every change shows in the mark. */
  readonly goodForMs: number | null;
}

export interface NetworkSource {
  /** Reads what is available without waiting, cheaply enough for every forecast. Never throws. */
  snapshot(): NetworkSnapshot;
  /** Queries the rest, for at most two seconds; null: no route. Rejects when nothing can be determined. */
  examine(): Promise<NetworkFacts | null>;
}

/** The source of a platform; null where networks cannot be distinguished. */
export function systemSource(platform: NodeJS.Platform, clock: Pick<Clock, 'after'>): NetworkSource | null {
  if (platform === 'linux') return linuxSource(linuxMachine(clock));
  if (platform === 'darwin') return macosSource(macosSystem(clock));
  if (platform === 'win32') return windowsSource(windowsSystem());
  return null;
}
