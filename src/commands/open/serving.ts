import type { ServedBank } from '../../bank-file/description.ts';
import { type BankQuery, bankQuery, servedBy } from '../../bank-file/served.ts';
import { isObject } from '../../bank-file/values.ts';
import { isIban } from '../../domain/order/iban.ts';
import { Psd2Error } from '../../errors.ts';
import type { Context } from '../context.ts';

/** Who serves a bank. */
export interface Serving {
  kind: 'profile' | 'platform' | 'file';
  name: string;
  /** The one that was meant; null if the words name only who serves it. */
  bank: ServedBank | null;
  exactness: number;
}

/** What may serve a bank, with what its bank file says of itself. */
export interface Server extends Pick<Serving, 'kind' | 'name'> {
  /** A bank file. Only its `name` and `banks` count. */
  file: unknown;
}

/** What a text names: an IBAN, a BIC, or words. */
export const queryOf = (text: string): BankQuery => bankQuery(text, isIban);

/** Those that serve a bank, the most exact ones alone. */
export function mostExact(query: BankQuery, servers: readonly Server[]): Serving[] {
  const serving = servers.flatMap(({ kind, name, file }): Serving[] => {
    const named = isObject(file) && typeof file.name === 'string' ? [file.name] : [];
    const served = servedBy(query, banksIn(file), [name, ...named]);
    return served ? [{ kind, name, ...served }] : [];
  });
  const best = Math.max(0, ...serving.map(({ exactness }) => exactness));
  return serving.filter(({ exactness }) => exactness === best);
}

/** The stored profiles with a bank file. Nothing but their settings is read: no key, no store, no schema. */
export function profileServers({ profiles }: Pick<Context, 'profiles'>): Server[] {
  return profiles.list().flatMap((name): Server[] => {
    try {
      const bank = profiles.read(name)?.bank;
      return bank === undefined ? [] : [{ kind: 'profile', name, file: JSON.parse(bank) }];
    } catch {
      // One that is damaged is for `psd2 doctor`.
      return [];
    }
  });
}

/**
 * Refuses the account of another bank, if the bank file of the profile names its banks, and the one of another profile names
 * this one more exactly. If the profile's own names none, psd2 only says which profile serves the bank.
 *
 * @param account as the operator gave it. What is no IBAN says nothing of its bank
 * @throws Psd2Error `usage`
 */
export function refuseOtherBank(context: Context, account: string): void {
  const query = queryOf(account.replace(/:[A-Z]{3}$/i, ''));
  if (query.iban === undefined) return;
  const { name, settings } = context.profile();
  const own = settings.bank?.startsWith('{') ? banksIn(JSON.parse(settings.bank)) : [];
  // The files of all profiles are read only if the own one leaves a doubt.
  if (servedBy(query, own.filter(isExact), [])) return;
  const serving = mostExact(query, profileServers(context));
  const [other] = serving;
  if (!other?.bank || serving.some((each) => each.name === name)) return;
  const says = `${query.iban} is an account at ${other.bank.name}, which ${servedBanks(serving)}`;
  if (own.some(({ bankCode }) => bankCode !== undefined))
    throw new Psd2Error('usage', `${says}, and not the profile ${name}`, {
      hint: `psd2 has sent nothing. Give --profile ${other.name}.`,
    });
  context.terminal.say(`${says}.`);
}

const isExact = ({ bankCode = '?' }: ServedBank) => !bankCode.includes('?');

function servedBanks(serving: readonly Serving[]): string {
  const names = serving.map(({ name }) => name);
  const last = names.pop();
  return names.length === 0
    ? `the profile ${last} serves`
    : `the profiles ${names.join(', ')} and ${last} serve`;
}

/** The banks of a bank file. Nobody may have checked it, so what has no form of a bank is left out. */
export function banksIn(file: unknown): ServedBank[] {
  const banks = isObject(file) && Array.isArray(file.banks) ? file.banks : [];
  return banks.filter(
    (bank): bank is ServedBank =>
      isObject(bank) &&
      typeof bank.name === 'string' &&
      [bank.bic, bank.bankCode, bank.country].every((each) => each === undefined || typeof each === 'string'),
  );
}
