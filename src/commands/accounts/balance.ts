import { isDeepStrictEqual } from 'node:util';
import type { Balance } from '../../bank/ports/bank.ts';
import type { CreditLimits } from '../../domain/credit-limits.ts';
import { Psd2Error } from '../../errors.ts';
import {
  day,
  decimal,
  flag,
  list,
  money,
  object,
  optional,
  orNull,
  text,
  writeMoney,
} from '../../terminal/output/fields.ts';
import { verb, where } from '../declare.ts';
import { openAccount, readAccount } from './account.ts';
import { openSynced, storedBalance, withStore } from './stored.ts';

/** The balance at a bank that does not name its balances. */
const oneBalance = object({
  accountId: text("the bank's id of the account, card or deposit"),
  productId: text('the same as accountId').as('Account'),
  accountBalance: orNull(money('booked balance')).as('Account balance'),
  availableBalance: orNull(money('amount that the customer can spend')).as('Available balance'),
  accountAvailability: orNull(money("the bank's accountAvailability"))
    .as('Availability', { ifAny: true })
    // Without a credit line it is the available balance again.
    .shown(
      ({
        accountAvailability,
        availableBalance,
      }: Pick<Balance, 'accountAvailability' | 'availableBalance'>) =>
        isDeepStrictEqual(accountAvailability, availableBalance) ? null : writeMoney(accountAvailability),
    ),
  accountAvailableCredit: orNull(money("the bank's accountAvailableCredit")).as('Available credit'),
  asOf: orNull(text('ISO 8601: a time with zone, or a day if the bank gives no time')).as('As of', {
    kind: 'time',
  }),
  bookedDay: optional(
    orNull(day('last day whose rows are in accountBalance; null: the bank does not say; absent: all are')),
  ),
  creditLimitIncluded: optional(
    object(
      {
        accountBalance: optional(flag('whether it has a credit line in it')),
        availableBalance: optional(flag('whether it has a credit line in it')),
      },
      'of these balances, as far as the bank says it',
    ),
  )
    .as('With a credit line', { ifAny: true })
    .written(writeLimits),
  reason: optional(text('why the sync could not read the balance (--from-store)')),
});

const shape = object({
  ...oneBalance.fields,
  balances: optional(
    list(
      object({
        type: text("the bank's name for the balance"),
        amount: decimal('exact'),
        currency: text('ISO 4217 code'),
        date: orNull(day('the day of the balance')),
        at: orNull(text('when it last changed: ISO 8601 with zone')),
        creditLimitIncluded: optional(flag('whether it has a credit line in it, if the bank says so')),
      }),
      where('balances by type', 'all balances in the words of the bank'),
    ),
  ),
});

/** The balances that have a credit line in them. */
function writeLimits(limits: CreditLimits | undefined): string | null {
  const words = [
    ...(limits?.accountBalance ? ['account balance'] : []),
    ...(limits?.availableBalance ? ['available balance'] : []),
  ];
  return words.length === 0 ? null : words.join(', ');
}

export const balance = verb(
  {
    prints: { what: 'balances', shape },
    help: `
With --from-store, psd2 shows the balance that psd2 sync has stored, and asks no bank.

Examples:
  $ psd2 accounts balance 0010482620 --json | jq -r .availableBalance.amount
  $ psd2 accounts balance 0010482620 --from-store`,
    kind: 'inquiry',
  },
  (command) => withStore(command.argument('<account>')),
  async (context, product, options) => {
    const stored = await openSynced(context, options);
    if (stored) {
      const lastBalance = await storedBalance(context, stored, await readAccount(context, product, options));
      const { productId, reason } = lastBalance;
      context.output.record({ accountId: productId, ...lastBalance }, oneBalance);
      if (reason === undefined) return;
      throw new Psd2Error(
        'needs_attention',
        `The last sync did not get the balance of ${productId}: ${reason}`,
      );
    }
    const productId = await openAccount(context, product);
    const { bank, customerId } = await context.bank();
    const read = await bank.accounts.balance(customerId, productId, context.world.newId());
    // The bank names its balances.
    const named = (read.balances ?? []).map(({ type, at, date, ...amount }) => ({
      title: type,
      value: () => [writeMoney(amount), at ?? date].filter(Boolean).join('  '),
    }));
    const view = read.balances ? shape : oneBalance;
    context.output.record(
      read,
      view.withLines((lines) => [...lines, ...named]),
    );
  },
);
