import * as z from 'zod/mini';
import { day, decimal, flag, list, money, oneOf, orNull, text } from '../shared/fields.ts';

const productId = () => text("the bank's id of the account, card or deposit: 10 characters");

/** An account, card or deposit. */
export const account = () =>
  z.object({
    productId: productId(),
    iban: orNull(text('two products can have the same one')),
    currency: text('ISO 4217 code'),
    name: orNull(text("the customer's own name for it")),
    productCode: orNull(text("the bank's code for this kind of product")),
    productDescription: orNull(text('what that code means')),
  });

export const accounts = () => list(account());

export const balance = () =>
  z.object({
    productId: productId(),
    accountBalance: orNull(money('what is booked')),
    availableBalance: orNull(money('what can be spent')),
    accountAvailability: orNull(money("the bank's accountAvailability")),
    accountAvailableCredit: orNull(money("the bank's accountAvailableCredit")),
    asOf: orNull(text('ISO 8601: a time with zone, or a day where the bank gives no hour')),
  });

/** A row of the transaction list. */
export const transaction = () =>
  z.object({
    index: text("the bank's number of the row, which begins anew with each query: it is no id"),
    status: oneOf(['booked', 'pending'], 'whether the bank has booked it'),
    bookingDate: orNull(day('null while it is pending')),
    valueDate: orNull(day('from when it counts for interest')),
    amount: decimal('negative for money that goes out'),
    currency: orNull(text('ISO 4217 code')),
    description: text('short'),
    details: text('long'),
    code: orNull(text("the bank's code for this kind of transaction")),
    transferReference: orNull(text("the bank's id of the transfer")),
    feeCharge: orNull(flag('whether it is a fee')),
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
      z.object({ date: day('the day'), balance: decimal('at its end') }),
      'one for each day; none where the bank gives no balance',
    ),
    months: list(
      z.object({
        month: text('2026-11'),
        in: decimal('what came in'),
        out: decimal('what went out: negative or zero'),
        net: decimal('both together'),
      }),
      'one for each month, also one without transactions',
    ),
  });
