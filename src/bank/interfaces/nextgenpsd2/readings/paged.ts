import { Psd2Error } from '../../../../errors.ts';

/** The names that banks give to a header with the number of pages. */
const COUNT_OF_PAGES = /^(x-)?total-?pages?$/;

/**
 * A bank that counts more pages than it links to pages otherwise than its file says: the rest would be missing.
 *
 * @param read the number of pages so far
 * @param what what has the pages, in words
 * @throws Psd2Error `bank_answer`
 */
export function refuseCountedPages(
  headers: Readonly<Record<string, string>>,
  read: number,
  what: string,
  transactionId: string,
): void {
  const [name] =
    Object.entries(headers).find(([each, value]) => COUNT_OF_PAGES.test(each) && Number(value) > read) ?? [];
  if (name === undefined) return;
  throw new Psd2Error('bank_answer', `The bank has more pages of ${what} than it links to`, {
    hint: `Its header ${name} counts them: set accounts.paging in the bank file.`,
    transactionId,
  });
}
