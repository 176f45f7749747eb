import { expect, it } from 'vitest';
import { collect } from '../../../src/commands/flow/list.ts';
import { paymentHolder } from '../../../src/domain/identifiers.ts';
import { Psd2Error } from '../../../src/errors.ts';
import { temporaryFolder } from '../../store/temporary-folder.ts';
import { storeLogin } from '../access.ts';
import { BankHere, OWN_IBAN, type PaymentHere } from '../bank-here.ts';
import { ANNA, payerAt, TODAY } from '../payer-here.ts';

// Tokens that a bank gives for one payment alone stay as long as the bank may be asked about that payment.

const temporary = temporaryFolder();
const TO = ['--to', 'IT60X0542811101000000123456', '--name', 'Mario Rossi', '--amount', '12.50'];
const CREATE = ['transfer', 'create', '--from', OWN_IBAN, ...TO];
const INSTANT = [...CREATE, '--instant', '--payee-verified'];
const LATER = [...CREATE, '--date', new Date(Date.parse(TODAY) + 3 * 86_400_000).toISOString().slice(0, 10)];
const STANDING = [
  ...['transfer', 'standing', '--from', OWN_IBAN, ...TO],
  ...['--frequency', 'Monthly', '--start', TODAY],
];

/** An operator whose payments have tokens of their own as soon as the customer is asked, and whether these are there. */
async function withTokens() {
  const bank = new BankHere({ commits: 'by the customer' });
  Object.assign(bank.interface, { readAccountId: (text: string) => text });
  const payer = await payerAt(bank, temporary);
  const { context } = payer.open();
  const { flows, tokens } = await context.store();
  const holders = async () =>
    (await collect(flows.list('transfer'))).map((flow) => paymentHolder(flow.transactionId));
  bank.meanwhile = async (call) => {
    if (!call.startsWith('sca')) return;
    for (const holder of await holders()) await storeLogin(context, holder);
    await payer.logIn(ANNA);
  };
  const kept = async () => {
    const found = await Promise.all((await holders()).map((holder) => tokens.login(holder)));
    return found.filter((login) => login).length;
  };
  return { bank, payer, kept };
}

it.each<[string, string[], Partial<PaymentHere>, string, number]>([
  ['that is executed', CREATE, {}, 'executed', 0],
  ['that the customer refused', CREATE, { decision: 'NOT_AUTHORIZED' }, 'rejected', 0],
  ['that is instant and settled', INSTANT, {}, 'settled', 0],
  ['that is instant and not settled', INSTANT, { settlement: 'PENDING' }, 'executed', 1],
  ['that is ordered for later', LATER, { becomes: 'ordered' }, 'ordered', 1],
  ['that is a standing order', STANDING, {}, 'executed', 1],
])('after a payment %s, its tokens are removed or stay', async (_, words, next, state, left) => {
  const { bank, payer, kept } = await withTokens();
  bank.next = next;
  const { data } = await payer.run(words);
  expect([data.state, await kept()]).toEqual([state, left]);
  expect(bank.sent).toContain('sca pay-1');
});

it('a payment that waits for its customer keeps its tokens', async () => {
  const { bank, payer, kept } = await withTokens();
  bank.customersAgree = false;
  const { data } = await payer.run(CREATE, { globals: { scaTimeout: '1' } });
  expect([data.state, await kept()]).toEqual(['authorizing', 1]);
});

it('a payment that was cancelled at the bank needs its tokens no more, and one that was not still does', async () => {
  const { bank, payer, kept } = await withTokens();
  bank.next = { becomes: 'ordered' };
  await payer.run(LATER);
  const cancel = ['transfer', 'cancel', 'tr-1'];
  bank.meets('cancel', new Psd2Error('bank_refused', 'Too late', { refusal: 'other', isBanks: true }));
  expect([(await payer.run(cancel)).data.state, await kept()]).toEqual(['ordered', 1]);
  expect([(await payer.run(cancel)).data.state, await kept()]).toEqual(['cancelled', 0]);
});

it('a payment that a person ended needs its tokens no more', async () => {
  const { bank, payer, kept } = await withTokens();
  bank.customersAgree = false;
  await payer.run(CREATE, { globals: { scaTimeout: '1' } });
  const resolve = ['transfer', 'resolve', 'tr-1', '--not-executed'];
  const no = await payer.run(resolve, { answers: [false] });
  expect([no.failure?.code, await kept()]).toEqual(['cancelled', 1]);
  expect([(await payer.run(resolve)).data.state, await kept()]).toEqual(['failed', 0]);
});
