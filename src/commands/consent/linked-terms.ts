import { bankDay, type IsoDate, parseDate } from '../../domain/calendar.ts';
import type { ConsentTerms, Covered, CoveredFunds } from '../../domain/consent.ts';
import { compactNumber, isWholeCardNumber, withoutCardNumbers } from '../../domain/order/card-number.ts';
import { Psd2Error } from '../../errors.ts';
import type { Context } from '../context.ts';
import { readReferences, refuseTwice } from '../shared/account-references.ts';
import { confirmed } from '../shared/confirmed.ts';
import type { PsuOptions } from '../shared/psu.ts';
import { readText } from '../shared/read-data.ts';

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
  cardNumber?: string | undefined;
  cardExpiryDate?: string | undefined;
  cardInformation?: string | undefined;
  registrationInformation?: string | undefined;
}

/** What the options need: standard input, and the time. */
type Reading = Pick<Context, 'readStdin'> & { world: Pick<Context['world'], 'now'> };

/** The options that were given, as they are written. */
export function givenTerms(options: Partial<TermsOptions>): string[] {
  const { account = [], paste: _, ...others } = options;
  const names = Object.entries(others).filter(([, value]) => value !== undefined && value !== false);
  const written = names.map(
    ([name]) => `--${name.replace(/[A-Z]/g, (letter) => `-${letter.toLowerCase()}`)}`,
  );
  return [...(account.length > 0 ? ['--account'] : []), ...written];
}

/**
 * The terms that the operator chooses (the standard, section 3, `consent request`). What is absent is the bank's.
 *
 * @throws Psd2Error `usage`, `invalid_iban`, `invalid_date`
 */
export async function readTerms(context: Reading, options: TermsOptions): Promise<Partial<ConsentTerms>> {
  refuseOptions(options, FUNDS_OPTIONS, 'for the account information of a customer');
  const access = await readAccess(context, options);
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

async function readAccess(context: Reading, options: TermsOptions): Promise<Covered | undefined> {
  const { account, allAccounts, listOnly, balances, transactions } = options;
  const chosen = [
    account.length > 0 && '--account',
    allAccounts && '--all-accounts',
    listOnly && '--list-only',
  ];
  const flags = chosen.filter((each) => each !== false);
  if (flags.length > 1)
    throw new Psd2Error('usage', `${flags.join(' and ')} cannot be used together`, { hint: 'Choose one.' });
  const isLess = balances || transactions;
  if (isLess && (allAccounts || listOnly))
    throw new Psd2Error('usage', `${flags[0]} cannot be used with --balances or --transactions`, {
      hint: 'The bank decides what such a consent covers.',
    });
  if (allAccounts) return { type: 'all-accounts' };
  if (listOnly) return { type: 'list-only' };
  if (account.length === 0) return isLess ? { type: 'bank-offered', balances, transactions } : undefined;
  const accounts = await readReferences(context, account);
  return {
    type: 'dedicated',
    accounts,
    balances: balances || !isLess ? accounts : [],
    transactions: transactions || !isLess ? accounts : [],
  };
}

/** What only a consent for confirmations of funds has, and what it has not. */
const FUNDS_OPTIONS = ['cardNumber', 'cardExpiryDate', 'cardInformation', 'registrationInformation'] as const;
const READING_OPTIONS = [
  'allAccounts',
  'listOnly',
  'balances',
  'transactions',
  'validUntil',
  'frequency',
  'once',
] as const;

function refuseOptions(options: TermsOptions, names: readonly (keyof TermsOptions)[], what: string): void {
  const [foreign] = givenTerms(Object.fromEntries(names.map((name) => [name, options[name]])));
  if (foreign !== undefined) throw new Psd2Error('usage', `A consent ${what} has no ${foreign}`);
}

/**
 * What a consent for confirmations of funds is for ("confirmation of funds consent" 2.0).
 *
 * @throws Psd2Error `usage`, `invalid_iban`, `invalid_date`
 */
export async function readFundsTerms(
  context: Reading,
  options: TermsOptions,
): Promise<{ access: CoveredFunds }> {
  refuseOptions(options, READING_OPTIONS, 'for confirmations of funds');
  const { account, cardNumber, cardExpiryDate, cardInformation, registrationInformation } = options;
  if (account.length !== 1)
    throw new Psd2Error('usage', 'A consent for confirmations of funds is for one account', {
      hint: 'Name it with --account. Ask for one consent for each account.',
    });
  refuseTwice([account[0]?.trim().toLowerCase().startsWith('pan:-') ? '-' : undefined, cardNumber]);
  const [reference = ''] = await readReferences(context, account);
  return {
    access: {
      type: 'funds',
      account: reference,
      ...(cardNumber !== undefined && { cardNumber: await readCardNumber(context, cardNumber) }),
      ...(cardExpiryDate !== undefined && { cardExpiryDate: readCardEnd(context, cardExpiryDate) }),
      ...(cardInformation !== undefined && {
        cardInformation: readInformation('--card-information', cardInformation),
      }),
      ...(registrationInformation !== undefined && {
        registrationInformation: readInformation('--registration-information', registrationInformation),
      }),
    },
  };
}

/** The whole number of a card comes from a file or from standard input. @throws Psd2Error `usage` */
async function readCardNumber(context: Reading, argument: string): Promise<string> {
  const number = compactNumber(await readText(context, '--card-number', argument));
  const isGiven = argument !== '-' && !argument.startsWith('@');
  if (isGiven && isWholeCardNumber(number))
    throw new Psd2Error('usage', 'psd2 does not take a full card number from an argument', {
      hint: 'Give it in a file (--card-number @file) or on standard input (--card-number -), or masked: 525412******3241.',
    });
  if (/^[0-9A-Za-z*]{1,35}$/.test(number)) return number;
  throw new Psd2Error('usage', '--card-number is not the number of a card', {
    hint: 'It has 1 to 35 digits or letters. "*" stands for those that are not shown.',
  });
}

function readCardEnd({ world }: Reading, text: string): IsoDate {
  const day = parseDate('--card-expiry-date', text);
  if (day >= bankDay(world.now())) return day;
  throw new Psd2Error('invalid_date', `The card has expired on ${day}`, {
    hint: 'Give the last day of the card that the customer has now.',
  });
}

function readInformation(option: string, text: string): string {
  const plain = text.trim();
  // A contract may have a number as long.
  const isWhole = option === '--card-information' && isWholeCardNumber(plain);
  if (isWhole || withoutCardNumbers(plain) !== plain)
    throw new Psd2Error('usage', `${option} seems to contain a full card number`, {
      hint: 'psd2 would keep it. Leave it out, or mask it: 525412******3241. --card-number @file gives it to the bank.',
    });
  if (/^[^\p{Cc}\p{Cs}]{1,140}$/u.test(plain)) return plain;
  throw new Psd2Error('usage', `${option} is empty, longer than 140 characters, or has control characters`);
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
  const consents = (await customers.read(customer))?.consents ?? [];
  const present = consents.find((each) => each.recurring && (each.validUntil ?? today) >= today);
  if (!present) return;
  await confirmed(context, {
    text: `The customer ${customer} has the consent ${present.flow}. A new one ends it. Ask for a new one?`,
    unasked: `A new consent ends the present one of customer ${customer} (${present.flow})`,
    hint: 'Add --yes to replace it.',
    declined: 'Nothing was sent',
  });
}
