import { expect, it, vi } from 'vitest';
import { paymentHolder } from '../../../src/domain/identifiers.ts';
import { Psd2Error } from '../../../src/errors.ts';
import { INITIATION } from '../../flows/stored-transfers.ts';
import { storeLogin } from '../access.ts';
import { ANNA, endOf } from '../payer-here.ts';
import { BASKET, BULK, beginLine, RUN, storeOf, told, useBatches } from './with-batch.ts';

// Bulk payments are cancelled as a whole, and signing baskets deleted. Their payments follow what the bank says.

const { payees } = useBatches();
const CANCEL = ['batch', 'cancel', 'batch-1'];
const BRIEFLY = { globals: { scaTimeout: '1' } };

/** A batch whose customer has the link of a bulk payment or a basket, and has not decided. */
async function awaited(terms: typeof BULK | typeof BASKET, as: string[] = []) {
  const here = await payees(terms, 'Ada', 'Bea');
  here.bank.customersAgree = false;
  await here.payer.run([...RUN, ...as], BRIEFLY);
  await here.payer.run(['operation', 'list']);
  here.bank.calls.length = 0;
  return here;
}

const states = async ({ flows }: Awaited<ReturnType<typeof storeOf>>) => {
  const all: string[] = [];
  for await (const { state } of flows.list('transfer', { onDamaged: () => {} })) all.push(state);
  for await (const { state } of flows.list('operation', { onDamaged: () => {} })) all.push(state);
  return all.join(' ');
};

it.each([
  ['batch cancel', CANCEL],
  ['operation cancel', ['operation', 'cancel', 'op-1']],
])('%s cancels a bulk payment at the bank, and its payments with it', async (_, words) => {
  const { bank, payer } = await awaited(BULK);
  expect(endOf(await payer.run(words))).toEqual(['done']);
  expect([await states(await storeOf(payer)), bank.calls]).toMatchInlineSnapshot(
    `["cancelled cancelled cancelled", ["cancel pay-1", "status pay-1", "status pay-1"]]`,
  );
  expect(endOf(await payer.run(['batch', 'retry', 'batch-1']))).toEqual(['done']);
});

it('operation cancel deletes a signing basket, and its payments are alone at the bank', async () => {
  const { bank, payer, pay } = await awaited(BASKET, ['--as', 'basket']);
  expect(endOf(await payer.run(['operation', 'cancel', 'op-1']))).toEqual(['done']);
  expect([await states(await storeOf(payer)), bank.sent, payer.events('tr-1')]).toMatchInlineSnapshot(`
    ["verified verified cancelled", ["cancel pay-3"],
     "created accepted verify-sent verified bulk-joined sca-started basket-deleted"]
  `);
  // Its link may still work, so only the bank cancels them.
  bank.meets('cancel', new Psd2Error('bank_refused', 'Not this one', { refusal: 'other', isBanks: true }));
  expect(told(await payer.run(CANCEL))).toMatchInlineSnapshot(`
    ["Payment 1: Not this one.",
     "exit 2, usage: One payment has begun and has not ended: line 1 is verified",
     "1 payment is cancelled. As long as nothing irreversible was sent:", "$ transfer cancel tr-1"]
  `);
  bank.customersAgree = true;
  expect(await pay([...RUN, '--as', 'single'])).toMatchInlineSnapshot(`
    ["1 executed tr-1 ", "2 cancelled tr-2 ", "1 of 2 paid (10.00 EUR), 1 not paid.",
     "exit 8, unpaid 1 of 2: retry batch-1"]
  `);
});

it('batch cancel deletes a signing basket, and then cancels its payments at the bank', async () => {
  const { bank, payer } = await awaited(BASKET, ['--as', 'basket']);
  const ran = await payer.run(CANCEL);
  expect([endOf(ran), ran.data.counts, bank.sent]).toEqual([
    ['done'],
    { cancelled: 2 },
    ['cancel pay-3', 'cancel pay-1', 'cancel pay-2'],
  ]);
});

