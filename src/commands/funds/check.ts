import { maskedReference } from '../../domain/order/account-reference.ts';
import { looksLikeCardNumber } from '../../domain/order/card-number.ts';
import { parseSepaIban } from '../../domain/order/iban.ts';
import { parsePaymentAmount } from '../../domain/order/payment-amount.ts';
import { Psd2Error } from '../../errors.ts';
import { decimal, flag, object, text } from '../../terminal/output/fields.ts';
import type { Context, CustomerBank } from '../context.ts';
import { examples, verb } from '../declare.ts';
import { debitedAccount, looksLikeIban } from '../open/debited-account.ts';
import { confirmFunds } from '../open/funds.ts';
import { readReferences } from '../shared/account-references.ts';

const shape = object({
  account: text('IBAN of the account, or what else names it; the number of a card is masked').as('Account'),
  amount: decimal('amount that was asked for')
    .as('Amount')
    .shown(({ amount, currency }: Record<'amount' | 'currency', string>) => `${amount} ${currency}`),
  currency: text('ISO 4217 code'),
  fundsAvailable: flag('the account has the amount').as('Available'),
});

/** `psd2 funds check` */
export const check = verb(
  {
    prints: { what: 'whether an account has an amount', shape },
    help: `\nThe exit code is 0 if the account has the amount, and 7 if the bank says that it does not. If the bank refuses\nthe question, the exit code is another one: 4, 5 or 11. At some banks the currency belongs to the account's\nname: --account <IBAN>:EUR.\n${examples('psd2 funds check --account IT89F0999001600000010482620 --amount 12.50')}`,
  },
  (command) =>
    command
      .requiredOption(
        '--account <account>',
        'id or IBAN of the account; also bban:…, maskedPan:…, msisdn:…, or pan:@file (pan:- for standard input), each also with :<currency>',
      )
      .requiredOption('--amount <decimal>', 'for example 12.50, in EUR'),
  (context, { account, amount }) => checkFunds(context, account, amount),
);

async function checkFunds(context: Context, account: string, text: string): Promise<void> {
  const amount = parsePaymentAmount(text);
  const reference = await referenceIn(context, account);
  const opened = await context.bank();
  const transactionId = context.world.newId();
  const whole = reference ?? (await ibanOf(context, opened, account, transactionId));
  const question = { account: maskedReference(whole), amount, currency: 'EUR' };
  const fundsAvailable = await confirmFunds(context, opened, { ...question, account: whole }, transactionId);
  context.output.record({ ...question, fundsAvailable }, shape);
  if (!fundsAvailable)
    throw new Psd2Error('bank_refused', `The account does not have ${question.amount} ${question.currency}`, {
      transactionId,
    });
}

/** The account as the operator refers to it. Undefined: they named it by its id. @throws Psd2Error `usage`, `invalid_iban`, `invalid_product_id` */
async function referenceIn(context: Context, account: string): Promise<string | undefined> {
  const isReference =
    account.includes(':') && (await context.bankInterface()).customers === 'named by the operator';
  if (isReference || looksLikeCardNumber(account)) return (await readReferences(context, [account]))[0];
  const named = (await context.bankInterface()).readAccountId(account);
  return looksLikeIban(named) ? parseSepaIban(named) : undefined;
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
