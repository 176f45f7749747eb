import * as z from 'zod/mini';
import { OPERATION_STATES } from '../../domain/operation.ts';
import { PAYEE_RESULTS, PAYEE_SOURCES } from '../../domain/order/payee-check.ts';
import { executionFields, flowBegins, flowEnds } from '../flow/shape.ts';
import { day, decimal, flag, list, money, oneOf, orNull, text } from '../shared/fields.ts';

export const transfer = () =>
  z.object({
    ...flowBegins('transfer', OPERATION_STATES),
    instant: flag('true for SCT Inst'),
    reference: orNull(text("the operator's own reference, different for each transfer")),
    from: text('productId of the debited account'),
    to: text('IBAN of the payee'),
    name: text('name of the payee'),
    amount: decimal('amount that the payee gets'),
    currency: text('ISO 4217 code'),
    description: text('remittance information'),
    executionDate: day('day on which the bank executes it'),
    totalAmount: orNull(money('debited amount, including the commission')),
    commissions: orNull(money("the bank's commission")),
    bankName: orNull(text("the payee's bank")),
    payeeSource: orNull(oneOf(PAYEE_SOURCES, "who gave the payee's name and IBAN")),
    payeeCheck: orNull(
      z
        .object({
          result: oneOf(PAYEE_RESULTS, 'result of the check'),
          name: orNull(text('name of the account holder, if the check gave it')),
          problem: orNull(text('why the check was not possible')),
        })
        .check(z.describe('the verification of the payee')),
    ),
    ...executionFields(),
    ...flowEnds(),
  });

export const transfers = () => list(transfer());

/** What the bank allows for a transfer. */
export const terms = () =>
  z.object({
    bankCode: orNull(text('ABI code')),
    sepa: orNull(flag('SEPA transfers can be made')),
    swift: orNull(flag('SWIFT transfers can be made')),
    urgent: orNull(flag('urgent transfers can be made')),
    today: orNull(day('today at the bank')),
    earliestDate: orNull(day('earliest day for a transfer to another bank')),
    earliestDateInternal: orNull(day('earliest day for a transfer within the bank')),
    latestDate: orNull(day('latest day of execution')),
    holidays: list(z.iso.date(), "the bank's holidays"),
    currency: orNull(text('suggested currency')),
    currencies: list(
      z.object({
        code: text('ISO 4217 code'),
        label: orNull(text('its name')),
        rate: orNull(text('its rate to the euro')),
      }),
      'allowed currencies',
    ),
    countries: list(
      z.object({ code: text('code of the country'), label: orNull(text('its name')) }),
      'allowed countries',
    ),
  });
