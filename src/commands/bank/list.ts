import { anyBankFile, DESCRIPTIONS } from '../../bank/descriptions.ts';
import { readBankFile } from '../../bank-file/bank-file.ts';
import { descriptionFor } from '../../bank-file/description.ts';
import { fieldOf } from '../../bank-file/fields.ts';
import { platformNames } from '../../bank-file/platforms.ts';
import { valuesIn } from '../../bank-file/values.ts';
import { interfaceInWords, STEP_INTERFACE_MARKS } from '../../domain/interface-name.ts';
import { cleanText } from '../../terminal/clean.ts';
import { list as listOf, object, orNull, text, type ValueOf } from '../../terminal/output/fields.ts';
import type { Context } from '../context.ts';
import { examples, verb } from '../declare.ts';

const platform = object({
  name: text('name of the platform, for extends').as('Name', { whole: true }),
  bank: orNull(text('whose platform it is')).as('Bank'),
  countries: listOf(text(), 'countries of the banks that it names, ISO 3166 codes')
    .as('Country')
    .written((countries) => countries.join(', ')),
  login: text('how a customer logs in, or authorises').as('Login'),
  source: orNull(text('where the facts are from')),
  verifiedOn: orNull(text('day on which somebody saw them hold, and words about it; null: nobody did')),
  differs: listOf(text(), 'fields in which it differs from the standard'),
});

type Platform = ValueOf<typeof platform>;

/** The platform that differs in nothing. It stands first. */
const STANDARD = 'standard';

/** Fields that say what the file is, not what the bank does. */
const ABOUT_THE_FILE = ['name', 'source', 'verifiedOn', 'learned', 'platform', 'banks'];

/** `psd2 bank list [word...]` */
export const list = verb(
  {
    prints: { what: 'platforms that come with psd2', shape: listOf(platform) },
    help: examples('psd2 bank list', 'psd2 bank list spain', 'psd2 bank list --json --query "[].name"'),
  },
  (command) =>
    command.argument(
      '[word...]',
      'show only platforms whose name, banks, country or login have each of these words',
    ),
  (context, words) => listPlatforms(context, words),
);

async function listPlatforms({ output, terminal }: Context, words: readonly string[]): Promise<void> {
  const standard = new Map(await valuesOf(STANDARD));
  const names = platformNames().filter((name) => name !== STANDARD);
  const all = await Promise.all([STANDARD, ...names].map((name) => describePlatform(name, standard)));
  const platforms = all.flatMap(({ words: own, ...platform }) =>
    words.every((word) => own.includes(word.toLowerCase())) ? [platform] : [],
  );
  await output.table(
    platforms,
    platform,
    `No platform has ${cleanText(words.join(' '))} in its name, its banks, their countries or its login`,
  );
  if (words.length === 0)
    terminal.say(
      `${capital(interfaceInWords('cb'))} needs no platform. You recognise it: ${STEP_INTERFACE_MARKS}.`,
    );
}

const capital = (text: string) => `${text.charAt(0).toUpperCase()}${text.slice(1)}`;

const COUNTRIES = new Intl.DisplayNames('en', { type: 'region' });

/** A platform, and the words by which it is found. */
async function describePlatform(
  name: string,
  standard: ReadonlyMap<string, string>,
): Promise<Platform & { words: string }> {
  const { description } = await readBankFile(name, DESCRIPTIONS);
  const changed = (await valuesOf(name)).filter(([path, value]) => standard.get(path) !== value);
  const differs = [...new Set(changed.map(([path]) => fieldOf(anyBankFile(), path)))];
  const { name: bank = null, source = null, verifiedOn, banks = [] } = description;
  const countries = [...new Set(banks.flatMap(({ country }) => country ?? []))].sort();
  const login = descriptionFor(DESCRIPTIONS, description.interface).login(description);
  const words = [name, bank, login, ...countries, ...countries.map((code) => COUNTRIES.of(code))];
  return {
    name,
    bank,
    countries,
    login,
    source,
    verifiedOn,
    differs,
    words: [...words, ...banks.map((each) => each.name)].join(' ').toLowerCase(),
  };
}

/** The values in force of a platform, by path, as JSON. */
async function valuesOf(name: string): Promise<[path: string, value: string][]> {
  const { description } = await readBankFile(name, DESCRIPTIONS);
  return [...valuesIn(description)].flatMap(([path, value]): [string, string][] =>
    ABOUT_THE_FILE.includes(path) ? [] : [[path, JSON.stringify(value)]],
  );
}
