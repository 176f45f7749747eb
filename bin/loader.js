// Loads the files of dist/ in place of Node's loader, and keeps their compiled code between runs. Node's own loader with its
// compile cache takes twice as long (docs/performance.md), and Node 20 has no such cache. The build writes each file as a function.
const { isAscii } = require('node:buffer');
const { existsSync, lstatSync, mkdirSync, readFileSync } = require('node:fs');
const { renameSync, rmSync, statSync, writeFileSync } = require('node:fs');
const { dirname, isAbsolute, join } = require('node:path');
const { Script } = require('node:vm');

const DIST = join(__dirname, '../dist');
/** The end of each kept file. A file that was cut off lacks it. V8 itself checks only the length. */
const END = Buffer.from('psd2-end');
/** By path: the modules, as Node's own loader has them, and the scripts, with how many bytes of their code are kept. */
const [modules, scripts] = [new Map(), new Map()];
/** The code of the first script, which V8 refuses after a change of its flags, and how long that script is. */
let proof;
let isAllKept = true;
const kept = openKept(process.env);
if (kept.folder !== undefined) process.on('exit', keep);

/** Loads a file of dist/ once, as Node's `require` does, and throws what that throws. @param asking the file that needs it */
function load(path, asking) {
  const known = modules.get(path);
  if (known !== undefined) return known.exports;
  const run = compile(path, readSource(path, asking));
  const module = { exports: {} };
  modules.set(path, module);
  const folder = dirname(path);
  // Not join(): it takes longer than all the rest of this function.
  const fileAt = (name) => (name.startsWith('./') ? load(folder + name.slice(1), path) : require(name));
  run.call(module.exports, module.exports, fileAt, module, path, folder);
  return module.exports;
}

function readSource(path, asking) {
  try {
    const bytes = readFileSync(path);
    // Almost every file is ASCII, which takes half as long to read as UTF-8.
    return isAscii(bytes) ? bytes.latin1Slice() : bytes.utf8Slice();
  } catch (cause) {
    if (cause.code !== 'ENOENT') throw cause;
    const error = new Error(`Cannot find module '${path}'`, { cause });
    throw Object.assign(error, { code: 'MODULE_NOT_FOUND', requireStack: [asking] });
  }
}

function compile(path, source) {
  const cachedData = kept.folder === undefined ? undefined : readKept(path);
  const script = new Script(source, { filename: path, cachedData });
  const size = cachedData === undefined || script.cachedDataRejected ? 0 : cachedData.length;
  isAllKept &&= size > 0;
  proof ??= { cachedData: size > 0 ? cachedData : script.createCachedData(), length: source.length };
  scripts.set(path, { script, size });
  return script.runInThisContext();
}

/** The place of a file's compiled code: its path with one separator less per folder. */
function placeOf(path) {
  return `${kept.folder}/${path.slice(DIST.length + 1).replace(/[/\\]/g, '+')}.code`;
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
  if (isAllKept) return;
  // A long command has changed flags (src/commands/shared/keep-heap-small.ts). The next process begins without them.
  // Spaces, because V8 would not look at the code of a text that it has just compiled.
  if (new Script(' '.repeat(proof.length), proof).cachedDataRejected) return;
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
  try {
    writeFileSync(unfinished, bytes, { flag: 'wx', mode: 0o600, flush: true });
    renameSync(unfinished, place);
  } catch (error) {
    rmSync(unfinished, { force: true });
    throw error;
  }
}

/** @returns the `build` and the private `folder` for its code, by this Node with these flags; or `why` there is none */
function openKept(env) {
  if (env.NODE_DISABLE_COMPILE_CACHE) return { why: 'NODE_DISABLE_COMPILE_CACHE is set' };
  const { arch, execArgv, version } = process;
  // Other flags may have the same name: V8 checks them again.
  const flags = Buffer.from(`${execArgv}${env.NODE_OPTIONS ?? ''}`)
    .toString('hex')
    .slice(0, 200);
  try {
    const build = buildOf();
    const root = cacheFolder(env);
    const folder = join(root, `${build}-${version}-${arch}-${flags}`);
    for (const path of [root, folder]) if (!isPrivate(path)) return { why: `others could change ${path}` };
    return { build, folder };
  } catch ({ message }) {
    return { why: message };
  }
}

/** Whether only this user, or root, can change what is in a folder: V8 believes it. Creates the folder if it is not there. */
function isPrivate(path) {
  if (!existsSync(path)) mkdirSync(path, { recursive: true, mode: 0o700 });
  const stats = lstatSync(path);
  if (process.platform === 'win32') return stats.isDirectory();
  return stats.isDirectory() && [process.getuid(), 0].includes(stats.uid) && (stats.mode & 0o022) === 0;
}

function buildOf() {
  return readFileSync(join(DIST, 'build'), 'utf8');
}

/** The folder that NODE_COMPILE_CACHE names, as for Node's own compiled code, else the user's. psd2 never creates a home folder. */
function cacheFolder({ NODE_COMPILE_CACHE = '', XDG_CACHE_HOME = '', HOME = '', LOCALAPPDATA = '' }) {
  if (isAbsolute(NODE_COMPILE_CACHE)) return NODE_COMPILE_CACHE;
  const platforms = { win32: [LOCALAPPDATA, 'psd2/Cache'], darwin: [HOME, 'Library/Caches/psd2'] };
  const others = isAbsolute(XDG_CACHE_HOME) ? [XDG_CACHE_HOME, 'psd2'] : [HOME, '.cache/psd2'];
  const [home, inside] = platforms[process.platform] ?? others;
  if (!isAbsolute(home)) throw new Error('the user has no home folder');
  statSync(home);
  return join(home, inside);
}

module.exports = { load: (name) => load(join(DIST, name), __filename), modules, kept };
