// Loads the files of dist/ in place of Node's loader, and keeps their compiled code between runs. Node's own loader with its
// compile cache takes twice as long (docs/performance.md), and Node 20 has no such cache.
const { closeSync, fdatasyncSync, lstatSync, mkdirSync, openSync, readFileSync } = require('node:fs');
const { renameSync, rmSync, statSync, writeSync } = require('node:fs');
const { dirname, isAbsolute, join } = require('node:path');
const { Script } = require('node:vm');

const DIST = join(__dirname, '../dist');
/** The end of each kept file. A file that was cut off lacks it. V8 itself checks only the length. */
const END = Buffer.from('psd2-end');
const IF_THERE = { throwIfNoEntry: false };
/** path -> the module, as Node's own loader has them. */
const modules = new Map();
/** path -> the script, and how many bytes of its code are kept. */
const scripts = new Map();
/** The code of a script that does nothing. V8 refuses it after a change of its flags. Undefined: everything is kept. */
let proof;
const kept = openKept(process.env);
if (kept.folder !== undefined) process.on('exit', keep);

/**
 * Loads a file of dist/ once, as Node's `require` does.
 *
 * @param {string} path CommonJS
 * @param {string} asking the file that needs it
 * @returns what the file exports
 * @throws what the file throws, and Error `MODULE_NOT_FOUND` as Node does
 */
function load(path, asking) {
  const known = modules.get(path);
  if (known !== undefined) return known.exports;
  const source = readSource(path, asking);
  const module = { exports: {} };
  modules.set(path, module);
  const folder = dirname(path);
  // Not join(): it takes longer than all the rest of this function.
  const fileAt = (name) => (name.startsWith('./') ? load(folder + name.slice(1), path) : require(name));
  compile(path, source).call(module.exports, module.exports, fileAt, module, path, folder);
  return module.exports;
}

function readSource(path, asking) {
  try {
    return readFileSync(path, 'utf8');
  } catch (cause) {
    if (cause.code !== 'ENOENT') throw cause;
    const error = new Error(`Cannot find module '${path}'`, { cause });
    throw Object.assign(error, { code: 'MODULE_NOT_FOUND', requireStack: [asking] });
  }
}

/** The function around a file, as Node's own loader has it. */
function compile(path, source) {
  const cachedData = kept.folder === undefined ? undefined : readKept(path);
  const text = `(function (exports, require, module, __filename, __dirname) { ${source}\n})`;
  const script = new Script(text, { filename: path, cachedData });
  // V8 refuses the code of another version or of other flags.
  const isKept = cachedData !== undefined && !script.cachedDataRejected;
  if (!isKept) proof ??= new Script('0').createCachedData();
  scripts.set(path, { script, size: isKept ? cachedData.length : 0 });
  return script.runInThisContext();
}

/** The place of a file's compiled code: its path with one separator less per folder. */
function placeOf(path) {
  return join(kept.folder, `${path.slice(DIST.length + 1).replace(/[/\\]/g, '+')}.code`);
}

/** The compiled code of a file. Undefined if there is none, or not all of it. */
function readKept(path) {
  try {
    const bytes = readFileSync(placeOf(path));
    const end = bytes.length - END.length;
    return bytes.subarray(Math.max(end, 0)).equals(END) ? bytes.subarray(0, end) : undefined;
  } catch {
    return undefined;
  }
}

/**
 * Keeps what this process has compiled, with the functions that have run. A file that was not kept tells of another command than
 * before, so all files are kept again: the code of the earlier ones lacks the functions that only this command ran.
 */
function keep() {
  if (proof === undefined) return;
  // A long command has changed flags (src/commands/shared/keep-heap-small.ts). The next process begins without them.
  // Another text of the same length, because V8 would not look at the code of one that it has just compiled.
  if (new Script('1', { cachedData: proof }).cachedDataRejected) return;
  try {
    // psd2 was replaced while it ran. Code of another build under the name of this one would run in its place.
    if (buildOf() !== kept.build) return;
    for (const [path, { script, size }] of scripts) {
      const code = script.createCachedData();
      // V8 forgets functions that a long command no longer runs.
      if (code.length > size) writeWhole(placeOf(path), Buffer.concat([code, END]));
    }
  } catch {
    // A full disk, say. The next run compiles again.
  }
}

/** Writes a file so that its name never stands for a part of it, even after a power cut. */
function writeWhole(place, bytes) {
  const unfinished = `${place}.${process.pid}.${Math.random().toString(36).slice(2)}`;
  const file = openSync(unfinished, 'wx', 0o600);
  try {
    writeSync(file, bytes);
    fdatasyncSync(file);
    renameSync(unfinished, place);
  } catch (error) {
    rmSync(unfinished);
    throw error;
  } finally {
    closeSync(file);
  }
}

/**
 * The private folder for the compiled code of this build, made by this Node with these flags: V8 believes what is there.
 *
 * @returns `folder`, or `why` there is none
 */
function openKept(env) {
  if (env.NODE_DISABLE_COMPILE_CACHE) return { why: 'NODE_DISABLE_COMPILE_CACHE is set' };
  const { arch, execArgv, version } = process;
  try {
    const build = buildOf();
    const flags = nameFor([...execArgv, env.NODE_OPTIONS].join(' '));
    const root = cacheFolder(env);
    const folder = join(root, `${build}-${version}-${arch}-${flags}`);
    for (const path of [root, folder]) {
      if (!isPrivate(lstatSync(path, IF_THERE) ?? makeFolder(path)))
        return { why: `others could change ${path}` };
    }
    return { build, folder };
  } catch ({ message }) {
    return { why: message };
  }
}

function makeFolder(path) {
  mkdirSync(path, { recursive: true, mode: 0o700 });
  return lstatSync(path);
}

/** Whether only this user, or root, can change what is in a folder. */
function isPrivate(stats) {
  if (process.platform === 'win32') return stats.isDirectory();
  const { uid, mode } = stats;
  return stats.isDirectory() && (uid === process.getuid() || uid === 0) && (mode & 0o022) === 0;
}

/** The hash of the files in dist/. */
function buildOf() {
  return readFileSync(join(DIST, 'build'), 'utf8');
}

/** A short name for a text. Texts may share one: V8 checks the flags again. */
function nameFor(text) {
  let hash = 0;
  for (let at = 0; at < text.length; at += 1) hash = (hash * 31 + text.charCodeAt(at)) >>> 0;
  return hash.toString(36);
}

/** The folder that NODE_COMPILE_CACHE names, as for Node's own compiled code, else the user's. */
function cacheFolder({ NODE_COMPILE_CACHE = '', XDG_CACHE_HOME = '', HOME = '', LOCALAPPDATA = '' }) {
  if (isAbsolute(NODE_COMPILE_CACHE)) return NODE_COMPILE_CACHE;
  if (process.platform === 'win32') return join(existing(LOCALAPPDATA), 'psd2', 'Cache');
  if (process.platform === 'darwin') return join(existing(HOME), 'Library', 'Caches', 'psd2');
  return isAbsolute(XDG_CACHE_HOME)
    ? join(existing(XDG_CACHE_HOME), 'psd2')
    : join(existing(HOME), '.cache', 'psd2');
}

/** psd2 never creates the home folder. @throws Error if it is not there */
function existing(home) {
  if (!isAbsolute(home)) throw new Error('the user has no home folder');
  statSync(home);
  return home;
}

module.exports = { load: (name) => load(join(DIST, name), __filename), modules, kept };
