import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { expect, it } from 'vitest';
import { parseProductId } from '../../../src/domain/identifiers.ts';
import type { StepEvent } from '../../../src/domain/operation.ts';
import { parsePaymentAmount } from '../../../src/domain/order/payment-amount.ts';
import { VERIFIED } from '../../domain/orders.ts';
import { temporaryFolder } from '../../store/temporary-folder.ts';
import { BankHere, OWN_ACCOUNT } from '../bank-here.ts';
import { ANNA, endOf, payerAt } from '../payer-here.ts';

// What the verbs of every flow say of operations with a name of the bank's own.

const temporary = temporaryFolder();
const verify = (data = '{"a":1}') => [
  ...['operation', 'verify', 'standingOrder', '--account', OWN_ACCOUNT, '--data', data],
];

it('the list has a line for each, for people and for programs', async () => {
  const bank = new BankHere();
  bank.verified = { totalAmount: { amount: parsePaymentAmount('1.50'), currency: 'EUR' } };
  const payer = await payerAt(bank, temporary);
  await payer.run(verify());
  const list = (format: 'table' | 'csv') => payer.run(['operation', 'list'], { format });
  expect((await list('table')).printed).toMatchInlineSnapshot(`
    "op-1	verified	standingOrder	0000012345	NOW	1048262
    "
  `);
  expect((await list('csv')).printed).toMatchInlineSnapshot(`
    "flow,kind,state,resourceId,transactionId,customerId,operation,product,nextStep,totalAmount.amount,totalAmount.currency,commissions.amount,commissions.currency,authorizationStatus,executionStatus,executionStatusDescription,bankReasons,cro,resolution.outcome,resolution.by,resolution.at,resolution.note,createdAt,updatedAt
    op-1,operation,verified,pay-1,an-id,1048262,standingOrder,0000012345,execute,1.50,EUR,,,,,,[],,,,,,NOW,NOW
    "
  `);
});

it('a person sees the next step of an operation, and what it costs', async () => {
  const bank = new BankHere();
  bank.verified = {
    totalAmount: { amount: parsePaymentAmount('13'), currency: 'EUR' },
    commissions: { amount: parsePaymentAmount('0.5'), currency: 'EUR' },
    nextStep: 'verify2',
  };
  const payer = await payerAt(bank, temporary);
  const { data } = await payer.run(verify());
  expect([data.nextStep, data.totalAmount, data.commissions]).toEqual([
    'verify2',
    { amount: '13.00', currency: 'EUR' },
    { amount: '0.50', currency: 'EUR' },
  ]);
  const shown = await payer.run(['operation', 'show', 'op-1'], { format: 'table' });
  expect(shown.printed).toMatchInlineSnapshot(`
    "Operation	op-1
    Name	standingOrder
    State	verified
    Customer	1048262
    Account	0000012345
    Next step	verify2
    Total	13.00 EUR
    Commission	0.50 EUR
    Authorization	
    CRO	
    Resolved	
    Resource	pay-1
    Transaction	an-id
    "
  `);
});

it('a person sees the status of an operation at the bank', async () => {
  const bank = new BankHere();
  const payer = await payerAt(bank, temporary);
  await payer.run(['operation', 'run', 'standingOrder', '--account', OWN_ACCOUNT]);
  const words = ['operation', 'status', 'standingOrder', '--account', OWN_ACCOUNT, '--resource', 'op-1'];
  const { printed, failure } = await payer.run(words, { format: 'table' });
  expect(failure).toBeNull();
  expect(printed).toMatchInlineSnapshot(`
    "Resource	pay-1
    Authorization	executed
    Execution	executed
    "
  `);
});

