import { numberSource, parseAccountReference } from '../../domain/order/account-reference.ts';
import { Psd2Error } from '../../errors.ts';
import type { Context } from '../context.ts';
import { readText } from './read-data.ts';

/**
 * Reads references to accounts from an option. The whole number of a card comes from a file or from standard input, because other
 * programs see the arguments of a command.
 *
 * @returns each once, in the form of {@link parseAccountReference}
 * @throws Psd2Error `usage`, `invalid_iban`
 */
export async function readReferences(
  context: Pick<Context, 'readStdin'>,
  texts: readonly string[],
): Promise<string[]> {
  const sources = texts.map(numberSource);
  refuseTwice(sources.map((each) => each?.source));
  const read: string[] = [];
  for (const [index, text] of texts.entries()) {
    const source = sources[index];
    read.push(
      source ? source.read(await readText(context, '--account', source.source)) : parseAccountReference(text),
    );
  }
  return [...new Set(read)];
}

/** @throws Psd2Error `usage` if two values come from standard input */
export function refuseTwice(sources: readonly (string | undefined)[]): void {
  if (sources.filter((source) => source === '-').length > 1)
    throw new Psd2Error('usage', 'Only one number can come from standard input', {
      hint: 'Give the others in files: @file.',
    });
}
