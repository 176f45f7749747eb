import type { ProfileData } from '../../store/ports/store.ts';

/**
 * Says how many logins and consents of the profile belong to other base URLs, as a sentence without its full stop. psd2 may have
 * to read all of them for it.
 *
 * @returns undefined if there are none
 */
export async function describeElsewhere(data: AtBanks): Promise<string | undefined> {
  const [logins, customers] = [await data.tokens.otherBanks(), await data.customers.otherBanks()];
  const sum = (counts: number[]) => counts.reduce((before, count) => before + count, 0);
  const elsewhere = {
    logins: sum(logins.map((each) => each.logins)),
    customers: sum(customers.map((each) => each.customers)),
  };
  const [first, ...more] = new Set([...logins, ...customers].map(({ baseUrl }) => baseUrl));
  if (first === undefined) return undefined;
  const where = more.length === 0 ? first : `${first} and ${more.length} more base URLs`;
  const isOne = elsewhere.logins === 1 && elsewhere.customers === 0;
  return `${describeAtBank(elsewhere)} of this profile ${isOne ? 'belongs' : 'belong'} to ${where}`;
}

type AtBanks = Pick<ProfileData, 'tokens' | 'customers'>;

/** What belongs to one base URL of a profile. */
interface AtBank {
  logins: number;
  /** Customers with a record, for example of their consents. */
  customers: number;
}

/** Counts what belongs to a base URL that is not the current one of this data. */
export async function recordsAt({ tokens, customers }: AtBanks, bank: string): Promise<AtBank> {
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

/** The customers who are logged in, as a sentence without its full stop. Undefined if there are none. */
export async function describeLogins({ tokens }: Pick<ProfileData, 'tokens'>): Promise<string | undefined> {
  const logins = await tokens.logins();
  if (logins.length === 0) return undefined;
  return `Logged in: ${writeSome(logins.map(({ customerId }) => customerId))}`;
}

/** The first few, and how many more there are. */
export function writeSome(names: readonly string[]): string {
  const more = names.length - 5;
  return `${names.slice(0, 5).join(', ')}${more > 0 ? ` and ${more} more` : ''}`;
}