it.each([
  ['batch cancel', CANCEL],
  ['operation cancel', ['operation', 'cancel', 'op-1']],
  ['operation resolve', ['operation', 'resolve', 'op-1', '--not-executed']],
])('after %s a bulk payment needs its tokens no more, and another payment still does', async (_, words) => {
  const { payer } = await awaited(BULK);
  const { flows, read } = await storeOf(payer);
  const [bulk = ''] = (await read()).bulks.keys();
  const { transactionId } = await flows.find('operation', bulk);
  const { context } = payer.open();
  const { tokens } = await context.store();
  const holders = [paymentHolder(transactionId), paymentHolder('of-another')];
  for (const holder of holders) await storeLogin(context, holder);
  await payer.logIn(ANNA);
  expect(endOf(await payer.run(words))).toEqual(['done']);
  const kept = await Promise.all(holders.map((holder) => tokens.login(holder)));
  expect(kept.map((login) => login !== undefined)).toEqual([false, true]);
});

it('what the bank does not cancel stays as it is, and the ways on are those of the batch', async () => {
  const { bank, payer } = await awaited(BULK);
  const ends: unknown[] = [];
  bank.meets('cancel', new Psd2Error('bank_refused', 'Too late', { refusal: 'other', isBanks: true }));
  ends.push(endOf(await payer.run(CANCEL)));
  bank.meets('cancel', 'lost');
  ends.push(endOf(await payer.run(['operation', 'cancel', 'op-1'])));
  expect([ends, await states(await storeOf(payer))]).toMatchInlineSnapshot(`
    [[["exit 13, still_open of op-1: Too late. The payment is not over: the customer can still authorise it",
       "Ask the bank what became of it, or end it there:", "$ batch status batch-1",
       "$ batch cancel batch-1", "transactionId: "an-id""],
      ["done"]],
     "cancelled cancelled cancelled"]
  `);
});

it('a bulk payment that the bank executes meanwhile is paid, also for its payments', async () => {
  const { bank, payer } = await awaited(BULK);
  bank.meanwhile = async (call) => {
    if (call === 'cancel pay-1') bank.last.became = 'executed';
  };
  bank.meets('cancel', new Psd2Error('bank_refused', 'Too late', { refusal: 'other', isBanks: true }));
  expect([endOf(await payer.run(CANCEL)), await states(await storeOf(payer))]).toMatchInlineSnapshot(`
    [["exit 7, bank_refused of op-1: It is too late: the bank has executed the bulk payment",
      "See it with:", "$ operation show op-1", "isDeadEnd: true", "transactionId: "an-id""],
     "executed executed executed"]
  `);
});

it('of several bulk payments, one that cannot be cancelled keeps no other one', async () => {
  const { bank, payer } = await payees({ ...BULK, bulk: { maxEntries: 1 } }, 'Ada', 'Bea', 'Cleo');
  bank.customersAgree = false;
  await payer.run([...RUN, '--as', 'bulk', '--only', '1', '2'], BRIEFLY);
  bank.meets('cancel', new Psd2Error('bank_refused', 'Too late', { refusal: 'other', isBanks: true }));
  expect([told(await payer.run(CANCEL)), await states(await storeOf(payer))]).toMatchInlineSnapshot(`
    [["exit 13, still_open of op-1: Too late. The payment is not over: the customer can still authorise it",
      "Ask the bank what became of it, or end it there:", "$ batch status batch-1",
      "$ batch cancel batch-1", "transactionId: "an-id""],
     "cancelled authorizing cancelled authorizing"]
  `);
});

it('a bulk payment whose link may work on keeps the references of its payments, until the bank says that it is over', async () => {
  const { bank, payer } = await awaited(BULK);
  bank.linksStay = true;
  const cancelled = await payer.run(CANCEL);
  expect([cancelled.data.state, cancelled.said, endOf(cancelled)]).toMatchInlineSnapshot(`
    ["cancelled",
     "A customer has a link to authorise 2 payments, which may work, although the bank has cancelled them. Their references stay reserved until the bank says that the link is over, or you do. Then ask the bank again with: psd2 batch status batch-1
    ",
     ["done"]]
  `);
  expect(endOf(await payer.run(['batch', 'retry', 'batch-1']))).toMatchInlineSnapshot(`
    ["exit 2, usage: There is nothing to retry: no payment is known to have failed",
     "psd2 has stored nothing. A customer has a link to authorise the payment, which may work, although the bank has cancelled it. The bank does not say what time it is. The reference "R-1" stays reserved until the bank says that the link is over, or you do. See its payments with:",
     "$ batch report batch-1"]
  `);
  // A run counts what has ended and keeps its reference as not paid.
  expect((await payer.run(RUN)).said).toContain('0 of 2 paid, 2 not paid.\n');
  bank.linksStay = false;
  await payer.run(['batch', 'status', 'batch-1']);
  expect(endOf(await payer.run(['batch', 'retry', 'batch-1']))).toEqual(['done']);
});

