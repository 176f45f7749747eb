// Lets Node.js keep the compiled code of psd2 between runs. psd2 then starts faster (docs/performance.md). Node.js keeps what it compiles
// before a file runs, not the functions that it compiles when they are first called.
const { lstatSync, mkdirSync, statSync } = require('node:fs');
const { isAbsolute, join } = require('node:path');

/** The first Node.js that can keep compiled code. */
const FIRST = [22, 8];

/** The bits of a mode with which others can change a folder, or use it at all. */
const [CHANGE, ENTER] = [0o022, 0o077];

/** What became of it, for psd2 doctor. */
const state = { code: { why: 'it was not started with bin/psd2.js' } };

/** Call it before the first file of dist/ is loaded. It throws nothing: without compiled code, psd2 only starts more slowly. */
function keepCompiledCode() {
  try {
    state.code = keep(process.env);
  } catch ({ message }) {
    state.code = { why: message };
  }
}

/** @returns the `folder` of the code, `why` there is none, or the `version` of a Node.js that keeps none. @throws Error */
function keep(env) {
  const { node: version } = process.versions;
  const [major, minor] = version.split('.').map(Number);
  if (major < FIRST[0] || (major === FIRST[0] && minor < FIRST[1])) return { version };
  if (env.NODE_DISABLE_COMPILE_CACHE) return { why: 'NODE_DISABLE_COMPILE_CACHE is set' };
  const { constants, enableCompileCache, getCompileCacheDir } = require('node:module');
  // With NODE_COMPILE_CACHE, Node.js keeps the code of all programs in that folder, and has begun before psd2 runs.
  const begun = getCompileCacheDir();
  if (begun !== undefined) return { folder: begun, isShared: !isOwn(begun, CHANGE) };
  const folder = cacheFolder(env);
  mkdirSync(folder, { recursive: true, mode: 0o700 });
  // Node.js makes folders in it with the modes that the umask allows.
  if (!isOwn(folder, ENTER)) return { why: `others can enter ${folder}, or it is no folder of this user` };
  const { status, message } = enableCompileCache(folder);
  return status === constants.compileCacheStatus.ENABLED ? { folder } : { why: message };
}

/** Whether a folder is this user's, and others may not do that to it: Node.js believes what is in it. */
function isOwn(path, bits) {
  const stats = lstatSync(path);
  if (process.platform === 'win32') return stats.isDirectory();
  return stats.isDirectory() && stats.uid === process.getuid() && (stats.mode & bits) === 0;
}

/** The user's folder for such files. psd2 never creates a home folder. @throws Error if there is none */
function cacheFolder({ XDG_CACHE_HOME = '', HOME = '', LOCALAPPDATA = '' }) {
  const platforms = { win32: [LOCALAPPDATA, 'psd2/Cache'], darwin: [HOME, 'Library/Caches/psd2'] };
  const others = isAbsolute(XDG_CACHE_HOME) ? [XDG_CACHE_HOME, 'psd2'] : [HOME, '.cache/psd2'];
  const [home, inside] = platforms[process.platform] ?? others;
  if (!isAbsolute(home)) throw new Error('the user has no home folder');
  statSync(home);
  return join(home, inside);
}

module.exports = { keepCompiledCode, state };
