// What a browser starts: the helper's modules, with the code that earlier starts had V8 compile. Node's own compile
// cache keeps no function that is compiled when first called, which most are: half of what the helper adds to the time
// that Node takes until the first forecast.
const {
  closeSync,
  constants,
  fstatSync,
  mkdirSync,
  openSync,
  readdirSync,
  readFileSync,
  renameSync,
  rmSync,
  statSync,
  writeFileSync,
} = require('node:fs');
const { dirname, join } = require('node:path');

const OLDEST_NODE = 22;
const MAIN_BUNDLE = 'main-bundle.cjs';
/** How bundles name each other. */
const BUNDLE = /^\.\/[\w-]+\.cjs$/;
const [HEAD, TAIL] = ['(function (exports, require, module, __filename, __dirname) { ', '\n})'];

/** An older Node may have taken the place of the one that the launcher names; it can read this and say so. */
function refuse() {
  const message =
    `the helper needs Node ${OLDEST_NODE} or later, and ${process.execPath} is ${process.versions.node}; ` +
    'run "photofinish install" again with a newer one';
  const json = Buffer.from(JSON.stringify({ id: 0, type: 'error', code: 'internal', message }));
  const head = Buffer.alloc(4);
  head[require('node:os').endianness() === 'LE' ? 'writeUInt32LE' : 'writeUInt32BE'](json.length);
  process.stderr.write(`photofinish: old-node: ${message}\n`);
  process.stdout.write(Buffer.concat([head, json]));
  process.exitCode = 2;
}

/**
 * Beside the code, where nobody can write who could not replace the code itself. V8 tells versions and flags apart, but
 * not two builds of the same Node.
 */
function compiledDirectory() {
  const build = `${process.version}-${process.arch}-${statSync(process.execPath).size}`;
  return join(__dirname, 'compiled', build);
}

/**
 * A file's content; throws if it belongs to anyone else, who may have put it here while others could write. The owner
 * is read from what was opened, because the name may lead to another file a moment later.
 *
 * @param {string} file
 * @param {number} owner
 */
function readOwnedBy(file, owner) {
  // A pipe would otherwise be waited for.
  const descriptor = openSync(file, constants.O_RDONLY | (constants.O_NONBLOCK ?? 0));
  try {
    if (fstatSync(descriptor).uid !== owner) throw new Error(`${file} belongs to another user`);
    return readFileSync(descriptor);
  } finally {
    closeSync(descriptor);
  }
}

/**
 * The compiled code of a source; undefined if there is none for exactly this source, or if it is damaged or another
 * user's. V8 compares only the source's length and checks no sum, and Node's own sums would take longer to load than all
 * of this. So a file has the source and twice the code.
 *
 * @param {string} file
 * @param {Buffer} source
 * @param {number} owner The bundle's.
 */
function readCompiled(file, source, owner) {
  try {
    const all = readOwnedBy(file, owner);
    const half = source.length + (all.length - source.length) / 2;
    const code = all.subarray(source.length, half);
    const sound = source.equals(all.subarray(0, source.length)) && code.equals(all.subarray(half));
    return sound && code.length > 0 ? code : undefined;
  } catch {
    return undefined;
  }
}

/**
 * Removes the drafts that helpers left behind which were killed while writing. One that is just writing keeps nothing
 * then, as the file has been written.
 *
 * @param {string} directory
 */
function removeDrafts(directory) {
  for (const name of readdirSync(directory))
    if (name.startsWith(`${MAIN_BUNDLE}.`)) rmSync(join(directory, name), { force: true });
}

/**
 * Another helper may be writing the same file. Where nothing can be written, every start compiles.
 *
 * @param {string} file
 * @param {Buffer} source
 * @param {import('node:vm').Script} script
 */
function writeCompiled(file, source, script) {
  const draft = `${file}.${process.pid}`;
  try {
    mkdirSync(dirname(file), { recursive: true, mode: 0o755 });
    const code = script.createCachedData();
    writeFileSync(draft, Buffer.concat([source, code, code]), { mode: 0o644, flag: 'wx' });
    renameSync(draft, file);
    removeDrafts(dirname(file));
  } catch {
    try {
      rmSync(draft);
    } catch {
      // It was not written.
    }
  }
}

/** For bundles that are loaded later, Node's own cache, which only its owner can reach, whatever modes Node gives its files. */
function keepWithNode() {
  const directory = join(__dirname, 'compiled-node');
  try {
    mkdirSync(directory, { recursive: true, mode: 0o700 });
    require('node:module').enableCompileCache(directory);
  } catch {
    // Where nothing can be kept, every start compiles.
  }
}

function start() {
  const { Script } = require('node:vm');
  const filename = join(__dirname, MAIN_BUNDLE);
  const file = join(compiledDirectory(), MAIN_BUNDLE);
  const source = readFileSync(filename);
  const owner = statSync(filename).uid;
  const cachedData = readCompiled(file, source, owner);
  const text = HEAD + source.toString() + TAIL;
  const script = new Script(text, { filename, columnOffset: -HEAD.length, cachedData });

  // Bundles that are loaded later require this one.
  const module = { exports: {}, loaded: true };
  require.cache[filename] = module;

  // What another user, such as root, kept would never be read, and the owner might be unable to replace it.
  const isOwner = (process.geteuid?.() ?? owner) === owner;
  let wanting = isOwner && (cachedData === undefined || script.cachedDataRejected === true);
  const keep = () => {
    if (!wanting || !module.exports.hasForecast()) return;
    wanting = false;
    writeCompiled(file, source, script);
  };
  // A race changes flags of V8, and code compiled under others would be rejected at the next start.
  let isFirst = true;
  const load = (id) => {
    if (isFirst && BUNDLE.test(id)) {
      isFirst = false;
      keep();
      keepWithNode();
    }
    return require(id);
  };
  script.runInThisContext()(module.exports, load, module, filename, __dirname);
  // By then all that a start takes is compiled.
  process.once('exit', keep);
}

if (Number(process.versions.node.split('.')[0]) < OLDEST_NODE) refuse();
else start();
