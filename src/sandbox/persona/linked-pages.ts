import { isObject, type JsonObject, objectsOf } from './json-object.ts';

const DATES = ['dateAccountingCurrency', 'dateLiquidationValue'];

/**
 * Turns a page of transactions into one of the kind that has no cursors but names the next page by `_links.next`, with
 * ISO dates.
 *
 * @param query of the request, without its question mark
 * @param rowsAPage of each kind
 */
export function linkPages(envelope: JsonObject, query: string, rowsAPage: number): void {
  const { data, _links: links } = envelope;
  if (!isObject(data) || !isObject(links)) return;
  const { nextAccounting, nextNotAccounting } = data;
  if (nextAccounting !== undefined || nextNotAccounting !== undefined) {
    const parameters = new URLSearchParams(query);
    // A list that has ended goes on past its end: left out, its cursor would begin it again.
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
