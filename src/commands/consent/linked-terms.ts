import type { ConsentAccess, ConsentTerms } from '../../bank/ports/customer.ts';
import { bankDay, parseDate } from '../../domain/calendar.ts';
import { parseAccountReference } from '../../domain/order/account-reference.ts';
import { Psd2Error } from '../../errors.ts';
import type { Context } from '../context.ts';
import { confirmed } from '../shared/confirmed.ts';
import type { PsuOptions } from '../shared/psu.ts';

/** The options of a consent at a bank where the operator chooses its terms. */
export interface TermsOptions extends PsuOptions {
  account: string[];
  allAccounts: boolean;
  listOnly: boolean;
  balances: boolean;
  transactions: boolean;
  validUntil?: string | undefined;
  frequency?: string | undefined;
  once: boolean;
  paste: boolean;
}

/** The options that were given, as they are written. */
export function givenTerms(options: TermsOptions): string[] {
  const { account, paste: _, ...others } = options;
  const names = Object.entries(others).filter(([, value]) => value !== undefined && value !== false);
  const written = names.map(
    ([name]) => `--${name.replace(/[A-Z]/g, (letter) => `-${letter.toLowerCase()}`)}`,
  );
  return [...(account.length > 0 ? ['--account'] : []), ...written];
}

/**
 * The terms that the operator chooses (NextGenPSD2, section 3, `consent request`). What is absent is the bank's.
 *
 * @throws Psd2Error `usage`, `invalid_iban`, `invalid_date`
 */
export function readTerms(options: TermsOptions): Partial<ConsentTerms> {
  const access = readAccess(options);
  const { validUntil, frequency, once } = options;
  if (once && frequency !== undefined)
    throw new Psd2Error('usage', '--once is for one reading, so it cannot be used with --frequency');
  return {
    ...(access && { access }),
    ...(validUntil !== undefined && { validUntil: parseDate('--valid-until', validUntil) }),
    ...(frequency !== undefined && { frequencyPerDay: readFrequency(frequency) }),
    ...(once && { recurring: false }),
  };
}

function readAccess(options: TermsOptions): ConsentAccess | undefined {
  const { account, allAccounts, listOnly, balances, transactions } = options;
  const chosen = [
    account.length > 0 && '--account',
    allAccounts && '--all-accounts',
    listOnly && '--list-only',
  ];
  const given = chosen.filter((each) => each !== false);
  if (given.length > 1)
    throw new Psd2Error('usage', `${given.join(' and ')} cannot be used together`, { hint: 'Choose one.' });
  const isLess = balances || transactions;
  if (isLess && (allAccounts || listOnly)) {
    throw new Psd2Error('usage', `${given[0]} cannot be used with --balances or --transactions`, {
      hint: 'The bank decides what such a consent covers.',
    });
  }
  if (allAccounts) return { type: 'all-accounts' };
  if (listOnly) return { type: 'list-only' };
  if (account.length === 0) return isLess ? { type: 'bank-offered', balances, transactions } : undefined;
  const accounts = [...new Set(account.map(parseAccountReference))];
  return {
    type: 'dedicated',
    accounts,
    balances: balances || !isLess ? accounts : [],
    transactions: transactions || !isLess ? accounts : [],
  };
}

function readFrequency(text: string): number {
  if (/^[1-9]\d{0,3}$/.test(text)) return Number(text);
  throw new Psd2Error('usage', `--frequency ${JSON.stringify(text)} is not a number of readings a day`, {
    hint: 'Give a whole number from 1. Most banks allow 4.',
  });
}

/** Asks before a new recurring consent ends the customer's present one. One that is over already is no loss. @throws Psd2Error `confirmation_needed`, `cancelled` */
export async function confirmReplacement(
  context: Context,
  customer: string,
  { recurring = true }: Partial<ConsentTerms>,
): Promise<void> {
  if (!recurring) return;
  const { customers } = await context.store();
  const today = bankDay(context.world.now());
  const kept = (await customers.read(customer))?.consents ?? [];
  const present = kept.find((each) => each.recurring && (each.validUntil ?? today) >= today);
  if (!present) return;
  await confirmed(context, {
    text: `The customer ${customer} has the consent ${present.flow}. A new one ends it. Ask for a new one?`,
    unasked: `A new consent ends the present one of customer ${customer} (${present.flow})`,
    hint: 'Add --yes to replace it.',
    declined: 'Nothing was sent',
  });
}
