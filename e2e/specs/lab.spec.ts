// The laboratory's smoke test, as people run it.
import { expect, test } from '@playwright/test';
import { GO_MISSING } from '../go-module.ts';
import { networkUnavailable } from '../network/available.ts';
import { runCommand } from '../network/namespace.ts';
import { TOP } from '../scratch.ts';

const BUILDING_TIMEOUT_MS = 10 * 60_000;

test('the laboratory measures two links, and what it finds is within what chance allows', async () => {
  const why = await networkUnavailable('tun');
  test.skip(why !== null, why ?? '');
  // The first time it builds Caddy and the paper's code with Go.
  test.setTimeout(BUILDING_TIMEOUT_MS);
  const { code, stdout, stderr } = await runCommand(process.execPath, ['e2e/lab/quick.ts'], { cwd: TOP });
  test.skip(stderr.includes(GO_MISSING), GO_MISSING);
  expect(code, `${stdout}${stderr}`).toBe(0);
});
