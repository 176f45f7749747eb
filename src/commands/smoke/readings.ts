import type { Account, Transaction } from '../../bank/ports/bank.ts';
import { addDays, bankDay } from '../../domain/calendar.ts';
import { isIban } from '../../domain/order/iban.ts';
import { Psd2Error } from '../../errors.ts';
import { findAccount, openAccount, withinHistory } from '../accounts/account.ts';
import type { Context, CustomerBank } from '../context.ts';
import { bankOf, type Found, missing, type Smoke, wrongAnswer } from './smoke.ts';

/** What a bank allows without the customer, if it does not say itself (RTS (EU) 2018/389, article 36 (5) (b)). */
const READS_A_DAY = 4;
const USED_UP = "not read: today's reads without the customer are used up";
/** A balance may be some minutes newer than this machine's clock. */
const CLOCK_SLACK_MS = 5 * 60_000;
/** A day without a time begins so long before it begins in UTC, at the most: banks say the day of their own time zone. */
const FIRST_MIDNIGHT_MS = 14 * 3_600_000;

/** Counts a read before it is made. In a sandbox psd2 sets no limit. @returns why it must not be made */
async function takeRead(
  { context }: Smoke,
  { reads, customerId }: CustomerBank,
  account: string | null,
): Promise<Found | undefined> {
  const isSandbox = context.profile().settings.environment === 'sandbox';
  const allowance = { budget: READS_A_DAY, isOperators: false, isSpread: false };
  const outcome = await reads.take(customerId, account, isSandbox ? undefined : allowance);
  return outcome === 'taken' ? undefined : { skipped: USED_UP, lacks: 'reads' };
}

/** Step 7 */
export async function accounts(smoke: Smoke): Promise<Found> {
  const opened = await bankOf(smoke);
  const { bank, customerId } = opened;
  const used = await takeRead(smoke, opened, null);
  if (used) return used;
  const listed = await bank.accounts.list(customerId, smoke.context.world.newId());
  smoke.accounts = listed;
  if (listed.length === 0) throw wrongAnswer("The bank's list of accounts is empty");
  for (const { productId, iban } of listed) {
    if (productId === '') throw wrongAnswer('The bank lists an account without an id');
    if (iban !== null && /^[A-Z]{2}\d{2}[A-Z0-9]+$/.test(iban) && !isIban(iban))
      throw wrongAnswer('The bank lists an account whose IBAN has wrong check digits');
  }
  await chosenAccount(smoke, opened);
  return { detail: String(listed.length) };
}

/** A consent may cover less than the step reads. psd2 knows that without the bank. */
async function ifCovered({ plan }: Smoke, read: () => Promise<Found>): Promise<Found> {
  try {
    return await read();
  } catch (error) {
    const isUncovered =
      error instanceof Psd2Error &&
      error.code === 'not_logged_in' &&
      error.refusal === 'other' &&
      error.httpStatus === undefined;
    // A consent of this run covers as little as it can.
    if (!isUncovered || (plan.isWanted && plan.consent !== 'new')) throw error;
    return missing('the consent does not cover it');
  }
}

/** The account that is read: the one that the operator names, or the first. */
export async function chosenAccount(
  smoke: Smoke,
  { customerId }: CustomerBank,
): Promise<Account | undefined> {
  const { context, plan, accounts: listed } = smoke;
  if (plan.account !== undefined && listed) {
    const named = (await context.bankInterface()).readAccountId(plan.account);
    smoke.account ??= findAccount(listed, named, customerId);
  }
  smoke.account ??= listed?.[0];
  return smoke.account;
}

/** The id of the account that is read. Without the step `accounts`, only the operator can name it. */
export async function accountId(smoke: Smoke, opened: CustomerBank): Promise<string | undefined> {
  const account = await chosenAccount(smoke, opened);
  const { plan, context } = smoke;
  smoke.accountId =
    account?.productId ?? (plan.account === undefined ? undefined : await openAccount(context, plan.account));
  return smoke.accountId;
}

/** Step 8 */
export function balance(smoke: Smoke): Promise<Found> {
  return ifCovered(smoke, () => readBalance(smoke));
}

async function readBalance(smoke: Smoke): Promise<Found> {
  const opened = await bankOf(smoke);
  const { bank, customerId } = opened;
  const account = await accountId(smoke, opened);
  if (account === undefined) return missing('no account is known: name one with --account');
  const used = await takeRead(smoke, opened, account);
  if (used) return used;
  const read = await bank.accounts.balance(customerId, account, smoke.context.world.newId());
  const amounts = [read.accountBalance, read.availableBalance, ...(read.balances ?? [])].filter(
    (amount) => amount !== null,
  );
  if (amounts.length === 0) throw wrongAnswer("The bank's answer has no balance");
  if (amounts.some(({ currency }) => !/^[A-Z]{3}$/.test(currency)))
    throw wrongAnswer("A balance of the bank's answer has no currency");
  const latest = smoke.context.world.now().getTime() + CLOCK_SLACK_MS;
  const begins = (time: string) => Date.parse(time) - (time.includes('T') ? 0 : FIRST_MIDNIGHT_MS);
  const times = [read.asOf, ...(read.balances ?? []).map(({ at }) => at)].filter((time) => time !== null);
  if (times.some((time) => begins(time) > latest)) throw wrongAnswer('The balance is from the future');
  return {};
}

/** Step 9: the first page of the last seven days. */
export function transactions(smoke: Smoke): Promise<Found> {
  return ifCovered(smoke, () => readTransactions(smoke));
}

async function readTransactions(smoke: Smoke): Promise<Found> {
  const { context } = smoke;
  const opened = await bankOf(smoke);
  const { bank, customerId } = opened;
  const account = await accountId(smoke, opened);
  if (account === undefined) return missing('no account is known: name one with --account');
  const used = await takeRead(smoke, opened, account);
  if (used) return used;
  const today = bankDay(context.world.now());
  const range = withinHistory(silent(context), bank.accounts, { from: addDays(today, -7), to: today });
  const status = bank.accounts.identifiesRows ? ('booked' as const) : undefined;
  const transactionId = context.world.newId();
  const query = { customerId, productId: account, from: range.from, to: range.to, status, transactionId };
  const rows: Transaction[] = [];
  for await (const { booked, pending } of bank.accounts.pages(query)) {
    rows.push(...(booked?.rows ?? []), ...(pending?.rows ?? []));
    break;
  }
  const { from = today, to = today } = range;
  const isOutside = rows.some(
    ({ bookingDate }) => bookingDate !== null && (bookingDate < from || bookingDate > to),
  );
  if (isOutside) throw wrongAnswer(`The bank lists transactions outside ${from} to ${to}`);
  return { detail: `${rows.length} on the first page` };
}

function silent({ terminal }: Context) {
  return { terminal: { ...terminal, warn: () => {} } };
}
