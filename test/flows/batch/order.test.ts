import { expect, it } from 'vitest';
import { newBatch } from '../../../src/domain/batch/batch.ts';
import type { BatchLine } from '../../../src/domain/batch/line.ts';
import { parseDate } from '../../../src/domain/calendar.ts';
import { parseProductId } from '../../../src/domain/identifiers.ts';
import { parseSepaIban } from '../../../src/domain/order/iban.ts';
import { Psd2Error } from '../../../src/errors.ts';
import { orderOfLine, plannedOf } from '../../../src/flows/batch/order.ts';
import type { Payer } from '../../../src/flows/batch/ports.ts';
import { account, BankHere, OWN_ACCOUNT, OWN_IBAN } from '../../commands/bank-here.ts';
import { failureOf } from '../../commands/failure.ts';
import { batchAdded, batchLine } from '../../domain/batch/lines.ts';
import { fakeWorld } from '../doubles.ts';

// What a line of a batch orders of the customer's bank.

const added = batchAdded({ by: 'ada', user: 'ada', machine: 'pisp-1' });
const batch = newBatch(
  `${'a'.repeat(64)}`,
  { ...added, type: 'added', sha256: 'x', count: 9, ordered: '' },
  '2026-11-24T10:00:00.000Z',
);
const world = fakeWorld();
const OTHER_IBAN = parseSepaIban('DE75512108001245126199');
const ADDRESS = {
  ...{
    country: 'IT',
    townName: 'Roma',
    streetName: 'Via Appia',
    buildingNumber: '1',
    postCode: '00179',
    lines: [],
  },
};
const from = parseProductId(OWN_ACCOUNT);
const fromIban = parseSepaIban(OWN_IBAN);

/** @param isNamed whether the bank's payments name the IBAN of the account, not its id */
function payerAt(isNamed: boolean, changes: Partial<Payer> = {}) {
  const bank = new BankHere(isNamed ? { commits: 'by the customer' } : {});
  const did: string[] = [];
  const bankInterface: Payer['bankInterface'] = {
    ...bank.interface,
    ...(isNamed && { readAccountId: () => from }),
    refusePayment: ({ creditorReference }) => void did.push(`asked about ${creditorReference?.reference}`),
  };
  const payer: Payer = Object.assign(Object.create({}), {
    ...{ bankInterface, customerId: 'anna', world },
    bank: { payments: isNamed ? { initiation: async () => null } : {} },
    accounts: async () => [account('0000099999', OTHER_IBAN), account(OWN_ACCOUNT, OWN_IBAN)],
    refuseAboveLimit: ({ amount }: { amount: string }) => void did.push(`compared ${amount}`),
    withDebtor: async (order: object) => ({ ...order, debtor: 'named' }),
    ...changes,
  });
  return { payer, did };
}
const ordered = (line: Partial<BatchLine>, isNamed = false) =>
  orderOfLine(payerAt(isNamed).payer, batch, batchLine({ from, ...line }));

it.each<[string, Partial<BatchLine>, boolean, object]>([
  ['an account', {}, false, { from }],
  ['the IBAN of an account', { from: null, fromIban }, false, { from, fromIban }],
  ['an IBAN, at a bank whose payments name it', { from: null, fromIban }, true, { from }],
  ['a reference', { reference: 'INV-1' }, false, { reference: 'INV-1' }],
  ['no reference', {}, false, { reference: expect.stringContaining('aaaa') }],
  ['a day', { executionDate: parseDate('--date', '2999-12-01') }, false, { executionDate: '2999-12-01' }],
  ['an instant transfer', { instant: true }, false, { instant: true, type: 'INSTANT' }],
  ['an urgent transfer', { urgent: true }, false, { urgent: true }],
  ['batch booking', { batchBooking: false }, false, { batchBooking: false }],
  ['an address that the bank has no place for', { address: ADDRESS }, false, {}],
  ['an address', { address: ADDRESS }, true, { payeeAddress: expect.anything() }],
  [
    'a structured reference',
    { creditorReference: { reference: 'RF18539007547034', type: 'SCOR', issuer: null } },
    false,
    { creditorReference: { reference: 'RF18539007547034', type: 'SCOR', issuer: null } },
  ],
])('a line with %s orders it', async (_, line, isNamed, order) => {
  const made = await ordered(line, isNamed);
  expect(made).toMatchObject({
    ...{ customerId: 'anna', debtor: 'named', batch: { batch: batch.batch, line: 1 } },
    ...{ name: 'Mario Rossi', amount: '12.50', currency: 'EUR', description: 'Invoice 7' },
    ...order,
  });
  for (const name of ['creditorReference', 'batchBooking', 'payeeAddress'])
    expect(name in made).toBe(name in order);
});

it('an account that the customer does not have is refused', async () => {
  const fromOther = parseSepaIban('IT60X0542811101000000123456');
  expect(await failureOf(ordered({ from: null, fromIban: fromOther }))).toMatchObject({
    ...{ code: 'usage', message: `The account ${fromOther} is not one of customer anna` },
  });
  expect(await failureOf(ordered({ from: null, fromIban: null }))).toMatchObject({ code: 'usage' });
});

it('the amount is compared with the largest one, and the bank is asked about a structured reference alone', async () => {
  const { payer, did } = payerAt(false);
  await orderOfLine(payer, batch, batchLine({ from }));
  expect(did).toEqual(['compared 12.50']);
  const creditorReference = { reference: 'RF18539007547034', type: 'SCOR', issuer: null };
  await orderOfLine(payer, batch, batchLine({ from, creditorReference }));
  expect(did.slice(1)).toEqual(['asked about RF18539007547034', 'compared 12.50']);
  const tooMuch = () => {
    throw new Psd2Error('invalid_amount', 'Too much');
  };
  const { payer: limited } = payerAt(false, { refuseAboveLimit: tooMuch });
  expect(await failureOf(orderOfLine(limited, batch, batchLine({ from })))).toMatchObject({
    code: 'invalid_amount',
  });
});

it.each<[string, BatchLine['address'], object | null]>([
  ['none', null, null],
  [
    'a town alone',
    { ...ADDRESS, streetName: null, buildingNumber: null, postCode: null },
    { country: 'IT', town: 'Roma' },
  ],
  ['all', ADDRESS, { country: 'IT', town: 'Roma', street: 'Via Appia', building: '1', postcode: '00179' }],
])('what the bank is asked about has the parts of an address that are there: %s', (_, address, parts) => {
  const planned = plannedOf(batchLine({ address, from }));
  expect(planned.address).toStrictEqual(parts);
  expect('creditorReference' in planned).toBe(false);
});
