#!/usr/bin/env node
const { lstatSync, mkdirSync, statSync } = require('node:fs');
const { isAbsolute, join } = require('node:path');

const [major = 0, minor = 0] = process.versions.node.split('.').map(Number);
if (major < 20 || (major === 20 && minor < 19)) {
  process.stderr.write(
    `psd2 needs Node.js 20.19 or newer, and this is ${process.versions.node}. Install a newer version from https://nodejs.org.\n`,
  );
  process.exitCode = 3;
} else {
  keepOwnerBits();
  keepCompiledCode(process.env);
  void require('../dist/main.js').main(join(__dirname, '../dist/help.txt'));
}

/**
 * Lets psd2 read and write all files and folders that it creates, whatever the umask. For group and others, the umask stays
 * as it is. Processes that psd2 starts inherit the new umask.
 */
function keepOwnerBits() {
  // Node deprecates reading the umask without setting it.
  const umask = process.umask(0o077);
  process.umask(umask & 0o077);
}

/**
 * Keeps compiled code between runs, if Node can (22 and newer), in the user's cache folder. Node's default is a folder in
 * /tmp, where another user could place code that psd2 would run. If NODE_COMPILE_CACHE is set, Node already does this.
 */
function keepCompiledCode(env) {
  const { enableCompileCache } = require('node:module');
  const [home, ...names] = cacheFolder(env);
  if (!enableCompileCache || env.NODE_COMPILE_CACHE || !isAbsolute(home)) return;
  try {
    // Never create the home folder.
    statSync(home);
    const folder = join(home, ...names);
    mkdirSync(folder, { recursive: true, mode: 0o700 });
    const { uid, mode } = lstatSync(folder);
    const isOwn = process.platform === 'win32' || (uid === process.getuid() && (mode & 0o022) === 0);
    if (isOwn) enableCompileCache(folder);
  } catch {
    // Without a writable home folder, Node compiles the code each time.
  }
}

function cacheFolder({ XDG_CACHE_HOME = '', HOME = '', LOCALAPPDATA = '' }) {
  if (process.platform === 'win32') return [LOCALAPPDATA, 'psd2', 'Cache'];
  if (process.platform === 'darwin') return [HOME, 'Library', 'Caches', 'psd2'];
  return isAbsolute(XDG_CACHE_HOME) ? [XDG_CACHE_HOME, 'psd2'] : [HOME, '.cache', 'psd2'];
}
