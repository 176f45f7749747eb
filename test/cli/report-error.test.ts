import { describe, expect, it } from 'vitest';
import { reportError } from '../../src/cli/report-error.ts';
import { Psd2Error } from '../../src/errors.ts';
import { openStream } from '../terminal/stream.ts';

function report(error: unknown, asJson: boolean): { exitCode: number; stderr: string } {
  const { stream, written } = openStream('no terminal');
  return { exitCode: reportError(error, stream, asJson), stderr: written() };
}

const refused = new Psd2Error('bank_refused', 'The bank refused POST /x (HTTP 422): bad character', {
  hint: 'Write it otherwise',
  httpStatus: 422,
  bankCode: 'PSD2_E1',
  requestId: '012345678901234567890123',
  tppRequestId: 'q1',
  transactionId: 't1',
  cause: new Error('inner secret'),
});

describe('an error', () => {
  it('is a sentence, what to do, and the ids that the bank’s support asks for', () => {
    expect(report(refused, false)).toEqual({
      exitCode: 7,
      stderr:
        'psd2: The bank refused POST /x (HTTP 422): bad character.\n' +
        '  Write it otherwise.\n' +
        '  (code PSD2_E1, bank request 012345678901234567890123, request q1, transaction t1)\n',
    });
  });

  it('as JSON is one line with every field of the contract', () => {
    const { exitCode, stderr } = report(refused, true);
    expect(exitCode).toBe(7);
    expect(stderr).toMatch(/^[^\n]+\n$/);
    expect(JSON.parse(stderr)).toEqual({
      error: {
        code: 'bank_refused',
        message: 'The bank refused POST /x (HTTP 422): bad character',
        exitCode: 7,
        hint: 'Write it otherwise',
        httpStatus: 422,
        bankCode: 'PSD2_E1',
        requestId: '012345678901234567890123',
        tppRequestId: 'q1',
        transactionId: 't1',
      },
    });
  });

  it('as JSON has null for what is not known', () => {
    expect(JSON.parse(report(new Psd2Error('usage', 'Wrong'), true).stderr)).toEqual({
      error: {
        code: 'usage',
        message: 'Wrong',
        exitCode: 2,
        hint: null,
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
    ['Run: psd2 auth login', 'psd2: Run: psd2 auth login\n'],
  ])('%j ends as %j', (message, stderr) => {
    expect(report(new Psd2Error('usage', message), false).stderr).toBe(stderr);
  });

  it('is said at once, whatever a bank has put into it', () => {
    const message = `${': psd2 x'.repeat(500_000)}.\u2028x`;
    expect(report(new Psd2Error('bank_refused', message), false).stderr).toMatch(/x\. x\.\n$/);
  });

  it('shows nothing of its cause', () => {
    for (const asJson of [true, false]) expect(report(refused, asJson).stderr).not.toContain('inner secret');
  });

  it('carries no control characters of the bank to the terminal', () => {
    const evil = new Psd2Error('bank_refused', 'said \u001b[2J\nand \u009b1A', {
      hint: '\u202ehint',
      httpStatus: 400,
      bankCode: '\u0007code',
    });
    for (const asJson of [true, false]) {
      // biome-ignore lint/suspicious/noControlCharactersInRegex: these are what is looked for
      expect(report(evil, asJson).stderr).not.toMatch(/[\u0000-\u0009\u000b-\u001f\u007f-\u009f\u202e]/);
    }
  });
});

describe('anything else is a bug of psd2', () => {
  it.each([
    [new TypeError('x is undefined'), 'TypeError: x is undefined'],
    ['thrown text', 'thrown text'],
  ])('%s', (error, shown) => {
    const { exitCode, stderr } = report(error, false);
    expect(exitCode).toBe(1);
    expect(stderr).toContain('This is a bug in psd2.');
    expect(stderr).toContain(shown);
  });

  it('as JSON too', () => {
    const { exitCode, stderr } = report(new TypeError('x is undefined'), true);
    expect(exitCode).toBe(1);
    expect(JSON.parse(stderr)).toMatchObject({
      error: { code: 'bug', message: 'x is undefined', exitCode: 1, hint: null },
    });
  });
});
