import * as z from 'zod/mini';
import { day, decimal, flag, list, money, oneOf, orNull, text } from '../shared/fields.ts';

const productId = () => text("the bank's id of the account, card or deposit: 10 characters");

/** An account, card or deposit. */
export const account = () =>
  z.object({
    productId: productId(),
    iban: orNull(text('two accounts can have the same IBAN')),
    currency: text('ISO 4217 code'),
    name: orNull(text("the customer's own name for the account")),
    productCode: orNull(text("the bank's code for this kind of product")),
    productDescription: orNull(text('meaning of that code')),
  });

export const accounts = () => list(account());

export const balance = () =>
  z.object({
    productId: productId(),
    accountBalance: orNull(money('booked balance')),
    availableBalance: orNull(money('amount that the customer can spend')),
    accountAvailability: orNull(money("the bank's accountAvailability")),
    accountAvailableCredit: orNull(money("the bank's accountAvailableCredit")),
    asOf: orNull(text('ISO 8601: a time with zone, or a day if the bank gives no time')),
  });

/** A row of the transaction list. */
export const transaction = () =>
  z.object({
    index: text("the bank's row number in this query; not an id"),
    status: oneOf(['booked', 'pending'], 'whether the bank has booked it'),
    bookingDate: orNull(day('null while it is pending')),
    valueDate: orNull(day('day from which it counts for interest')),
    amount: decimal('negative for outgoing money'),
    currency: orNull(text('ISO 4217 code')),
    description: text('short'),
    details: text('long'),
    code: orNull(text("the bank's code for this kind of transaction")),
    transferReference: orNull(text("the bank's id of the transfer")),
    feeCharge: orNull(flag('true for a fee')),
  });

export const transactions = () => list(transaction());

/** The numbers of `--chart`. */
export const chart = () =>
  z.object({
    productId: productId(),
    currency: text('ISO 4217 code'),
    from: day('the first day'),
    to: day('the last day'),
    opening: orNull(money('the balance before the first day')),
    closing: orNull(money('the balance after the last day')),
    balances: list(
      z.object({ date: day('the day'), balance: decimal('at the end of the day') }),
      'one for each day; empty if the bank gives no balance',
    ),
    months: list(
      z.object({
        month: text('2026-11'),
        in: decimal('incoming money'),
        out: decimal('outgoing money: negative or zero'),
        net: decimal('the sum of both'),
      }),
      'one for each month, including months without transactions',
    ),
  });
