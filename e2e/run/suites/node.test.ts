// Runs the reporter under the real `node --test` with misbehaving files.
import assert from 'node:assert/strict';
import { spawnSync } from 'node:child_process';
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import test from 'node:test';
import { fileURLToPath } from 'node:url';
import type { NodeTestLine } from './node-reporter.ts';

const REPORTER = fileURLToPath(new URL('node-reporter.ts', import.meta.url));

function report(source: string): NodeTestLine[] {
  const dir = mkdtempSync(join(tmpdir(), 'photofinish-reporter-'));
  try {
    writeFileSync(join(dir, 'sample.test.mjs'), `import test from 'node:test';\n${source}`);
    const { NODE_TEST_CONTEXT: _, ...env } = process.env;
    const args = ['--test', `--test-reporter=${REPORTER}`, 'sample.test.mjs'];
    const { stdout } = spawnSync(process.execPath, args, { cwd: dir, env, encoding: 'utf8' });
    const lines = stdout.split('\n').filter((line) => line !== '');
    return lines.map((line) => JSON.parse(line) as NodeTestLine);
  } finally {
    rmSync(dir, { recursive: true });
  }
}

const brief = (lines: NodeTestLine[]) => lines.map(({ kind, name }) => [kind, name]);

test('tests are counted once, named with their suites', () => {
  const lines = report(`
    test.describe('outer', () => {
      test('good', () => {});
      test('bad', () => { throw new Error('reason of the failure'); });
      test('not here', { skip: 'no display' }, () => {});
    });`);
  assert.deepEqual(brief(lines), [
    ['passed', 'sample.test.mjs > outer > good'],
    ['failed', 'sample.test.mjs > outer > bad'],
    ['skipped', 'sample.test.mjs > outer > not here'],
  ]);
  assert.match(lines[1]?.detail ?? '', /reason of the failure/);
  assert.equal(lines[2]?.detail, 'no display');
});

test('a file without tests, or one that crashes, has failed', () => {
  assert.deepEqual(brief(report('')), [['failed', 'sample.test.mjs']]);
  const died = report(`console.error('last words'); process.exit(3);`);
  assert.deepEqual(brief(died), [['failed', 'sample.test.mjs']]);
  assert.match(died[0]?.detail ?? '', /last words/);
});
