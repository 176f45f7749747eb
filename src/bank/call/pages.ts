import { hash } from 'node:crypto';
import { Psd2Error } from '../../errors.ts';
import type { FreeAnswer } from '../ports/bank.ts';
import type { BankCall } from './call.ts';

/** A list with more pages is not one. */
const MAX_PAGES = 10_000;

/** A page as an interface understands it. */
export interface FreePage {
  answer: FreeAnswer;
  /** What two pages of a list never have in common: the answer without the bank's id of it. */
  content: string | Buffer;
  /** The call of the next page. Null after the last one. */
  next: BankCall | null;
}

/**
 * Goes from page to page, and gives each answer as soon as it has arrived. It ends with the last page, or with a refusal. It
 * keeps no answers, only a few bytes of each.
 *
 * @param read sends a call, and reads its answer; pages count from 1
 * @throws Psd2Error `bank_answer` if a page comes twice, or there are more than 10 000
 */
export async function* followPages(
  first: BankCall,
  read: (call: BankCall, page: number) => Promise<FreePage>,
): AsyncGenerator<FreeAnswer> {
  const seen = new Set<string>();
  let call = first;
  for (let page = 1; ; page += 1) {
    seen.add(pageKey(call));
    const { answer, content, next } = await read(call, page);
    const print = `content ${printOf(content)}`;
    if (seen.has(print)) throw endless('has the same page twice', call);
    seen.add(print);
    yield answer;
    if (answer.refusal || next === null) return;
    if (seen.has(pageKey(next))) throw endless('leads back to a page that psd2 has read', call);
    if (page === MAX_PAGES) throw endless(`has more than ${MAX_PAGES} pages`, call);
    call = next;
  }
}

function pageKey({ origin = '', path }: BankCall): string {
  return `place ${printOf(`${origin} ${path}`)}`;
}

/** Short, because a list can have many pages. */
function printOf(content: string | Buffer): string {
  return hash('sha256', content, 'base64').slice(0, 22);
}

function endless(what: string, { transactionId }: BankCall): Psd2Error {
  return new Psd2Error('bank_answer', `The bank's list ${what}, so psd2 stops reading`, {
    hint: 'psd2 has printed the pages before. If the bank can narrow the list, do so with a query in the path.',
    transactionId,
  });
}
