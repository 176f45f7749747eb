import { describe, expect, test } from 'vitest';
import type { BankFile } from '../../../../src/bank/interfaces/nextgenpsd2/description/schema.ts';
import type { Entry } from '../../../../src/sandbox/ledger/entry.ts';
import { runDuePayments } from '../../../../src/sandbox/nextgenpsd2/payments/run-payments.ts';
import type { Variation } from '../../../../src/sandbox/nextgenpsd2/variations.ts';
import { accountOf, seeded } from '../../seeded.ts';
import { bankHere } from '../bank-here.ts';
import { ANNA } from '../door-client.ts';
import { INSTANT, paymentBody, SCT } from '../payment-client.ts';

// What the account of the payer says of a payment: when the money left it, and when that is booked.

const DAY = 24 * 60 * 60_000;
const HOUR = DAY / 24;
const MINUTE = HOUR / 60;
const PERIODIC = '/v1/periodic-payments/sepa-credit-transfers';
const REFERENCE = 'E2E-1';

async function opened(variations: Parameters<typeof bankHere>[1] = []) {
  const products: NonNullable<BankFile['payments']>['products'] = {
    payments: ['sepa-credit-transfers', 'instant-sepa-credit-transfers'],
    'periodic-payments': ['sepa-credit-transfers'],
  };
  const here = await bankHere({ payments: { products, futureDays: 30 } }, variations);
  const product = accountOf(seeded('anna'));
  const rowOf = ({ enteredAt, bookingDay, valueDay }: Entry, state: string): string =>
    [state, enteredAt.toISOString().slice(0, 16), bookingDay, valueDay].join(' ');
  /** The debits of the payment, oldest first: `booked 2026-11-20T11:00 2026-11-23 2026-11-23`. */
  const debits = (): string[] => {
    runDuePayments(here.bank);
    const { booked, pending } = here.bank.ledger.entries(
      product,
      { from: undefined, to: undefined },
      here.bank.now(),
    );
    const isDebit = ({ transferReference, isFee }: Entry) => transferReference === REFERENCE && !isFee;
    return [
      ...pending.filter(isDebit).map((entry) => rowOf(entry, 'pending')),
      ...booked
        .slice(0, booked.count)
        .filter(isDebit)
        .map((entry) => rowOf(entry, 'booked')),
    ].toReversed();
  };
  const initiate = (path: string, changes: object, faults: string[] = []) => {
    const body = paymentBody({ endToEndIdentification: REFERENCE, ...changes });
    return here.serve(`POST ${path}`, { body, faults });
  };
  return { ...here, debits, initiate };
}

// The bank opens on Friday, 20 November 2026, at noon. Monday is the next business day.
describe('a payment is booked', () => {
  test.each<[what: string, path: string, changes: object, after: number, rows: string[]]>([
    ['a transfer, at once', SCT, {}, 0, ['pending 2026-11-20T11:00 2026-11-23 2026-11-23']],
    ['a transfer, on Monday', SCT, {}, 3 * DAY, ['booked 2026-11-20T11:00 2026-11-23 2026-11-23']],
    [
      'a transfer for today',
      SCT,
      { requestedExecutionDate: '2026-11-20' },
      0,
      ['pending 2026-11-20T11:00 2026-11-23 2026-11-23'],
    ],
    ['a transfer for Tuesday, on Monday', SCT, { requestedExecutionDate: '2026-11-24' }, 3 * DAY, []],
    [
      'a transfer for Tuesday, on Tuesday',
      SCT,
      { requestedExecutionDate: '2026-11-24' },
      4 * DAY,
      ['booked 2026-11-24T04:00 2026-11-24 2026-11-24'],
    ],
    [
      'a transfer for tomorrow, a Saturday',
      SCT,
      { requestedExecutionDate: '2026-11-21' },
      DAY,
      ['booked 2026-11-21T04:00 2026-11-21 2026-11-21'],
    ],
    ['an instant transfer', INSTANT, {}, 500, ['booked 2026-11-20T11:00 2026-11-20 2026-11-20']],
    [
      'a standing order from today',
      PERIODIC,
      { startDate: '2026-11-20', frequency: 'Weekly' },
      7 * DAY,
      ['booked 2026-11-20T11:00 2026-11-20 2026-11-20', 'booked 2026-11-27T04:00 2026-11-27 2026-11-27'],
    ],
    [
      'a standing order from tomorrow',
      PERIODIC,
      { startDate: '2026-11-21', frequency: 'Daily', endDate: '2026-11-22' },
      7 * DAY,
      ['booked 2026-11-21T04:00 2026-11-21 2026-11-21', 'booked 2026-11-22T04:00 2026-11-22 2026-11-22'],
    ],
  ])('%s', async (_, path, changes, after, rows) => {
    const { initiate, approve, clock, debits } = await opened();
    const reply = initiate(path, changes);
    expect(debits()).toEqual([]);
    approve(reply, ANNA);
    clock.advance(after);
    expect(debits()).toEqual(rows);
  });

  test('at once, if its day has begun when the customer authorises it', async () => {
    const { initiate, clock, debits, approve } = await opened();
    // At 23:58 in Rome, and four minutes later.
    clock.advance(12 * HOUR - 2 * MINUTE);
    const reply = initiate(SCT, { requestedExecutionDate: '2026-11-21' });
    clock.advance(4 * MINUTE);
    approve(reply, ANNA);
    expect(debits()).toEqual(['booked 2026-11-20T23:02 2026-11-21 2026-11-21']);
  });

  test.each<[variations: Variation[], faults: string[], minutes: number]>([
    [['executes-late'], [], 60],
    [[], ['executes-late=5'], 5],
    // The fault counts, whatever the bank does otherwise.
    [['executes-late'], ['executes-late=5'], 5],
    [['executes-late'], ['executes-late=90'], 90],
    [['executes-late'], ['delay=5'], 60],
    [[], ['delay=5'], 0],
  ])(
    'with %j and the faults %j %i minutes after the authorisation, and once',
    async (variations, faults, minutes) => {
      const { initiate, approve, clock, debits } = await opened(variations);
      approve(initiate(SCT, {}, faults), ANNA);
      if (minutes > 0) {
        expect(debits()).toEqual([]);
        clock.advance(minutes * MINUTE - 1);
        expect(debits()).toEqual([]);
        clock.advance(1);
      }
      const at = new Date(Date.parse('2026-11-20T11:00:00Z') + minutes * MINUTE).toISOString().slice(0, 16);
      expect(debits()).toEqual([`pending ${at} 2026-11-23 2026-11-23`]);
      clock.advance(2 * DAY);
      expect(debits()).toHaveLength(1);
    },
  );
});
