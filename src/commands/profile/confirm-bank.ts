import { parseBaseUrl } from '../../store/machine/settings.ts';
import type { Context } from '../context.ts';
import { confirmed } from '../shared/confirmed.ts';

/**
 * Asks before a profile gets another base URL, if it has logins at the present one: they are not valid at the other.
 *
 * @throws Psd2Error `confirmation_needed`, `cancelled`; `config` if the store cannot be used
 */
export async function confirmOtherBank(
  context: Context,
  name: string,
  { before, after }: { before: string; after: string },
): Promise<void> {
  const [present, next] = [parseBaseUrl(before).href, parseBaseUrl(after).href];
  if (present === next) return;
  const { tokens } = (await context.forProfile(name).home()).open(name);
  const logins = (await tokens.otherBanks()).find(({ baseUrl }) => baseUrl === present)?.logins ?? 0;
  if (logins === 0) return;
  const what = `${logins} ${logins === 1 ? 'login' : 'logins'} of the profile ${name}`;
  const belong = `${what} ${logins === 1 ? 'belongs' : 'belong'} to ${present}`;
  const them = logins === 1 ? 'it' : 'them';
  context.terminal.say(`${belong}. psd2 keeps ${them}, but cannot use ${them} at ${next}.`);
  await confirmed(context, {
    text: 'Change the base URL?',
    unasked: belong,
    hint: 'A login is valid only at its own base URL. Add --yes to change it, or add a profile for the other one.',
    declined: 'Nothing was stored',
  });
}
