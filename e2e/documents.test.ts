// Checks that the documents are consistent: links resolve, files and commands that they name exist, the README stays
// short.
import assert from 'node:assert/strict';
import { existsSync, readdirSync, readFileSync, statSync } from 'node:fs';
import { dirname, join, relative } from 'node:path';
import { test } from 'node:test';
import { TOP } from './scratch.ts';

const MAX_README_LINES = 150;

function pagesBelow(folder: string): string[] {
  const files = readdirSync(join(TOP, folder), { recursive: true, encoding: 'utf8' });
  return files.filter((file) => file.endsWith('.md')).map((file) => join(folder, file));
}

const PAGES = [
  ...readdirSync(TOP).filter((file) => file.endsWith('.md')),
  ...pagesBelow('docs'),
  'e2e/playwright/README.md',
  'native-host/bin/README.md',
];

const text = (page: string): string => readFileSync(join(TOP, page), 'utf8');
/** Without fenced code blocks, which contain no links. */
const prose = (page: string): string => text(page).replace(/^```[\s\S]*?^```/gm, '');

/** GitHub's anchors: those of headings, and explicit ones. */
function anchorsOf(page: string): Set<string> {
  const headings = [...prose(page).matchAll(/^#{1,6} (.+)$/gm)].map(([, heading = '']) =>
    heading
      .toLowerCase()
      .replace(/[^\p{L}\p{N}_\- ]/gu, '')
      .replaceAll(' ', '-'),
  );
  return new Set([...headings, ...[...prose(page).matchAll(/<a id="([^"]+)">/g)].map(([, id = '']) => id)]);
}

for (const page of PAGES) {
  test(`${page}: every link within the project resolves`, () => {
    const links = [...prose(page).matchAll(/\]\(([^)\s]+)\)|src="([^"]+)"/g)].map(([, a, b]) => a ?? b ?? '');
    for (const link of links.filter((each) => !/^[a-z]+:/.test(each))) {
      const [path = '', anchor] = link.split('#');
      const target = path === '' ? page : relative(TOP, join(TOP, dirname(page), path));
      assert.ok(existsSync(join(TOP, target)), `${link}: there is no ${target}`);
      if (anchor !== undefined)
        assert.ok(anchorsOf(target).has(anchor), `${link}: ${target} has no such anchor`);
    }
  });

  test(`${page}: every project file that it names exists`, () => {
    const named = prose(page).matchAll(/`((?:shared|extension|native-host|e2e|docs)\/[^`\s]*)`/g);
    for (const [, path = ''] of named) {
      // Build output need not exist, and NAME is a placeholder.
      if (/\/dist(\/|$)|NAME|\*/.test(path)) continue;
      assert.ok(existsSync(join(TOP, path)), path);
      if (path.endsWith('/')) assert.ok(statSync(join(TOP, path)).isDirectory(), `${path} is no folder`);
    }
  });

  test(`${page}: npm installs nothing by the unscoped name, which another project has`, () => {
    assert.doesNotMatch(
      text(page),
      /\bnpm (un)?install\b[^\n]*[ /]photofinish(-VERSION|-\d\S*|@\S+)?(\.tgz|[\s`])/,
    );
  });

  test(`${page}: every npm script that it names exists`, () => {
    const { scripts } = JSON.parse(text('package.json')) as { scripts: Record<string, string> };
    for (const [, name = ''] of text(page).matchAll(/\bnpm run ([a-z]+)\b(?!:)/g))
      assert.ok(name in scripts, name);
  });
}

test('every promise in the threat model names tests that exist', () => {
  const rows = prose('docs/threat-model.md')
    .split('\n')
    .filter((line) => /^\| (?!Promise|---)/.test(line));
  assert.ok(rows.length > 20);
  for (const row of rows) {
    const tests = [...row.matchAll(/`([^`]+)`/g)].map(([, path = '']) => path);
    const shown = tests.filter((path) => /\.(test|spec)\.ts$|\/(tests|src)\/[^/]+\.rs$/.test(path));
    assert.ok(shown.length > 0, `nothing shows: ${row}`);
    for (const path of shown) {
      assert.ok(existsSync(join(TOP, path)), `there is no ${path}`);
      assert.match(
        text(path),
        /\btest(\(|\.describe\()|#\[test\]|#\[tokio::test|proptest!/,
        `${path} has no test`,
      );
    }
  }
});

test('the configuration in the Playwright README is the one that is type-checked', () => {
  const [, shown] =
    /^```ts\n\/\/ playwright\.config\.ts\n([\s\S]*?)^```/m.exec(text('e2e/playwright/README.md')) ?? [];
  const checked = text('e2e/playwright/config-example.ts').replace(/^\/\/.*\n/, '');
  assert.equal(shown, checked.replace('@photofinish/e2e/playwright', '@photofinish/playwright'));
});

test(`the README is at most ${MAX_README_LINES} lines long`, () => {
  assert.ok(text('README.md').trimEnd().split('\n').length <= MAX_README_LINES);
});

test('the changelog has a section for this version and an unreleased one', () => {
  const { version } = JSON.parse(text('package.json')) as { version: string };
  const versions = [...text('CHANGELOG.md').matchAll(/^## \[([^\]]+)\]/gm)].map(([, name]) => name);
  assert.equal(versions[0], 'Unreleased');
  assert.ok(versions.includes(version));
});
