// The analysis of the laboratory's records: its unit tests, and its program on a record as users run it.
import { cp, readdir, readFile, rm } from 'node:fs/promises';
import { join } from 'node:path';
import { expect, test } from '@playwright/test';
import { runCommand } from '../child-process.ts';
import { scratchDirectory, TOP } from '../scratch.ts';
import { PYTHON, PYTHON_FLAGS } from '../test-programs.ts';

const FIXTURES = join(TOP, 'e2e/lab/report/fixtures');

test('its figures match the first analysis, and it applies the decision rule', async () => {
  const tests = [...PYTHON_FLAGS, '-m', 'unittest', 'report.test_report', 'report.test_p1'];
  const { code, stderr } = await runCommand(PYTHON, tests, { cwd: join(TOP, 'e2e/lab') });
  expect(code, stderr).toBe(0);
});

const TABLES = {
  'adoption-made-up': ['figures.csv', 'hypotheses.csv', 'trials.csv'],
  cost: ['hypotheses.csv', 'samples.csv'],
  link: [],
  'p1-made-up': ['hypotheses.csv', 'turns.csv'],
  paths: ['hypotheses.csv'],
};

for (const [name, tables] of Object.entries(TABLES))
  test(`a report of ${name} has a page without scripts, JSON and tables`, async () => {
    const dir = await scratchDirectory('lab-report');
    try {
      await cp(join(FIXTURES, name), dir, { recursive: true });
      const report = (...more: string[]) =>
        runCommand(process.execPath, ['e2e/lab/report.ts', dir, ...more], { cwd: TOP });
      const { code, stdout, stderr } = await report();
      expect(code, stderr).toBe(0);
      expect(stdout).toContain('95 % interval');
      const files = await readdir(dir);
      expect(files).toEqual(expect.arrayContaining([...tables, 'report.html', 'report.json']));
      const page = await readFile(join(dir, 'report.html'), 'utf8');
      expect(page).toContain("default-src 'none'");
      expect(page).not.toMatch(/<script|<cpu>|\bon\w+=|(?:src|href)="(?!#)/);
      expect(page.match(/role="img"/g)?.length ?? 0).toBeGreaterThanOrEqual(name === 'link' ? 0 : 3);
      const ids = [...page.matchAll(/ id="([^"]+)"/g)].map(([, id]) => id);
      expect(ids).toHaveLength(new Set(ids).size);
      const document = JSON.parse(await readFile(join(dir, 'report.json'), 'utf8'));
      expect(document.schema).toBe('photofinish.lab-report/1');
      const missed = document.hypotheses.some(({ verdict }: { verdict: string }) => verdict === 'MISSED');
      expect((await report('--strict')).code).toBe(missed ? 1 : 0);
    } finally {
      await rm(dir, { recursive: true, force: true });
    }
  });

test('an invalid record is rejected', async () => {
  const { code, stderr } = await runCommand(process.execPath, ['e2e/lab/report.ts', 'docs'], { cwd: TOP });
  expect(code).toBe(1);
  expect(stderr).toContain('meta.json');
});
