import * as z from 'zod/mini';
import { OPERATION_STATES } from '../../domain/operation.ts';
import { PAYEE_RESULTS, PAYEE_SOURCES } from '../../domain/order/payee-check.ts';
import { executionFields, flowBegins, flowEnds } from '../flow/shape.ts';
import { day, decimal, flag, list, money, oneOf, orNull, text } from '../shared/fields.ts';

export const transfer = () =>
  z.object({
    ...flowBegins('transfer', OPERATION_STATES),
    instant: flag('whether it is an SCT Inst'),
    reference: orNull(text("the operator's own, which no two transfers have")),
    from: text('productId of the account that is debited'),
    to: text('IBAN of the beneficiary'),
    name: text('of the beneficiary'),
    amount: decimal('what the beneficiary gets'),
    currency: text('ISO 4217 code'),
    description: text('remittance information'),
    executionDate: day('on which the bank executes it'),
    totalAmount: orNull(money('what the account is debited with, commission included')),
    commissions: orNull(money("the bank's commission")),
    bankName: orNull(text("the beneficiary's bank")),
    payeeSource: orNull(oneOf(PAYEE_SOURCES, "who gave the payee's name and IBAN")),
    payeeCheck: orNull(
      z
        .object({
          result: oneOf(PAYEE_RESULTS, 'what the check said'),
          name: orNull(text('the name that the account is held under, where it was told')),
          problem: orNull(text('why the check was not possible')),
        })
        .check(z.describe('the verification of the payee')),
    ),
    ...executionFields(),
    ...flowEnds(),
  });

export const transfers = () => list(transfer());

/** What the bank allows, before an order is made. */
export const terms = () =>
  z.object({
    bankCode: orNull(text('ABI code')),
    sepa: orNull(flag('SEPA transfers can be made')),
    swift: orNull(flag('SWIFT transfers can be made')),
    urgent: orNull(flag('urgent transfers can be made')),
    today: orNull(day('at the bank')),
    earliestDate: orNull(day('for a transfer to another bank')),
    earliestDateInternal: orNull(day('for a transfer within the bank')),
    latestDate: orNull(day('of execution')),
    holidays: list(z.iso.date(), 'of the bank'),
    currency: orNull(text('the one that is suggested')),
    currencies: list(
      z.object({
        code: text('ISO 4217 code'),
        label: orNull(text('its name')),
        rate: orNull(text('its rate to the euro')),
      }),
      'that can be sent',
    ),
    countries: list(
      z.object({ code: text('of the country'), label: orNull(text('its name')) }),
      'that can be sent to',
    ),
  });
