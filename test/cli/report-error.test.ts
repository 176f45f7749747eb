import { mkdirSync, rmSync, writeFileSync } from 'node:fs';
import { createRequire } from 'node:module';
import { join } from 'node:path';
import { Worker } from 'node:worker_threads';
import { beforeEach, describe, expect, it, onTestFinished, vi } from 'vitest';
import { endOverLostOutput, replacedWhileRunning, reportError } from '../../src/cli/report-error.ts';
import { type ErrorContext, Psd2Error } from '../../src/errors.ts';
import { temporaryFolder } from '../store/temporary-folder.ts';
import { thrownBy } from '../support/thrown.ts';
import { openStream } from '../terminal/stream.ts';

function report(error: unknown, asJson: boolean, profile?: string): { exitCode: number; stderr: string } {
  const { stream, written } = openStream('no terminal');
  return { exitCode: reportError(error, stream, { asJson, repeated: { profile } }), stderr: written() };
}

const WHAT_AND_WHY = {
  ...{ hint: 'Write it otherwise.', httpStatus: 422, bankCode: 'PSD2_E1' },
  ...{ requestId: '012345678901234567890123', tppRequestId: 'q1', transactionId: 't1' },
};
const refused = new Psd2Error('bank_refused', 'The bank refused POST /x (HTTP 422): bad character', {
  ...WHAT_AND_WHY,
  cause: new Error('inner secret'),
});

describe('an error', () => {
  it('an error shows a sentence, what to do, and the ids that the bank’s support asks for', () => {
    expect(report(refused, false)).toEqual({
      exitCode: 7,
      stderr:
        'psd2: The bank refused POST /x (HTTP 422): bad character.\n' +
        '  Write it otherwise.\n' +
        '  (code PSD2_E1, bank request 012345678901234567890123, request q1, transaction t1)\n',
    });
  });

  it('a JSON error is one line with every field of the contract, or null', () => {
    const { exitCode, stderr } = report(refused, true);
    expect(exitCode).toBe(7);
    expect(stderr).toMatch(/^[^\n]+\n$/);
    expect(JSON.parse(stderr)).toEqual({
      event: 'error',
      error: {
        ...{ code: 'bank_refused', message: 'The bank refused POST /x (HTTP 422): bad character' },
        ...{ exitCode: 7, ...WHAT_AND_WHY, next: [], flow: null },
      },
    });
    const nothing = { hint: null, httpStatus: null, bankCode: null, requestId: null, tppRequestId: null };
    expect(JSON.parse(report(new Psd2Error('usage', 'Wrong'), true).stderr).error).toEqual({
      ...{ ...nothing, code: 'usage', message: 'Wrong', exitCode: 2 },
      ...{ next: [], flow: null, transactionId: null },
    });
  });

  it('a JSON error has what differs from the first order, and no such field otherwise', () => {
    const error = new Psd2Error('duplicate_reference', 'Used', { differs: ['amount'] });
    expect(JSON.parse(report(error, true).stderr).error).toMatchObject({ differs: ['amount'] });
    expect(JSON.parse(report(refused, true).stderr).error).not.toHaveProperty('differs');
  });

  it.each<[ErrorContext, string]>([
    [{ httpStatus: 400, bankCode: 'E1' }, '  (code E1)\n'],
    [{ httpStatus: 400, requestId: 'b', transactionId: 't' }, '  (bank request b, transaction t)\n'],
    // Without an answer of the bank, its support knows nothing of the call.
    [{ tppRequestId: 'q', transactionId: 't' }, ''],
    [{ httpStatus: 400 }, ''],
    [{}, ''],
  ])('the ids of %j are shown as %j', (context, ids) => {
    expect(report(new Psd2Error('bank_refused', 'No', context), false).stderr).toBe(`psd2: No.\n${ids}`);
  });

  it.each([
    ['Done', 'psd2: Done.\n'],
    ['Done.', 'psd2: Done.\n'],
    ['Really?', 'psd2: Really?\n'],
    ['The bank says:', 'psd2: The bank says:\n'],
  ])('the message %j ends as %j', (message, stderr) => {
    expect(report(new Psd2Error('usage', message), false).stderr).toBe(stderr);
  });

  it('psd2 prints an error quickly, whatever a bank put into it', () => {
    const message = `${': psd2 x'.repeat(500_000)}.\u2028x`;
    expect(report(new Psd2Error('bank_refused', message), false).stderr).toMatch(/x\. x\.\n$/);
  });

  it('an error shows nothing of its cause', () => {
    for (const asJson of [true, false]) expect(report(refused, asJson).stderr).not.toContain('inner secret');
  });

  it("an error brings none of the bank's control characters to the terminal", () => {
    const evil = new Psd2Error('bank_refused', 'said \u001b[2J\nand \u009b1A', {
      hint: '\u202ehint',
      httpStatus: 400,
      bankCode: '\u0007code',
    });
    for (const asJson of [true, false]) {
      // biome-ignore lint/suspicious/noControlCharactersInRegex: the test looks for these
      expect(report(evil, asJson).stderr).not.toMatch(/[\u0000-\u0009\u000b-\u001f\u007f-\u009f\u202e]/);
    }
  });
});

