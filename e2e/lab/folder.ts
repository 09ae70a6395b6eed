// Where an experiment keeps its record.
import { join, relative } from 'node:path';
import { say } from '../run/display.ts';
import { SCRATCH, TOP } from '../scratch.ts';

/** The experiment's own folder, which may not exist yet. */
export function folderOf(experiment: string): string {
  return join(SCRATCH, 'lab', experiment);
}

/** Says how what was recorded in the folder becomes tables. */
export function sayReport(dir: string): void {
  say(`\nnpm run lab -- report ${relative(TOP, dir)}`);
}
