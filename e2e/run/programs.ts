// Programs that npm scripts run by their names, each a file of one folder: how they are listed, found and started.
import { readdirSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { build } from './build.ts';
import { type Command, runInView } from './command.ts';
import { heading, say } from './display.ts';
import { formatTable } from './table.ts';

export interface Programs {
  /** What one of them is called. */
  readonly noun: string;
  readonly folder: string;
  /** Tells a program from the folder's other files by its source. */
  readonly isProgram: (source: string, name: string) => boolean;
  /** What a program's command line has to become for it to do its work here; as it is unless said. */
  readonly prepare?: (command: Invocation) => Promise<Invocation>;
}

type Invocation = Pick<Command, 'file' | 'args'>;

function names({ folder, isProgram }: Programs): string[] {
  const files = readdirSync(folder).filter((file) => file.endsWith('.ts') && !file.endsWith('.test.ts'));
  const all = files.map((file) => file.slice(0, -'.ts'.length));
  return all.filter((name) => isProgram(readFileSync(join(folder, `${name}.ts`), 'utf8'), name));
}

/** The comment that a program begins with says what it measures. */
function purpose({ folder }: Programs, name: string): string {
  const source = readFileSync(join(folder, `${name}.ts`), 'utf8');
  const comment = /^(?:\/\/.*\n)+/.exec(source)?.[0] ?? '';
  return (
    comment
      .replaceAll(/^\/\/ ?/gm, '')
      .replaceAll('\n', ' ')
      .split('. ')[0]
      ?.trim() ?? ''
  );
}

/** Prints what there is, under that usage. */
export function list(programs: Programs, usage: string): void {
  say(`${usage}\n`);
  const rows = names(programs).map((name) => [name, purpose(programs, name)]);
  say(formatTable([{ title: 'name' }, { title: 'measures' }], rows));
}

/**
 * Builds, then runs the programs of these names, null being all, one after the other. Gives the code to exit with: the
 * worst of theirs, 1 if the build fails, 2 for a name that is not there.
 */
export async function buildAndRun(
  programs: Programs,
  wanted: string | null,
  args: readonly string[],
): Promise<number> {
  const present = names(programs);
  if (wanted !== null && !present.includes(wanted)) {
    const { noun } = programs;
    process.stderr.write(`There is no ${noun} "${wanted}". There are: ${present.join(', ') || 'none'}\n`);
    return 2;
  }
  if (!(await build())) return 1;
  let worst = 0;
  for (const name of wanted === null ? present : [wanted]) {
    heading(`${programs.noun[0]?.toUpperCase()}${programs.noun.slice(1)} ${name}`);
    const plain = { file: process.execPath, args: [join(programs.folder, `${name}.ts`), ...args] };
    worst = Math.max(worst, await runInView((await programs.prepare?.(plain)) ?? plain));
  }
  return worst;
}
