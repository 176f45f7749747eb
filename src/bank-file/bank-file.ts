import { Psd2Error } from '../errors.ts';
import {
  type BankFileHead,
  type BankHead,
  type BankProblem,
  type Description,
  type Descriptions,
  descriptionFor,
} from './description.ts';
import { variableOf } from './kinds.ts';
import { type Layer, layersOf } from './layers.ts';
import { mergeBankFiles } from './merge.ts';
import { isObject, valuesIn } from './values.ts';

/** A bank file that was read and found right. */
export interface ReadBank<Bank extends BankHead = BankHead, File extends BankFileHead = BankFileHead> {
  /** What the file and all that it extends say, as a bank file that extends nothing. A profile stores this. */
  file: File;
  /** Every value in force. */
  description: Bank;
  /** The paths of the values that are the standard's, since no file says anything else. */
  defaults: string[];
  /** The variables of the environment that headers take their values from, sorted. */
  variables: string[];
  /** The text of the file, if no other file has a say; undefined for a platform. */
  aloneText: string | undefined;
  /** The file itself, and what it extends, one after the other. */
  layers: readonly Layer[];
}

/** What psd2 found in a bank file. `bank` is undefined if there are problems. */
export interface CheckedBank<Bank extends BankHead = BankHead, File extends BankFileHead = BankFileHead> {
  /** The name of the bank, if the file has one. */
  name: string | null;
  /** Null if the file names no interface, or one without bank files. */
  interface: string | null;
  problems: BankProblem[];
  bank: ReadBank<Bank, File> | undefined;
  /** The text of the file; undefined for a platform, and for what cannot be read. */
  text: string | undefined;
}

/**
 * Reads a bank file (bank description, docs/banks.md).
 *
 * @param nameOrPath name of a platform that comes with psd2, or path of a file
 * @param descriptions of the interfaces that the bank may have
 * @throws Psd2Error `usage` if there is none, `config` if something is wrong with it or with what it extends
 */
export async function readBankFile<Bank extends BankHead, File extends BankFileHead>(
  nameOrPath: string,
  descriptions: Descriptions<Bank, File>,
): Promise<ReadBank<Bank, File>> {
  const { problems, bank } = await checkBankFile(nameOrPath, descriptions);
  if (!bank) throw refusal(`The bank ${nameOrPath}`, problems, [['bank', 'check', nameOrPath]]);
  return bank;
}

/**
 * Reads a bank file, and says everything that is wrong with it.
 *
 * @param nameOrPath name of a platform that comes with psd2, or path of a file
 * @param descriptions of the interfaces that the bank may have
 * @throws Psd2Error `usage` if there is none. Anything else is a problem
 */
export async function checkBankFile<Bank extends BankHead, File extends BankFileHead>(
  nameOrPath: string,
  descriptions: Descriptions<Bank, File>,
): Promise<CheckedBank<Bank, File>> {
  const layers: Layer[] = [];
  const problems: BankProblem[] = [];
  try {
    for await (const layer of layersOf(nameOrPath)) layers.push(layer);
  } catch (error) {
    if (!(error instanceof Psd2Error) || error.code === 'usage') throw error;
    problems.push({
      path: layers.length === 0 ? '' : 'extends',
      message: [error.message, error.hint].filter(Boolean).join('. '),
    });
  }
  const about = aboutIn(layers[0]?.content, descriptions);
  const reader = descriptionFor(descriptions, about.interface);
  const text = layers[0]?.text;
  const files: File[] = [];
  /** What is right in each file. */
  const rest: unknown[] = [];
  for (const [index, { where, content }] of layers.entries()) {
    if (isBankFile(content, reader)) {
      files.push(content);
      rest.push(content);
      continue;
    }
    const ownProblems = await problemsOfFields(content, reader);
    rest.push(await rightPartOf(content, reader));
    problems.push(...ownProblems.map((each) => (index === 0 ? each : inside(where, each))));
  }
  if (problems.length > 0) {
    const others = unfitIn(rest, reader).filter(
      (unfit) => !problems.some((each) => isBecauseOf(unfit, each)),
    );
    return { ...about, problems: [...problems, ...others], bank: undefined, text };
  }
  const merged = mergeBankFiles(files, reader.inherited);
  const platform = layers.find(({ text, where }) => text === undefined && where !== 'standard')?.where;
  const file = platform === undefined ? merged : { platform, ...merged };
  if (!isBankFile(file, reader)) throw new TypeError('Valid bank files together are not one');
  const description = reader.schema.parse(file);
  const written = new Set([...valuesIn(file)].map(([path]) => path));
  const defaults = [...valuesIn(description)].map(([path]) => path).filter((path) => !written.has(path));
  const unfit = reader.inconsistencies(description);
  const [own, ...below] = layers;
  const aloneText = below.some(({ text }) => text !== undefined) ? undefined : own?.text;
  const bank =
    unfit.length === 0
      ? { file, description, defaults, variables: variablesIn(description), aloneText, layers }
      : undefined;
  return { ...about, name: description.name ?? null, problems: unfit, bank, text };
}

