// Builds the addon a second time, from what is committed, in another directory and with another cargo home, and
// compares it with the one from `npm run build`: anyone who builds the source gets the same bytes. It compiles
// everything anew, which takes minutes, and downloads nothing. Run: node e2e/supply/reproduce.ts
import { spawnSync } from 'node:child_process';
import { createHash } from 'node:crypto';
import { mkdirSync, readFileSync, rmSync, symlinkSync } from 'node:fs';
import { homedir } from 'node:os';
import { join } from 'node:path';
import { scratchDirectory, TOP } from '../scratch.ts';
import { cargoEnvironment, pathRemapFlags } from '../test-programs.ts';

const ADDON = 'native-host/quic/napi/photofinish-quic.node';

const digest = (top: string): string =>
  createHash('sha256')
    .update(readFileSync(join(top, ADDON)))
    .digest('hex');

/** Exits with the command's error output if it fails. */
function run(file: string, args: readonly string[], cwd: string, env: NodeJS.ProcessEnv = process.env): void {
  const { status, error } = spawnSync(file, args, { cwd, env, stdio: ['ignore', 'ignore', 'inherit'] });
  if (status !== 0) throw new Error(`${file} ${args.join(' ')} failed${error ? `: ${error.message}` : ''}`);
}

const scratch = await scratchDirectory('reproduced');
try {
  const top = join(scratch, 'source');
  mkdirSync(top);
  run('git', ['archive', '--format=tar', `--output=${join(scratch, 'source.tar')}`, 'HEAD'], TOP);
  run('tar', ['-xf', join(scratch, 'source.tar'), '-C', top], scratch);
  symlinkSync(join(TOP, 'node_modules'), join(top, 'node_modules'));
  const cargoHome = join(scratch, 'cargo');
  mkdirSync(cargoHome);
  symlinkSync(
    join(process.env.CARGO_HOME ?? join(homedir(), '.cargo'), 'registry'),
    join(cargoHome, 'registry'),
  );
  const { RUSTFLAGS: _, ...env } = process.env;
  run('npm', ['run', '--silent', 'build:quic', '-w', 'native-host'], top, {
    ...env,
    ...cargoEnvironment(),
    RUSTFLAGS: pathRemapFlags(top, cargoHome, process.env.RUSTFLAGS),
    CARGO_HOME: cargoHome,
    CARGO_NET_OFFLINE: 'true',
    // If set, one target directory for both would make the second build incremental.
    CARGO_TARGET_DIR: join(top, 'target'),
  });
  const [here, there] = [digest(TOP), digest(top)];
  console.log(`${here}  ${TOP}\n${there}  ${top}`);
  if (here !== there) {
    console.error('they differ');
    process.exitCode = 1;
  }
} finally {
  rmSync(scratch, { recursive: true });
}
