import { isRefusal } from '../../../bank/call/failure.ts';
import { type Account, fetchAccounts, fetchBalance } from '../../../bank/endpoints/customers.ts';
import { parseProductId } from '../../../domain/identifiers.ts';
import { parseSepaIban, spacedIban } from '../../../domain/order/iban.ts';
import { parsePaymentAmount } from '../../../domain/order/payment-amount.ts';
import { parseDescription, parsePayeeName } from '../../../domain/order/sepa-text.ts';
import { Psd2Error } from '../../../errors.ts';
import { cleanText } from '../../../terminal/clean.ts';
import type { Context } from '../../context.ts';
import { refuseClientCredentials } from '../../flow/rules.ts';
import { writeMoney } from '../../shared/money.ts';
import { refuseAboveLimit } from '../rules.ts';
import { checkGiven, type OrderOptions } from './order.ts';

/**
 * Asks the person at the terminal for the missing parts of an order: the account from a list with balances, the payee, the
 * IBAN and the amount. Checks each answer as it is typed, and the given options first.
 *
 * @returns the options with the answers; unchanged if nothing is missing or psd2 cannot ask
 * @throws Psd2Error for a wrong option, and if psd2 cannot get the accounts
 */
export async function askForMissing<Options extends OrderOptions>(
  context: Context,
  options: Options,
): Promise<Options> {
  const { terminal, world } = context;
  const { from, to, name, amount, currency } = options;
  const isComplete = [from, to, name, amount].every((value) => value !== undefined);
  if (isComplete || !terminal.canAsk) return options;
  checkGiven(options, world.now());
  refuseClientCredentials(context);
  const profile = context.profile();

  const account = from === undefined ? await chooseAccount(context) : { productId: from, iban: null };
  const asked = {
    name: name ?? (await terminal.ask("Payee's name:", { check: (text) => void parsePayeeName(text) })),
    to: to ?? (await terminal.ask("Payee's IBAN:", { check: (text) => void parseSepaIban(text) })),
    amount:
      amount ??
      (await terminal.ask(`Amount in ${currency}, for example 12.50:`, {
        check: (text) => refuseAboveLimit(profile, { amount: parsePaymentAmount(text), currency }),
      })),
    description:
      options.description ??
      (await terminal.ask('Description for the payee (Enter for none):', {
        check: (text) => void parseDescription(text),
      })),
  };
  return { ...options, ...asked, from: account.productId, fromIban: account.iban ?? undefined };
}

/** Asks for the account to debit: from a list with balances, or by its product id if the bank gives no list. */
async function chooseAccount(context: Context): Promise<Pick<Account, 'productId' | 'iban'>> {
  const { terminal } = context;
  let choices: Awaited<ReturnType<typeof accountsWithBalances>>;
  try {
    choices = await terminal.whileWaiting('Asking the bank for the accounts', accountsWithBalances(context));
  } catch (error) {
    if (!isRefusal(error)) throw error;
    terminal.warn(cleanText(`The bank does not list the accounts: ${error.message}`));
    const check = (text: string) => void parseProductId(text);
    return { productId: await terminal.ask('Product id of the account to debit:', { check }), iban: null };
  }
  if (choices.length === 0) throw new Psd2Error('usage', 'The customer has no account to debit');
  return terminal.choose('Which account do you want to debit?', choices);
}

async function accountsWithBalances(
  context: Context,
): Promise<{ value: Account; name: string; short: string }[]> {
  const { bank, customerId } = await context.bank();
  const transactionId = context.world.newId();
  const accounts = await fetchAccounts(bank, customerId, transactionId);
  const balances = await Promise.all(
    accounts.map(async ({ productId }) => {
      try {
        const { availableBalance, accountBalance } = await fetchBalance(
          bank,
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
  const hasRoom = widths.reduce((sum, width) => sum + width + 2, 0) < (context.terminal.size.columns ?? 80);
  return accounts.map((value, index) => {
    const [productId = '', name = '', balance = '', iban = ''] = cells[index] ?? [];
    const [, nameWidth = 0, balanceWidth = 0] = widths;
    const blanks = (text: string, width: number) => ' '.repeat(Math.max(0, width - stringWidth(text)));
    const line = `${productId}  ${name}${blanks(name, nameWidth)}  ${blanks(balance, balanceWidth)}${balance}`;
    return { value, name: (hasRoom ? `${line}  ${iban}` : line).trimEnd(), short: `${productId} ${name}` };
  });
}
