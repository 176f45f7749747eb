import type { Command, OptionValues } from '@commander-js/extra-typings';
import { didYouMean } from '../../did-you-mean.ts';
import type { Consent } from '../../domain/consent.ts';
import { CONSENT_CATEGORIES, type ConsentCategory } from '../../domain/consent-category.ts';
import type { AccountId } from '../../domain/identifiers.ts';
import { lacking } from '../../domain/interface-name.ts';
import { maskedAccess } from '../../domain/order/account-reference.ts';
import { Psd2Error } from '../../errors.ts';
import { bankFor, type GrantPorts, runLinkedConsent } from '../../flows/consent/by-links.ts';
import { runConsent } from '../../flows/consent/loop.ts';
import type { Open } from '../../store/ports/flows.ts';
import type { Context, CustomerBank } from '../context.ts';
import { alsoCalled, collect, type Verb, where } from '../declare.ts';
import { printsOne } from '../flow/describe.ts';
import { driveFlow, refuseClientCredentials } from '../flow/drive.ts';
import { customerOf } from '../open/customer.ts';
import { refusePasting } from '../open/returns.ts';
import { refuseOtherBank } from '../open/serving.ts';
import { givenCredentials, withCredentialOptions } from '../shared/credential-options.ts';
import { keepPsu, withPsuOptions } from '../shared/psu.ts';
import { sayNext } from '../shared/say-next.ts';
import { CONSENTS, consentOutcome, warnOfLess } from './consents.ts';
import { grantPortsOf } from './grant.ts';
import {
  confirmReplacement,
  givenTerms,
  readFundsTerms,
  readTerms,
  type TermsOptions,
} from './linked-terms.ts';

interface ConsentOptions {
  category: string[];
  /** Succeed even if the bank grants only some of the categories. */
  allowPartial: boolean;
}

/** `psd2 consent request` */
export const request: Verb = {
  prints: printsOne(CONSENTS),
  declare: (command, run) =>
    withTerms(
      withCredentialOptions(withPsuOptions(withOldNames(command)))
        .option(
          '--category <name...>',
          'ACCOUNT_INFO, FUNDS_AVAILABILITY or PAYMENTS; may be repeated',
          collect,
          [],
        )
        .option('--allow-partial', 'succeed even if the bank grants only some of the categories')
        .option(
          '--account <account...>',
          'account to ask for, by its id; where the bank has terms of consents by its IBAN, bban:…, maskedPan:…, msisdn:…, or pan:@file (pan:- for standard input), each also with :<currency>; may be repeated',
          collect,
          [],
        )
        .option('--all-accounts', 'ask for all accounts of the customer'),
    )
      .option(
        '--paste',
        where('links for SCA', 'prompt for the address in the browser after the customer has finished'),
      )
      .addHelpText(
        'after',
        `
Examples:
  $ psd2 consent request --category ACCOUNT_INFO --all-accounts
  $ psd2 consent request --category ACCOUNT_INFO --category PAYMENTS --account 0010482620

Where the bank has terms of consents, and the customer may choose the accounts:
  $ psd2 consent request
  $ psd2 consent request --account IT89F0999001600000010482620 --valid-until 2027-03-31
  $ psd2 consent request --category FUNDS_AVAILABILITY --account IT89F0999001600000010482620`,
      )
      .action(({ category, allowPartial = false, ...termOptions }) => {
        const { allAccounts = false, listOnly = false, balances = false, transactions = false } = termOptions;
        const { once = false, paste = false } = termOptions;
        const { psuPasswordFile, otpFile, scaMethod, ...others } = termOptions;
        const terms = { ...others, allAccounts, listOnly, balances, transactions, once, paste };
        return run(async (context) => {
          const taking = await givenCredentials(context, { psuPasswordFile, otpFile, scaMethod });
          return requestBy(taking, { category, allowPartial }, terms, context.world.newId());
        });
      }),
};

