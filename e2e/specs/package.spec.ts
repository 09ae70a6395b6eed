// The release packages, used as their recipients would: store archives unpacked and loaded, npm packages installed into
// an empty directory without network access, and everything built twice.
import { createHash } from 'node:crypto';
import { mkdir, readdir, readFile, realpath, rm, symlink, writeFile } from 'node:fs/promises';
import { homedir } from 'node:os';
import { dirname, join } from 'node:path';
import {
  CHROMIUM_EXTENSION_ID,
  FIREFOX_EXTENSION_ID,
  HOST_NAME,
} from '@photofinish/shared/port/extension-id';
import { WIRE_PROTOCOL } from '@photofinish/shared/port/wire';
import { raceDocumentSchema } from '@photofinish/shared/race/outcome';
import { reportSchema } from '@photofinish/shared/report/report';
import { unzipSync } from 'fflate';
import * as v from 'valibot';
import { launchChromium } from '../browsers/chromium.ts';
import { type ProgramResult, runCommand, runOrThrow } from '../child-process.ts';
import { SBOM_FILE, sbomFaults } from '../packaging/components.ts';
import { type Package, SUMS_FILE, writeRelease } from '../packaging/release.ts';
import { findBrowser } from '../run/find-browser.mjs';
import { scratchDirectory, TOP } from '../scratch.ts';
import { test as base, expect, type LocalOriginsByKind, reachLocal } from './fixtures.ts';

interface Release {
  readonly directory: string;
  readonly packages: readonly Package[];
}

const test = base.extend<Record<never, never>, { release: Release }>({
  release: [
    // biome-ignore lint/correctness/noEmptyPattern: Playwright reads the fixtures' names from the pattern.
    async ({}, use) => {
      const scratch = await scratchDirectory('release');
      const directory = join(scratch, 'made');
      await use({ directory, packages: await writeRelease(directory) });
      await rm(scratch, { recursive: true });
    },
    { scope: 'worker' },
  ],
});

/** The only package whose name begins with this. */
function named({ directory, packages }: Release, beginning: RegExp): string {
  const found = packages.filter(({ name }) => beginning.test(name));
  expect(found).toHaveLength(1);
  return join(directory, found[0]?.name ?? '');
}

async function unpacked(archive: string): Promise<Record<string, Uint8Array>> {
  return unzipSync(await readFile(archive));
}

function json(bytes: Uint8Array | undefined): Record<string, unknown> {
  return JSON.parse(new TextDecoder().decode(bytes));
}

async function unpackTo(directory: string, archive: string): Promise<void> {
  for (const [path, bytes] of Object.entries(await unpacked(archive))) {
    await mkdir(join(directory, dirname(path)), { recursive: true });
    await writeFile(join(directory, path), bytes);
  }
}

/** Chromium's id of an extension without a key, derived from its directory's path instead. */
async function idOfDirectory(directory: string): Promise<string> {
  const digest = createHash('sha256')
    .update(await realpath(directory))
    .digest('hex');
  return [...digest.slice(0, 32)].map((digit) => 'abcdefghijklmnop'[Number.parseInt(digit, 16)]).join('');
}

/** npm, with only the given package files. */
async function npmInstall(
  directory: string,
  files: readonly string[],
  options: readonly string[] = [],
): Promise<void> {
  await mkdir(directory, { recursive: true });
  await writeFile(join(directory, 'package.json'), '{"private":true}\n');
  const args = ['install', '--offline', '--ignore-scripts', '--no-audit', '--no-fund', ...options, ...files];
  const env = { ...process.env, npm_config_cache: join(directory, 'npm-cache') };
  await runOrThrow('npm', args, { cwd: directory, env });
}

/**
 * Runs the command of the package in `directory`, with its own home directory; never rejects because of an exit code.
 */
function run(directory: string, home: string, args: readonly string[]): Promise<ProgramResult> {
  const env = { PATH: process.env.PATH, HOME: home };
  return runCommand(join(directory, 'node_modules/.bin/photofinish'), args, { env });
}

