import { anyBankFile, DESCRIPTIONS } from '../../bank/descriptions.ts';
import { readBankFile } from '../../bank-file/bank-file.ts';
import { fieldOf } from '../../bank-file/fields.ts';
import { platformsOf } from '../../bank-file/layers.ts';
import { valuesIn } from '../../bank-file/values.ts';
import { list as listOf, object, orNull, text, type ValueOf } from '../../terminal/output/fields.ts';
import type { Context } from '../context.ts';
import { examples, type Verb } from '../declare.ts';

const shape = listOf(
  object({
    name: text('name of the platform, for extends'),
    bank: orNull(text('whose platform it is')),
    source: orNull(text('where the facts are from')),
    verifiedOn: orNull(text('day on which somebody saw them hold, and words about it; null: nobody did')),
    differs: listOf(text(), 'fields in which it differs from the standard'),
  }),
);

type Platform = ValueOf<typeof shape>[number];

/** Fields that say what the file is, not what the bank does. */
const ABOUT_THE_FILE = ['name', 'source', 'verifiedOn', 'learned'];

/** `psd2 bank list` */
export const list: Verb = {
  prints: { what: 'platforms that come with psd2', shape },
  declare: (command, run) =>
    command
      .addHelpText('after', examples('psd2 bank list', 'psd2 bank list --json --query "[].name"'))
      .action(() => run(listPlatforms)),
};

async function listPlatforms({ output }: Context): Promise<void> {
  const standard = new Map(await valuesOf('standard'));
  const platforms = await Promise.all(
    Object.keys(await platformsOf(DESCRIPTIONS)).map((name) => describe(name, standard)),
  );
  await output.table(
    platforms,
    [
      { title: 'NAME', value: ({ name }) => name, whole: true },
      { title: 'DIFFERS IN', value: ({ differs }) => differs.join(', ') },
      { title: 'SOURCE', value: ({ source }) => source, dispensable: 1 },
    ],
    '',
    shape,
  );
}

async function describe(name: string, standard: ReadonlyMap<string, string>): Promise<Platform> {
  const { description } = await readBankFile(name, DESCRIPTIONS);
  const changed = (await valuesOf(name)).filter(([path, value]) => standard.get(path) !== value);
  const differs = [...new Set(changed.map(([path]) => fieldOf(anyBankFile(), path)))];
  const { name: bank = null, source = null, verifiedOn } = description;
  return { name, bank, source, verifiedOn, differs };
}

/** The values in force of a platform, by path, as JSON. */
async function valuesOf(name: string): Promise<[path: string, value: string][]> {
  const { description } = await readBankFile(name, DESCRIPTIONS);
  return [...valuesIn(description)].flatMap(([path, value]): [string, string][] =>
    ABOUT_THE_FILE.includes(path) ? [] : [[path, JSON.stringify(value)]],
  );
}
