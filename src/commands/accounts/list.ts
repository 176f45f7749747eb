import type { Account } from '../../bank/ports/bank.ts';
import { flag, list as listOf, objectOf, optional, orNull, text } from '../../terminal/output/fields.ts';
import type { Context } from '../context.ts';
import { bareVerb } from '../declare.ts';
import { namingConsentUnderWay } from './consent-under-way.ts';

const account = objectOf<Account>()(() => ({
  accountId: text("the bank's id of the account, card or deposit"),
  productId: text('the same as accountId').as('Account', { whole: true }),
  iban: orNull(text('two accounts can have the same IBAN')).as('IBAN', { whole: true }),
  currency: text('ISO 4217 code').as('Currency', { whole: true, dispensable: 2 }),
  name: orNull(text("the customer's own name for the account")).as('Name'),
  productCode: orNull(text("the bank's code for this kind of product")),
  productDescription: orNull(text('meaning of that code'))
    .as('Type', { dispensable: 1 })
    .shown(({ productDescription, productCode }: Account) => productDescription ?? productCode),
  status: optional(text('enabled, blocked or deleted; absent: the bank does not say')).as('Status', {
    ifAny: true,
  }),
  card: optional(flag('whether it is a card account; absent: no')),
  bban: optional(text('its number in its country; absent: the bank gives none')),
  maskedPan: optional(text('the number of the card, masked; absent: the bank gives none')),
}));

export const list = bareVerb(
  { what: 'accounts', shape: listOf(account) },
  "\nExample:\n  $ psd2 accounts list --json | jq -r '.[].accountId'",
  listAccounts,
  'inquiry',
);

async function listAccounts(context: Context): Promise<void> {
  const accounts = await allAccounts(context).catch(async (error: unknown) => {
    throw await namingConsentUnderWay(context, error);
  });
  await context.output.table(accounts, account, 'The customer has no accounts.');
}

async function allAccounts(context: Context): Promise<Account[]> {
  const { bank, customerId } = await context.bank();
  return bank.accounts.list(customerId, context.world.newId());
}
