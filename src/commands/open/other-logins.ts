import type { ProfileData } from '../../store/ports/store.ts';
import type { Tokens } from '../../store/ports/tokens.ts';

/**
 * Says how many logins of the profile belong to other base URLs, as a sentence without its full stop. psd2 may have to read
 * all logins for it.
 *
 * @returns undefined if there are none
 */
export async function describeOtherLogins(tokens: Tokens): Promise<string | undefined> {
  const banks = await tokens.otherBanks();
  const [first, ...more] = banks;
  if (!first) return undefined;
  const count = banks.reduce((sum, { logins }) => sum + logins, 0);
  const where = more.length === 0 ? first.baseUrl : `${first.baseUrl} and ${more.length} more base URLs`;
  return `${count} ${count === 1 ? 'login' : 'logins'} of this profile ${count === 1 ? 'belongs' : 'belong'} to ${where}`;
}

/** What belongs to one base URL of a profile. */
interface AtBank {
  logins: number;
  /** Customers with a record, for example of their consents. */
  customers: number;
}

/** Counts what belongs to a base URL that is not the current one of this data. */
export async function recordsAt(
  { tokens, customers }: Pick<ProfileData, 'tokens' | 'customers'>,
  bank: string,
): Promise<AtBank> {
  const isThere = ({ baseUrl }: { baseUrl: string }) => baseUrl === bank;
  return {
    logins: (await tokens.otherBanks()).find(isThere)?.logins ?? 0,
    customers: (await customers.otherBanks()).find(isThere)?.customers ?? 0,
  };
}

/** For example `1 login and the consents of 2 customers`. Consents are named only if there are some. */
export function describeAtBank({ logins, customers }: AtBank): string {
  const login = `${logins} ${logins === 1 ? 'login' : 'logins'}`;
  const consents = `the consents of ${customers} ${customers === 1 ? 'customer' : 'customers'}`;
  if (customers === 0) return login;
  return logins === 0 ? consents : `${login} and ${consents}`;
}
