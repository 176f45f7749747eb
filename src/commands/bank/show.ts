import { anyBankFile, DESCRIPTIONS } from '../../bank/descriptions.ts';
import { readBankFile } from '../../bank-file/bank-file.ts';
import type { Context } from '../context.ts';
import { examples, type Verb } from '../declare.ts';

/** `psd2 bank show <bank>`: every value in force, as a bank file that extends nothing. */
export const show: Verb = {
  prints: { what: 'a bank file', shape: anyBankFile },
  declare: (command, run) =>
    command
      .argument('<bank>', 'name of a platform that comes with psd2, or path of a bank file')
      .addHelpText(
        'after',
        `
The output is a bank file that extends nothing. A header whose value is a secret of the environment stays env:PSD2_BANK_NAME.

${examples('psd2 bank show standard', 'psd2 bank show mybank.json --query signing').trimStart()}`,
      )
      .action((bank) => run((context) => showBank(context, bank))),
};

/** @throws Psd2Error `config` if something is wrong with the bank file */
async function showBank({ output }: Context, bank: string): Promise<void> {
  const { description } = await readBankFile(bank, DESCRIPTIONS);
  // Without a format, for a person who wants to change it.
  if (output.format === 'table') output.lines(JSON.stringify(description, null, 2).split('\n'));
  else output.json(description);
}
