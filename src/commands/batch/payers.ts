import type { BatchLine } from '../../domain/batch/line.ts';
import { Psd2Error } from '../../errors.ts';
import type { Context } from '../context.ts';
import type { Payer } from './pay-line.ts';

/**
 * Opens the bank for the customers of a batch, each once. The customer who cannot be acted for stops only their own lines.
 *
 * @returns a function that throws Psd2Error `not_logged_in` and others
 */
export function payers(context: Context): (line: BatchLine) => Promise<Payer> {
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
  let accounts: Promise<ReadonlyMap<string, string>> | undefined;
  return {
    context: own,
    opened,
    async accountOf(iban) {
      accounts ??= accountsOf(own);
      const id = (await accounts).get(iban);
      if (id !== undefined) return id;
      throw new Psd2Error('usage', `The account ${iban} is not one of customer ${opened.customerId}`);
    },
  };
}

/** The ids of a customer's accounts, by their IBANs. */
async function accountsOf(context: Context): Promise<ReadonlyMap<string, string>> {
  const { bank, customerId } = await context.bank();
  const accounts = await bank.accounts.list(customerId, context.world.newId());
  return new Map(
    accounts.flatMap(({ iban, productId }) => (iban === null ? [] : [[iban, productId] as const])),
  );
}
