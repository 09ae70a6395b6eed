// `npm run bench -- NAME [args]`: builds, then runs e2e/bench/NAME.ts with the arguments; `all` runs each of them, and
// no name lists them.
import { readdirSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { TOP } from '../scratch.ts';
import { build } from './build.ts';
import { endCommandsOnSignals, runInView } from './command.ts';
import { heading, say } from './display.ts';
import { formatTable } from './table.ts';

const BENCHES = join(TOP, 'e2e', 'bench');
/** A benchmark is what publishes a result under its own name; the folder's other files are its parts. */
function isBench(name: string): boolean {
  return readFileSync(join(BENCHES, `${name}.ts`), 'utf8').includes(`publish('${name}'`);
}

function benchNames(): string[] {
  const files = readdirSync(BENCHES).filter((file) => file.endsWith('.ts') && !file.endsWith('.test.ts'));
  return files.map((file) => file.slice(0, -'.ts'.length)).filter(isBench);
}

/** The comment that a benchmark begins with says what it measures. */
function purpose(name: string): string {
  const source = readFileSync(join(BENCHES, `${name}.ts`), 'utf8');
  const comment = /^(?:\/\/.*\n)+/.exec(source)?.[0] ?? '';
  return (
    comment
      .replaceAll(/^\/\/ ?/gm, '')
      .replaceAll('\n', ' ')
      .split('. ')[0]
      ?.trim() ?? ''
  );
}

async function main(): Promise<number> {
  const [name, ...args] = process.argv.slice(2);
  const names = benchNames();
  if (name === undefined) {
    say('usage: npm run bench -- NAME|all [ARGUMENT...]\n');
    say(
      formatTable(
        [{ title: 'name' }, { title: 'measures' }],
        names.map((each) => [each, purpose(each)]),
      ),
    );
    return 0;
  }
  if (name !== 'all' && !names.includes(name)) {
    process.stderr.write(`There is no benchmark "${name}". There are: ${names.join(', ') || 'none'}\n`);
    return 2;
  }
  if (!(await build())) return 1;
  let worst = 0;
  for (const each of name === 'all' ? names : [name]) {
    heading(`Benchmark ${each}`);
    worst = Math.max(worst, await runInView(join(BENCHES, `${each}.ts`), args));
  }
  return worst;
}

endCommandsOnSignals();
process.exitCode = await main();
