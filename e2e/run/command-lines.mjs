// The arguments of each npm script and their meaning: parsed before anything is installed, so that help and lists are
// immediate and a mistake does not cost a build. Plain JavaScript without dependencies, for whatever Node is installed.
import { readdirSync, readFileSync } from 'node:fs';
import { dirname, join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { parseArgs } from 'node:util';

const TOP = dirname(dirname(dirname(fileURLToPath(import.meta.url))));
/** Fits a terminal, a note and an e-mail without wrapping. */
const WIDTH = 100;

/** A usage error; its message describes it. */
export class BadUsage extends Error {}

/**
 * Whether a CI service runs this: nobody can answer a prompt there, and every prerequisite must be present, so that
 * nothing is skipped. Whoever wants neither sets `CI` to 0 or false.
 */
export const isOnCi = ({ CI = '' } = process.env) => !['', '0', 'false'].includes(CI);

/** What is built or downloaded before something else can run, in order of dependency. */
export const ARTEFACTS = {
  rust: 'the QUIC addon, local origins, links, SCTP and a bare quinn client, built with cargo',
  helper: 'the helper and its command line',
  extension: 'both editions of the extension',
  fixtures: 'the fixtures for Playwright',
  python: "a Python environment with aioquic, libcurl and what analyses the laboratory's records",
  caddy: 'Caddy, built with Go',
  'go-peer': "the paper's code, built with Go",
  'nats-server': 'the NATS server of surveys, built with Go',
};
/** The default of `npm run build`: what users load or start. */
export const PRODUCT = ['rust', 'helper', 'extension', 'fixtures'];

export const WORKSPACES = ['shared', 'extension', 'native-host', 'e2e'];

export const SUITES = {
  checks: 'types, format, lint, generated files',
  unit: `unit tests of ${WORKSPACES.join(', ')}, which are suites of their own, too`,
  rust: 'tests of the Rust crates',
  browser: 'whatever drives browsers, servers, networks or the built command line (Playwright)',
};
/** Playwright projects: specs without a browser fixture, and the others in each browser. */
export const PROJECTS = ['once', 'chromium', 'firefox'];

const YES = '  --yes, -y        install what is missing with apt-get without asking';
const HELP = '  --help, -h       this text';
const option = (name, text) => `  ${name.padEnd(15)}  ${text}`;

const NAMED = {
  bench: {
    noun: 'benchmark',
    folder: 'e2e/bench',
    // A benchmark publishes a result under its own name; the folder's other files are its modules.
    isProgram: (source, name) => source.includes(`publish('${name}'`),
  },
  lab: {
    noun: 'experiment',
    folder: 'e2e/lab',
    // An experiment, or its report; the folder's other files are their modules.
    isProgram: (source) => /await run(?:Experiment|Program)\(/.test(source),
  },
};

/** What a benchmark needs beyond the product. */
const BENCH_NEEDS = {
  all: ['go-peer', 'nats-server'],
  survey: ['go-peer'],
  'survey-jetstream': ['nats-server'],
};

const USAGE = {
  start: `usage: npm start [-- [OPTION...] ORIGIN...]

Builds, opens Chromium with extension and helper, visits and races the origins (six local ones
unless some are named), prints what was adopted and writes the report.

${option('--headed', 'with a window; the browser stays open')}
${option('--headless', 'without a window; the default where there is no display')}
${option('--keep', 'afterwards, keep the local origins running until Ctrl-C, to race them yourself')}
${YES}
${HELP}`,
  test: `usage: npm test [-- [OPTION...] NAME...]

Builds what the tests need and runs them: all of them, or the suites and files that are named. A
file is named by any part of its path.

  npm test                        everything
  npm test -- unit rust           two suites
  npm test -- popup               every file with popup in its path
  npm test -- popup --grep sort   of those the tests with sort in their titles

${option('--grep, -g TEXT', 'only tests with TEXT in their titles')}
${option('--project NAME', `only ${PROJECTS.join(', ')}: specs that need no browser, or run in that one`)}
${option('--list', 'the names of suites and files')}
${YES}
${HELP}`,
  unit: `usage: npm run unit [-- [OPTION...] NAME...]

Runs the unit tests, or those in files with NAME in their path. Builds nothing: tests that load the
QUIC addon use the existing one, and are skipped if there is none.

${option('--grep, -g TEXT', 'only tests with TEXT in their titles')}
${option('--list', 'the names of the files')}
${HELP}`,
  build: `usage: npm run build [-- [OPTION...] NAME...]

Builds the named parts. Without a name, builds what users load or start:
${PRODUCT.join(', ')}.

${option('--list', 'what can be built')}
${YES}
${HELP}`,
  check: `usage: npm run check [-- OPTION...]

Types, format, lint and generated files, without running any test; as npm test -- checks.

${YES}
${HELP}`,
  package: `usage: npm run package [-- OPTION...]

Builds, and writes the packages for the stores, their reviewers and npm to .photofinish/package.

${YES}
${HELP}`,
  bench: `usage: npm run bench -- NAME|all [OPTION...]

Builds, then runs the benchmark of that name, or all of them.

${option('--list', 'the names, and what each measures')}
${YES}
${HELP}`,
  lab: `usage: npm run lab -- NAME [ARGUMENT...]

Builds, then runs the experiment of that name; npm run lab -- NAME --help lists its arguments.

${option('--list', 'the names, and what each measures')}
${YES}
${HELP}`,
  pictures: `usage: npm run pictures [-- OPTION...]

Builds, and regenerates the pictures in docs/, replacing the existing ones.

${YES}
${HELP}`,
  docs: `usage: npm run docs [-- OPTION...]

Regenerates the generated parts of docs/ from the code.

${HELP}`,
};

export const COMMANDS = Object.keys(USAGE);

const COMMON = { help: { type: 'boolean', short: 'h' }, yes: { type: 'boolean', short: 'y' } };
const LIST = { list: { type: 'boolean' } };
const GREP = { grep: { type: 'string', short: 'g' } };
const OPTIONS = {
  start: { ...COMMON, headed: { type: 'boolean' }, headless: { type: 'boolean' }, keep: { type: 'boolean' } },
  test: { ...COMMON, ...LIST, ...GREP, project: { type: 'string' } },
  unit: { ...COMMON, ...LIST, ...GREP },
  build: { ...COMMON, ...LIST },
  check: COMMON,
  package: COMMON,
  bench: { ...COMMON, ...LIST },
  lab: { ...COMMON, ...LIST },
  pictures: COMMON,
  docs: { help: COMMON.help },
};
const TAKES_NAMES = ['start', 'test', 'unit', 'build', 'bench', 'lab'];

/** Paths of files below a folder, relative to the checkout, with slashes. */
function filesBelow(folder, ending) {
  const found = [];
  for (const entry of readdirSync(join(TOP, folder), { withFileTypes: true })) {
    const path = `${folder}/${entry.name}`;
    if (entry.isDirectory() && !['node_modules', 'dist', 'target'].includes(entry.name))
      found.push(...filesBelow(path, ending));
    else if (entry.name.endsWith(ending)) found.push(path);
  }
  return found.sort();
}

/** The unit test files of a workspace, relative to the checkout. */
export const unitTestFiles = (workspace) => filesBelow(workspace, '.test.ts');
/** All spec files, relative to the checkout. */
export const specFiles = () => filesBelow('e2e/specs', '.spec.ts');

const sourceOf = (folder, name) => readFileSync(join(TOP, folder, `${name}.ts`), 'utf8');

/** The programs of `bench` and `lab`. */
export function programNames(command) {
  const { folder, isProgram } = NAMED[command];
  const names = readdirSync(join(TOP, folder))
    .filter((file) => file.endsWith('.ts') && !file.endsWith('.test.ts'))
    .map((file) => file.slice(0, -'.ts'.length));
  return names.filter((name) => isProgram(sourceOf(folder, name), name)).sort();
}

const SCRIPTS = {
  docs: ['native-host/documents/pages.ts'],
  test: ['e2e/run/test.ts', 'test'],
  unit: ['e2e/run/test.ts', 'unit'],
  check: ['e2e/run/test.ts', 'check'],
  build: ['e2e/run/artefacts.ts'],
  package: ['e2e/packaging/release.ts'],
  bench: ['e2e/run/programs.ts', 'bench'],
  lab: ['e2e/run/programs.ts', 'lab'],
};

/** What an npm script runs with the pinned Node: a file, and arguments before those of the command line. */
export const scriptOf = (command) => SCRIPTS[command] ?? [`e2e/run/${command}.ts`];

export const programFile = (command, name) => join(TOP, ...NAMED[command].folder.split('/'), `${name}.ts`);
export const nounOf = (command) => NAMED[command].noun;

/** What a program measures, from the comment at its top. */
function purposeOf(command, name) {
  const comment = /^(?:\/\/.*\n)+/.exec(sourceOf(NAMED[command].folder, name))?.[0] ?? '';
  return comment
    .replaceAll(/^\/\/ ?/gm, '')
    .replaceAll('\n', ' ')
    .trim();
}

function wrap(text, width) {
  const lines = [''];
  for (const word of text.split(' ')) {
    const longer = lines.at(-1) === '' ? word : `${lines.at(-1)} ${word}`;
    if (longer.length <= width) lines[lines.length - 1] = longer;
    else lines.push(word);
  }
  return lines;
}

/** Names with their descriptions, in lines of at most `WIDTH` characters. */
function definitions(rows) {
  const widest = Math.max(...rows.map(([name]) => name.length));
  return rows.flatMap(([name, text]) =>
    wrap(text, WIDTH - widest - 4).map((line, i) => `  ${(i === 0 ? name : '').padEnd(widest)}  ${line}`),
  );
}

/** Names on as few lines as possible. */
const paragraph = (names) => wrap(names.join('  '), WIDTH - 2).map((line) => `  ${line.trim()}`);

const stems = (files, folder, ending) => files.map((file) => file.slice(folder.length + 1, -ending.length));

function listUnits() {
  return WORKSPACES.flatMap((name) => [
    '',
    `Unit tests of ${name}`,
    ...paragraph(stems(unitTestFiles(name), name, '.test.ts')),
  ]);
}

const firstSentence = (text) => text.split('. ')[0].replace(/\.$/, '');

const LISTS = {
  test: () => [
    'Suites',
    ...definitions(Object.entries(SUITES)),
    ...listUnits(),
    '',
    'Specs',
    ...paragraph(stems(specFiles(), 'e2e/specs', '.spec.ts')),
  ],
  unit: () => listUnits().slice(1),
  build: () => definitions(Object.entries(ARTEFACTS)),
  bench: () =>
    definitions(programNames('bench').map((name) => [name, firstSentence(purposeOf('bench', name))])),
  lab: () => definitions(programNames('lab').map((name) => [name, firstSentence(purposeOf('lab', name))])),
};

export const usageOf = (command) => USAGE[command];
export const listOf = (command) => LISTS[command]().join('\n');

/** What a program measures, for its help text. */
export const aboutProgram = (command, name) => wrap(purposeOf(command, name), WIDTH).join('\n');

function parse(command, args) {
  try {
    return parseArgs({ args: [...args], options: OPTIONS[command], allowPositionals: true });
  } catch (error) {
    throw new BadUsage(error.message.split('. To specify')[0]);
  }
}

/** After a program's name all arguments are its own, except those that are common to all scripts. */
function readProgram(command, args) {
  const own = args.filter((word) => !['--yes', '-y'].includes(word));
  const at = own.findIndex((word) => !word.startsWith('-'));
  const { values } = parse(command, at < 0 ? args : own.slice(0, at));
  const yes = own.length < args.length;
  if (at < 0) return { command, ...values, list: values.list ?? !values.help, names: [] };
  const [name, ...rest] = own.slice(at);
  const help = values.help || rest.includes('--help') || rest.includes('-h');
  const names = programNames(command);
  if (command === 'bench' && name === 'all')
    return { command, ...values, yes, help, names, program: 'all', rest };
  if (!names.includes(name))
    throw new BadUsage(`there is no ${nounOf(command)} "${name}"; there are: ${names.join(', ')}`);
  if (command === 'bench' && rest.length > 0 && !help)
    throw new BadUsage(`benchmarks take no arguments, not "${rest.join(' ')}"`);
  return { command, ...values, yes, help, names: [name], program: name, rest };
}

/** Parses the arguments of `npm run COMMAND --`. Throws BadUsage for invalid ones. */
export function readCommandLine(command, args) {
  if (Object.hasOwn(NAMED, command)) return readProgram(command, args);
  const { values, positionals: names } = parse(command, args);
  if (values.help || values.list) return { command, ...values, names };
  if (names.length > 0 && !TAKES_NAMES.includes(command))
    throw new BadUsage(`unexpected: ${names.join(' ')}`);
  if (command === 'test' || command === 'unit' || command === 'check')
    return { command, ...values, names, selection: select(command, names, values) };
  if (command === 'start') checkStart(names, values);
  if (command === 'build')
    for (const name of names)
      if (!Object.hasOwn(ARTEFACTS, name))
        throw new BadUsage(`there is no "${name}" to build; there are: ${Object.keys(ARTEFACTS).join(', ')}`);
  return { command, ...values, names };
}

/** Hosts and paths are checked by the parser of origins, which needs the packages. */
function checkStart(names, { headed, headless, keep }) {
  if (headed && headless) throw new BadUsage('choose one of --headed and --headless');
  if (keep && names.length > 0)
    throw new BadUsage('--keep keeps the local origins running, which are not started if some are named');
  for (const name of names) {
    const [, scheme = 'https'] = /^\s*([a-z][a-z0-9+.-]*):\/\//i.exec(name) ?? [];
    if (scheme.toLowerCase() !== 'https') throw new BadUsage(`${scheme}:// is not https`);
  }
}

/** The selected tests: whole suites by name, files by any part of their path, restricted by the options. */
function select(command, words, { grep, project }) {
  if (project !== undefined && !PROJECTS.includes(project))
    throw new BadUsage(`there is no project "${project}"; there are: ${PROJECTS.join(', ')}`);
  // npm run unit builds nothing, which the other suites need: there their names are parts of paths.
  const suites = [...(command === 'unit' ? ['unit'] : Object.keys(SUITES)), ...WORKSPACES];
  const all = command === 'check' ? ['checks'] : command === 'unit' ? ['unit'] : Object.keys(SUITES);
  const names = words.length === 0 ? all : words;
  const parts = names.filter((name) => !suites.includes(name));

  const specs = command === 'unit' ? [] : specFiles();
  const units = WORKSPACES.map((workspace) => [workspace, unitTestFiles(workspace)]);
  // Only specs have projects.
  const known = project === undefined ? [...specs, ...units.flatMap(([, files]) => files)] : specs;
  for (const part of parts)
    if (!known.some((file) => file.includes(part)))
      throw new BadUsage(
        project === undefined
          ? `no suite is called "${part}", and no test file has it in its path; see --list`
          : `no spec has "${part}" in its path, and only specs have projects; see --list`,
      );

  const meant = (file) => parts.some((part) => file.includes(part));
  const whole = (name) => suites.includes(name) && names.includes(name);
  const chosen = units.map(([workspace, files]) => [
    workspace,
    whole('unit') || whole(workspace) ? files : files.filter(meant),
  ]);
  // Checks and Rust tests cannot be filtered by title, and only specs have projects.
  const narrowed = grep !== undefined || project !== undefined;
  const selection = {
    checks: whole('checks') && !narrowed,
    rust: whole('rust') && !narrowed,
    units: project === undefined ? chosen.filter(([, files]) => files.length > 0) : [],
    specs: whole('browser') ? specs : specs.filter(meant),
    grep,
    project,
  };
  const { checks, rust } = selection;
  if (!checks && !rust && selection.units.length + selection.specs.length === 0)
    throw new BadUsage(
      'that selects nothing: checks and Rust tests have no titles, and only specs have projects',
    );
  return selection;
}

/** Tests that load the QUIC addon, start local origins, or need the built helper. */
export const WITH_RUST = [
  'e2e/lab/experiment.test.ts',
  'native-host/adversity.test.ts',
  'native-host/cli.test.ts',
  'native-host/cli/race-input.test.ts',
  'native-host/crashes.test.ts',
  'native-host/discover/connectivity.test.ts',
  'native-host/discover/discovery.test.ts',
  'native-host/discover/dns.test.ts',
  'native-host/main.test.ts',
  'native-host/quic/addon.test.ts',
  'native-host/race/h2-refusals.test.ts',
  'native-host/race/h2.test.ts',
  'native-host/race/h3.test.ts',
  'native-host/race/handshake.test.ts',
  'native-host/race/http-exchange.test.ts',
  'native-host/race/response-reading.test.ts',
  'native-host/soak.test.ts',
  'native-host/trust.test.ts',
  'native-host/wire/race-over-port.test.ts',
];
/** Tests that examine the built extension. */
export const WITH_EXTENSION = ['e2e/packaging/permissions.test.ts'];

/** The artefacts that the command needs. */
export function artefactsFor({ command, names, selection, program }) {
  if (command === 'unit' || command === 'docs') return [];
  if (command === 'build')
    return names.length === 0
      ? PRODUCT
      : names.flatMap((name) => (name === 'helper' ? ['rust', name] : name));
  if (command === 'bench') return [...PRODUCT, ...(BENCH_NEEDS[program] ?? [])];
  if (command === 'lab') return program === 'report' ? ['python'] : Object.keys(ARTEFACTS);
  if (selection === undefined) return PRODUCT;
  // Only the specs know which peers they need.
  if (selection.specs.length > 0) return Object.keys(ARTEFACTS);
  const { checks, rust, units } = selection;
  const includes = (some) => units.some(([, files]) => files.some((file) => some.includes(file)));
  const withRust = includes(WITH_RUST);
  return [
    ...(checks || rust || withRust ? ['rust'] : []),
    ...(withRust ? ['helper'] : []),
    ...(checks || includes(WITH_EXTENSION) ? ['extension'] : []),
  ];
}
