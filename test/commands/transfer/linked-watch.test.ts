import { expect, it } from 'vitest';
import { watchTransfer } from '../../../src/commands/transfer/watch.ts';
import { parsePaymentAmount } from '../../../src/domain/order/payment-amount.ts';
import type { TransferEvent } from '../../../src/domain/transfer.ts';
import { judgeByStandard, useNextGen } from '../../bank/interfaces/nextgenpsd2/client.ts';
import { useRecordedBank } from '../../bank/recorded-bank.ts';
import { newPayment, PAGE, paymentScriptOf } from '../../flows/linked-payments.ts';
import { temporaryFolder } from '../../store/temporary-folder.ts';

const recorded = useRecordedBank(judgeByStandard);
const open = useNextGen(recorded);
const script = paymentScriptOf(recorded);
const temporary = temporaryFolder();

const links = {
  approach: 'redirect',
  redirect: PAGE,
  status: '/v1/payments/sepa-credit-transfers/p1/authorisations/a1',
} as const;
const VERIFIED: TransferEvent = {
  ...{ type: 'verified', resourceId: 'p1', totalAmount: null, commissions: null, bankName: null },
  ...{ nextStep: 'authorisation', links },
};

/** Watches a payment with these events after its initiation was sent: by default it was left with the customer. */
async function watched(
  events: TransferEvent[] = [VERIFIED, { type: 'sca-started', links }],
  world: object = {},
) {
  const { bank } = open();
  const paying = await newPayment(temporary, bank);
  await paying.flows.resume('transfer', paying.flow, async (flow) => {
    await flow.record({ type: 'accepted' });
    await flow.record({ type: 'verify-sent', requestId: 'r', digest: null });
    expect(flow.current.state).toBe('executing');
    for (const event of events) await flow.record(event);
  });
  const watch = () =>
    watchTransfer({
      world: { ...paying.world, ...world },
      bank: async () => bank,
      read: paying.stored,
      isAtWork: async () => false,
      seen: () => {},
    });
  return { ...paying, watch };
}

it('a watched payment whose only authorisation has failed is over, although the bank still calls it RCVD', async () => {
  const { watch, stored } = await watched();
  for (const _ of ['at first', 'once more']) {
    script.sca('failed');
    script.is('RCVD');
    script.authorisations('a1');
  }
  expect(await watch()).toMatchObject({
    transactionStatus: 'RCVD',
    scaStatus: 'failed',
    state: 'authorizing',
  });
  expect(await stored()).toMatchObject({ state: 'authorizing', scaStatus: null });
});

it('a watched payment is not over while another authorisation may follow a failed one, or nobody has decided', async () => {
  const { watch, world } = await watched();
  script.sca('failed');
  script.is('RCVD');
  script.authorisations('a1', 'a2');
  script.sca('started');
  script.is('ACTC');
  script.sca('finalised');
  script.is('ACSC');
  expect(await watch()).toMatchObject({ transactionStatus: 'ACSC', scaStatus: 'finalised' });
  expect(world.sleeps).toHaveLength(2);
});

it('a watched payment whose fees nobody has confirmed needs the operator, so the bank is not asked', async () => {
  const fees = { commissions: { amount: parsePaymentAmount('0.5'), currency: 'EUR' } };
  const sleep = () => Promise.reject(new RangeError('It waited'));
  const { watch, stored } = await watched([{ ...VERIFIED, ...fees }], { sleep });
  expect(await watch()).toEqual(await stored());
  expect(recorded.received).toEqual([]);
});
