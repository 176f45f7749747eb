import { describe, expect, it } from 'vitest';
import { reportError } from '../../src/cli/report-error.ts';
import { type ErrorContext, Psd2Error } from '../../src/errors.ts';
import { openStream } from '../terminal/stream.ts';

function report(error: unknown, asJson: boolean, profile?: string): { exitCode: number; stderr: string } {
  const { stream, written } = openStream('no terminal');
  return { exitCode: reportError(error, stream, { asJson, repeated: { profile } }), stderr: written() };
}

const refused = new Psd2Error('bank_refused', 'The bank refused POST /x (HTTP 422): bad character', {
  hint: 'Write it otherwise.',
  httpStatus: 422,
  bankCode: 'PSD2_E1',
  requestId: '012345678901234567890123',
  tppRequestId: 'q1',
  transactionId: 't1',
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

  it('a JSON error is one line with every field of the contract', () => {
    const { exitCode, stderr } = report(refused, true);
    expect(exitCode).toBe(7);
    expect(stderr).toMatch(/^[^\n]+\n$/);
    expect(JSON.parse(stderr)).toEqual({
      event: 'error',
      error: {
        code: 'bank_refused',
        message: 'The bank refused POST /x (HTTP 422): bad character',
        exitCode: 7,
        hint: 'Write it otherwise.',
        next: [],
        flow: null,
        httpStatus: 422,
        bankCode: 'PSD2_E1',
        requestId: '012345678901234567890123',
        tppRequestId: 'q1',
        transactionId: 't1',
      },
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

  it('a JSON error has null for unknown values', () => {
    expect(JSON.parse(report(new Psd2Error('usage', 'Wrong'), true).stderr)).toEqual({
      event: 'error',
      error: {
        code: 'usage',
        message: 'Wrong',
        exitCode: 2,
        hint: null,
        next: [],
        flow: null,
        httpStatus: null,
        bankCode: null,
        requestId: null,
        tppRequestId: null,
        transactionId: null,
      },
    });
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
  ['no terminal', undefined],
  ['a terminal that does not know its width', true],
])('for %s an error stays on its line', (_, isTTY) => {
  const { stream, written } = openStream('no terminal');
  const message = `The ${'long '.repeat(40)}story`;
  reportError(new Psd2Error('config', message), Object.assign(stream, { isTTY }), { asJson: false });
  expect(written()).toBe(`psd2: ${message}.\n`);
});

it('a pipe that has a width, as a terminal has, gets each sentence on its line', () => {
  const { stream, written } = openStream('no terminal');
  const message = `The ${'long '.repeat(40)}story`;
  reportError(new Psd2Error('config', message), Object.assign(stream, { columns: 40 }), { asJson: false });
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
    expect(exitCode).toBe(1);
    expect(JSON.parse(stderr)).toMatchObject({
      error: { code: 'bug', message: 'x is undefined', exitCode: 1, hint: null },
    });
  });
});
