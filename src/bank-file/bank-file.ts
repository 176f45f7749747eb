import { Psd2Error } from '../errors.ts';
import { inconsistencies } from './consistency.ts';
import { variableOf } from './kinds.ts';
import { type Layer, layersOf } from './layers.ts';
import { mergeBankFiles } from './merge.ts';
import type { BankProblem } from './problems.ts';
import { type BankDescription, type BankFile, bankFile } from './schema.ts';
import { isObject, valuesIn } from './values.ts';

/** A bank file that was read and found right. */
export interface ReadBank {
  /** What the file and all that it extends say, as a bank file that extends nothing. A profile stores this. */
  file: BankFile;
  /** Every value in force. */
  description: BankDescription;
  /** The paths of the values that are the standard's, since no file says anything else. */
  defaults: string[];
  /** The variables of the environment that headers take their values from, sorted. */
  variables: string[];
  /** The text of the file, if no other file has a say; undefined for a platform. */
  aloneText: string | undefined;
}

/** What psd2 found in a bank file. `bank` is undefined if there are problems. */
export interface CheckedBank {
  /** The name of the bank, if the file has one. */
  name: string | null;
  /** Null if the file names no interface, or another one. */
  interface: 'nextgenpsd2' | null;
  problems: BankProblem[];
  bank: ReadBank | undefined;
}

/**
 * Reads a bank file (bank description, docs/banks.md).
 *
 * @param nameOrPath name of a platform that comes with psd2, or path of a file
 * @throws Psd2Error `config` if something is wrong with it or with what it extends
 */
export async function readBankFile(nameOrPath: string): Promise<ReadBank> {
  const { problems, bank } = await checkBankFile(nameOrPath);
  if (!bank) throw refusal(`The bank ${nameOrPath}`, problems, [['bank', 'check', nameOrPath]]);
  return bank;
}

/**
 * Reads a bank file, and says everything that is wrong with it.
 *
 * @param nameOrPath name of a platform that comes with psd2, or path of a file
 * @throws nothing: also what cannot be read is a problem
 */
export async function checkBankFile(nameOrPath: string): Promise<CheckedBank> {
  const layers: Layer[] = [];
  const problems: BankProblem[] = [];
  try {
    for await (const layer of layersOf(nameOrPath)) layers.push(layer);
  } catch (error) {
    if (!(error instanceof Psd2Error)) throw error;
    problems.push({
      path: layers.length === 0 ? '' : 'extends',
      message: [error.message, error.hint].filter(Boolean).join('. '),
    });
  }
  const files: BankFile[] = [];
  for (const [index, { where, content }] of layers.entries()) {
    if (isBankFile(content)) {
      files.push(content);
      continue;
    }
    const found = await problemsOfFields(content);
    problems.push(...found.map((each) => (index === 0 ? each : inside(where, each))));
  }
  const about = aboutIn(layers[0]?.content);
  if (problems.length > 0) return { ...about, problems, bank: undefined };
  const file = mergeBankFiles(files);
  if (!isBankFile(file)) throw new TypeError('Valid bank files together are not one');
  const description = bankFile.parse(file);
  const said = new Set([...valuesIn(file)].map(([path]) => path));
  const defaults = [...valuesIn(description)].map(([path]) => path).filter((path) => !said.has(path));
  const unfit = inconsistencies(description);
  const [own, ...below] = layers;
  const aloneText = below.some(({ text }) => text !== undefined) ? undefined : own?.text;
  const bank =
    unfit.length === 0
      ? { file, description, defaults, variables: variablesIn(description), aloneText }
      : undefined;
  return { ...about, name: description.name ?? null, problems: unfit, bank };
}

/**
 * The values in force of a bank file that extends nothing, for example one that a profile stores.
 *
 * @throws Psd2Error `config` if something is wrong with it
 */
export async function describeBank(content: unknown): Promise<BankDescription> {
  const { success, data } = bankFile.safeParse(content);
  if (!success) throw refusal('The stored bank', await problemsOfFields(content));
  if (data.extends !== undefined)
    throw new Psd2Error('config', 'The stored bank must not extend another one');
  const problems = inconsistencies(data);
  if (problems.length > 0) throw refusal('The stored bank', problems);
  return data;
}

/** The variables that the headers of a bank name. */
function variablesIn({ headers }: BankDescription): string[] {
  const values = [headers.static, ...Object.values(headers.perOperation)].flatMap((each) =>
    Object.values(each),
  );
  return [...new Set(values.flatMap((value) => variableOf(value) ?? []))].sort();
}

function isBankFile(content: unknown): content is BankFile {
  return bankFile.safeParse(content).success;
}

async function problemsOfFields(content: unknown): Promise<BankProblem[]> {
  const { problemsIn } = await import('./problems.ts');
  return problemsIn(bankFile.safeParse(content).error?.issues ?? [], content);
}

/** A problem of a file that the checked one extends. */
function inside(where: string, { path, message }: BankProblem): BankProblem {
  return { path, message: `In ${where}, which this file extends: ${message}` };
}

function aboutIn(content: unknown): Pick<CheckedBank, 'name' | 'interface'> {
  if (!isObject(content)) return { name: null, interface: null };
  return {
    name: typeof content.name === 'string' ? content.name : null,
    interface: content.interface === 'nextgenpsd2' ? content.interface : null,
  };
}

/** An error that says the first problem, and how many there are. */
function refusal(what: string, problems: readonly BankProblem[], next?: string[][]): Psd2Error {
  const [first, ...more] = problems;
  const others = more.length === 0 ? '' : ` (and ${more.length} more)`;
  const advice = next && { hint: 'See everything that is wrong with it:', next };
  return new Psd2Error('config', `${what} is not right: ${first?.message}${others}`, advice);
}