const helperFiles = (release: Release): string[] => [
  named(release, /^photofinish-helper-/),
  named(release, /^photofinish-quic-/),
];

test('built twice, every package has the same bytes, and the checksums match', async ({ release, dir }) => {
  const again = join(dir, 'again');
  await writeRelease(again);
  const sums = await readFile(join(release.directory, SUMS_FILE), 'utf8');
  expect(await readFile(join(again, SUMS_FILE), 'utf8')).toBe(sums);
  const lines = sums.trimEnd().split('\n');
  expect(lines.map((line) => line.split('  ')[1]).toSorted()).toEqual(
    (await readdir(release.directory)).filter((name) => name !== SUMS_FILE).toSorted(),
  );
  for (const line of lines) {
    const [sum, name = ''] = line.split('  ');
    const bytes = await readFile(join(release.directory, name));
    expect(createHash('sha256').update(bytes).digest('hex')).toBe(sum);
  }
});

test("the stores' editions are what was built, without a key, with every licence", async ({ release }) => {
  for (const edition of ['chromium', 'firefox']) {
    const files = await unpacked(named(release, new RegExp(`^photofinish-${edition}-`)));
    const manifest = json(files['manifest.json']);
    const built = json(await readFile(join(TOP, 'extension/dist', edition, 'manifest.json')));
    expect('key' in manifest).toBe(false);
    expect('key' in built).toBe(edition === 'chromium');
    const { key: _, ...rest } = built;
    expect(manifest).toEqual(rest);
    expect(files['background.js']).toEqual(
      new Uint8Array(await readFile(join(TOP, 'extension/dist', edition, 'background.js'))),
    );
    expect(new TextDecoder().decode(files['THIRD-PARTY.txt'])).toMatch(
      /tldts .*\n(.*\n)*.*Permission is hereby granted/,
    );
    if (edition === 'firefox')
      expect(manifest.browser_specific_settings).toMatchObject({ gecko: { id: FIREFOX_EXTENSION_ID } });
  }
});

/** The bill of materials in an archive of either format. */
async function billIn(archive: string): Promise<unknown> {
  if (archive.endsWith('.zip')) return json((await unpacked(archive))[SBOM_FILE]);
  const args = ['-xzOf', archive, `package/${SBOM_FILE}`];
  return JSON.parse(await runOrThrow('tar', args));
}

/** The subject and components of a bill, as far as they are checked here. */
const billSchema = v.object({
  metadata: v.object({ component: v.object({ name: v.string(), version: v.string() }) }),
  components: v.array(v.object({ purl: v.string(), licenses: v.array(v.unknown()) })),
});

test('every package has a bill of its third-party components, in CycloneDX 1.6', async ({ release }) => {
  const { version } = json(await readFile(join(TOP, 'package.json')));
  const held: Record<string, readonly string[]> = {};
  for (const { name } of release.packages.filter((each) => !each.name.includes('source'))) {
    const bill = await billIn(join(release.directory, name));
    expect(await sbomFaults(bill), name).toEqual([]);
    const { metadata, components } = v.parse(billSchema, bill);
    expect(metadata.component.version).toBe(version);
    held[metadata.component.name] = components.map(({ purl }) => purl.replace(/@[^@]*$/, ''));
  }
  const nats = ['jetstream', 'kv', 'nats-core', 'nkeys', 'nuid', 'transport-node'];
  expect(held['@photofinish/helper']?.toSorted()).toEqual([
    ...nats.map((name) => `pkg:npm/%40nats-io/${name}`),
    ...['tldts', 'tldts-core', 'tweetnacl', 'undici', 'valibot'].map((name) => `pkg:npm/${name}`),
  ]);
  for (const name of ['photofinish-chromium', 'photofinish-firefox', '@photofinish/playwright'])
    expect(held[name]).toEqual(expect.arrayContaining(['pkg:npm/idb', 'pkg:npm/tldts', 'pkg:npm/valibot']));
  const addon = Object.keys(held).find((name) => name.startsWith('@photofinish/quic-')) ?? '';
  expect(held[addon]).toEqual(
    expect.arrayContaining(['pkg:cargo/quinn', 'pkg:cargo/rustls', 'pkg:cargo/aws-lc-sys']),
  );
});

