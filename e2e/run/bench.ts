// `npm run bench -- NAME [args]`: builds, then runs e2e/bench/NAME.ts with the arguments; `all` runs each of them, and
// no name lists them.
import { spawn } from 'node:child_process';
import { readdirSync, readFileSync } from 'node:fs';
import { constants } from 'node:os';
import { join } from 'node:path';
import { build } from './build.ts';
import { TOP } from './command.ts';
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

/** Runs one benchmark in a process of its own; gives its exit code. */
function runBench(name: string, args: readonly string[]): Promise<number> {
  const child = spawn(process.execPath, [join(BENCHES, `${name}.ts`), ...args], {
    cwd: TOP,
    stdio: 'inherit',
  });
  const forward = (signal: NodeJS.Signals) => child.kill(signal);
  for (const signal of ['SIGINT', 'SIGTERM', 'SIGHUP'] as const) process.on(signal, forward);
  return new Promise((resolve, reject) => {
    child.once('error', reject);
    child.once('exit', (code, signal) => {
      for (const name of ['SIGINT', 'SIGTERM', 'SIGHUP'] as const) process.off(name, forward);
      resolve(code ?? 128 + (signal ? constants.signals[signal] : 0));
    });
  });
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
    const code = await runBench(each, args);
    // Above 128 somebody interrupted it, and means all of them.
    if (code > 128) return code;
    worst = Math.max(worst, code);
  }
  return worst;
}

process.exitCode = await main();
