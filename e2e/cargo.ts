// Runs cargo manually with the build's flags, so that it shares the build's output. Usage: node e2e/cargo.ts test
// --release -p NAME
import { spawnSync } from 'node:child_process';
import { cargoEnvironment } from './test-programs.ts';

const { status, error } = spawnSync('cargo', process.argv.slice(2), {
  stdio: 'inherit',
  env: { ...process.env, ...cargoEnvironment() },
});
if (error !== undefined) console.error(`cargo: ${error.message}`);
process.exitCode = status ?? 1;
