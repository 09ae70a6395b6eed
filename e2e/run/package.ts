// `npm run package`: builds, then writes the packages for the stores, for their reviewers and for npm.
import { join, relative } from 'node:path';
import { isGitCheckout, SUMS_FILE, uncommitted, writeRelease } from '../packaging/release.ts';
import { SCRATCH } from '../scratch.ts';
import { build } from './artefacts.ts';
import { formatTable, heading, printLine } from './display.ts';
import { endCommandsOnSignals } from './step-command.ts';

const OUT = join(SCRATCH, 'package');

async function main(): Promise<number> {
  if (!(await build())) return 1;
  heading('Packages');
  const packages = await writeRelease(OUT);
  printLine(
    formatTable(
      [{ title: 'package' }, { title: 'KiB', align: 'right' }, { title: 'SHA-256' }],
      packages.map(({ name, bytes, sha256 }) => [name, (bytes / 1024).toFixed(0), sha256]),
    ),
  );
  printLine(`\nIn ${relative(process.cwd(), OUT)}, with ${SUMS_FILE}.`);
  const changes = isGitCheckout() ? await uncommitted() : [];
  if (changes.length > 0)
    printLine(
      `Not a release: the source archive holds what is committed, and ${changes.length === 1 ? '1 file differs' : `${changes.length} files differ`}.`,
    );
  return 0;
}

endCommandsOnSignals();
process.exitCode = await main();
