import type { Account } from '../../bank/ports/bank.ts';
import type { BatchLine } from '../../domain/batch/line.ts';
import { Psd2Error } from '../../errors.ts';
import type { Context, CustomerBank } from '../context.ts';

/** A customer who pays lines of a batch. */
export interface Payer {
  context: Context;
  opened: CustomerBank;
  /** Their accounts. The bank is asked once. */
  accounts(): Promise<Account[]>;
  /** The id of an account of theirs. @throws Psd2Error `usage` if they have none with this IBAN */
  accountOf(iban: string): Promise<string>;
}

/**
 * Opens the bank for the customers of a batch, each once. The customer who cannot be acted for stops only their own lines.
 *
 * @returns a function that throws Psd2Error `not_logged_in` and others
 */
export function payers(context: Context): (line: Pick<BatchLine, 'customer'>) => Promise<Payer> {
  const known = new Map<string | null, Promise<Payer>>();
  return ({ customer }) => {
    const payer = known.get(customer) ?? openPayer(context, customer);
    known.set(customer, payer);
    return payer;
  };
}

async function openPayer(context: Context, customer: string | null): Promise<Payer> {
  const own = customer === null ? context : context.forCustomer(customer);
  const opened = await own.bank();
  const { bank, customerId } = opened;
  let asked: Promise<Account[]> | undefined;
  const accounts = () => {
    asked ??= bank.accounts.list(customerId, own.world.newId());
    return asked;
  };
  return {
    context: own,
    opened,
    accounts,
    async accountOf(iban) {
      const account = (await accounts()).find((each) => each.iban === iban);
      if (account) return account.productId;
      throw new Psd2Error('usage', `The account ${iban} is not one of customer ${customerId}`);
    },
  };
}
