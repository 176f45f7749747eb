import { describeBank, readBankFile } from '../../bank-file/bank-file.ts';
import { variableOf } from '../../bank-file/kinds.ts';
import { type BankDescription, type BankFile, bankFile } from '../../bank-file/schema.ts';
import { Psd2Error } from '../../errors.ts';
import type { Environment } from '../../store/machine/settings.ts';

/**
 * Reads the bank file for a profile.
 *
 * @param nameOrPath name of a platform that comes with psd2, or path of a bank file
 * @returns what the profile stores: the bank file with all that it extends, as JSON; and the values in force
 * @throws Psd2Error `config` if something is wrong with it
 */
export async function contentOfBank(
  nameOrPath: string,
): Promise<{ content: string; description: BankDescription }> {
  const { file, description } = await readBankFile(nameOrPath);
  return { content: JSON.stringify(file), description };
}

/** Whether the OAuth server of a bank knows the application by a secret. */
export function needsClientSecret({ oauth }: BankDescription): boolean {
  return oauth.mode !== 'none' && oauth.clientAuth !== 'mtls';
}

/**
 * The bank of a profile, with what its headers take from the environment.
 *
 * @param setting the setting `bank`: JSON as {@link contentOfBank} gives it, or the name or path in `PSD2_BANK`
 * @throws Psd2Error `config` if something is wrong with the bank file, or a variable that it names is not set
 */
export async function bankOf(setting: string, env: Environment): Promise<BankDescription> {
  const described = setting.startsWith('{')
    ? await describeStored(setting)
    : (await readBankFile(setting)).description;
  const { headers } = described;
  const filled = (values: Record<string, string>) =>
    Object.fromEntries(Object.entries(values).map(([name, value]) => [name, fromEnvironment(value, env)]));
  return {
    ...described,
    headers: {
      ...headers,
      static: filled(headers.static),
      perOperation: Object.fromEntries(
        Object.entries(headers.perOperation).map(([operation, values]) => [operation, filled(values)]),
      ),
    },
  };
}

/** The values in force of the bank file that a profile stores. `env:` stays as it is. @throws Psd2Error `config` */
export async function describeStored(setting: string): Promise<BankDescription> {
  return describeBank(parseStored(setting));
}

/** The bank file of a profile, with all that it extends. @param setting as in {@link bankOf}. @throws Psd2Error `config` */
export async function bankFileOf(setting: string): Promise<BankFile> {
  const file = setting.startsWith('{') ? parseStored(setting) : (await readBankFile(setting)).file;
  const { success, data } = bankFile.safeParse(file);
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
