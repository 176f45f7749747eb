// For node --require: watches the calls of node:fs in the folder STOP_FOLDER, prints a point before and after each to
// stderr, and sends the process the signal STOP_HOW at the point STOP_AT. STOP_HASTE is how many times faster the
// monotonic clock runs, so a process that stands still counts as dead sooner.
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
  // A run touches its lock by the clock, so its points differ from run to run.
  if (inside.startsWith('..') || inside.endsWith('.lock')) return undefined;
  // The random name of a file that is not finished.
  return inside.replace(/(^|\/)\.[0-9a-f-]{36}$/, '$1.*') || '.';
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
