import type { BankInterface } from '../../bank/ports/bank.ts';
import { lacking } from '../../domain/interface-name.ts';
import { Psd2Error } from '../../errors.ts';
import { readNamedFile } from '../../store/disk/files.ts';
import type { Context } from '../context.ts';

/**
 * Reads the data of an option: JSON, `@file`, or `-` for standard input.
 *
 * @returns the text, checked to be JSON but unchanged, so that the bank gets every digit
 * @throws Psd2Error `usage`
 */
export async function readJsonOption(context: Context, option: string, value: string): Promise<string> {
  const text = await readText(context, option, value);
  try {
    JSON.parse(text);
  } catch (cause) {
    // The parser quotes the text, which may contain a secret.
    const why =
      cause instanceof Error
        ? `: ${cause.message.replace(/, (\.\.\.)?".*"(\.\.\.)? is not valid JSON$/s, '')}`
        : '';
    throw new Psd2Error('usage', `${option} is not JSON${why}`, {
      hint: 'Give JSON text, @file, or - for standard input.',
    });
  }
  return text;
}

/** Reads text: as it is, from `@file`, or from standard input for `-`. @throws Psd2Error `usage` */
export async function readText(
  context: Pick<Context, 'readStdin'>,
  option: string,
  value: string,
): Promise<string> {
  if (value === '-') return context.readStdin();
  if (!value.startsWith('@')) return value;
  const path = value.slice(1);
  return readNamedFile(path, `The file ${path} of ${option}`, 'usage').toString('utf8');
}

/**
 * Reads the data of further steps.
 *
 * @param data the value of `--data`, which may read standard input too
 * @throws Psd2Error `usage`
 */
export async function readFurtherData(context: Context, values: string[], data?: string): Promise<string[]> {
  if ([data, ...values].filter((value) => value === '-').length > 1)
    throw new Psd2Error('usage', 'Only one of --data and --verify-data can read standard input');
  const texts: string[] = [];
  for (const value of values) texts.push(await readJsonOption(context, '--verify-data', value));
  return texts;
}

/** @throws Psd2Error `usage` if no operation of the bank has further steps, so that their data would be lost without a word */
export function refuseFurtherData({ name, has }: Pick<BankInterface, 'name' | 'has'>): void {
  if (!has.has('operations')) throw lacking(name, '--verify-data');
}
