import { urlFrom } from '../../../domain/url.ts';
import { Psd2Error } from '../../../errors.ts';

/**
 * Resolves a link to a next page against the called path. The link's host is ignored, because links must never choose where a
 * token goes (command contract, "Links from the bank"). Such a link may also be relative to a base that psd2 does not trust,
 * `curies`. So a link that ends the called path leads to the same list.
 *
 * @param what what has the pages, in words
 * @returns the path and query, relative to the base URL
 * @throws Psd2Error `bank_answer` if the link is not a valid address
 */
export function linkedPath(calledPath: string, href: string, what: string, transactionId: string): string {
  const called = new URL(calledPath, 'https://bank.invalid');
  const [tail = ''] = href.split('?', 1);
  const isSameList = tail !== '' && called.pathname.endsWith(`/${tail.replace(/^\//, '')}`);
  const text = isSameList ? href.slice(tail.length) : href;
  const linked = urlFrom(text, called);
  if (linked?.pathname.startsWith('/')) {
    // Remove the path prefix of the base URL, because psd2 adds it to every path.
    const path = linked.pathname.slice(Math.max(0, linked.pathname.indexOf('/private/')));
    return `${path}${linked.search}`;
  }
  throw new Psd2Error(
    'bank_answer',
    `The bank's link to the next page of the ${what} is not a valid address`,
    { transactionId },
  );
}
