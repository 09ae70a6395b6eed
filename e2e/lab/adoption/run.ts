// What a run of `adoption` has measured: by cell and client every single trial, and how the link behaved meanwhile.
import type { LinkReport } from '../../network/shape.ts';
import type { Absent } from '../client.ts';
import type { LabTrial } from '../trial.ts';

/** One setting of the link, in which every client is measured. */
export interface Cell {
  /** `delay-50`, `loss-10`; delay 0 without loss belongs to both of P2's sweeps and is `delay-0`. */
  readonly id: string;
  /** The external round trip, half in each direction (P2, tables 1 and 2). */
  readonly delayMs: number;
  /** From server to client, 0 to 1 (P2, tables 3 and 4). */
  readonly loss: number;
}

export interface CellResult {
  readonly cell: Cell;
  /** By client's name; clients that have not been measured here are left out. */
  readonly trials: Readonly<Record<string, readonly LabTrial[]>>;
  /** One for each turn of a client, in the order of the turns. */
  readonly link: readonly { readonly client: string; readonly report: LinkReport }[];
  /** Clients that broke off here, with their words: of their trials there are those of the turns before. */
  readonly crashed?: Readonly<Record<string, string>>;
}

export interface AdoptionRun {
  readonly absent: readonly Absent[];
  readonly cells: readonly CellResult[];
}
