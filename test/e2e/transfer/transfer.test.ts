import Big from 'big.js';
import { expect, it } from 'vitest';
import { useChromium } from '../support/customer.ts';
import { keepRunning, readDocument, useLoggedIn } from '../support/psd2.ts';
import * as shapes from '../support/shapes.ts';

const ACCOUNT = '0010482620';
const operator = keepRunning(useLoggedIn());
const newCustomer = useChromium();

const ORDER = ['--from', ACCOUNT, '--to', 'DE89 3704 0044 0532 0130 00', '--name', 'Ada Lovelace'];

const create = (...args: string[]) =>
  operator.start(['transfer', 'create', '--json', '--yes', ...ORDER, ...args], { PSD2_BROWSER: 'none' });

async function availableBalance(): Promise<Big> {
  const { availableBalance } = await operator.json(shapes.balance, ['accounts', 'balance', ACCOUNT]);
  return new Big(availableBalance?.amount ?? '');
}

it('the customer sees what is paid, and psd2 settles the instant transfer that they approve', async () => {
  const before = await availableBalance();
  const psd2 = await create(
    '--instant',
    '--payee-verified',
    ...['--amount', '1250', '--description', 'Invoice 7, second half'],
  );
  const customer = await newCustomer();
  await customer.follow(psd2);
  expect(await customer.heading()).toBe('Authorise an instant payment');
  expect(await customer.detail('Payee')).toBe('Ada Lovelace');
  expect(await customer.detail('IBAN')).toBe('DE89 3704 0044 0532 0130 00');
  expect(await customer.detail('Amount')).toBe('1,250.00 EUR');
  expect(await customer.detail('Description')).toBe('Invoice 7, second half');
  expect(await customer.detail('From your account')).toContain(ACCOUNT);
  await customer.press('Approve payment');
  expect(await customer.heading()).toBe('Thank you, you are back from the bank');

  const ended = await psd2.ended;
  expect(ended.code, ended.stderr).toBe(0);
  const transfer = readDocument(shapes.transfer, ended.stdout);
  expect(transfer).toMatchObject({
    state: 'settled',
    instant: true,
    to: 'DE89370400440532013000',
    amount: '1250.00',
    authorizationStatus: 'AUTHORIZED',
    executionStatus: 'OK',
    cro: expect.stringMatching(/\S/),
  });
  expect(ended.stderr).toMatch(/Payee +Ada Lovelace/);
  expect(ended.stderr).toMatch(/IBAN +DE89 3704 0044 0532 0130 00/);
  expect(before.minus(await availableBalance()).toFixed(2)).toBe(
    new Big(transfer.totalAmount?.amount ?? '').toFixed(2),
  );
});
