import { describe, expect, it } from 'vitest';
import * as z from 'zod/mini';
import { factsOf } from '../../../../src/bank/interfaces/cb/accounts.ts';
import { readAnswer } from '../../../../src/bank/interfaces/cb/answer.ts';
import { Psd2Error } from '../../../../src/errors.ts';
import {
  isAboutContent,
  isBanksRefusal,
  isInterruption,
  isOvertaken,
  isRefusal,
  isTurningAway,
} from '../../../../src/flows/refusals.ts';
import { answered } from './answered.ts';

const BANKS = '{"result":{"outcome":"ERROR"}}';
const BANKS_WITH_CODE =
  '{"result":{"outcome":"ERROR","messages":[{"code":"PSD2_TEST","message":"no","type":"ERROR"}]}}';
const GATEWAYS = '{"error":"PSD2_TEST"}';
const BLOCKED = '<html>';
const SCA = '{"result":{"outcome":"ERROR","messages":[{"code":"PSD2_SCA_REQUIRED","type":"ERROR"}]}}';

/** The error for an answer with this status and body. */
async function errorFor(status: number, body: string): Promise<Psd2Error> {
  const call = { method: 'PUT', path: '/x', facts: factsOf('PUT', '/x'), transactionId: 't1' } as const;
  const answer = await answered(call, { status, body });
  try {
    readAnswer(answer, z.unknown());
  } catch (error) {
    if (error instanceof Psd2Error) return error;
    throw error;
  }
  throw new TypeError('The answer was read as a success');
}

describe('a refusal', () => {
  it.each([
    [400, BANKS],
    [400, GATEWAYS],
    [400, BLOCKED],
    [403, BLOCKED],
    [412, SCA],
    [404, BLOCKED],
    [200, BANKS],
    [299, BANKS_WITH_CODE],
    [200, GATEWAYS],
  ])('HTTP %i with %s is a refusal', async (status, body) => {
    expect(isRefusal(await errorFor(status, body))).toBe(true);
  });

  it.each([
    [408, BANKS_WITH_CODE],
    [200, BLOCKED],
    [299, BLOCKED],
    [300, BANKS],
    [500, BANKS],
  ])('HTTP %i with %s is not a refusal', async (status, body) => {
    const error = await errorFor(status, body);
    expect(isRefusal(error)).toBe(false);
    expect(isBanksRefusal(error)).toBe(false);
    expect(isTurningAway(error)).toBe(false);
  });

  it('an error that is not an answer of the bank is not at a refusal', () => {
    for (const error of [
      new Psd2Error('bank_unreachable', 'Lost'),
      Object.assign(new Error('no'), { code: 'bank_refused', refusal: 'content', isBanks: true }),
      undefined,
    ]) {
      expect(isRefusal(error)).toBe(false);
      expect(isBanksRefusal(error)).toBe(false);
      expect(isTurningAway(error)).toBe(false);
    }
  });

  it("only the bank's own envelope makes it the bank's refusal", async () => {
    expect(isBanksRefusal(await errorFor(400, BANKS))).toBe(true);
    expect(isBanksRefusal(await errorFor(400, GATEWAYS))).toBe(false);
  });
});

describe('what a refusal says', () => {
  it.each([401, 420, 429])('the bank says that it refused a call unread with HTTP %i', async (status) => {
    expect(isTurningAway(await errorFor(status, BANKS))).toBe(true);
    expect(isRefusal(await errorFor(status, BANKS))).toBe(false);
  });

  it.each([
    ['too many calls, in the words of a gateway', 429, GATEWAYS],
    ['a token, in the words of a gateway', 401, GATEWAYS],
    ['a demand for SCA', 401, SCA],
    ['its content', 400, BANKS],
  ])('the bank did not say that it refused a call unread: %s', async (_what, status, body) => {
    expect(isTurningAway(await errorFor(status, body))).toBe(false);
  });

  it.each([400, 417, 422])('HTTP %i refuses what the request contains', async (status) => {
    expect(isAboutContent(await errorFor(status, BANKS))).toBe(true);
    expect(isAboutContent(await errorFor(status, BLOCKED))).toBe(true);
  });

  it.each([401, 403, 404, 409, 412, 420, 429])(
    'HTTP %i may also mean that the bank has done it already',
    async (status) => {
      expect(isAboutContent(await errorFor(status, BANKS))).toBe(false);
    },
  );
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