describe('the commands that an error names', () => {
  const resume = ['transfer', 'resume', 'tr-1', '--reference', "O'Hara & sons"];
  const written = "psd2 transfer resume tr-1 --reference 'O'\\''Hara & sons'";
  const named = (context: ErrorContext) => new Psd2Error('interrupted', 'Interrupted', context);

  it('the commands come after the hint, quoted for a shell', () => {
    const said = (context: ErrorContext) => report(named(context), false).stderr;
    expect(said({ hint: 'Continue with:', next: [resume] })).toBe(
      `psd2: Interrupted.\n  Continue with: ${written}\n`,
    );
    expect(said({ next: [['auth', 'login'], resume] })).toBe(
      `psd2: Interrupted.\n  Run:\n    Log a customer in:                      psd2 auth login\n    Ask the bank again (never pays twice):  ${written}\n`,
    );
    expect(said({ hint: 'No login.', next: [['auth', 'login']] })).toBe(
      'psd2: Interrupted.\n  No login. Run: psd2 auth login\n',
    );
  });

  it('in JSON the commands are lists of arguments, with the flow', () => {
    const { error } = JSON.parse(report(named({ next: [resume], flow: 'tr-1' }), true).stderr);
    expect(error).toMatchObject({ next: [['psd2', ...resume]], flow: 'tr-1', hint: `Run: ${written}` });
  });

  it('the commands repeat the given --profile, unless they need none or name their own', () => {
    const next = [
      ['auth', 'login'],
      ['sandbox', 'start'],
      ['--profile', 'other', 'auth', 'login'],
    ];
    const { error } = JSON.parse(report(named({ next }), true, 'my bank').stderr);
    expect(error.next).toEqual([
      ['psd2', '--profile', 'my bank', 'auth', 'login'],
      ['psd2', 'sandbox', 'start'],
      ['psd2', '--profile', 'other', 'auth', 'login'],
    ]);
    expect(error.hint).toContain("psd2 --profile 'my bank' auth login\n");
  });
});

it('on a terminal an error wraps between words, and the other lines align with the first', () => {
  const { stream, written } = openStream({ columns: 40 });
  const hint =
    'Choose another one that is registered at the bank, such as PSD2_REDIRECT_URI=http://127.0.0.1:8911/callback';
  reportError(new Psd2Error('config', 'The 日本 redirect URI has a port that is taken', { hint }), stream, {
    asJson: false,
  });
  expect(written().split('\n')).toEqual([
    'psd2: The 日本 redirect URI has a port',
    'that is taken.',
    '  Choose another one that is registered',
    '  at the bank, such as',
    '  PSD2_REDIRECT_URI=http://127.0.0.1:8911/callback',
    '',
  ]);
});

it.each([
  ['no terminal', {}],
  ['a terminal that does not know its width', { isTTY: true }],
  ['a pipe that has a width, as a terminal has', { columns: 40 }],
])('for %s an error stays on its line', (_, changes) => {
  const { stream, written } = openStream('no terminal');
  const message = `The ${'long '.repeat(40)}story`;
  reportError(new Psd2Error('config', message), Object.assign(stream, changes), { asJson: false });
  expect(written()).toBe(`psd2: ${message}.\n`);
});