test('the addon contains no path of its build machine', async () => {
  const addon = await readFile(join(TOP, 'native-host/dist/photofinish-quic.node'), 'latin1');
  expect(addon).toContain('/cargo/registry/src/');
  for (const place of [TOP, homedir(), process.env.CARGO_HOME].filter(
    (each) => each !== undefined && each !== '/',
  ))
    expect(addon.includes(`${place}`), place).toBe(false);
});

test('the source archive has the sources of the archives and no build output', async ({ release }) => {
  test.skip(!release.packages.some(({ name }) => name.includes('source')), 'not a git checkout');
  const archive = named(release, /^photofinish-source-/);
  const names = Object.keys(await unpacked(archive)).map((name) => name.replace(/^photofinish-[\d.]+\//, ''));
  for (const needed of ['manifest.json', 'package-lock.json', 'extension/build.ts', 'docs/building.md'])
    expect(names).toContain(needed);
  expect(names.filter((name) => /(^|\/)(node_modules|dist|target|\.git)\//.test(name))).toEqual([]);
});

test('npm installs the helper offline; it races HTTP/3, installs itself and passes the doctor’s checks', async ({
  release,
  dir,
  local,
}) => {
  const app = join(dir, 'an app');
  await npmInstall(app, helperFiles(release));
  const home = join(dir, 'home');
  await mkdir(join(home, '.config/chromium'), { recursive: true });

  const installed = await run(app, home, ['install']);
  expect(installed.code, installed.stderr).toBe(0);
  expect(installed.stdout).toContain(`Check with: '${app}/node_modules/.bin/photofinish' doctor`);
  // The doctor waits some seconds for a helper to answer; a machine may pause longer.
  await expect(async () => {
    const doctor = await run(app, home, ['doctor', '--json']);
    expect(doctor.code, doctor.stdout).toBe(0);
    expect(JSON.parse(doctor.stdout).findings).toContainEqual(
      expect.objectContaining({ check: 'addon', state: 'ok' }),
    );
  }).toPass({ timeout: 30_000 });

  const { origin } = local.origins.both;
  const reach = reachLocal(local.caPath, Object.values(local.origins));
  const raced = await run(app, home, ['race', origin, '--mode', 'h3', '--json', ...reach]);
  expect(raced.code, raced.stderr).toBe(0);
  const [trial] = v.parse(raceDocumentSchema, JSON.parse(raced.stdout)).races[0]?.trials ?? [];
  expect(trial?.adopted).toBe('h3');
});

test('without its addon everything says what is missing: install, doctor, race and the fixtures', async ({
  release,
  dir,
}) => {
  const app = join(dir, 'app');
  await npmInstall(app, [named(release, /^photofinish-helper-/)]);
  const missing = /the package @photofinish\/quic-\S+ is not installed/;
  const doctor = await run(app, dir, ['doctor', '--json']);
  const findings: { check: string; text: string; remedy: string }[] = JSON.parse(doctor.stdout).findings;
  const addon = findings.find(({ check }) => check === 'addon');
  expect(addon?.text).toMatch(/nothing can be raced: /);
  expect(addon?.text).toMatch(missing);
  expect(addon?.remedy).toMatch(/photofinish-quic-\S+\.tgz from the release/);
  const installed = await run(app, dir, ['install', '--browser', 'chromium']);
  expect(installed.stderr).toMatch(/^photofinish: no-addon: /);
  for (const mode of ['race', 'h2']) {
    const raced = await run(app, dir, ['race', '127.0.0.1:9', '--allow-private', '--mode', mode]);
    expect([raced.code, raced.stdout]).toEqual([1, '']);
    expect(raced.stderr).toMatch(/^photofinish: cannot-race: .*photofinish'? doctor/);
    expect(raced.stderr).toMatch(missing);
  }

  const project = join(dir, 'project');
  await projectWithFixtures(project, [
    named(release, /^photofinish-playwright-/),
    named(release, /^photofinish-helper-/),
  ]);
  await writeFile(join(project, 'site.spec.ts'), SOMEBODYS_SPEC);
  const config = `export default ${JSON.stringify(PATIENT)};\n`;
  await writeFile(join(project, 'playwright.config.mjs'), config);
  const tested = await runCommand('npx', ['playwright', 'test', '--reporter=line'], {
    cwd: project,
    env: { PATH: process.env.PATH, HOME: dir },
  });
  expect(tested.stdout).toContain("Photofinish's helper cannot race: ");
  expect(tested.stdout).toMatch(missing);
  expect(tested.stdout).toContain('2 failed');
});

test("the store's edition of Chromium has another id, which install admits; the helper outlives npx's cache", async ({
  release,
  dir,
}) => {
  test.skip(findBrowser('chromium') === null, 'chromium is not installed');
  const extensionDir = join(dir, 'store');
  await unpackTo(extensionDir, named(release, /^photofinish-chromium-/));
  const id = await idOfDirectory(extensionDir);
  expect(id).not.toBe(CHROMIUM_EXTENSION_ID);
  const userDataDir = join(dir, 'profile');
  await mkdir(userDataDir);
  const cache = join(dir, '_npx', '0123456789abcdef');
  await npmInstall(cache, helperFiles(release));
  const profile = ['--browser', 'chromium', '--user-data-dir', userDataDir];

  const sayHello = async (): Promise<unknown> => {
    const chromium = await launchChromium({ extensionDir, userDataDir });
    try {
      const tab = await chromium.newTab();
      await tab.goto(chromium.extensionUrl('popup/popup.html'));
      expect(await tab.evaluate(() => chrome.runtime.id)).toBe(id);
      const hello = { type: 'hello', id: 1, protocol: WIRE_PROTOCOL, program: 'spec' };
      return await tab.evaluate(
        ([host, message]) =>
          chrome.runtime.sendNativeMessage(host, message).catch((error: Error) => error.message),
        [HOST_NAME, hello] as const,
      );
    } finally {
      await chromium.close();
    }
  };

  expect((await run(cache, dir, ['install', ...profile])).code).toBe(0);
  expect(await sayHello()).toMatch(/forbidden/);
  const admitted = await run(cache, dir, ['install', ...profile, '--extension-id', id]);
  expect(admitted.code, admitted.stderr).toBe(0);
  await rm(cache, { recursive: true });
  expect(await sayHello()).toMatchObject({ type: 'hello', protocol: WIRE_PROTOCOL });
});

/** A user's project with the fixtures, the helper and Playwright, which its own install would have fetched. */
async function projectWithFixtures(directory: string, packages: readonly string[]): Promise<void> {
  await npmInstall(directory, packages, ['--legacy-peer-deps']);
  const modules = join(directory, 'node_modules');
  await mkdir(join(modules, '@playwright'), { recursive: true });
  await symlink(join(TOP, 'node_modules/@playwright/test'), join(modules, '@playwright/test'));
  await symlink('../@playwright/test/cli.js', join(modules, '.bin/playwright'));
}

/** Playwright's defaults, 30 s for a test with its browser's start and 5 s for an expectation, suit no busy machine. */
const PATIENT = { timeout: 120_000, expect: { timeout: 30_000 } };

const SOMEBODYS_SPEC = `import { adoption, expect, test } from '@photofinish/playwright';

test('the site comes over HTTP/2', async ({ page, photofinish }) => {
  await page.goto(process.env.SITE ?? '');
  await expect(page).toHaveUsedProtocol('h2');
  await expect.poll(async () => (await photofinish.report()).network).not.toBe('unknown');
});

test('nothing of the CDN is hidden', async ({ page }) => {
  await page.goto(process.env.SITE + '/page?resources=4&kind=script&from=' + process.env.CDN);
  const named = { hidden: 0, known: 5, sources: { extension: 1, playwright: 4 } };
  await expect.poll(() => adoption(page)).toMatchObject(named);
});
`;

/** Tells Playwright's Chromium where the local servers are and whom to trust; nothing else is configured. */
function playwrightConfig({ origins, spki, caPath }: LocalOriginsByKind): string {
  const hosts = Object.values(origins).map(({ host }) => `${host}:9`);
  const resolve = Object.values(origins).map(({ host, port }) => [`${host}:${port}`, '127.0.0.1']);
  const use = {
    launchOptions: {
      executablePath: findBrowser('chromium'),
      args: [
        '--no-sandbox',
        '--host-resolver-rules=MAP *.test 127.0.0.1',
        `--ignore-certificate-errors-spki-list=${spki.join(',')}`,
        `--origin-to-force-quic-on=${hosts.join(',')}`,
      ],
    },
    photofinishOptions: {
      helper: { allowPrivate: ['127.0.0.0/8'], ca: [caPath], resolve: Object.fromEntries(resolve) },
      attachReport: true,
    },
  };
  return `export default ${JSON.stringify({ ...PATIENT, use }, null, 2)};\n`;
}

/** The output of Playwright's JSON reporter, as far as it is checked here. */
const resultsSchema = v.object({
  stats: v.object({ expected: v.number(), unexpected: v.number() }),
  suites: v.array(
    v.object({
      specs: v.array(
        v.object({
          tests: v.array(
            v.object({
              results: v.array(
                v.object({
                  attachments: v.array(v.object({ name: v.string(), path: v.string() })),
                }),
              ),
            }),
          ),
        }),
      ),
    }),
  ),
});

test('a user’s Playwright finds the fixtures with extension and helper, and its report is attached', async ({
  release,
  dir,
  local,
}) => {
  test.skip(findBrowser('chromium') === null, 'chromium is not installed');
  const project = join(dir, 'project');
  // As a shell expands the command of the instructions: photofinish-*.tgz.
  const packages = (await readdir(release.directory)).filter((name) => /^photofinish-.*\.tgz$/.test(name));
  expect(packages).toHaveLength(3);
  await projectWithFixtures(
    project,
    packages.map((name) => join(release.directory, name)),
  );
  await writeFile(join(project, 'site.spec.ts'), SOMEBODYS_SPEC);
  await writeFile(join(project, 'playwright.config.mjs'), playwrightConfig(local));

  const { both, hidden } = local.origins;
  const env = { PATH: process.env.PATH, HOME: dir, SITE: both.origin, CDN: hidden.origin };
  const { code, stdout, stderr } = await runCommand('npx', ['playwright', 'test', '--reporter=json'], {
    cwd: project,
    env,
  });
  expect(code, `${stderr}${stdout}`).toBe(0);
  const { stats, suites } = v.parse(resultsSchema, JSON.parse(stdout));
  expect(stats).toEqual({ expected: 2, unexpected: 0 });
  const [result] = suites[0]?.specs[0]?.tests[0]?.results ?? [];
  expect(result?.attachments.map(({ name }) => name)).toEqual([
    'photofinish-report.html',
    'photofinish-report.json',
  ]);
  const body = await readFile(result?.attachments[1]?.path ?? '', 'utf8');
  const { sites, network } = v.parse(reportSchema, JSON.parse(body));
  expect(sites.map(({ site }) => site)).toEqual([both.host]);
  expect(network, 'the helper that npm installed told it').not.toBe('unknown');
});
