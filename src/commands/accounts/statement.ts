import type { Transaction } from '../../bank/ports/bank.ts';
import { accountHistory, type Booking } from '../../domain/account-history.ts';
import { withIds } from '../../domain/booked-ids.ts';
import { bankDay, bankTime, type DayRange, EARLIEST_DAY } from '../../domain/calendar.ts';
import { normalDecimal } from '../../domain/decimal.ts';
import type { AccountId } from '../../domain/identifiers.ts';
import { Psd2Error } from '../../errors.ts';
import {
  currencyOf,
  keepsChanging,
  MAX_READINGS,
  WholeReadings,
} from '../../flows/reading/transaction-reading.ts';
import type { Statement } from '../../statements/statement.ts';
import type { Context, CustomerBank } from '../context.ts';
import { findAccount, withinHistory } from './account.ts';

/**
 * Reads the booked transactions of an account in a range, and computes the balances then from the balance now. Without
 * `from` it begins with the bank's first transaction. It ends today at the latest.
 *
 * @param named the id of the account, or its IBAN
 * @throws Psd2Error `usage` if the customer has no such product, `bank_answer` if the bank's answers contradict each other,
 *   `list_changed` if something is booked during every attempt to read, and what the calls throw
 */
export async function fetchStatement(
  context: Pick<Context, 'world' | 'terminal'> & {
    bank(): Promise<Pick<CustomerBank, 'bank' | 'customerId'>>;
  },
  named: AccountId,
  asked: DayRange,
): Promise<Statement> {
  const { bank, customerId } = await context.bank();
  const transactionId = context.world.newId();
  const range = withinHistory(context, bank.accounts, asked);
  const account = findAccount(await bank.accounts.list(customerId, transactionId), named, customerId);
  const { productId } = account;
  const now = context.world.now();
  const today = bankDay(now);
  const to = range.to && range.to < today ? range.to : today;
  if (range.from && range.from > to) {
    throw new Psd2Error('invalid_date', `--from ${range.from} is in the future: at the bank it is ${today}`);
  }
  const balanceNow = async () =>
    (await bank.accounts.balance(customerId, productId, transactionId)).accountBalance;

  let balance = await balanceNow();
  const currency = currencyOf(account, balance);
  // The balance at the end of the range also depends on later transactions.
  const query = { customerId, productId, from: range.from, to: undefined, transactionId };
  const readings = new WholeReadings(bank.accounts, { ...query, status: 'booked' });
  for (let reading = 1; reading <= MAX_READINGS; reading += 1) {
    const rows = await readings.next();
    const after = await balanceNow();
    if (rows && after?.amount === balance?.amount) {
      const bookings = withIds({ productId, currency }, rows).map((row) =>
        toBooking(row, currency, productId),
      );
      const amount = balance && normalDecimal(balance.amount);
      const history = accountHistory(bookings, amount, { from: range.from, to });
      const { iban, productCode } = account;
      const name = account.name ?? account.productDescription;
      return { productId, iban, currency, name, productCode, history, createdAt: bankTime(now) };
    }
    balance = after;
  }
  throw keepsChanging({ productId, transactionId });
}

/** @throws Psd2Error `bank_answer` for a row without a day or in another currency */
function toBooking(row: Transaction & { id: string }, currency: string, productId: string): Booking {
  const { id, bookingDate, valueDate, amount, description, details, code, transferReference, feeCharge } =
    row;
  const day = bookingDate ?? valueDate;
  const refuse = (what: string) =>
    new Psd2Error('bank_answer', `The booked transaction ${row.index} of ${productId} ${what}`, {
      hint: 'See it with:',
      next: [['accounts', 'transactions', productId]],
    });
  if (day === null) throw refuse('has no date');
  if (day < EARLIEST_DAY) throw refuse(`has the impossible date ${day}`);
  if (row.currency !== null && row.currency !== currency)
    throw refuse(`is in ${row.currency}, but the account is in ${currency}`);
  return {
    ...{ id, day, valueDate, amount: normalDecimal(amount) },
    ...{ description, details, code, transferReference, feeCharge },
  };
}
