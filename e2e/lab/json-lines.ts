// A file of JSON documents, one a line, written as things happen: what was being written when a run was killed has no
// line's end, and does not count.
import { existsSync } from 'node:fs';
import { readFile, truncate } from 'node:fs/promises';
import * as v from 'valibot';

const wholeLines = (text: string) => text.slice(0, text.lastIndexOf('\n') + 1);

/** What the first line holds, and what each of the others does. */
export interface Lines<First, Other> {
  readonly first: First;
  readonly rest: readonly Other[];
}

/** Null without a whole line. Throws, naming the line, for what the schemas do not take. */
export async function readLines<First, Other>(
  file: string,
  firstSchema: v.GenericSchema<unknown, First>,
  otherSchema: v.GenericSchema<unknown, Other>,
): Promise<Lines<First, Other> | null> {
  if (!existsSync(file)) return null;
  const [first, ...rest] = wholeLines(await readFile(file, 'utf8'))
    .split('\n')
    .slice(0, -1);
  if (first === undefined) return null;
  const read = <T>(schema: v.GenericSchema<unknown, T>, line: string, number: number): T => {
    try {
      return v.parse(schema, JSON.parse(line));
    } catch (error) {
      throw new Error(`${file}, line ${number}: ${(error as Error).message}`, { cause: error });
    }
  };
  return {
    first: read(firstSchema, first, 1),
    rest: rest.map((line, index) => read(otherSchema, line, index + 2)),
  };
}

/** Drops what came to no line's end, so that the file can be written on. */
export async function dropTornLine(file: string): Promise<void> {
  await truncate(file, Buffer.byteLength(wholeLines(await readFile(file, 'utf8'))));
}
