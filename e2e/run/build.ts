// `npm run build`: everything that is loaded or started by somebody else (addon, helper, extension, local origins), in
// the order in which one needs the other. cargo knows what is up to date, and esbuild is faster than asking.

import { placeRustPrograms } from '../rust-programs.ts';
import { type Command, endCommandsOnSignals, runStep } from './command.ts';
import { heading, say } from './display.ts';

const STEPS: readonly (readonly [title: string, command: Command])[] = [
  // With the whole workspace, whose members then share what they depend on.
  [
    'QUIC addon, local origins and links',
    { file: 'npm', args: ['run', '--silent', 'build:quic', '-w', 'native-host'] },
  ],
  ['helper', { file: process.execPath, args: ['native-host/build.ts'] }],
  ['extension', { file: process.execPath, args: ['extension/build.ts'] }],
  ['fixtures for Playwright', { file: process.execPath, args: ['e2e/playwright/build.ts'] }],
];

/** Builds everything; stops at the first failure, after printing what the failed step said. */
export async function build(): Promise<boolean> {
  heading('Build');
  for (const [title, command] of STEPS) {
    const ended = await runStep(title, command);
    if (!ended.ok) {
      say(ended.output);
      return false;
    }
  }
  await placeRustPrograms();
  return true;
}

if (import.meta.main) {
  endCommandsOnSignals();
  process.exitCode = (await build()) ? 0 : 1;
}
