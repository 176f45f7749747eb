import { expect, it } from 'vitest';
import type { PaymentCalls } from '../../../src/bank/ports/payment-calls.ts';
import { Psd2Error } from '../../../src/errors.ts';
import { Initiations } from '../../../src/flows/batch/initiations.ts';
import { begunTransfer } from '../../domain/orders.ts';

// A run counts the initiations in a row that end unknown alike.

const INTENT = { requestId: 'q1', digest: null };
const unknown = (httpStatus?: number, bankCode?: string) =>
  new Psd2Error('outcome_unknown', 'Nobody knows', {
    ...(httpStatus !== undefined && { httpStatus }),
    ...(bankCode !== undefined && { bankCode }),
  });

interface Initiation {
  problem?: Error;
  /** psd2 stops before the call leaves. */
  isUnsent?: boolean;
  /** The bank has the payment, and only what follows is unknown. */
  isThere?: boolean;
}

/** @returns how the last ones ended alike, after each */
async function alikeAfter(initiations: readonly Initiation[]) {
  const run = new Initiations();
  const alike: (string | null)[] = [];
  for (const { problem, isUnsent = false, isThere = false } of initiations) {
    const before = begunTransfer();
    const open = { current: before };
    const calls: PaymentCalls = Object.create({
      verify: async (beforeSend: (intent: typeof INTENT) => Promise<unknown>) => {
        await beforeSend(INTENT);
        if (isThere) open.current = { ...before, verification: Object.create({}) };
      },
    });
    const work = run.counting(open, { ...calls, verify: calls.verify }, async (counted) => {
      if (!isUnsent) await counted.verify(async () => undefined, 'q1');
      if (problem) throw problem;
    });
    const thrown = await work.then(
      () => undefined,
      (error: unknown) => error,
    );
    expect(thrown).toBe(problem);
    alike.push(run.alike);
  }
  return alike;
}

const wrong = { problem: unknown(401, 'CERTIFICATE_INVALID') };
const WRONG = 'HTTP 401, CERTIFICATE_INVALID';
it.each<[string, Initiation[], (string | null)[]]>([
  ['three alike', [wrong, wrong, wrong, wrong], [null, null, WRONG, WRONG]],
  ['without an answer', Array(3).fill({ problem: unknown() }), [null, null, 'no answer']],
  ['with a status alone', Array(3).fill({ problem: unknown(503) }), [null, null, 'HTTP 503']],
  ['with a code alone', Array(3).fill({ problem: unknown(undefined, 'X') }), [null, null, 'X']],
  [
    'one that was not sent is not counted',
    [wrong, wrong, { ...wrong, isUnsent: true }, wrong],
    [null, null, null, WRONG],
  ],
  [
    'one that the bank has begins anew',
    [wrong, wrong, { ...wrong, isThere: true }, wrong],
    [null, null, null, null],
  ],
  [
    'one that went well begins anew',
    [wrong, wrong, {}, wrong, wrong, wrong],
    [null, null, null, null, null, WRONG],
  ],
  [
    'a plain refusal begins anew',
    [wrong, wrong, { problem: new Psd2Error('bank_refused', 'No', { httpStatus: 401 }) }, wrong],
    [null, null, null, null],
  ],
  [
    'another reason begins anew',
    [wrong, wrong, { problem: unknown(401, 'OTHER') }, wrong, wrong, wrong],
    [null, null, null, null, null, WRONG],
  ],
  [
    'a fault of psd2 begins anew',
    [wrong, wrong, { problem: new TypeError('x') }, wrong],
    [null, null, null, null],
  ],
])('%s', async (_, initiations, alike) => {
  expect(await alikeAfter(initiations)).toEqual(alike);
});
