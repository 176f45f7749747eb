import { mkdirSync, rmSync, writeFileSync } from 'node:fs';
import { createRequire } from 'node:module';
import { join } from 'node:path';
import { Worker } from 'node:worker_threads';
import { beforeEach, expect, it } from 'vitest';
import { replacedWhileRunning } from '../../src/cli/report-error.ts';
import { temporaryFolder } from '../store/temporary-folder.ts';

const temporary = temporaryFolder();
let count = 0;
let program: string;
const place = (name: string) => join(program, name);
const require = createRequire(import.meta.url);
const REPLACED = {
  code: 'config',
  message: 'psd2 was replaced while it ran, and cannot load the rest of itself',
  hint: 'Start it again. A payment or a consent that had begun can be resumed.',
};

/** A program whose entry loads a chunk late. */
beforeEach(() => {
  count += 1;
  program = join(temporary, `dist-${count}`);
  mkdirSync(place('chunks'), { recursive: true });
  writeFileSync(place('package.json'), '{ "type": "commonjs" }');
  writeFileSync(place('main.js'), `exports.late = () => require('./chunks/late-A.js');`);
  writeFileSync(
    place('thread.js'),
    `const { parentPort } = require('node:worker_threads');
     parentPort.once('message', () => require('./chunks/late-A.js'));
     parentPort.postMessage('ready');`,
  );
});

function errorOf(work: () => unknown): unknown {
  try {
    return work();
  } catch (error) {
    return error;
  }
}

it('a chunk that is missing after an upgrade is not a bug', () => {
  const { late } = require(place('main.js'));
  writeFileSync(place('main.js'), `exports.late = () => require('./chunks/late-B.js');`);
  expect(replacedWhileRunning(errorOf(late), program)).toMatchObject(REPLACED);
});

it('neither is one that is missing because the whole program is gone', () => {
  const { late } = require(place('main.js'));
  rmSync(program, { recursive: true });
  expect(replacedWhileRunning(errorOf(late), program)).toMatchObject(REPLACED);
});

it('a chunk that is missing in the program as it was is a bug', () => {
  const { late } = require(place('main.js'));
  expect(replacedWhileRunning(errorOf(late), program)).toBeUndefined();
});

it('a missing module elsewhere, and any other error, is a bug', () => {
  const elsewhere = join(temporary, `elsewhere-${count}`);
  const { late } = require(place('main.js'));
  writeFileSync(place('main.js'), '');
  for (const error of [
    errorOf(late),
    errorOf(() => require(place('no-such-file.js'))),
    new Error('no'),
    'text',
    { code: 'MODULE_NOT_FOUND', message: `Cannot find module '${place('chunks/late-A.js')}'` },
    Object.assign(new Error(`Cannot find module '${place('chunks/late-A.js')}'`), { code: 'ENOENT' }),
  ])
    expect(replacedWhileRunning(error, elsewhere)).toBeUndefined();
});

it('a thread finds out too, and so does a thread whose own file is gone', async () => {
  const failure = (worker: Worker) => new Promise((resolve) => worker.once('error', resolve));
  const worker = new Worker(place('thread.js'));
  await new Promise((resolve) => worker.once('message', resolve));
  const failed = failure(worker);
  rmSync(place('thread.js'), { force: true });
  worker.postMessage('go');
  expect(replacedWhileRunning(await failed, program)).toMatchObject(REPLACED);
  const gone = await failure(new Worker(place('gone.js')));
  expect(replacedWhileRunning(gone, program)).toMatchObject(REPLACED);
});
