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
