// For node --require: counts what a process does in the folder STOP_FOLDER (calls of node:fs, before and after each), prints
// the points to stderr, and stops the process with a signal at the one named STOP_AT. STOP_HASTE makes its clock of
// waiting go faster by so much, so that a process which stands still is taken for dead sooner.
'use strict';
const fs = require('node:fs');
const { relative } = require('node:path');

const { STOP_FOLDER = '', STOP_AT, STOP_HOW = 'SIGSTOP', STOP_HASTE } = process.env;
const WATCHED =
  /^(?:open|write|writeFile|rename|link|rm|ftruncate|copyFile|fdatasync|exists|readdir|readFile)$/;
const { writeSync } = fs;
const opened = new Map();
const seen = new Map();

function point(when, name, file) {
  const what = `${when} ${name} ${file}`;
  const count = (seen.get(what) ?? 0) + 1;
  seen.set(what, count);
  writeSync(2, `${what} #${count}\n`);
  if (`${what} #${count}` === STOP_AT) process.kill(process.pid, STOP_HOW);
}

function fileOf(target) {
  const path = typeof target === 'number' ? opened.get(target) : String(target);
  if (path === undefined) return undefined;
  const inside = relative(STOP_FOLDER, path);
  // A run's lock is touched whenever its time comes.
  return inside.startsWith('..') || inside.endsWith('.lock') ? undefined : inside || '.';
}

for (const [key, original] of Object.entries(fs)) {
  const name = key.replace(/Sync$/, '');
  if (typeof original !== 'function' || !WATCHED.test(name)) continue;
  fs[key] = function (...args) {
    const file = fileOf(args[0]);
    if (file === undefined) {
      const result = original.apply(this, args);
      if (name === 'open') opened.set(result, String(args[0]));
      return result;
    }
    point('before', name, file);
    const callback = key === name && typeof args.at(-1) === 'function' ? args.at(-1) : undefined;
    if (callback) {
      args[args.length - 1] = (...results) => {
        point('after', name, file);
        callback(...results);
      };
      return original.apply(this, args);
    }
    const result = original.apply(this, args);
    if (name === 'open') opened.set(result, String(args[0]));
    point('after', name, file);
    return result;
  };
}

if (STOP_HASTE !== undefined) {
  const { now } = performance;
  performance.now = () => now.call(performance) * Number(STOP_HASTE);
}

require('node:module').syncBuiltinESMExports();
