import { DESCRIPTIONS } from '../../bank/descriptions.ts';
import type { BankInterface } from '../../bank/ports/bank.ts';
import { describeBank, type ReadBank, readBankFile } from '../../bank-file/bank-file.ts';
import { type BankHead, descriptionFor } from '../../bank-file/description.ts';
import type { ExplainedValue } from '../../bank-file/explain.ts';
import { variableOf } from '../../bank-file/kinds.ts';
import { looksLikePlatform } from '../../bank-file/platforms.ts';
import { readText } from '../../bank-file/read-json.ts';
import { isObject } from '../../bank-file/values.ts';
import { Psd2Error } from '../../errors.ts';
import type { CheckedBank } from '../../store/machine/checked-bank.ts';
import type { Environment } from '../../store/machine/settings.ts';

/**
 * Reads the bank file for a profile.
 *
 * @param nameOrPath name of a platform that comes with psd2, or path of a bank file
 * @returns what the profile stores: the bank file with all that it extends, as JSON; the values in force; and what a refused payment
 *   proves at this bank
 * @throws Psd2Error `config` if something is wrong with it
 */
export async function contentOfBank(
  nameOrPath: string,
): Promise<{ content: string; description: BankHead; proof: string[] }> {
  const bank = await readBankFile(nameOrPath, DESCRIPTIONS);
  return { content: JSON.stringify(bank.file), description: bank.description, proof: proofAt(bank) };
}

/** What a refused payment proves at a bank, in sentences. */
export function proofAt({ description, defaults }: ReadBank): string[] {
  const { proof } = descriptionFor(DESCRIPTIONS, description.interface);
  return proof?.(description, (field) => !defaults.includes(field)) ?? [];
}

/** The base URL of a bank file. Undefined without one, and if something is wrong with the file. @param nameOrPath as above */
export async function baseUrlIn(nameOrPath: string): Promise<string | undefined> {
  try {
    return (await contentOfBank(nameOrPath)).description.api.baseUrl;
  } catch (error) {
    if (error instanceof Psd2Error) return undefined;
    throw error;
  }
}

/** Whether the OAuth server of a bank knows the application by a secret. */
export function needsClientSecret({ oauth }: BankHead): boolean {
  return oauth.mode !== 'none' && oauth.clientAuth !== 'mtls';
}

/**
 * The bank of a profile, with what its headers take from the environment.
 *
 * @param setting the setting `bank`: JSON as {@link contentOfBank} gives it, or the name or path in `PSD2_BANK`
 * @param checked what the bank file meant when it was last checked
 * @throws Psd2Error `config` if something is wrong with the bank file, or a variable that it names is not set
 */
export async function bankOf(setting: string, env: Environment, checked: CheckedBank): Promise<BankHead> {
  const checkedBefore = await knownBank(setting, checked);
  const described = checkedBefore ?? (await checkBank(setting, checked));
  return { ...described, headers: filled(described.headers, env) };
}

/** A value with what its texts name in the environment. */
function filled<Value>(value: Value, env: Environment): Value;
function filled(value: unknown, env: Environment): unknown {
  if (typeof value === 'string') return fromEnvironment(value, env);
  if (typeof value !== 'object' || value === null || Array.isArray(value)) return value;
  return Object.fromEntries(Object.entries(value).map(([name, inner]) => [name, filled(inner, env)]));
}

/** The interface of a bank. Undefined: something is wrong with its bank file. @param setting as in {@link bankOf}; null: none */
export async function interfaceOf(setting: string | null): Promise<BankInterface | undefined> {
  const { DEFAULT_INTERFACE, interfaceNamed } = await import('../../bank/open.ts');
  if (setting === null) return interfaceNamed(DEFAULT_INTERFACE);
  try {
    const bank = await (isStored(setting)
      ? describeStored(setting)
      : contentOfBank(setting).then(({ description }) => description));
    return await interfaceNamed(bank.interface, bank);
  } catch (error) {
    if (error instanceof Psd2Error) return undefined;
    throw error;
  }
}

/** What was checked before, and has not changed. */
async function knownBank(setting: string, checked: CheckedBank): Promise<BankHead | undefined> {
  if (looksLikePlatform(setting)) return undefined;
  const text = isStored(setting) ? setting : await readText(setting);
  const checkedBefore = text === undefined ? undefined : checked.read(text);
  return wasDescribed(checkedBefore) ? checkedBefore : undefined;
}

async function checkBank(setting: string, checked: CheckedBank): Promise<BankHead> {
  if (isStored(setting)) {
    const description = await describeStored(setting);
    checked.write(setting, description);
    return description;
  }
  const { description, aloneText } = await readSetBank(setting);
  if (aloneText !== undefined) checked.write(aloneText, description);
  return description;
}

/** What psd2 itself wrote, and the seal shows that it is whole: the schema has nothing to add. */
function wasDescribed(description: unknown): description is BankHead {
  return description !== undefined;
}

/** The bank file in a setting, which no option of this command names. @throws Psd2Error `config`, also if there is none */
async function readSetBank(setting: string): ReturnType<typeof readBankFile> {
  try {
    return await readBankFile(setting, DESCRIPTIONS);
  } catch (error) {
    if (!(error instanceof Psd2Error) || error.code !== 'usage') throw error;
    throw new Psd2Error('config', error.message, error.hint === undefined ? {} : { hint: error.hint });
  }
}

function isStored(setting: string): boolean {
  return setting.startsWith('{');
}

/** The values in force of the bank file that a profile stores. `env:` stays as it is. @throws Psd2Error `config` */
export async function describeStored(setting: string): Promise<BankHead> {
  return describeBank(parseStored(setting), DESCRIPTIONS);
}

/** What the sources of the platform contest in the bank of a profile. @param setting as in {@link bankOf}. @throws Psd2Error `config` */
export async function contestedOf(setting: string): Promise<ExplainedValue[]> {
  const { contestedIn } = await import('../../bank-file/explain.ts');
  return contestedIn(await describeStored(JSON.stringify(await bankFileOf(setting))), DESCRIPTIONS);
}

/** The bank file of a profile, with all that it extends. @param setting as in {@link bankOf}. @throws Psd2Error `config` */
export async function bankFileOf(setting: string): Promise<BankHead> {
  const file = isStored(setting) ? parseStored(setting) : (await readSetBank(setting)).file;
  const named = isObject(file) ? file.interface : undefined;
  const { success, data } = descriptionFor(DESCRIPTIONS, named).schema.safeParse(file);
  if (success) return data;
  throw new Psd2Error('config', 'The bank file that the profile stores is damaged');
}

function parseStored(text: string): unknown {
  try {
    return JSON.parse(text);
  } catch (cause) {
    throw new Psd2Error('config', 'The bank file that the profile stores is damaged', {
      hint: 'Give it again with psd2 profile set <profile> --bank <file>.',
      cause,
    });
  }
}

/** A secret in a header stays in the environment: `env:NAME`. */
function fromEnvironment(value: string, env: Environment): string {
  const variable = variableOf(value);
  if (variable === undefined) return value;
  const secret = env[variable]?.trim();
  if (secret) return secret;
  throw new Psd2Error('config', `The bank file takes a header from ${variable}, which is not set`, {
    hint: `Set ${variable}.`,
  });
}
