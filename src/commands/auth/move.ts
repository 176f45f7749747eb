import { Psd2Error } from '../../errors.ts';
import { baseUrlOf, parseBaseUrl } from '../../store/machine/settings.ts';
import { object, text, whole } from '../../terminal/output/fields.ts';
import type { Context } from '../context.ts';
import { examples, verb } from '../declare.ts';
import { describeAtBank, recordsAt } from '../open/other-logins.ts';
import { confirmed } from '../shared/confirmed.ts';
import { recordProfileChange } from '../shared/record-in-audit.ts';

const moved = object({
  profile: text('profile of the logins'),
  from: text('the old base URL'),
  to: text('base URL from now on'),
  logins: whole('number of logins that were moved; the login of the application counts too'),
  customers: whole('number of customers whose consents were moved, or what else psd2 keeps about them'),
});

/** `psd2 auth move`: takes logins and consents along to the base URL that the profile has now. */
export const move = verb(
  {
    prints: { what: 'what was moved', shape: moved },
    help: `
If the bank has a new address, first give it to the profile: psd2 profile set <profile> --base-url <url>. Then this command takes
the logins and consents along from the old address. psd2 asks first, because it will send the tokens to the new address: it
must belong to the same bank. psd2 makes no call to the bank. If this is interrupted, run it again.
${examples('psd2 auth move --from https://old.bank.example')}`,
  },
  (command) => command.option('--from <url>', 'the old base URL'),
  (context, { from }) => authMove(context, from),
);

async function authMove(context: Context, oldUrl: string | undefined): Promise<void> {
  const { name } = context.profile();
  const { tokens, customers } = await context.store();
  const to = baseUrlOf(context.profile()).href;
  const from = await oldBaseUrl(context, oldUrl, to);
  const records = await recordsAt({ tokens, customers }, from);
  const what = `${describeAtBank(records)} of the profile ${name}`;
  if (records.logins + records.customers > 0) {
    await confirmed(context, {
      text: `Move ${what} from ${from} to ${to}? psd2 will send the tokens to the new address`,
      unasked: `psd2 would move ${what} from ${from} to ${to}`,
      hint: 'Make sure that both addresses belong to the same bank, then add --yes.',
      declined: 'Nothing was moved',
    });
    await recordProfileChange(context, name, 'logins moved to the base URL');
  }
  const logins = await tokens.move(from);
  const result = { profile: name, from, to, logins, customers: await customers.move(from) };
  if (context.output.format !== 'table') return context.output.record(result, moved);
  context.terminal.say(`Moved ${describeAtBank(result)} of the profile ${name} to ${to}.`);
}

/** @throws Psd2Error `usage` if it is missing, or no data belongs to it and some to another one */
async function oldBaseUrl(context: Context, oldUrl: string | undefined, to: string): Promise<string> {
  const { tokens, customers } = await context.store();
  const [logins, records] = [await tokens.otherBanks(), await customers.otherBanks()];
  const baseUrls = [...new Set([...logins, ...records].map(({ baseUrl }) => baseUrl))];
  const hint =
    baseUrls.length === 0
      ? `All logins and consents of the profile belong to its base URL ${to}.`
      : `The profile has logins or consents at: ${baseUrls.join(', ')}.`;
  if (oldUrl === undefined) throw new Psd2Error('usage', '--from is missing', { hint });
  const from = readUrl(oldUrl);
  if (from === to)
    throw new Psd2Error('usage', `--from is the base URL that the profile has now: ${to}`, { hint });
  if (baseUrls.length > 0 && !baseUrls.includes(from))
    throw new Psd2Error('usage', `The profile has no login and no consent at ${from}`, { hint });
  return from;
}

function readUrl(text: string): string {
  try {
    return parseBaseUrl(text).href;
  } catch (error) {
    if (!(error instanceof Psd2Error)) throw error;
    const { hint } = error;
    throw new Psd2Error('usage', `--from is wrong. ${error.message}`, {
      ...(hint !== undefined && { hint }),
    });
  }
}
