import { anyBankFile, DESCRIPTIONS } from '../../bank/descriptions.ts';
import { SURENESS } from '../../bank-file/about.ts';
import { readBankFile } from '../../bank-file/bank-file.ts';
import type { BankHead } from '../../bank-file/description.ts';
import { explainBank } from '../../bank-file/explain.ts';
import { interfaceInWords } from '../../domain/interface-name.ts';
import { Psd2Error } from '../../errors.ts';
import { anything, described, list, object, oneOf, orNull, text } from '../../terminal/output/fields.ts';
import type { Context } from '../context.ts';
import { examples, verb } from '../declare.ts';
import { bankFileOf } from '../open/bank-file.ts';

const explained = object({
  field: text('path of the field').inPipe(),
  value: anything('the value in force').inPipe().written(writeValue),
  from: text(
    "platform, or path of the file, that says it; default: nothing does, and it is the standard's",
  ).inPipe(),
  source: orNull(text('where the platform or the file has it from; null if nothing says it')).inPipe(),
  sureness: orNull(oneOf(SURENESS, 'how sure it is; null if nobody said it')).inPipe().shown(howSure),
  differs: orNull(text('what other sources say of a contested value')),
}).inList('field value from sureness source');

/** `psd2 bank show <bank>`: every value in force, as a bank file that extends nothing. */
export const show = verb(
  {
    prints: { what: 'a bank file', shape: described(anyBankFile) },
    printsWith: { '--explain': { what: 'the values of a bank file, explained', shape: list(explained) } },
    help: `
Without a name, it is the bank file of the profile in use. The output is a bank file that extends nothing. A header whose value is a secret of the environment stays env:PSD2_BANK_NAME.
With --explain, it is a list: each value with the platform or file that says it, its source, and how sure it is. A value that the
sources contest says what others say of it.

${examples('psd2 bank show standard', 'psd2 bank show mybank.json --query signing', 'psd2 bank show sparkassen --explain').trimStart()}`,
  },
  (command) =>
    command
      .argument('[bank]', 'name of a platform that comes with psd2, or path of a bank file')
      .option('--explain', 'say of each value where it is from, and how sure it is'),
  async (context, named, { explain = false }) => {
    if (explain) await explainTo(context, named ?? refuseUnnamed());
    else
      printBank(
        context,
        named === undefined
          ? await ofProfile(context)
          : (await readBankFile(named, DESCRIPTIONS)).description,
      );
  },
);

/** The bank of the profile in use. @throws Psd2Error `no_profile`, `config`; `usage` at a bank without a bank file */
async function ofProfile(context: Context): Promise<BankHead> {
  const { name, settings } = context.profile();
  if (settings.bank !== undefined) return bankFileOf(settings.bank);
  throw new Psd2Error(
    'usage',
    `The profile ${name} has no bank file: its bank has ${interfaceInWords('cb')}`,
    PLATFORMS,
  );
}

/** @throws Psd2Error `usage`: a profile keeps no sources */
function refuseUnnamed(): never {
  throw new Psd2Error(
    'usage',
    '--explain needs the name of a platform, or the path of a bank file',
    PLATFORMS,
  );
}

const PLATFORMS = { hint: 'See the platforms with:', next: [['bank', 'list']] };

function printBank({ output }: Context, bank: BankHead): void {
  // Without a format, for a person who wants to change it.
  if (output.format === 'table') output.lines(JSON.stringify(bank, null, 2).split('\n'));
  else output.json(bank);
}

/** @throws Psd2Error `config` if something is wrong with the bank file */
async function explainTo({ output, stdoutIsTerminal, stdoutColumns }: Context, bank: string): Promise<void> {
  const values = explainBank(await readBankFile(bank, DESCRIPTIONS));
  if (output.format === 'table' && stdoutIsTerminal) {
    const { wrapWords } = await import('../../terminal/cells.ts');
    const columns = stdoutColumns || 80;
    const below = (text: string) => wrapWords(text, columns - 2).map((line) => `  ${line}`);
    output.lines(
      values.flatMap(({ field, value, from, source, ...sure }) => {
        const [first = '', ...rest] = wrapWords(`${field}: ${writeValue(value)}`, columns);
        const origin = [from, howSure(sure), source].filter(Boolean).join(', ');
        return [first, ...rest.flatMap(below), ...below(origin)];
      }),
    );
    return;
  }
  await output.table(values, explained, '');
}

/** A value of a bank file, as people see it. */
export function writeValue(value: unknown): string {
  return typeof value === 'string' ? value : JSON.stringify(value);
}

function howSure({ sureness, differs }: Record<'sureness' | 'differs', string | null>): string | null {
  return differs === null ? sureness : `${sureness}: ${differs}`;
}
