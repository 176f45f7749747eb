import * as z from 'zod/mini';
import { parseSepaIban } from '../../domain/order/iban.ts';
import { parsePaymentAmount } from '../../domain/order/payment-amount.ts';
import { Psd2Error } from '../../errors.ts';
import type { Context, CustomerBank } from '../context.ts';
import { examples, type Verb } from '../declare.ts';
import { debitedAccount, looksLikeIban } from '../open/debited-account.ts';
import { decimal, flag, text } from '../shared/fields.ts';

const shape = () =>
  z.object({
    account: text('IBAN of the account'),
    amount: decimal('amount that was asked for'),
    currency: text('ISO 4217 code'),
    fundsAvailable: flag('the account has the amount'),
  });

/** `psd2 funds check` */
export const check: Verb = {
  prints: { what: 'whether an account has an amount', shape },
  declare: (command, run) =>
    command
      .requiredOption('--account <account>', 'id or IBAN of the account')
      .requiredOption('--amount <decimal>', 'for example 12.50, in EUR')
      .addHelpText(
        'after',
        `\nThe exit code is 0 if the account has the amount, and 7 if not.\n${examples('psd2 funds check --account DE02100100109307118603 --amount 12.50')}`,
      )
      .action(({ account, amount }) => run((context) => checkFunds(context, account, amount))),
};

async function checkFunds(context: Context, account: string, text: string): Promise<void> {
  await context.needs('confirmation of funds');
  const named = (await context.bankInterface()).readAccountId(account);
  const iban = looksLikeIban(named) ? parseSepaIban(named) : null;
  const amount = parsePaymentAmount(text);
  const opened = await context.bank();
  const transactionId = context.world.newId();
  const asked = {
    account: iban ?? (await ibanOf(context, opened, named, transactionId)),
    amount,
    currency: 'EUR',
  };
  const { bank } = opened;
  const fundsAvailable = await bank.payments.funds?.(asked, transactionId);
  if (fundsAvailable === undefined) throw new TypeError('The interface says that it confirms funds');
  context.output.record(
    { ...asked, fundsAvailable },
    [
      { title: 'Account', value: (row) => row.account },
      { title: 'Amount', value: ({ amount, currency }) => `${amount} ${currency}` },
      { title: 'Available', value: (row) => (row.fundsAvailable ? 'yes' : 'no') },
    ],
    shape,
  );
  if (!fundsAvailable)
    throw new Psd2Error('bank_refused', `The account does not have ${asked.amount} ${asked.currency}`, {
      transactionId,
    });
}

/** The IBAN of an account that the operator named by its id. @throws Psd2Error of the reading, with what to do instead */
async function ibanOf(
  context: Context,
  { bank, customerId }: CustomerBank,
  account: string,
  transactionId: string,
): Promise<string> {
  const list = () => bank.accounts.list(customerId, transactionId);
  try {
    return (await debitedAccount(context, customerId, account, list)).iban;
  } catch (error) {
    if (!(error instanceof Psd2Error)) throw error;
    throw error.with({ hint: [NAME_THE_IBAN, error.hint].filter(Boolean).join(' ') });
  }
}

/** An id needs a consent to read the accounts. A confirmation of funds needs none. */
const NAME_THE_IBAN = '--account also takes the IBAN of the account, and then psd2 reads no accounts.';
