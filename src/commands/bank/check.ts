import { anyBankFile, DESCRIPTIONS } from '../../bank/descriptions.ts';
import { type CheckedBank, checkBankFile, type ReadBank } from '../../bank-file/bank-file.ts';
import { descriptionFor } from '../../bank-file/description.ts';
import { lineOf, linesOf } from '../../bank-file/lines.ts';
import { valuesIn } from '../../bank-file/values.ts';
import { jsonIn } from '../../domain/json.ts';
import { Psd2Error } from '../../errors.ts';
import {
  anything,
  described,
  flag,
  list,
  object,
  oneOf,
  orNull,
  text,
  whole,
} from '../../terminal/output/fields.ts';
import type { Context } from '../context.ts';
import { examples, verb } from '../declare.ts';
import { proofAt } from '../open/bank-file.ts';
import { printChecks, printedCheck, writeFix } from '../shared/checks.ts';
import { writeValue } from './show.ts';

const problem = object({
  path: text('path of the field; empty if it is about the whole file').as('Field'),
  line: orNull(whole('line in the file; null if it is about a file that it extends, or about none')).as(
    'Line',
    {
      right: false,
    },
  ),
  message: text('what is wrong').as('Problem'),
}).inList('line path message');

const valueInForce = object({
  field: text().as('Field', { whole: true }),
  value: anything().as('Value').written(writeValue),
  from: text().as('From'),
});

const fields = () => ({
  ok: flag('true if nothing is wrong'),
  name: orNull(text('name of the bank; null if the file has none')),
  interface: orNull(
    oneOf(Object.keys(DESCRIPTIONS), 'interface of the bank; null if the file names no known one'),
  ),
  problems: list(problem, 'what is wrong'),
  values: orNull(described(anyBankFile)),
  variables: list(text(), 'variables of the environment whose values psd2 sends to the bank'),
  defaults: list(text(), "paths of the values that are the standard's, because no file has another"),
});

const shape = object(fields());

const onlineShape = object({
  ...fields(),
  checks: list(printedCheck, 'what psd2 found at the bank; empty if something is wrong with the file'),
});

/** `psd2 bank check <bank>`: reads a bank file, and says what is wrong with it, or which values are in force. */
export const check = verb(
  {
    prints: { what: 'a bank file, checked', shape },
    printsWith: { '--online': { what: 'a bank file, checked at the bank', shape: onlineShape } },
    help: `
Without --online, the command asks nobody: it reads the file, and the files and platforms that the file extends. With it,
psd2 takes the certificates, and the base URL if the file has none, from the profile. If the bank refuses the signature,
or the form of the call, psd2 asks whether to try what banks are known to want, one thing at a time.

${examples('psd2 bank check mybank.json', 'psd2 --profile mybank bank check --online mybank.json', 'psd2 bank check mybank.json --json --query "problems[].message" --raw-output').trimStart()}`,
  },
  (command) =>
    command
      .argument('<bank>', 'path of a bank file, or name of a platform that comes with psd2')
      .option('--online', 'then call the bank once: is the connection right, and the signature?'),
  (context, bank, { online = false }) => (online ? checkOnline(context, bank) : checkBank(context, bank)),
);

/** @throws Psd2Error `config` if something is wrong */
async function checkBank(context: Context, bank: string): Promise<void> {
  const checked = await checkBankFile(bank, DESCRIPTIONS);
  await printCheck(context, checked);
  refuseProblems(bank, checked);
}

