import { readFile } from 'node:fs/promises';
import { Psd2Error } from '../../errors.ts';
import { isMissing } from '../../store/disk/system-error.ts';
import type { Context } from '../context.ts';

/**
 * Reads what an option gives as data: JSON, `@file`, or `-` for standard input.
 *
 * @returns the text as it is, checked to be JSON, so that every digit of it goes to the bank
 * @throws Psd2Error `usage`
 */
export async function readJsonOption(context: Context, option: string, value: string): Promise<string> {
  const text = await readText(context, option, value);
  try {
    JSON.parse(text);
  } catch (cause) {
    // What the parser quotes of the text may be a secret.
    const why =
      cause instanceof Error
        ? `: ${cause.message.replace(/, (\.\.\.)?".*"(\.\.\.)? is not valid JSON$/s, '')}`
        : '';
    throw new Psd2Error('usage', `${option} is not JSON${why}`, {
      hint: 'Give it as text, as @file, or as - for standard input.',
    });
  }
  return text;
}

async function readText(context: Context, option: string, value: string): Promise<string> {
  if (value === '-') return context.readStdin();
  if (!value.startsWith('@')) return value;
  try {
    return await readFile(value.slice(1), 'utf8');
  } catch (cause) {
    throw new Psd2Error(
      'usage',
      `The file ${value.slice(1)} of ${option} ${isMissing(cause) ? 'is not there' : 'cannot be read'}`,
      { cause },
    );
  }
}

/** Reads the data of further steps, each of which is to be an object. @throws Psd2Error `usage` */
export async function readFurtherData(context: Context, values: string[]): Promise<string[]> {
  if (values.filter((value) => value === '-').length > 1) {
    throw new Psd2Error('usage', 'Standard input can be given to one --verify-data only');
  }
  const texts: string[] = [];
  for (const value of values) texts.push(await readJsonOption(context, '--verify-data', value));
  return texts;
}
