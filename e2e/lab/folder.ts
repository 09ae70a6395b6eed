// Where an experiment keeps its journal and leaves its results.
import { mkdir, writeFile } from 'node:fs/promises';
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

/** Writes the files, by name, into the experiment's folder, and says where they are. */
export async function leaveResults(
  experiment: string,
  files: Readonly<Record<string, string>>,
): Promise<void> {
  const folder = folderOf(experiment);
  await mkdir(folder, { recursive: true });
  for (const [name, text] of Object.entries(files)) await writeFile(join(folder, name), text);
  say(
    `\n${Object.keys(files)
      .map((name) => relative(TOP, join(folder, name)))
      .join('\n')}`,
  );
}
