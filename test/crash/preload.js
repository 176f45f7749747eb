// Loaded into a psd2 process with `node --import`: finds the points at which the process can be stopped, and stops it.
//
// A point is a moment around something that others can see: a change on disk, a request, an answer, a listener, or the
// start of a program. This file finds them by wrapping Node's own modules, so a new step of psd2 adds its points
// without a change here. The name of a point says what happens, to what, and how many times it has happened, so the
// same point has the same name in every run.
//
// CRASH_TRACE names the file to which the points are written, one line of JSON each. CRASH_AT names the point to stop
// at, CRASH_HOW the way: SIGKILL, SIGINT, SIGTERM, twice (SIGINT, and again as soon as the first arrives), SIGTERM twice,
// SIGSTOP (all threads, until SIGCONT), block (only the main thread, until a file `<CRASH_TRACE>.go` exists), or cut.
// CRASH_FAST says how many times faster the process's clock and timers run, which shortens its waiting.
import childProcess from 'node:child_process';
import fs from 'node:fs';
import http from 'node:http';
import { syncBuiltinESMExports } from 'node:module';
import net from 'node:net';
import { devNull } from 'node:os';
import { relative } from 'node:path';
import timers from 'node:timers';
import timersPromises from 'node:timers/promises';
import { watchRequests } from './requests.js';

// A worker thread inherits none of these variables: it has no points, and its clock is not changed.
const { CRASH_TRACE, CRASH_AT, CRASH_HOW, CRASH_FAST, PSD2_CONFIG_DIR: root } = process.env;
delete process.env.CRASH_TRACE;
delete process.env.CRASH_AT;
delete process.env.CRASH_HOW;
delete process.env.CRASH_FAST;

const { openSync, writeSync, appendFileSync, existsSync } = fs;
const { wait: waitOnThread } = Atomics;
const trace = openSync(CRASH_TRACE ?? devNull, 'a');
const write = (line) => writeSync(trace, `${JSON.stringify(line)}\n`);

const seen = new Map();
function named(what) {
  const count = (seen.get(what) ?? 0) + 1;
  seen.set(what, count);
  return `${what} #${count}`;
}

/** Records a point, and stops the process if it is the chosen one. @param more is added to the line of the trace */
function point(what, more = {}) {
  const name = named(what);
  write({ point: name, ...more });
  if (name === CRASH_AT && CRASH_HOW !== 'cut') stop();
}

function stop() {
  write({ stopped: CRASH_AT, at: Date.now() });
  if (CRASH_HOW === 'block') return block();
  const signal = { twice: 'SIGINT', 'SIGTERM twice': 'SIGTERM' }[CRASH_HOW];
  if (signal) process.prependOnceListener(signal, () => process.kill(process.pid, signal));
  process.kill(process.pid, signal ?? CRASH_HOW);
}

/** Blocks this thread, as a call that waits for the disk does, until the `.go` file exists. */
function block() {
  const nothing = new Int32Array(new SharedArrayBuffer(4));
  while (!existsSync(`${CRASH_TRACE}.go`)) waitOnThread(nothing, 0, 0, 20);
}

/** Removes what differs from run to run. */
function normalised(text) {
  return text
    .replace(/(?<=^|\/|\.)(?:tr|co|op)-[0-9a-z]{14}/g, '<flow>')
    .replace(/[0-9a-f]{64}(?:-\d+)?/g, '<batch>')
    .replace(/(?<=\/references\/)[0-9a-f]{32}\.\d+/g, '<reference>')
    .replace(/(?<=^tokens\/.*\/)\d+(?=\.json)/g, '<n>')
    .replace(/(?<=\/sync-)\d+(?=\.ndjson)|(?<=\.ndjson\.new-)\d+/g, '<n>')
    .replace(/[0-9a-f]{8}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{12}/g, '<id>')
    .replace(/\.tmp-[0-9a-z]+/g, '.<tmp>')
    .replace(/(?<=\/)\d{4}-\d\d-\d\d$/, '<day>');
}

// ---- The clock: timers and monotonic clocks run faster. The time of day stays.

if (CRASH_FAST !== undefined) {
  const factor = Number(CRASH_FAST);
  const scaled = (delay) => (typeof delay === 'number' ? delay / factor : delay);
  const { now } = performance;
  performance.now = () => now.call(performance) * factor;
  const { hrtime } = process;
  const fastBigint = () => hrtime.bigint() * BigInt(factor);
  process.hrtime = Object.assign((...since) => hrtime(...since), { bigint: fastBigint });
  Atomics.wait = (typed, index, value, delay) => waitOnThread(typed, index, value, scaled(delay));
  for (const name of ['setTimeout', 'setInterval']) {
    const original = timers[name];
    const fast = (callback, delay, ...rest) => original(callback, scaled(delay), ...rest);
    // Keep the properties of the original, which `promisify` needs.
    Object.defineProperties(fast, Object.getOwnPropertyDescriptors(original));
    timers[name] = fast;
    globalThis[name] = fast;
    const promised = timersPromises[name];
    timersPromises[name] = (delay, ...rest) => promised(scaled(delay), ...rest);
  }
}

