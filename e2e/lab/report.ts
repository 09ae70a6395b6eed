// Tables, intervals, plots and hypotheses of a recorded experiment: on the terminal, and as HTML, JSON and CSV beside
// the record.
import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { resolve } from 'node:path';
import { fileURLToPath } from 'node:url';
import { PYTHON, PYTHON_FLAGS, requirePython } from '../test-programs.ts';
import { BadUsage, runProgram } from './experiment.ts';

const USAGE = `usage: npm run lab -- report DIR [--strict]
  DIR               with meta.json and trials.jsonl, such as .photofinish/lab/adoption
  --strict          exit code 1 if a hypothesis is missed`;
/** The folder of the Python package `report`. */
const LAB = fileURLToPath(new URL('.', import.meta.url));

function parseWords(args: readonly string[]) {
  const [dir, ...others] = args.filter((arg) => arg !== '--strict');
  if (dir === undefined || dir.startsWith('-') || others.length > 0)
    throw new BadUsage('name one folder with what an experiment has recorded');
  return { dir, strict: args.includes('--strict') ? ['--strict'] : [] };
}

async function main({ dir, strict }: ReturnType<typeof parseWords>): Promise<number> {
  requirePython();
  const program = [...PYTHON_FLAGS, '-m', 'report', resolve(dir), ...strict];
  const child = spawn(PYTHON, program, { cwd: LAB, stdio: 'inherit' });
  const [code] = (await once(child, 'exit')) as [number | null];
  return code ?? 1;
}

await runProgram(USAGE, parseWords, main);