/**
 * The values in force of a bank file that extends nothing, for example one that a profile stores.
 *
 * @throws Psd2Error `config` if something is wrong with it
 */
export async function describeBank<Bank extends BankHead>(
  content: unknown,
  descriptions: Descriptions<Bank>,
): Promise<Bank> {
  const reader = descriptionFor(descriptions, isObject(content) ? content.interface : undefined);
  const { success, data } = reader.schema.safeParse(content);
  if (!success) throw refusal('The stored bank', await problemsOfFields(content, reader));
  if (data.extends !== undefined)
    throw new Psd2Error('config', 'The stored bank must not extend another one');
  const problems = reader.inconsistencies(data);
  if (problems.length > 0) throw refusal('The stored bank', problems);
  return data;
}

/** The variables that the headers of a bank name. */
function variablesIn({ headers }: BankHead): string[] {
  const named = [...valuesIn(headers)].flatMap(([, value]) =>
    typeof value === 'string' ? (variableOf(value) ?? []) : [],
  );
  return [...new Set(named)].sort();
}

/** Whether a content is a bank file whose fields are valid. */
export function isBankFile<File extends BankFileHead>(
  content: unknown,
  { schema }: Description<BankHead, File>,
): content is File {
  return schema.safeParse(content).success;
}

async function problemsOfFields(content: unknown, reader: Description): Promise<BankProblem[]> {
  const { problemsIn } = await import('./problems.ts');
  return problemsIn(reader.schema.safeParse(content).error?.issues ?? [], content, reader);
}

/** What is left of a file without the fields that are wrong. */
async function rightPartOf(content: unknown, reader: Description): Promise<unknown> {
  const { withoutProblems } = await import('./problems.ts');
  return withoutProblems(reader.schema.safeParse(content).error?.issues ?? [], content);
}

/** What does not fit together in what is right of the files. Empty if too little is left. */
function unfitIn<File extends BankFileHead>(
  contents: readonly unknown[],
  reader: Description<BankHead, File>,
): BankProblem[] {
  const files = contents.filter((content): content is File => isBankFile(content, reader));
  if (files.length < contents.length) return [];
  const { success, data } = reader.schema.safeParse(mergeBankFiles(files, reader.inherited));
  return success ? reader.inconsistencies(data) : [];
}

/** Whether something may only not fit because a field is wrong. */
function isBecauseOf(unfit: BankProblem, { path }: BankProblem): boolean {
  const [group] = path.split('.');
  return (
    path === '' || path === 'extends' || unfit.path.split('.')[0] === group || unfit.message.includes(path)
  );
}

/** A problem of a file that the checked one extends. */
function inside(where: string, { path, message }: BankProblem): BankProblem {
  return { path, message: `In ${where}, which this file extends: ${message}` };
}

function aboutIn(content: unknown, descriptions: Descriptions): Pick<CheckedBank, 'name' | 'interface'> {
  if (!isObject(content)) return { name: null, interface: null };
  const { name, interface: named } = content;
  return {
    name: typeof name === 'string' ? name : null,
    interface: typeof named === 'string' && Object.hasOwn(descriptions, named) ? named : null,
  };
}

/** An error that says the first problem, and how many there are. */
function refusal(what: string, problems: readonly BankProblem[], next?: string[][]): Psd2Error {
  const [first, ...more] = problems;
  const others = more.length === 0 ? '' : ` (and ${more.length} more)`;
  const advice = next && { hint: 'See everything that is wrong with it:', next };
  return new Psd2Error('config', `${what} is invalid: ${first?.message}${others}`, advice);
}