it('an operation that is resumed is executed with its receipt, and records no data that nobody gave', async () => {
  const bank = new BankHere();
  const payer = await payerAt(bank, temporary);
  await payer.run(verify());
  const file = join(temporary, 'later.pdf');
  const resumed = await payer.run(['operation', 'resume', 'op-1', '--receipt', file]);
  expect([resumed.data.state, endOf(resumed)]).toEqual(['executed', ['done']]);
  expect(readFileSync(file, 'utf8')).toBe('receipt of pay-1');
  expect(payer.journal('op-1').map(({ type }) => type)).not.toContain('further-data');
});

it.each([
  ['as it is', `{"a":"${'x'.repeat(992)}"}`, ''],
  ['shortened', `{"a":"${'x'.repeat(993)}"}`, ' ...'],
])('a person who ends an operation sees what it is, with its data %s', async (_, data, end) => {
  const bank = new BankHere();
  bank.verified = { totalAmount: { amount: parsePaymentAmount('1.50'), currency: 'EUR' } };
  const payer = await payerAt(bank, temporary);
  await payer.run(verify(data));
  const cancelled = await payer.run(['operation', 'cancel', 'op-1'], { answers: [true] });
  expect(cancelled.said.replaceAll(/x+/g, (found) => `x*${found.length}`)).toContain(`{"a":"x*99`);
  expect(cancelled.said).toContain(`${data.slice(0, 1_000)}${end}\n`);
  expect(cancelled.said.replace(data.slice(0, 1_000) + end, 'DATA')).toMatchInlineSnapshot(`
    "The operation op-1 is verified:
      Name               standingOrder
      Account            0000012345
      Total              1.50 EUR
      Data               DATA
      Begun              NOW
      Last change        NOW
    "
  `);
  expect([cancelled.data.state, cancelled.asked]).toEqual(['cancelled', ['Cancel the operation for good?']]);
});

/** A payer with an operation that got so far. */
async function withOperation(...events: StepEvent[]) {
  const bank = new BankHere();
  const payer = await payerAt(bank, temporary);
  const { flows } = await payer.open().context.store();
  const order = {
    ...{ customerId: ANNA, from: parseProductId(OWN_ACCOUNT), operation: 'standingOrder', data: '{}' },
  };
  const flow = await flows.begin(
    'operation',
    { transactionId: crypto.randomUUID(), commits: 'on execute', order },
    async (open) => {
      for (const event of events) await open.record(event);
      return open.current;
    },
  );
  await payer.run(['operation', 'show', flow.flow]);
  return { bank, payer };
}
const SENT: StepEvent[] = [
  VERIFIED,
  { type: 'accepted' },
  { type: 'sca-started' },
  { type: 'authorization', status: 'AUTHORIZED', bankStatus: 'AUTHORIZED' },
  { type: 'execute-sent', requestId: 'q', digest: null },
];

it('psd2 asks what became of an operation whose execute was sent', async () => {
  const { bank, payer } = await withOperation(...SENT);
  const resumed = await payer.run(['operation', 'resume', 'op-1']);
  expect([resumed.data.state, endOf(resumed), bank.sent]).toMatchInlineSnapshot(`
    ["unknown",
     ["exit 9, outcome_unknown of op-1: The bank does not say yet whether the standingOrder was executed",
      "First ask the bank again, which never pays twice. If the outcome stays unknown, ask the bank's support or look at the account statement, then record what they say:",
      "$ operation resume op-1", "$ operation resolve op-1 --executed",
      "$ operation resolve op-1 --not-executed", "transactionId: "an-id""],
     []]
  `);
});

it('a standing order that waits for the customer is not for a person to decide', async () => {
  const payer = await payerAt(new BankHere(), temporary);
  await payer.run(verify());
  const resolved = await payer.run(['operation', 'resolve', 'op-1', '--not-executed', '--note', 'x']);
  expect(endOf(resolved)).toMatchInlineSnapshot(`
    ["exit 2, usage of op-1: The operation op-1 is verified, so its outcome is not unknown",
     "Continue with:", "$ operation resume op-1", "transactionId: "an-id""]
  `);
});
