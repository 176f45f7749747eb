import type { OutgoingAnswer } from '../../answers/outgoing.ts';
import type { Bank } from '../../bank.ts';
import { readBankDate } from '../../ledger/bank-time.ts';
import type { RawRequest } from '../../strict/raw-request.ts';

const TOKEN_PATH = '/auth/oauth/v2/token';

/**
 * Gives an answer all the unusual shapes that the real bank's answers have. Its meaning stays the same. Documents and HTML
 * pages are not changed. The transactions of savings accounts get `_links.next`.
 */
export function applyPersona(
  answer: OutgoingAnswer,
  request: Pick<RawRequest, 'target'>,
  { customers, rules }: Pick<Bank, 'customers' | 'rules'>,
): void {
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
  return isPlainObject(value) ? value : undefined;
}

/** The real bank requires SCA with the status 401, which otherwise means a wrong token. */
function requiresSca({ result }: JsonObject): boolean {
  return isPlainObject(result) && objectsOf(result.messages).some(({ code }) => code === 'PSD2_SCA_REQUIRED');
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
  if (!isPlainObject(data) || !isPlainObject(links)) return;
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

/** A host that does not exist. A client that follows such a link would send its token to another host. */
const ELSEWHERE = 'https://gateway.bank.invalid';

/** Gives an envelope the real bank's shape: blank links, links to other hosts, plain messages, missing parts. */
function reshapeEnvelope(envelope: JsonObject): void {
  const { result, _links: links, _embedded: embedded } = envelope;
  if (isPlainObject(result)) reshapeResult(result);
  if (isPlainObject(links)) reshapeLinks(links);
  if (isPlainObject(embedded)) reshapeEmbedded(embedded);
}

function reshapeResult(result: JsonObject): void {
  drop(result, 'flushMessages');
  const messages = objectsOf(result.messages).flatMap(reshapeMessage);
  if (messages.length > 0) result.messages = messages;
  else drop(result, 'messages');
}

/** A success message is a plain string. An error has no detail, and a plain string follows it. */
function reshapeMessage(message: JsonObject): unknown[] {
  if (message.type === 'SUCCESS') return [message.message];
  if (message.type !== 'ERROR') return [message];
  const { code, message: text, type } = message;
  return [{ code, message: text, type }, 'Operazione non riuscita'];
}

/** `self` is blank. The curies have another host, only a path, or no `{rel}`. */
function reshapeLinks(links: JsonObject): void {
  if (isPlainObject(links.self)) links.self.href = ' ';
  for (const curie of objectsOf(links.curies)) {
    const path = hrefPath(curie.href);
    if (curie.name === 'consent') curie.href = `${ELSEWHERE}/platform${path}`;
    else if (curie.name === 'transactions') curie.href = path;
    else curie.href = `${ELSEWHERE}${path.replace('{rel}', '')}`;
  }
}

/** Links to transaction documents are relative and not percent-encoded. All other links are on another host. */
function reshapeEmbedded(embedded: JsonObject): void {
  for (const [name, link] of Object.entries(embedded)) {
    if (!isPlainObject(link)) continue;
    const path = hrefPath(link.href);
    link.href = name.startsWith('transactions:')
      ? decodeURIComponent(path.slice(path.lastIndexOf('/', path.indexOf('?')) + 1))
      : `${ELSEWHERE}${path}`;
  }
}

function hrefPath(href: unknown): string {
  return String(href).replace(/^https?:\/\/[^/]+/, '');
}

/** Changes the envelope of one call. `data` is the envelope's `data`. */
type Shape = (data: JsonObject, envelope: JsonObject) => void;

const shapes: readonly [path: RegExp, shape: Shape][] = [
  [/^\/auth\/oauth\/v2\/token$/, token],
  [/\/(?:accounts|products)$/, accounts],
  [/\/products\/[^/]+$/, account],
  [/\/balance\/retrieve$/, balanceAnswer],
  [/\/transactions\/retrieve$/, transactions],
  [/\/consent\/request$/, consentRequest],
  [/\/approach$/, approach],
  [/\/operations\/[^/]+\/status$/, operationStatus],
  [/\/moneyTransfer\/prepare$/, (data) => drop(data, 'swift', 'SWIFT', 'currency', 'editBeneficiary')],
  [/\/moneyTransfer\/verify$/, (data) => drop(data, 'equivalentAmount', 'bankName', 'branchName', 'address')],
  [/\/moneyTransfer\/[^/]+\/execute$/, (data) => drop(data, 'moneyTransferOffline', 'sendEmailEnabled')],
  [/\/execution\/status$/, executionStatusAnswer],
];

/**
 * Gives a success the content that the real bank's answers have: missing fields, other names, numbers as strings.
 *
 * @param path the path of the request, without its query
 */
function reshapeData(path: string, envelope: JsonObject): void {
  const { data } = envelope;
  const shape = shapes.find(([pattern]) => pattern.test(path))?.[1];
  if (shape && isPlainObject(data)) shape(data, envelope);
}

function token(data: JsonObject): void {
  for (const name of ['expires_in', 'rt_expires_in']) {
    if (data[name] !== undefined) data[name] = String(data[name]);
  }
  drop(data, 'token_type');
}

function accounts(data: JsonObject): void {
  for (const record of [...objectsOf(data.accounts), ...objectsOf(data.products)]) account(record);
}

/** The bank omits an empty name. */
function account(record: JsonObject): void {
  if (record.name === '') drop(record, 'name');
}

/** The bank sends an ISO date, and no available credit. */
function balanceAnswer(data: JsonObject): void {
  data.date = typeof data.date === 'string' ? readBankDate(data.date) : data.date;
  drop(data, 'accountAvailableCredit', 'isPocketAccount');
}

/** Cursors are strings, and 0 or null at the end. Rows have fewer fields. */
function transactions(data: JsonObject): void {
  data.nextAccounting = data.nextAccounting === undefined ? 0 : String(data.nextAccounting);
  data.nextNotAccounting = data.nextNotAccounting === undefined ? null : String(data.nextNotAccounting);
  drop(data, 'showNotAccounting', 'transactionDescriptions', 'numberTransactionsNotAccounting');
  for (const row of objectsOf(data.transactionsAccounting)) drop(row, 'isFeeCharge');
  for (const row of objectsOf(data.transactionsNotAccounting))
    drop(row, 'shortDescription', 'extendedDescription', 'idMoneyTransfer');
}

/** The bank adds a link that a client does not need, to another host. */
function consentRequest(_data: JsonObject, envelope: JsonObject): void {
  envelope._embedded = { security: { href: `${ELSEWHERE}/private/auth/security/approach`, method: 'GET' } };
}

/** The bank puts a second result, with the data, into the first one. */
function approach(data: JsonObject, envelope: JsonObject): void {
  const { result } = envelope;
  if (!isPlainObject(result)) return;
  result.result = { ...result, _links: {}, _embedded: {}, data };
  drop(envelope, 'data');
}

/** The field has the name from the flow text of the interface specification. */
function operationStatus(data: JsonObject): void {
  data.authenticationState = data.authorizationStatus;
  drop(data, 'authorizationStatus');
}

function executionStatusAnswer(data: JsonObject): void {
  if (data.executionStatusDescription === '') data.executionStatusDescription = null;
}

/** An object of an answer. The persona changes and removes its fields. */
type JsonObject = Record<string, unknown>;

/** Whether a JSON value is an object and not an array. */
function isPlainObject(value: unknown): value is JsonObject {
  return typeof value === 'object' && value !== null && !Array.isArray(value);
}

/** The objects in an array. Empty if the value is not an array. */
function objectsOf(value: unknown): JsonObject[] {
  return Array.isArray(value) ? value.filter(isPlainObject) : [];
}

/** Removes fields from an object. */
function drop(object: JsonObject, ...names: string[]): void {
  for (const name of names) delete object[name];
}
