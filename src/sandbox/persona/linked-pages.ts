import { isObject, type JsonObject, objectsOf } from './json-object.ts';

const DATES = ['dateAccountingCurrency', 'dateLiquidationValue'];

/**
 * Changes a page of transactions to the format with `_links.next` instead of cursors, and with ISO dates.
 *
 * @param query the query of the request, without the question mark
 * @param rowsAPage booked and pending rows per page
 */
export function linkPages(envelope: JsonObject, query: string, rowsAPage: number): void {
  const { data, _links: links } = envelope;
  if (!isObject(data) || !isObject(links)) return;
  const { nextAccounting, nextNotAccounting } = data;
  if (nextAccounting !== undefined || nextNotAccounting !== undefined) {
    const parameters = new URLSearchParams(query);
    // Both cursors advance, even past the end of a list. Without its cursor a finished list would start again.
    for (const name of ['nextAccounting', 'nextNotAccounting']) {
      parameters.set(name, String(Number(parameters.get(name) ?? 1) + rowsAPage));
    }
    links.next = { href: `retrieve?${parameters}`, method: 'GET' };
  }
  delete data.nextAccounting;
  delete data.nextNotAccounting;
  for (const row of [
    ...objectsOf(data.transactionsAccounting),
    ...objectsOf(data.transactionsNotAccounting),
  ]) {
    for (const name of DATES) {
      const date = row[name];
      if (typeof date === 'string') row[name] = date.replace(/^(\d{4})(\d{2})(\d{2})/, '$1-$2-$3');
    }
  }
}
