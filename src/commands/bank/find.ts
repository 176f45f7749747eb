import { readdirSync } from 'node:fs';
import { DESCRIPTIONS } from '../../bank/descriptions.ts';
import { checkBankFile, readBankFile } from '../../bank-file/bank-file.ts';
import { descriptionFor } from '../../bank-file/description.ts';
import { platformNames, readPlatform } from '../../bank-file/platforms.ts';
import { parseSepaIban } from '../../domain/order/iban.ts';
import { Psd2Error } from '../../errors.ts';
import { list, object, oneOf, orNull, text } from '../../terminal/output/fields.ts';
import type { Context } from '../context.ts';
import { examples, verb } from '../declare.ts';
import { describeStored } from '../open/bank-file.ts';
import { looksLikeIban } from '../open/debited-account.ts';
import { banksIn, mostExact, profileServers, queryOf, type Server } from '../open/serving.ts';

const server = object({
  kind: oneOf(['profile', 'platform', 'file'], 'what serves the bank').as('Kind'),
  name: text('name of the profile or platform, or path of the file').as('Name', { whole: true }),
  bank: orNull(text('name of the bank; null if only the name of the profile or platform was meant')).as(
    'Bank',
  ),
  bic: orNull(text('BIC, or its first characters')).as('BIC'),
  bankCode: orNull(text('code of the bank in an IBAN; ? stands for any character')).as('Bank code'),
  country: orNull(text('ISO 3166 code')).as('Country'),
  login: orNull(
    text('how a customer logs in, or authorises; null if something is wrong with the bank file'),
  ).as('Login'),
}).inList('kind name bank country bankCode bic login');

/** `psd2 bank find <bank>` */
export const find = verb(
  {
    prints: { what: 'what serves a bank', shape: list(server) },
    help: `
The command names the profiles that serve a bank. If there is none, it names the platforms that come with psd2, and the bank files in the
current folder. What a profile, platform or file serves is in the field banks of its bank file. An IBAN is compared by its
country and the code of its bank. Only the most exact answers are shown. If nobody names that code, the command lists the
platforms of the country of the IBAN.

${examples('psd2 bank find DE89370400440532013000', 'psd2 bank find NTSBDEB1', 'psd2 bank find "caja rural"').trimStart()}`,
  },
  (command) => command.argument('<iban|bic|name>', 'an IBAN, a BIC, or words of the name of a bank'),
  (context, named) => findBank(context, named),
);

/** @throws Psd2Error `usage`, `invalid_iban` */
async function findBank(context: Context, named: string): Promise<void> {
  const { output, terminal } = context;
  const query = queryOf(named);
  if (query.iban === undefined && looksLikeIban(named.replace(/\s/g, ''))) refuseWrongIban(named);
  if (query.iban === undefined && query.words.length === 0)
    throw new Psd2Error('usage', 'No bank is given: give an IBAN, a BIC, or words of its name');
  const platforms = platformNames().map((name) => [name, readPlatform(name).content] as const);
  const servers = mostExact(query, [
    ...profileServers(context),
    ...platforms.map(([name, file]): Server => ({ kind: 'platform', name, file })),
    ...(await filesHere()),
  ]);
  const profiles = servers.filter(({ kind }) => kind === 'profile');
  const rows = (profiles.length > 0 ? profiles : servers).map(({ kind, name, bank }) => {
    const { name: called = null, bic = null, bankCode = null, country = null } = bank ?? {};
    return { kind, name, bank: called, bic, bankCode, country };
  });
  const nearby = rows.length > 0 ? [] : inCountry(query.iban, platforms);
  await output.table(
    await Promise.all(
      [...rows, ...nearby].map(async (row) => ({ ...row, login: await loginAt(context, row) })),
    ),
    server,
    `No profile, platform or bank file in this folder says that it serves ${named}`,
  );
  if (profiles.length > 0) return;
  if (nearby.length > 0)
    terminal.say('psd2 knows no bank with this code. These are the platforms of its country.');
  terminal.say(
    rows.length + nearby.length > 0
      ? 'No profile serves it. Write a bank file that extends one of these, and store it with psd2 profile add.'
      : 'See all platforms with psd2 bank list. A bank that none of them serves begins with the platform standard, and psd2 bank learn finds out how it differs.',
  );
}

/** An account's IBAN that is wrong is no payee's. @throws Psd2Error `invalid_iban` */
function refuseWrongIban(text: string): void {
  try {
    parseSepaIban(text);
  } catch (error) {
    if (!(error instanceof Psd2Error)) throw error;
    throw error.with({ hint: 'Copy it again from the account, or name the bank by its BIC or its name.' });
  }
}

/** The platforms that name a bank in the country of an IBAN. Another bank of the country often has one of them. */
function inCountry(iban: string | undefined, platforms: readonly (readonly [name: string, file: unknown])[]) {
  const country = iban?.slice(0, 2);
  if (country === undefined) return [];
  return platforms
    .filter(([, file]) => banksIn(file).some((bank) => bank.country === country))
    .map(([name]) => ({ kind: 'platform' as const, name, bank: null, bic: null, bankCode: null, country }));
}

/** How a customer of a bank logs in or authorises. */
async function loginAt(
  { profiles }: Context,
  { kind, name }: Pick<Server, 'kind' | 'name'>,
): Promise<string | null> {
  const setting = kind === 'profile' ? profiles.read(name)?.bank : name;
  if (setting === undefined) return null;
  try {
    const description = await (kind === 'profile'
      ? describeStored(setting)
      : readBankFile(setting, DESCRIPTIONS).then((bank) => bank.description));
    return descriptionFor(DESCRIPTIONS, description.interface).login(description);
  } catch (error) {
    if (error instanceof Psd2Error) return null;
    throw error;
  }
}

/** The bank files in the current folder. Other JSON, and what is wrong with a file, is for `psd2 bank check`. */
async function filesHere(): Promise<Server[]> {
  let names: string[] = [];
  try {
    names = readdirSync('.').filter((name) => name.endsWith('.json') && !name.startsWith('.'));
  } catch {
    // The folder is gone, or another user's.
  }
  const checked = await Promise.all(
    names.map(async (name) => ({ name, bank: (await checkBankFile(name, DESCRIPTIONS)).bank })),
  );
  return checked.flatMap(({ name, bank }): Server[] =>
    bank ? [{ kind: 'file', name, file: bank.file }] : [],
  );
}
