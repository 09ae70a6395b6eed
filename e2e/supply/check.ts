// Checks third-party code: `locks`, that downloads are pinned; `licences`, that bundled code may be distributed. Prints
// the faults and exits with 1. Run: node e2e/supply/check.ts locks|licences
import { readdirSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { ADDON_CRATE, cargoBundled, npmBundled } from '../packaging/bundled.ts';
import { licenceFaults } from '../packaging/licences.ts';
import { TOP } from '../scratch.ts';
import { cargoFaults, goFaults, npmFaults, pythonFaults } from './locks.ts';

const GO_MODULES = ['e2e/origins/caddy', 'e2e/origins/nats-server', 'e2e/bench/peers/go'];

const text = (...path: string[]): string => readFileSync(join(TOP, ...path), 'utf8');

function ownCrates(): string[] {
  const [, members = ''] = /^members = \[([^\]]*)\]/m.exec(text('Cargo.toml')) ?? [];
  return [...members.matchAll(/"([^"]+)"/g)].map(
    ([, folder = '']) => /^name = "([^"]+)"/m.exec(text(folder, 'Cargo.toml'))?.[1] ?? folder,
  );
}

/** Lock files in other places, which would not be checked. */
function unjudged(): string[] {
  const known = ['package-lock.json', 'Cargo.lock', ...GO_MODULES.map((module) => join(module, 'go.sum'))];
  const folders = ['shared', 'extension', 'native-host', 'e2e'];
  return folders
    .flatMap((folder) =>
      readdirSync(join(TOP, folder), { recursive: true, encoding: 'utf8' }).map((file) => join(folder, file)),
    )
    .filter((file) => /(^|\/)(package-lock\.json|Cargo\.lock|go\.sum|yarn\.lock)$/.test(file))
    .filter((file) => !file.includes('node_modules') && !known.includes(file))
    .map((file) => `${file} is judged by nobody; name it in e2e/supply/check.ts`);
}

const CHECKS: Readonly<Record<string, () => readonly string[] | Promise<readonly string[]>>> = {
  locks: () => [
    ...npmFaults(text('package-lock.json')),
    ...cargoFaults(text('Cargo.lock'), ownCrates()),
    ...GO_MODULES.flatMap((module) => goFaults(text(module, 'go.mod'), text(module, 'go.sum'))),
    ...pythonFaults(text('e2e/requirements.txt')),
    ...unjudged(),
  ],
  licences: async () => [
    ...licenceFaults(await npmBundled('extension')),
    ...licenceFaults(await npmBundled('native-host')),
    ...licenceFaults(await cargoBundled(ADDON_CRATE)),
  ],
};

const check = CHECKS[process.argv[2] ?? ''];
if (check === undefined) {
  console.error(`usage: node e2e/supply/check.ts ${Object.keys(CHECKS).join('|')}`);
  process.exitCode = 2;
} else {
  const faults = await check();
  for (const fault of faults) console.error(fault);
  if (faults.length > 0) process.exitCode = 1;
}
