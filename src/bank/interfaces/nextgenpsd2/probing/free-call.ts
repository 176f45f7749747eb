import { Psd2Error } from '../../../../errors.ts';
import type { BankCall, Signed } from '../../../call/call.ts';
import { lenientNames, namesLeft } from '../../../call/lenient-path.ts';
import { followPages } from '../../../call/pages.ts';
import type { ComposedRequest, FreeAnswer, FreeCall } from '../../../ports/bank.ts';
import { queryOf, shownLink } from '../access/links.ts';
import type { OperationId } from '../description/operations.ts';
import type { BankDescription } from '../description/schema.ts';
import { refuseCountedPages } from '../readings/paged.ts';
import { nextOfPage } from '../wire/accounts.ts';
import { type NextGenAnswer, type NextGenCaller, readNothing } from '../wire/answer.ts';
import type { Calls } from '../wire/calls.ts';
import { namesAtBank } from '../wire/compose.ts';
import { factsOf, type Paths } from '../wire/paths.ts';

/** Headers that psd2 sets itself, because they are signed, secret, or part of the connection. */
export function ownHeadersOf({ oauth, headers }: BankDescription): string[] {
  return [
    'authorization',
    'digest',
    'signature',
    'tpp-signature-certificate',
    'date',
    'x-request-id',
    'content-length',
    'host',
    'connection',
    'transfer-encoding',
    'expect',
    'te',
    'trailer',
    'upgrade',
    ...[oauth.tokenHeader, ...Object.keys(headers.static)].map((name) => name.toLowerCase()),
  ];
}

/**
 * Why psd2 does not send a free call: none initiates a payment (NextGenPSD2, section 3, `api`). It reads the path as a lenient
 * server would.
 */
export function refusalOf(paths: Paths, method: string, path: string): Psd2Error | null {
  if (method !== 'POST' || !initiates(paths, path)) return null;
  return new Psd2Error('usage', 'psd2 api does not initiate a payment', {
    hint: 'psd2 transfer create does. --dry-run and --curl show the request.',
  });
}

const SERVICES = ['payments', 'bulk-payments', 'periodic-payments'];

function initiates(paths: Paths, path: string): boolean {
  const names = namesLeft(lenientNames(path));
  const plain = `/${names.join('/')}`;
  if ([path, plain].some((text) => paths.find('POST', text)?.operation === 'initiatePayment')) return true;
  // Below any version and prefix: the service, then the product, and nothing more.
  const [service = '', product] = names.slice(-2);
  return product !== undefined && SERVICES.includes(service);
}

function toBankCall(paths: Paths, { returnAddress: _returnAddress, ...call }: FreeCall): BankCall {
  return { ...call, facts: factsOf(paths.find(call.method, call.path)) };
}

/** Sends a free call. The answer is also given if it is not a success. */
export async function sendFreely(bank: NextGenCaller, paths: Paths, free: FreeCall): Promise<FreeAnswer> {
  return toFreeAnswer(await bank.send(toBankCall(paths, free)));
}

function toFreeAnswer(answer: NextGenAnswer): FreeAnswer {
  const { body, reply } = answer;
  try {
    readNothing(answer);
    return { body, json: reply.json, refusal: null };
  } catch (error) {
    if (!(error instanceof Psd2Error)) throw error;
    return { body, json: reply.json, refusal: error };
  }
}

/**
 * Reads a list page by page, by the bank's links. Each page is asked for with the path and the headers of the first, and the query of the
 * link.
 *
 * @throws Psd2Error `bank_answer` if the pages do not advance, for a link without a query, and for more pages than links;
 *   `usage` for transactions of a bank that numbers their pages
 */
export function pagesFreely(
  { bank, description, paths }: Pick<Calls, 'bank' | 'description' | 'paths'>,
  free: FreeCall,
): AsyncIterable<FreeAnswer> {
  const first = toBankCall(paths, free);
  refuseNumbered(description, paths.find('GET', first.path)?.operation);
  return followPages(first, async (call, page) => {
    const answer = await bank.send(call);
    const href = nextOfPage(answer.reply.json);
    const isLast = href === null || answer.reply.meaning !== null;
    if (isLast && answer.reply.meaning === null)
      refuseCountedPages(answer.headers, page, 'this list', call.transactionId);
    const next = isLast ? null : pageOf(first, href);
    return { answer: toFreeAnswer(answer), content: answer.body, next };
  });
}

/** @throws Psd2Error `bank_answer` */
function pageOf(first: BankCall, href: string): BankCall {
  const query = queryOf(href);
  const [path = ''] = first.path.split('?', 1);
  if (query) return { ...first, path: `${path}?${query}` };
  throw new Psd2Error('bank_answer', `The bank's link next has no query: ${shownLink(href)}`, {
    hint: 'Of a link, --paginate takes the query alone. Call the page by its own path.',
    transactionId: first.transactionId,
  });
}

/** @throws Psd2Error `usage` */
function refuseNumbered({ accounts }: BankDescription, operation: string | undefined): void {
  const lists: unknown[] = ['getTransactionList', 'getCardAccountTransactionList'];
  if (accounts.paging === 'link' || !lists.includes(operation)) return;
  throw new Psd2Error('usage', 'This bank numbers the pages of transactions, and --paginate follows links', {
    hint: 'psd2 accounts transactions reads all of them.',
  });
}

/** Whether a call has a token at this bank. The token of a consent is for what the consent covers. */
function carriesToken({ facts }: BankCall, mode: BankDescription['oauth']['mode']): boolean {
  return mode === 'integrated' ? facts.needsConsent : mode !== 'none';
}

/** The request of a free call, without secrets. */
export async function composeFreely(
  compose: (call: BankCall) => Promise<Signed>,
  description: BankDescription,
  paths: Paths,
  free: FreeCall,
  token: string | undefined,
): Promise<ComposedRequest> {
  const call = toBankCall(paths, free);
  const bearer = carriesToken(call, description.oauth.mode) ? token : undefined;
  const { request, signingString } = await compose({ ...call, ...(bearer !== undefined && { bearer }) });
  const { method, target, headers, body } = request;
  const secrets = namesOfFixed(description, paths.find(call.method, call.path)?.operation);
  const shown = ([name, value]: [string, string]) => [name, secrets.has(name) ? SECRET : value];
  return {
    method,
    target,
    headers: Object.fromEntries(Object.entries(headers).map(shown)),
    body: body ? body.toString('utf8') : null,
    signingString: signingString.replace(/^([^:\n]+): .*$/gm, (line, name: string) =>
      secrets.has(name) ? `${name}: ${SECRET}` : line,
    ),
  };
}

const SECRET = '<secret>';

/** The headers that the bank file gives to a call. A value from the environment is a secret, and psd2 no longer knows which one is. */
function namesOfFixed(description: BankDescription, operation: OperationId | undefined): ReadonlySet<string> {
  const { static: ofAll, perOperation } = description.headers;
  const own = (operation && perOperation[operation]) ?? {};
  const nameAtBank = namesAtBank(description);
  return new Set(Object.keys({ ...ofAll, ...own }).map((name) => nameAtBank(name.toLowerCase())));
}
