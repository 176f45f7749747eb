import { describe, expect, it } from 'vitest';
import {
  isAboutContent,
  isBanksRefusal,
  isInterruption,
  isOvertaken,
  isRefusal,
  isTurningAway,
} from '../../src/bank/call/failure.ts';
import { type ErrorContext, Psd2Error } from '../../src/errors.ts';

const refused = (context: ErrorContext) => new Psd2Error('bank_refused', 'The bank says no', context);

describe('a refusal', () => {
  it.each([
    ['an error status', refused({ httpStatus: 400 })],
    ['no status', refused({})],
    ['403', new Psd2Error('forbidden', 'No', { httpStatus: 403 })],
    ['a demand for SCA', new Psd2Error('sca_required', 'SCA', { httpStatus: 412 })],
    ['the last error status', refused({ httpStatus: 300 })],
    ['a success status with an error code', refused({ httpStatus: 200, bankCode: 'PSD2_TEST' })],
    ['a success status with the outcome ERROR', refused({ httpStatus: 299, outcome: 'ERROR' })],
  ])('an error with %s is a refusal', (_what, error) => {
    expect(isRefusal(error)).toBe(true);
  });

  it.each([
    ['a gateway timeout', refused({ httpStatus: 408, outcome: 'ERROR', bankCode: 'PSD2_TEST' })],
    ['the lowest success status without a word of the bank', refused({ httpStatus: 200 })],
    ['the highest success status without a word of the bank', refused({ httpStatus: 299 })],
    ['a lost connection', new Psd2Error('bank_unreachable', 'Lost')],
    ['a failing bank', new Psd2Error('bank_failing', 'Down', { httpStatus: 500, outcome: 'ERROR' })],
    ['an error of another program', Object.assign(new Error('no'), { code: 'bank_refused' })],
    ['nothing', undefined],
  ])('an error with %s is no refusal', (_what, error) => {
    expect(isRefusal(error)).toBe(false);
    expect(isBanksRefusal(error)).toBe(false);
  });

  it("only the bank's own envelope makes it the bank's refusal", () => {
    expect(isBanksRefusal(refused({ httpStatus: 400, outcome: 'ERROR' }))).toBe(true);
    expect(isBanksRefusal(refused({ httpStatus: 400, bankCode: 'PSD2_TEST' }))).toBe(false);
  });
});

describe('other ends of a call', () => {
  it('only the error code says that another psd2 has taken over the flow', () => {
    expect(isOvertaken(new Psd2Error('overtaken', 'Another one works on it'))).toBe(true);
    expect(isOvertaken(new Psd2Error('interrupted', 'Ctrl-C'))).toBe(false);
    expect(isOvertaken(Object.assign(new Error('x'), { code: 'overtaken' }))).toBe(false);
  });

  it('Ctrl-C and bugs interrupt a call, and errors of psd2 do not', () => {
    expect(isInterruption(new Psd2Error('interrupted', 'Ctrl-C'))).toBe(true);
    expect(isInterruption(new TypeError('a bug'))).toBe(true);
    expect(isInterruption(new Psd2Error('bank_unreachable', 'Lost'))).toBe(false);
  });
});

describe('what a refusal says', () => {
  it.each([
    ['too many calls', new Psd2Error('too_many_calls', 'Wait', { httpStatus: 429, outcome: 'ERROR' })],
    [
      'a token that is not valid',
      new Psd2Error('not_logged_in', 'No', { httpStatus: 401, outcome: 'ERROR' }),
    ],
  ])('the bank says that it refused a call unread because of %s', (_what, error) => {
    expect(isTurningAway(error)).toBe(true);
  });

  it.each([
    [
      'too many calls, in the words of a gateway',
      new Psd2Error('too_many_calls', 'Wait', { httpStatus: 429 }),
    ],
    ['a token, in the words of a gateway', new Psd2Error('not_logged_in', 'No', { httpStatus: 401 })],
    ['no login at all', new Psd2Error('not_logged_in', 'Nobody', { outcome: 'ERROR' })],
    ['another 401', new Psd2Error('sca_required', 'SCA', { httpStatus: 401, outcome: 'ERROR' })],
    ['its content', refused({ httpStatus: 400, outcome: 'ERROR' })],
    [
      'an error of another program',
      Object.assign(new Error('no'), { code: 'too_many_calls', outcome: 'ERROR' }),
    ],
  ])('the bank did not say that it refused a call unread: %s', (_what, error) => {
    expect(isTurningAway(error)).toBe(false);
  });

  it.each([400, 417, 422])('HTTP %i refuses what the request contains', (httpStatus) => {
    expect(isAboutContent(refused({ httpStatus }))).toBe(true);
  });

  it.each([401, 403, 404, 409, 412, 420, 429])(
    'HTTP %i may also mean that the bank has done it already',
    (httpStatus) => {
      expect(isAboutContent(refused({ httpStatus }))).toBe(false);
    },
  );

  it('an error without a status may also mean that the bank has done it already', () => {
    expect(isAboutContent(refused({}))).toBe(false);
  });
});