it('of several that cannot be cancelled, the first one is the error, and the others and what goes alone are said', async () => {
  const names = ['Ada', 'Bea', 'Cleo', 'Dora'];
  const { bank, payer } = await payees({ ...BULK, bulk: { maxEntries: 1 } }, ...names);
  bank.customersAgree = false;
  await payer.run([...RUN, '--as', 'bulk', '--only', '1', '2'], BRIEFLY);
  await payer.run([...RUN, '--as', 'single', '--only', '3'], BRIEFLY);
  const tooLate = (text: string) => new Psd2Error('bank_refused', text, { refusal: 'other', isBanks: true });
  bank.meets('cancel', tooLate('Too late'), tooLate('Not this one'));
  expect(told(await payer.run(CANCEL))).toMatchInlineSnapshot(`
    ["Not this one. The payment is not over: the customer can still authorise it.",
     "One payment has begun and has not ended: line 3 is authorizing.",
     "exit 13, still_open of op-1: Too late. The payment is not over: the customer can still authorise it",
     "Ask the bank what became of it, or end it there:", "$ batch status batch-1",
     "$ batch cancel batch-1", "transactionId: "an-id""]
  `);
});

it('of many payments that have not ended, the error names ten, and the commands for five', async () => {
  const names = Array.from({ length: 12 }, (_, index) => `P${index + 1}`);
  const { payer } = await payees({ commits: 'by the customer' }, ...names);
  const store = await storeOf(payer);
  const events = [{ type: 'accepted' }, { type: 'verify-sent', requestId: 'r', digest: null }] as const;
  for (let line = 1; line <= 11; line += 1)
    await beginLine(store, line, { initiation: INITIATION, events: [...events] });
  const [message, hint, ...next] = endOf(await payer.run(CANCEL));
  const lines = Array.from({ length: 10 }, (_, index) => `line ${index + 1} is executing`);
  expect([message, hint]).toEqual([
    `exit 2, usage: 11 payments have begun and have not ended: ${lines.join(', ')}`,
    '1 payment is cancelled. As long as nothing irreversible was sent:',
  ]);
  expect(next).toHaveLength(5);
});

it('a bulk payment of which the bank has not said what it calls it is not cancelled', async () => {
  const { bank, payer } = await payees(BULK, 'Ada', 'Bea');
  bank.meets('verify', 'lost');
  await payer.run(RUN);
  expect([told(await payer.run(CANCEL)), bank.sent]).toMatchInlineSnapshot(`
    [["exit 2, usage: 2 payments have begun and have not ended: line 1 is unknown, line 2 is unknown",
      "psd2 has cancelled no payment. psd2 cannot cancel a bulk payment of which the bank has not said what it calls it. psd2 batch run asks what became of it. See the payments with:",
      "$ batch status batch-1"],
     ["verify bulk payment"]]
  `);
});

it('a person resolves a bulk payment, and its payments follow, with the login of their customer', async () => {
  const { bank, payer } = await awaited(BULK);
  await storeLogin(payer.open().context, '1000002', { apiTrackId: 'of another customer' });
  const opened = vi.spyOn(bank.interface, 'open');
  expect(endOf(await payer.run(['operation', 'resolve', 'op-1', '--not-executed']))).toEqual(['done']);
  expect([await states(await storeOf(payer)), payer.events('tr-1')]).toMatchInlineSnapshot(
    `["failed failed failed", "created bulk-joined sca-started resolved"]`,
  );
  const logins = opened.mock.calls.map(([{ session }]) => session.apiTrackId);
  expect(new Set(logins)).toEqual(new Set([undefined]));
});
