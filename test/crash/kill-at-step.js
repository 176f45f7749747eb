// Loaded into psd2 with `node --import`: kills it at a step. A step is a change in its configuration folder, or what it sends to
// a database; each has the moments `before` and `after`, and `half` where data is written. KILL_AT is a pattern for what
// happens, for example `^after link tokens/`, and KILL_NTH says at the how-manieth moment that it fits (default: the first).
// KILL_HOW is the signal (default: SIGKILL), or `throw` for a bug of psd2 there. KILL_MARK is a file that it makes before, so that a test knows that psd2 is there.
import fs from 'node:fs';
import { syncBuiltinESMExports } from 'node:module';
import net from 'node:net';
import { relative } from 'node:path';

const { KILL_AT = '', KILL_NTH = '1', KILL_HOW = 'SIGKILL', KILL_MARK, PSD2_CONFIG_DIR: root } = process.env;
const pattern = new RegExp(KILL_AT, 's');
const CHANGES = /^(?:append|f(?:data)?sync$|ftruncate|link|open$|rename|rm|unlink|write)/;
const { O_CREAT, O_RDWR, O_WRONLY } = fs.constants;
const { appendFileSync, writeFileSync } = fs;
const opened = new Map();
let left = Number(KILL_NTH);
let isWithin = false;

/** @param half writes half of the data first */
function moment(what, half = () => {}) {
  if (!pattern.test(what)) return;
  left -= 1;
  if (left !== 0) return;
  half();
  if (KILL_MARK !== undefined) writeFileSync(KILL_MARK, '');
  if (KILL_HOW === 'throw') throw new TypeError('A bug');
  process.kill(process.pid, KILL_HOW);
}

function pathOf(target) {
  const path = typeof target === 'number' ? opened.get(target) : relative(root, String(target));
  return path?.startsWith('..') ? undefined : path;
}

function isForReading(name, flags = 'r') {
  if (name !== 'open') return false;
  return typeof flags === 'number' ? (flags & (O_WRONLY | O_RDWR | O_CREAT)) === 0 : flags === 'r';
}

for (const [key, original] of Object.entries(fs)) {
  const name = key.replace(/Sync$/, '');
  if (typeof original !== 'function' || !CHANGES.test(name)) continue;
  fs[key] = (...args) => {
    const [target, data] = args;
    const path = pathOf(target);
    if (isWithin || path === undefined || isForReading(name, data)) return original(...args);
    const what = `${name} ${path}${name === 'rename' || name === 'link' ? ` to ${pathOf(data)}` : ''}`;
    isWithin = true;
    try {
      moment(`before ${what}`);
      if (/^(?:append|write)/.test(name))
        moment(`half ${what}`, () => appendFileSync(target, data.slice(0, data.length >> 1)));
      const result = original(...args);
      if (name === 'open' && typeof result === 'number') opened.set(result, path);
      moment(`after ${what}`);
      return result;
    } finally {
      isWithin = false;
    }
  };
}
syncBuiltinESMExports();

/** A message of PostgreSQL's protocol is its kind, its length in four bytes and, in one that prepares (P), an empty name. */
function statementIn(message) {
  return message.subarray(message.toString('latin1', 0, 1) === 'P' ? 6 : 5).toString();
}

for (const name of ['_write', '_writev']) {
  const original = net.Socket.prototype[name];
  net.Socket.prototype[name] = function (...args) {
    const [first] = name === '_write' ? args : args[0].map(({ chunk }) => chunk);
    const what = statementIn(Buffer.from(first));
    moment(`before ${what}`);
    original.apply(this, args);
    // The server has it, and nobody hears what became of it.
    moment(`after ${what}`);
  };
}