/** Checks the file, and then the bank that it describes, with the certificates of the profile. @throws Psd2Error */
async function checkOnline(context: Context, bank: string): Promise<void> {
  const checked = await checkBankFile(bank, DESCRIPTIONS);
  const { diagnoseBank } = await import('./online.ts');
  const diagnosis = checked.bank && (await diagnoseBank(context, bank, checked.bank));
  const checks = diagnosis?.checks ?? [];
  if (context.output.format !== 'table')
    context.output.record(
      {
        ...dataOf(checked),
        ok: diagnosis?.ok ?? false,
        checks: checks.map((check) => ({ ...check, fix: writeFix(check, context) })),
      },
      onlineShape,
    );
  else if (diagnosis) await printChecks(context, checks);
  else await printCheck(context, checked);
  refuseProblems(bank, checked);
  if (diagnosis && !diagnosis.ok) diagnosis.fail();
}

/** @throws Psd2Error `config` if something is wrong */
function refuseProblems(bank: string, { problems: { length } }: CheckedBank): void {
  if (length > 0)
    throw new Psd2Error(
      'config',
      `The bank file ${bank} has ${length} ${length === 1 ? 'problem' : 'problems'}`,
      {
        hint: 'See the fields of a bank file:',
        next: [
          ['help', 'bank-file'],
          ['schema', 'bank'],
        ],
      },
    );
}

/** What is wrong, with its line in the file. */
function problemsIn({ problems, text: content }: CheckedBank) {
  const lines = content === undefined || problems.length === 0 ? undefined : fieldLines(content);
  const placed = problems.map(({ path, message }) => {
    const lineNamed = /\bline (\d+), column \d/.exec(message)?.[1];
    const isOwn = lines !== undefined && !message.startsWith('In ');
    return {
      path,
      line: isOwn ? lineOf(lines, path) : lineNamed === undefined ? null : Number(lineNamed),
      message,
    };
  });
  return placed.sort((one, other) => (one.line ?? 0) - (other.line ?? 0));
}

/** Of JSON that is wrong no field has a line. */
function fieldLines(content: string): ReturnType<typeof linesOf> | undefined {
  return jsonIn(content) === undefined ? undefined : linesOf(content);
}

function dataOf(checked: CheckedBank) {
  const { name, interface: named, bank } = checked;
  const problems = problemsIn(checked);
  const ok = problems.length === 0;
  const values = bank?.description ?? null;
  return {
    ok,
    name,
    interface: named,
    problems,
    values,
    variables: bank?.variables ?? [],
    defaults: bank?.defaults ?? [],
  };
}

async function printCheck(context: Context, checked: CheckedBank): Promise<void> {
  const { output, terminal } = context;
  const { bank } = checked;
  if (output.format !== 'table') output.record(dataOf(checked), shape);
  else if (bank) {
    for (const line of [...proofAt(bank), ...credentialsOf(context, bank)]) terminal.say(line);
    await printValues(output, bank);
    if (bank.variables.length > 0)
      terminal.say(
        `psd2 takes these variables of the environment and sends them to the bank: ${bank.variables.join(', ')}`,
      );
  } else await output.table(problemsIn(checked), problem, '');
}

/** What the bank may want of its customers that only the profile can allow. */
function credentialsOf(context: Context, { description }: ReadBank): string[] {
  const takes = descriptionFor(DESCRIPTIONS, description.interface).credentials?.(description);
  if (!takes) return [];
  const when = takes.isAlone
    ? 'The bank has no other way than'
    : 'Where it offers no other way, the bank has';
  return [`${when} embedded SCA: customers give psd2 PIN and TAN. ${allowanceOf(context)}`];
}

function allowanceOf(context: Context): string {
  try {
    const { name, settings } = context.profile();
    return `The profile ${name} allows: ${settings.embedded ?? 'never'}.`;
  } catch (error) {
    if (!(error instanceof Psd2Error)) throw error;
    return 'A profile must allow it (setting embedded).';
  }
}

async function printValues(output: Context['output'], { description, defaults }: ReadBank): Promise<void> {
  const standard = new Set(defaults);
  const values = [...valuesIn(description)].map(([field, value]) => ({
    field,
    value,
    from: standard.has(field) ? 'default' : 'file',
  }));
  await output.table(values, valueInForce, '');
}