/** What a consent allows, where the operator says it. */
const withTerms = <Args extends unknown[], Options extends OptionValues>(command: Command<Args, Options>) =>
  command
    .option('--list-only', where('terms of consents', 'ask for the list of accounts alone'))
    .option(
      '--balances',
      where('terms of consents', 'ask for balances alone, unless --transactions is there too'),
    )
    .option(
      '--transactions',
      where('terms of consents', 'ask for transactions alone, unless --balances is there too'),
    )
    .option(
      '--valid-until <date>',
      where('terms of consents', "last day, YYYY-MM-DD; default: the bank's maximum"),
    )
    .option('--frequency <n>', where('terms of consents', 'readings a day while the customer is absent'))
    .option('--once', where('terms of consents', 'ask for one reading'))
    .option(
      '--card-number <number>',
      where(
        'consents for confirmations of funds',
        'with FUNDS_AVAILABILITY: card that the account pays for, masked; the full number from @file, or - for standard input',
      ),
    )
    .option(
      '--card-expiry-date <date>',
      where('consents for confirmations of funds', 'last day of that card, YYYY-MM-DD'),
    )
    .option(
      '--card-information <text>',
      where('consents for confirmations of funds', 'what else the bank may know of that card'),
    )
    .option(
      '--registration-information <text>',
      where('consents for confirmations of funds', 'your contract with the customer'),
    );

/** Until 0.2, an account was a product. */
const withOldNames = (command: Command): Command =>
  alsoCalled(alsoCalled(command, '--product <id...>', 'account', collect), '--all-products', 'allAccounts');

/** Requests a consent, as the interface of the bank has it. */
export async function requestBy(
  context: Context,
  options: ConsentOptions,
  terms: TermsOptions,
  transactionId: string,
): Promise<void> {
  for (const account of terms.account) refuseOtherBank(context, account);
  const hasTerms = (await context.bankInterface()).has.has('terms of consents');
  return (hasTerms ? requestLinked : requestConsent)(context, options, terms, transactionId);
}

/** One consent for each category, all for the same accounts. */
async function requestConsent(
  context: Context,
  options: ConsentOptions,
  terms: TermsOptions,
  transactionId: string,
): Promise<void> {
  const { account, allAccounts, ...others } = terms;
  const { name, readAccountId } = await context.bankInterface();
  const [foreign] = [...givenTerms(others), ...(terms.paste ? ['--paste'] : [])];
  if (foreign !== undefined)
    throw lacking(name, foreign, { hint: 'It is for banks where you choose the terms of a consent.' });
  const names = [...new Set(options.category.map(parseCategory))];
  const accountIds = [...new Set(account.map((text) => readAccountId(text)))];
  if (names.length === 0)
    throw new Psd2Error('usage', 'The category is missing', {
      hint: `Add --category with one of ${CONSENT_CATEGORIES.join(', ')}.`,
    });
  if (allAccounts === accountIds.length > 0)
    throw new Psd2Error(
      'usage',
      allAccounts ? '--account and --all-accounts cannot be used together' : 'The account is missing',
      { hint: 'Add --account <id> for each account, or --all-accounts.' },
    );
  refuseClientCredentials(context);

  const opened = await context.bank();
  const products = allAccounts ? await everyAccount(opened, readAccountId, transactionId) : accountIds;
  const begin = {
    transactionId,
    customerId: opened.customerId,
    categories: names.map((name) => ({ name, products })),
  };
  await opened.flows.begin('consent', begin, (open) => driveConsent(context, opened, open, options));
}

