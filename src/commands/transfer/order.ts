import Big from 'big.js';
import type { Account } from '../../bank/ports/bank.ts';
import { parseSepaIban, spacedIban } from '../../domain/order/iban.ts';
import { parsePaymentAmount } from '../../domain/order/payment-amount.ts';
import { checkGiven, isComplete, type OrderOptions } from '../../domain/order/read-order.ts';
import { parseDescription, parsePayeeName } from '../../domain/order/sepa-text.ts';
import { transliterated } from '../../domain/order/transliterate.ts';
import type { TransferOrder } from '../../domain/transfer.ts';
import { Psd2Error } from '../../errors.ts';
import { isRefusal } from '../../flows/refusals.ts';
import { maxAmountOf, type Profile } from '../../store/machine/settings.ts';
import { cleanText } from '../../terminal/clean.ts';
import { writeMoney } from '../../terminal/output/fields.ts';
import type { Context } from '../context.ts';
import { refuseClientCredentials } from '../flow/drive.ts';

// The rules that refuse a transfer before psd2 sends anything that moves money (command contract, "One set of rules").

/** @throws Psd2Error `confirmation_needed` if no check, option or person can verify the payee of an instant transfer */
export function refuseUncheckedPayee(
  { terminal }: Context,
  { settings }: Profile,
  { instant, payeeVerified }: { instant: boolean; payeeVerified: boolean },
): void {
  if (!instant || payeeVerified || settings.payeeCheck !== undefined || terminal.canAsk) return;
  throw new Psd2Error(
    'confirmation_needed',
    'An instant transfer needs a verified payee, and psd2 cannot ask without a terminal',
    {
      hint: 'Verify that the name belongs to the IBAN, then add --payee-verified; or set PSD2_PAYEE_CHECK. psd2 has sent nothing.',
    },
  );
}

/** @throws Psd2Error `invalid_amount` if the amount is above the profile's limit */
export function refuseAboveLimit(
  profile: Profile,
  { amount, currency }: Pick<TransferOrder, 'amount' | 'currency'>,
): void {
  const limit = maxAmountOf(profile);
  if (limit === null || new Big(amount).lte(limit)) return;
  throw new Psd2Error(
    'invalid_amount',
    `The amount ${amount} ${currency} is more than the ${limit} ${currency} that the profile ${profile.name} allows`,
    {
      hint: 'psd2 has sent nothing. The limit is the setting --max-amount of the profile, or PSD2_MAX_AMOUNT.',
    },
  );
}

/**
 * Asks the person at the terminal for the missing parts of an order: the account from a list with balances, the payee, the
 * IBAN and the amount. Checks each answer as it is typed, and the given options first.
 *
 * @returns the options with the answers; unchanged if nothing is missing or psd2 cannot ask
 * @throws Psd2Error for a wrong option, and if psd2 cannot get the accounts
 */
export async function askForMissing<Options extends OrderOptions & { transliterate?: boolean }>(
  context: Context,
  options: Options,
): Promise<Options> {
  const { terminal, world } = context;
  const { from, to, name, amount, currency } = options;
  const bankInterface = await context.bankInterface();
  const isChosen = from === undefined && bankInterface.debtorAccount !== undefined;
  const isKnown = from !== undefined || isChosen;
  if ((isKnown && isComplete({ to, name, amount })) || !terminal.canAsk) return options;
  checkGiven(options, world.now(), bankInterface);
  refuseClientCredentials(context);
  const profile = context.profile();

  const account = isKnown ? { productId: from, iban: null } : await chooseAccount(context);
  const spell = (text: string) => (options.transliterate ? transliterated(text) : text);
  const answers = {
    name:
      name ?? (await terminal.ask("Payee's name:", { check: (text) => void parsePayeeName(spell(text)) })),
    to: to ?? (await terminal.ask("Payee's IBAN:", { check: (text) => void parseSepaIban(text) })),
    amount:
      amount ??
      (await terminal.ask(`Amount in ${currency}, for example 12.50:`, {
        check: (text) => refuseAboveLimit(profile, { amount: parsePaymentAmount(text), currency }),
      })),
    description:
      options.description ??
      (await terminal.ask('Description for the payee (Enter for none):', {
        check: (text) => void parseDescription(spell(text)),
      })),
  };
  return { ...options, ...answers, from: account.productId, fromIban: account.iban ?? undefined };
}

/** Asks for the account to debit: from a list with balances, or by its id if the bank gives no list. */
async function chooseAccount(context: Context): Promise<Pick<Account, 'productId' | 'iban'>> {
  const { terminal } = context;
  let choices: Awaited<ReturnType<typeof accountsWithBalances>>;
  try {
    choices = await terminal.whileWaiting('Asking the bank for the accounts', accountsWithBalances(context));
  } catch (error) {
    if (!isRefusal(error)) throw error;
    terminal.warn(cleanText(`The bank does not list the accounts: ${error.message}`));
    const { readAccountId } = await context.bankInterface();
    const check = (text: string) => void readAccountId(text);
    return { productId: await terminal.ask('Id of the account to debit:', { check }), iban: null };
  }
  if (choices.length === 0) throw new Psd2Error('usage', 'The customer has no account to debit');
  return terminal.choose('Which account do you want to debit?', choices);
}

/** The accounts that can pay, without cards. */
async function accountsWithBalances(
  context: Context,
): Promise<{ value: Account; name: string; short: string }[]> {
  const { bank, customerId } = await context.bank();
  const transactionId = context.world.newId();
  const { cannotPay } = await context.bankInterface();
  const listed = await bank.accounts.list(customerId, transactionId);
  const accounts = listed.filter((account) => !cannotPay?.(account));
  const balances = await Promise.all(
    accounts.map(async ({ productId }) => {
      try {
        const { availableBalance, accountBalance } = await bank.accounts.balance(
          customerId,
          productId,
          transactionId,
        );
        return writeMoney(availableBalance ?? accountBalance);
      } catch (error) {
        // The operator can also choose an account without a balance.
        if (!isRefusal(error)) throw error;
        return null;
      }
    }),
  );
  const { default: stringWidth } = await import('string-width');
  const cells = accounts.map(({ productId, name, productDescription, iban }, index) =>
    [
      productId,
      name ?? productDescription ?? '',
      balances[index] ?? 'no balance',
      iban ? spacedIban(iban) : '',
    ].map(cleanText),
  );
  const widths = [0, 1, 2, 3].map((column) =>
    Math.max(0, ...cells.map((row) => stringWidth(row[column] ?? ''))),
  );
  const hasRoom = widths.reduce((sum, width) => sum + width + 2, 0) < (context.terminal.size.columns || 80);
  return accounts.map((value, index) => {
    const [productId = '', name = '', balance = '', iban = ''] = cells[index] ?? [];
    const [, nameWidth = 0, balanceWidth = 0] = widths;
    const blanks = (text: string, width: number) => ' '.repeat(Math.max(0, width - stringWidth(text)));
    const line = `${productId}  ${name}${blanks(name, nameWidth)}  ${blanks(balance, balanceWidth)}${balance}`;
    return { value, name: (hasRoom ? `${line}  ${iban}` : line).trimEnd(), short: `${productId} ${name}` };
  });
}
