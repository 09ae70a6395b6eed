// The command of a checkout: found through links, run by the pinned Node, and plain words while something is missing.
import assert from 'node:assert/strict';
import { spawnSync } from 'node:child_process';
import { chmodSync, copyFileSync, mkdirSync, mkdtempSync, rmSync, symlinkSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { type TestContext, test } from 'node:test';

/** A checkout with nothing in it but the script; the path has a blank, as homes may. */
function newCheckout(t: TestContext): { readonly top: string; readonly script: string } {
  const top = mkdtempSync(join(tmpdir(), 'pf checkout '));
  t.after(() => rmSync(top, { recursive: true }));
  const script = join(top, 'native-host/bin/photofinish');
  for (const directory of ['native-host/bin', 'native-host/dist', 'node_modules/.bin'])
    mkdirSync(join(top, directory), { recursive: true });
  copyFileSync(join(import.meta.dirname, 'photofinish'), script);
  chmodSync(script, 0o755);
  return { top, script };
}

function run(command: string, args: readonly string[] = []) {
  return spawnSync(command, args, { encoding: 'utf8', env: { PATH: '/usr/bin:/bin' } });
}

test('it says what to do until Node and the build are there, then passes everything on', (t) => {
  const { top, script } = newCheckout(t);
  const noNode = run(script);
  assert.deepEqual([noNode.status, noNode.stdout], [2, '']);
  assert.match(noNode.stderr, /^photofinish: not-built: .*npm install/);

  symlinkSync(process.execPath, join(top, 'node_modules/.bin/node'));
  const noBuild = run(script);
  assert.deepEqual([noBuild.status, noBuild.stdout], [2, '']);
  assert.match(noBuild.stderr, /^photofinish: not-built: .*npm run build/);

  writeFileSync(
    join(top, 'native-host/dist/cli.js'),
    'console.log(JSON.stringify(process.argv.slice(2))); process.exit(7)',
  );
  const args = ['race', 'a b', '--json', '$HOME'];
  // As npm links a command: a relative link, here with one more absolute link before it.
  symlinkSync('../../native-host/bin/photofinish', join(top, 'node_modules/.bin/photofinish'));
  symlinkSync(join(top, 'node_modules/.bin/photofinish'), join(top, 'linked'));
  for (const command of [script, join(top, 'node_modules/.bin/photofinish'), join(top, 'linked')]) {
    const result = run(command, args);
    assert.equal(result.status, 7);
    assert.deepEqual(JSON.parse(result.stdout), args);
  }
});