describe('an unexpected error', () => {
  it.each([
    [new TypeError('x is undefined'), 'TypeError: x is undefined'],
    ['thrown text', 'thrown text'],
  ])('psd2 reports %s as a bug', (error, shown) => {
    const { exitCode, stderr } = report(error, false);
    expect(exitCode).toBe(1);
    expect(stderr).toContain('This is a bug in psd2.');
    expect(stderr).toContain(shown);
  });

  it('in JSON an unexpected error has the code bug', () => {
    const { exitCode, stderr } = report(new TypeError('x is undefined'), true);
    const bug = { code: 'bug', message: 'x is undefined', exitCode: 1, hint: null };
    expect([exitCode, JSON.parse(stderr).error]).toEqual([1, expect.objectContaining(bug)]);
  });
});

describe('output that is lost', () => {
  let said = '';
  const exit = vi.fn<(code?: string | number | null) => never>();
  const lose = (code?: string) => endOverLostOutput(Object.assign(new Error('no space'), { code }));

  beforeEach(() => {
    const before = process.exitCode;
    exit.mockReset();
    vi.spyOn(process, 'exit').mockImplementation(exit);
    said = '';
    vi.spyOn(process.stderr, 'write').mockImplementation((text) => {
      said += text;
      return true;
    });
    vi.stubEnv('PSD2_OUTPUT', '');
    onTestFinished(() => {
      process.exitCode = before;
      vi.restoreAllMocks();
      vi.unstubAllEnvs();
    });
  });

  it.each([
    [undefined, 'ENOSPC', 3, 'ENOSPC'],
    [0, 'ENOSPC', 3, 'ENOSPC'],
    [9, undefined, 9, 'unknown reason'],
  ])('ends a command whose exit code is %s, for the reason %s, with %i', (own, reason, code, shown) => {
    process.exitCode = own;
    lose(reason);
    expect(exit).toHaveBeenCalledExactlyOnceWith(code);
    expect(said).toBe(
      `psd2: Standard output could not be written (${shown}).\n` +
        '  Check the free space of its disk. See the outcome of a payment with: psd2 transfer list\n',
    );
  });

  it('is JSON for a program', () => {
    vi.stubEnv('PSD2_OUTPUT', 'json');
    lose('ENOSPC');
    expect(JSON.parse(said).error).toMatchObject({
      ...{ code: 'config', message: 'Standard output could not be written (ENOSPC)', exitCode: 3 },
      next: [['psd2', 'transfer', 'list']],
    });
  });

  it('is no error if the reader has read enough, and the exit code of the command stays', () => {
    const ended = new Error('the process ends');
    exit.mockImplementation(() => {
      throw ended;
    });
    process.exitCode = 9;
    expect(() => lose('EPIPE')).toThrow(ended);
    expect(exit).toHaveBeenCalledExactlyOnceWith();
    expect([process.exitCode, said]).toEqual([9, '']);
  });
});

describe('a program that is replaced while it runs', () => {
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

  it('a chunk that is missing is a bug, but not after an upgrade, or if the whole program is gone', () => {
    const { late } = require(place('main.js'));
    expect(replacedWhileRunning(thrownBy(late), program)).toBeUndefined();
    writeFileSync(place('main.js'), `exports.late = () => require('./chunks/late-B.js');`);
    expect(replacedWhileRunning(thrownBy(late), program)).toMatchObject(REPLACED);
    rmSync(program, { recursive: true });
    expect(replacedWhileRunning(thrownBy(late), program)).toMatchObject(REPLACED);
  });

  it('a missing module elsewhere, and any other error, is a bug', () => {
    const elsewhere = join(temporary, `elsewhere-${count}`);
    const { late } = require(place('main.js'));
    writeFileSync(place('main.js'), '');
    for (const error of [
      thrownBy(late),
      thrownBy(() => require(place('no-such-file.js'))),
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
});