// ---- Changes on disk: every function of node:fs, except those that are known to change nothing.

const READERS =
  /^(?:access|exists|f?stat|lstat|statfs|readv?|readFile|readdir|readlink|realpath|opendir|close|watch|watchFile|unwatchFile|createReadStream|createWriteStream|openAsBlob|glob|_.*|[A-Z].*)$/;
const opened = new Map();

function fileOf(target) {
  const path = typeof target === 'number' ? opened.get(target) : String(target);
  if (path === undefined) return undefined;
  const inside = relative(root, path.replace(/^file:\/\//, ''));
  return inside.startsWith('..') ? undefined : normalised(inside || '.');
}

function opensForReading(name, flags = 'r') {
  if (name !== 'open') return false;
  return typeof flags === 'string'
    ? flags === 'r' || flags === 'rs'
    : (flags & (fs.constants.O_WRONLY | fs.constants.O_RDWR | fs.constants.O_CREAT)) === 0;
}

/** The event in a line of the journal. The point's name includes it, to show how far the flow has got. */
function eventOf(data) {
  return /"event":\{"type":"([a-z-]+)"/.exec(String(data))?.[1];
}

/** What a call is about to change, or undefined if nobody can see it or if it is part of another call. */
let within = 0;
function effectOf(name, [target, second]) {
  if (within > 0 || opensForReading(name, second)) return undefined;
  const file = fileOf(target);
  if (file === undefined) return undefined;
  const event = /^(?:append|write)/.test(name) ? eventOf(second) : undefined;
  const to = ['rename', 'link', 'copyFile'].includes(name) ? ` to ${fileOf(second) ?? 'elsewhere'}` : '';
  return `${name} ${file}${to}${event ? ` ${event}` : ''}`;
}

/** The middle of a write: half of the data is written. */
function halfWay(name, effect, target, data) {
  if (!/^(?:append|write)/.test(name) || !(typeof data === 'string' || ArrayBuffer.isView(data))) return;
  const half = `half ${effect}`;
  if (CRASH_HOW !== 'SIGKILL' || CRASH_AT !== `${half} #${(seen.get(half) ?? 0) + 1}`) return point(half);
  const bytes = Buffer.from(data);
  within += 1;
  appendFileSync(target, bytes.subarray(0, bytes.length >> 1));
  within -= 1;
  return point(half);
}

function remember(name, target, descriptor) {
  if (name === 'open' && typeof descriptor === 'number') opened.set(descriptor, String(target));
}

/** @returns the effect on the disk, or undefined for a call without one */
function begin(name, args) {
  const effect = effectOf(name, args);
  if (effect !== undefined) {
    point(`before ${effect}`);
    halfWay(name, effect, args[0], args[1]);
  }
  return effect;
}

function wrapSync(name, original) {
  return function (...args) {
    const effect = begin(name, args);
    within += 1;
    let result;
    try {
      result = original.apply(this, args);
    } finally {
      within -= 1;
    }
    remember(name, args[0], result);
    if (effect !== undefined) point(`after ${effect}`);
    return result;
  };
}

function wrapCallback(name, original) {
  return function (...args) {
    const effect = begin(name, args);
    const callback = args.at(-1);
    if (typeof callback === 'function') {
      args[args.length - 1] = function (error, ...results) {
        remember(name, args[0], results[0]);
        if (effect !== undefined && !error) point(`after ${effect}`);
        return callback.call(this, error, ...results);
      };
    }
    return original.apply(this, args);
  };
}

function wrapPromise(name, original) {
  return async function (...args) {
    const effect = begin(name, args);
    const result = await original.apply(this, args);
    if (effect !== undefined) point(`after ${effect}`);
    return result;
  };
}

for (const [key, original] of Object.entries(fs)) {
  const name = key.replace(/Sync$/, '');
  if (typeof original !== 'function' || READERS.test(name)) continue;
  fs[key] = key === name ? wrapCallback(name, original) : wrapSync(name, original);
}
for (const [name, original] of Object.entries(fs.promises)) {
  if (typeof original === 'function' && !READERS.test(name)) fs.promises[name] = wrapPromise(name, original);
}

// ---- Requests.

watchRequests({ point, write, normalised, cutAt: CRASH_HOW === 'cut' ? CRASH_AT : undefined });

// ---- The customer's browser: the listener that it returns to, its return, and its start.

const { listen } = net.Server.prototype;
net.Server.prototype.listen = function (...args) {
  point('before listen');
  this.prependOnceListener('listening', () => point('after listen'));
  return listen.apply(this, args);
};
const emitOfServer = http.Server.prototype.emit;
http.Server.prototype.emit = function (event, ...values) {
  if (event === 'request') point('before callback');
  return emitOfServer.call(this, event, ...values);
};
const { spawn } = childProcess;
childProcess.spawn = function (...args) {
  point('before spawn');
  const child = spawn.apply(this, args);
  point('after spawn');
  return child;
};

syncBuiltinESMExports();
