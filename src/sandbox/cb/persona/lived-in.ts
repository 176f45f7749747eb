import type { OutgoingAnswer } from '../../answers/outgoing.ts';
import type { Bank } from '../../bank.ts';
import type { RawRequest } from '../../strict/raw-request.ts';
import { isObject, type JsonObject, objectsOf, reshapeData, reshapeEnvelope } from './data-shapes.ts';

const TOKEN_PATH = '/auth/oauth/v2/token';

/**
 * Gives an answer all the unusual shapes that the real bank's answers have. Its meaning stays the same. Documents and HTML
 * pages are not changed. The transactions of savings accounts get `_links.next`.
 */
export function applyPersona(answer: OutgoingAnswer, request: RawRequest, { customers, rules }: Bank): void {
  if (answer.status === 302) lengthenLocation(answer);
  const envelope = readEnvelope(answer);
  if (!envelope) return;
  const [path = '', query = ''] = request.target.split('?', 2);
  const productId = /\/products\/([^/]+)\/transactions\/retrieve$/.exec(path)?.[1] ?? '';
  if (customers.byProduct(productId)?.product.kind === 'savings') linkPages(envelope, query, rules.rowsAPage);
  else if (answer.status === 200) reshapeData(path, envelope);
  reshapeEnvelope(envelope);
  if (requiresSca(envelope)) answer.status = 401;
  const text = write(envelope);
  answer.body = Buffer.from(path === TOKEN_PATH ? `\n\n\r\n${text}\n\n` : text);
}

/** The real bank's login address has up to 1.5 kB. */
function lengthenLocation({ headers }: OutgoingAnswer): void {
  headers.set('location', `${headers.get('location') ?? ''}&session=${'0123456789abcdef'.repeat(75)}`);
}

function readEnvelope({ headers, body }: OutgoingAnswer): JsonObject | undefined {
  if (!headers.get('content-type')?.startsWith('application/json')) return undefined;
  const value: unknown = JSON.parse(body.toString('utf8'));
  return isObject(value) ? value : undefined;
}

/** The real bank requires SCA with the status 401, which otherwise means a wrong token. */
function requiresSca({ result }: JsonObject): boolean {
  return isObject(result) && objectsOf(result.messages).some(({ code }) => code === 'PSD2_SCA_REQUIRED');
}

/** A `requestId` without a leading zero becomes a bare number of 24 digits. */
function write(envelope: JsonObject): string {
  return JSON.stringify(envelope).replaceAll(/"requestId":"([1-9]\d{23})"/g, '"requestId":$1');
}

const DATES = ['dateAccountingCurrency', 'dateLiquidationValue'];

/**
 * Changes a page of transactions to the format with `_links.next` instead of cursors, and with ISO dates.
 *
 * @param query the query of the request, without the question mark
 * @param rowsAPage booked and pending rows per page
 */
function linkPages(envelope: JsonObject, query: string, rowsAPage: number): void {
  const { data, _links: links } = envelope;
  if (!isObject(data) || !isObject(links)) return;
  const { nextAccounting, nextNotAccounting } = data;
  if (nextAccounting !== undefined || nextNotAccounting !== undefined) {
    const parameters = new URLSearchParams(query);
    // Both cursors advance, even past the end of a list. Without its cursor a finished list would start again.
    for (const name of ['nextAccounting', 'nextNotAccounting'])
      parameters.set(name, String(Number(parameters.get(name) ?? 1) + rowsAPage));
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
