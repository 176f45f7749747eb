import { expect, it } from 'vitest';
import * as z from 'zod';
import { addDays, bankLocalTime, type IsoDate } from '../../../src/domain/calendar.ts';
import { transactionOf } from '../../bank/transaction.ts';
import { decimalOf } from '../../domain/bookings.ts';
import { temporaryFolder } from '../../store/temporary-folder.ts';
import { BankHere } from '../bank-here.ts';
import { payerAt, TODAY } from '../payer-here.ts';

const IBAN = 'DE89370400440532013000';

// A smoke test at fixed times of the bank's day: what is today, tomorrow and the future. The certificates are valid on these days.

const temporary = temporaryFolder();
const EUR = { amount: decimalOf(1250), currency: 'EUR' };
const DAY = addDays(TODAY, 10);
const day = (ahead: number): IsoDate => addDays(DAY, ahead);
const at = (time: string) => new Date(bankLocalTime(DAY, time)).toISOString();
const steps = z.array(z.looseObject({ id: z.string(), status: z.string(), error: z.unknown() }));

async function smokeAt(time: string, bank: BankHere, step: string) {
  const payer = await payerAt(bank, temporary);
  const words = ['smoke', '--json', '--steps', `accounts,${step}`];
  const { data, failure } = await payer.run(words, { now: at(time) });
  const found = steps.parse(data.steps).find(({ id }) => id === step);
  return { status: found?.status, error: found?.error, failure, calls: bank.calls };
}

it.each<[time: string, asOf: string, what: 'read' | 'from the future']>([
  ['23:59:59', day(0), 'read'],
  // It is the day before in UTC.
  ['00:30:00', day(0), 'read'],
  ['00:30:00', day(-1), 'read'],
  // The day of a bank further east, and one that has begun nowhere.
  ['23:30:00', day(1), 'read'],
  ['09:00:00', day(1), 'from the future'],
  ['00:30:00', day(2), 'from the future'],
  // A time may be a little ahead of this machine's clock.
  ['00:58:00', bankLocalTime(DAY, '01:01:00'), 'read'],
  ['00:58:00', bankLocalTime(DAY, '01:05:00'), 'from the future'],
])('at %s of the bank, a balance of %s is %s', async (time, asOf, what) => {
  const bank = new BankHere();
  bank.balances = { accountBalance: EUR, asOf };
  const { status, error, failure } = await smokeAt(time, bank, 'balance');
  expect(status).toBe(what === 'read' ? 'pass' : 'fail');
  if (what !== 'read') expect(error).toMatchObject({ message: 'The balance is from the future' });
  expect(failure?.exitCode).toBe(what === 'read' ? undefined : 11);
});

it.each<[time: string, booked: IsoDate[], status: 'pass' | 'fail']>([
  ['23:59:59', [day(-7), day(0)], 'pass'],
  ['00:30:00', [day(-7), day(0)], 'pass'],
  ['00:30:00', [day(-8)], 'fail'],
  ['12:00:00', [day(1)], 'fail'],
])('at %s of the bank, rows of %j are asked for with the last 7 days: %s', async (time, booked, status) => {
  const bank = new BankHere();
  bank.booked = booked.map((bookingDate, index) =>
    transactionOf({ index: `${index}`, bookingDate, valueDate: bookingDate, ...EUR, description: 'Row' }),
  );
  const found = await smokeAt(time, bank, 'transactions');
  expect(found.calls.at(-1)).toContain(`from ${day(-7)},`);
  expect(found.status).toBe(status);
});

it.each([
  ['23:59:59', day(0), undefined],
  ['00:30:00', day(0), undefined],
  ['00:30:00', day(-1), 11],
])('at %s of the bank, --known until %s ends with exit code %s', async (time, until, exitCode) => {
  const bank = new BankHere();
  bank.accounts = [];
  const payer = await payerAt(bank, temporary);
  const words = ['smoke', '--json', '--steps', 'accounts', '--known', `accounts=${until}`];
  expect((await payer.run(words, { now: at(time) })).failure?.exitCode).toBe(exitCode);
});

it('a payment of more than 1 EUR needs the yes of a person, and Enter says no', async () => {
  const bank = new BankHere();
  const payer = await payerAt(bank, temporary);
  const words = ['smoke', '--json', '--steps', 'accounts,pay', '--pay', '1.01', '--name', 'Ada'];
  const ran = await payer.run([...words, '--to', IBAN], { answers: ['Enter'], yes: true });
  expect(ran.asked).toEqual(['Pay 1.01 EUR for this smoke test?']);
  expect([ran.failure?.exitCode, bank.payments]).toEqual([2, []]);
});
