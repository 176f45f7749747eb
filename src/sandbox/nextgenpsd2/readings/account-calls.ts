import type { Bank } from '../../bank.ts';
import type { Customer, Product } from '../../customers/seed-customers.ts';
import { type DoorConsent, showsOwner } from '../consents/consent.ts';
import type { DoorAnswer, DoorCall } from '../door-call.ts';
import { type Href, linkTo } from '../links.ts';
import { DoorRefusal } from '../refusal.ts';
import { readFlag, readQuery } from '../strict/query.ts';
import { accountDetails, balanceList, referenceOf } from './account-view.ts';
import { consentedAccount, consentedBy, countReading, idOf, requireRight } from './consented.ts';

/** `GET /accounts` and `GET /card-accounts` */
export function listAccounts(isCard: boolean) {
  return (bank: Bank, call: DoorCall): DoorAnswer => {
    const withBalance = readWithBalance(bank, call, isCard);
    if (isCard && bank.rules.description.accounts.cards === 'never')
      throw new DoorRefusal('SERVICE_INVALID', 'The bank has no card accounts', '');
    const { consent, customer, products } = consentedBy(bank, call);
    const listed = products.filter(({ kind }) => (kind === 'card') === isCard);
    if (withBalance) requireRight(consent, listed, 'balances');
    countReading(bank, call, consent);
    const accounts = listed.map((product) => detailsOf(bank, product, consent, customer, withBalance));
    return { status: 200, body: { [isCard ? 'cardAccounts' : 'accounts']: accounts } };
  };
}

/** `GET /accounts/{account-id}` and `GET /card-accounts/{account-id}` */
export function readDetails(isCard: boolean) {
  return (bank: Bank, call: DoorCall): DoorAnswer => {
    const withBalance = readWithBalance(bank, call, isCard);
    const { consent, customer, product } = consentedAccount(bank, call, isCard, 'accounts');
    if (withBalance) requireRight(consent, [product], 'balances');
    countReading(bank, call, consent);
    const details = detailsOf(bank, product, consent, customer, withBalance);
    return { status: 200, body: { [isCard ? 'cardAccount' : 'account']: details } };
  };
}

/** `GET /accounts/{account-id}/balances` and `GET /card-accounts/{account-id}/balances` */
export function readBalances(isCard: boolean) {
  return (bank: Bank, call: DoorCall): DoorAnswer => {
    readQuery(call.request, []);
    const { consent, product } = consentedAccount(bank, call, isCard, 'balances');
    countReading(bank, call, consent);
    return {
      status: 200,
      body: {
        [isCard ? 'cardAccount' : 'account']: referenceOf(product),
        balances: balancesOf(bank, product),
      },
    };
  };
}

/** The balances of a product now. */
export function balancesOf({ ledger, rules, now }: Bank, product: Product): Record<string, unknown>[] {
  return balanceList(product, ledger.balance(product, now()), rules.description, now());
}

/** Cards have no `withBalance`, and a bank may not take it for accounts. */
function readWithBalance({ rules }: Bank, { request }: DoorCall, isCard: boolean): boolean {
  const { withBalance, parameters } = rules.description.accounts;
  const allowed = !isCard && withBalance ? ['withBalance'] : [];
  return readFlag(readQuery(request, allowed, parameters), 'withBalance');
}

function detailsOf(
  bank: Bank,
  product: Product,
  consent: DoorConsent,
  customer: Customer,
  withBalance: boolean,
): Record<string, unknown> {
  const { grants, type } = consent;
  const rights = grants.get(product.productId);
  const isCard = product.kind === 'card';
  const id = idOf(bank, product);
  const values = { 'account-id': id };
  const links: Record<string, Href> = {
    ...(rights?.has('balances') &&
      !type.startsWith('list-') && {
        balances: linkTo(bank, isCard ? 'getCardAccountBalances' : 'getBalances', values),
      }),
    ...(rights?.has('transactions') && {
      transactions: linkTo(bank, isCard ? 'getCardAccountTransactionList' : 'getTransactionList', values),
    }),
  };
  return accountDetails(product, {
    id,
    owner: showsOwner(consent, product) ? customer : undefined,
    balances: withBalance ? balancesOf(bank, product) : undefined,
    links,
  });
}
