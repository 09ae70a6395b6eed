// A client under test: a way to make cold connections to one origin over the testbed's link, one after the other, all with
// the same interface.
import type { ServedTestbed } from './testbed.ts';
import type { LabTrial } from './trial.ts';

export type ClientKind = 'ours' | 'peer' | 'browser';

export interface Client {
  /** In results and on the command line: small letters, digits and hyphens. */
  readonly name: string;
  /** In tables. */
  readonly title: string;
  readonly kind: ClientKind;
  /** Of what it is made of, by name. */
  readonly versions: Readonly<Record<string, string>>;
  /**
   * Before a cell, its link being in place already: forgets the last cell, and learns what a known host has taught. None
   * of it counts.
   */
  prepare?(): Promise<void>;
  /** Makes that many cold connections one after the other; each gives a trial, whatever became of it. */
  run(trials: number): Promise<LabTrial[]>;
  close(): Promise<void>;
}

/** One that cannot be had here; the tables name it. */
export interface Absent {
  readonly name: string;
  readonly title: string;
  readonly kind: ClientKind;
  readonly why: string;
}

/** Opens a client on a testbed; never rejects because something is not installed. */
export type Opener = (testbed: ServedTestbed) => Promise<Client | Absent>;

export function isAbsent(entry: Client | Absent): entry is Absent {
  return 'why' in entry;
}