/** A consent at a bank where the operator chooses the terms, and the customer's SCA alone grants it. */
async function requestLinked(
  context: Context,
  { category }: ConsentOptions,
  options: TermsOptions,
  transactionId: string,
): Promise<void> {
  const names = [...new Set(category.map(parseCategory))];
  const [name = 'ACCOUNT_INFO', another] = names;
  if (name === 'PAYMENTS' || another === 'PAYMENTS')
    throw lacking((await context.bankInterface()).name, 'category PAYMENTS', {
      hint: 'Choose with --account <iban>, --all-accounts or --list-only, or let the customer choose at the bank.',
    });
  if (another !== undefined)
    throw new Psd2Error('usage', `${name} and ${another} are two consents`, {
      hint: 'Ask for one after the other.',
    });
  const isOfFunds = name === 'FUNDS_AVAILABILITY';
  if (isOfFunds) await context.needs('consents for confirmations of funds');
  refuseClientCredentials(context);
  const wholeTerms = await (isOfFunds ? readFundsTerms : readTerms)(context, options);
  if (options.paste) refusePasting(context);
  const customerId = await customerOf(context);
  if (!isOfFunds) await confirmReplacement(context, customerId, wholeTerms);
  await keepPsu(context, customerId, options);
  const opened = await context.bank();
  const terms = { ...wholeTerms, ...(wholeTerms.access && { access: maskedAccess(wholeTerms.access) }) };
  bankFor(opened.bank, { terms }).consents.checkTerms?.(wholeTerms);
  const begin = {
    transactionId,
    customerId,
    categories: [{ name, products: [] }],
    terms,
    returnState: context.world.newId(),
  };
  await opened.flows.begin('consent', begin, (open) =>
    driveConsent(context, opened, open, { allowPartial: true, paste: options.paste, given: wholeTerms }),
  );
}

/**
 * Continues a consent from its journal to its end, and prints the outcome.
 *
 * @param how `allowPartial`: succeed even if the bank grants only some of the categories
 * @throws what {@link runConsent} throws, with the commands to run next; Psd2Error `bank_refused` if the bank grants only some
 */
export async function driveConsent(
  context: Context,
  opened: CustomerBank,
  open: Open<'consent'>,
  {
    allowPartial,
    paste = false,
    ...how
  }: { allowPartial: boolean; paste?: boolean } & Pick<GrantPorts, 'person' | 'given'>,
): Promise<void> {
  if (open.current.terms) {
    const grant = await grantPortsOf(context, opened, open.current, { paste, ...how });
    const at = { ...opened, bank: bankFor(opened.bank, open.current) };
    await driveFlow(context, CONSENTS, at, open, (ports) => runLinkedConsent(open, ports, grant));
    warnOfLess(context, open.current);
    return sayNext(context, nextOf(open.current), context.repeated);
  }
  await driveFlow(context, CONSENTS, opened, open, (ports) => runConsent(open, ports));
  const refused = open.current.categories.filter(({ outcome }) => outcome === false);
  if (refused.length > 0 && !allowPartial)
    throw new Psd2Error(
      'bank_refused',
      `The bank did not grant ${refused.map(({ name }) => name).join(', ')}`,
      {
        hint: 'The other categories are confirmed. With --allow-partial, this counts as success.',
        transactionId: open.current.transactionId,
      },
    );
  sayNext(context, nextOf(open.current), context.repeated);
}

/** What the consent allows now. */
function nextOf(consent: Consent): string[][] {
  const granted = consent.categories.filter((each) => consentOutcome(consent, each));
  const read = granted.find(({ name }) => name === 'ACCOUNT_INFO');
  const [account] = read?.products ?? [];
  return [
    ...(read ? [['accounts', 'list']] : []),
    ...(account === undefined ? [] : [['accounts', 'balance', account]]),
    ...(granted.some(({ name }) => name === 'PAYMENTS') ? [['transfer']] : []),
  ];
}

async function everyAccount(
  { bank, customerId }: CustomerBank,
  readAccountId: (text: string) => AccountId,
  transactionId: string,
): Promise<AccountId[]> {
  const accounts = await bank.accounts.list(customerId, transactionId);
  if (accounts.length === 0) throw new Psd2Error('usage', 'The customer has no accounts to give consent for');
  return accounts.map(({ productId }) => readAccountId(productId));
}

function parseCategory(text: string): ConsentCategory {
  const category = CONSENT_CATEGORIES.find((each) => each === text);
  if (category) return category;
  throw new Psd2Error('usage', `Unknown category ${JSON.stringify(text)}`, {
    hint: `${didYouMean(text.toUpperCase(), CONSENT_CATEGORIES)}Use one of ${CONSENT_CATEGORIES.join(', ')}.`,
  });
}
