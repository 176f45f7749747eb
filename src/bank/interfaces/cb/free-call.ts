import * as z from 'zod/mini';
import { isMoneyTransfer } from '../../../domain/transfer.ts';
import { Psd2Error } from '../../../errors.ts';
import type { BankCall, Signed } from '../../call/call.ts';
import { lenientNames, namesLeft } from '../../call/lenient-path.ts';
import { followPages } from '../../call/pages.ts';
import type { ComposedRequest, FreeAnswer, FreeCall } from '../../ports/bank.ts';
import { pathOf } from '../../transport/line.ts';
import { cursors, factsOf } from './accounts.ts';
import { type CbAnswer, type CbCaller, readAnswer } from './answer.ts';
import { scaPath } from './consents.ts';
import { linkedPath } from './links.ts';

/** Headers that psd2 sets itself, because they are signed, secret, or part of the connection. */
export const OWN_HEADERS = [
  'authorization',
  'digest',
  'signature',
  'date',
  'tpp-request-id',
  'tpp-transaction-id',
  'content-length',
  'host',
  'connection',
  'transfer-encoding',
  'expect',
  'te',
  'trailer',
  'upgrade',
];

/**
 * Why psd2 does not send a free call: only `psd2 transfer` executes a bank transfer (command contract, "One set of rules"). It
 * reads the path as a lenient server would.
 */
export function refusalOf(method: string, path: string): Psd2Error | null {
  if (method === 'GET' || !executesTransfer(path)) return null;
  return new Psd2Error('usage', 'psd2 api does not execute a bank transfer', {
    hint: 'Use psd2 transfer, which checks the payee, the amount and the reference. --dry-run and --curl show the request.',
  });
}

function executesTransfer(path: string): boolean {
  const names = lenientNames(path);
  return namesLeft(names).at(-1) === 'execute' && names.some(isMoneyTransfer);
}

/** The call as psd2 sends it. `execute` and `confirm` cannot be taken back. */
function toBankCall({ returnAddress: _returnAddress, ...call }: FreeCall): BankCall {
  const { method, path } = call;
  const irrevocable =
    method !== 'GET' && ['execute', 'confirm'].includes(namesLeft(lenientNames(path)).at(-1) ?? '');
  return { ...call, facts: factsOf(method, path), irrevocable };
}

/** Sends a free call. The answer is also given if it is not a success. */
export async function sendFreely(bank: CbCaller, free: FreeCall): Promise<FreeAnswer> {
  const call = toBankCall(free);
  return toFreeAnswer(await bank.send(call), free, call);
}

function toFreeAnswer(answer: CbAnswer, free: FreeCall, call: BankCall): FreeAnswer {
  const { body, reply } = answer;
  try {
    readAnswer(answer, z.unknown());
    return { body, json: reply.json, refusal: null };
  } catch (error) {
    if (!(error instanceof Psd2Error)) throw error;
    return { body, json: reply.json, refusal: withWayOn(withWayToSca(error, free), call) };
  }
}

/**
 * Reads a list page by page: by the positions in `data` (`nextAccounting`, `nextNotAccounting`), else by `_links.next`.
 *
 * @throws Psd2Error `bank_answer` if the pages do not advance
 */
export function pagesFreely(bank: CbCaller, free: FreeCall): AsyncIterable<FreeAnswer> {
  return followPages(toBankCall(free), async (call) => {
    const answer = await bank.send(call);
    const { envelope } = answer.reply;
    const path = nextPathOf(answer);
    return {
      answer: toFreeAnswer(answer, free, call),
      // Each answer has an id of its own beside these.
      content: envelope ? JSON.stringify([envelope.data, envelope.next]) : answer.body,
      next: path === null ? null : { ...call, path },
    };
  });
}

/** @throws Psd2Error `bank_answer` for a position or a link that psd2 cannot use */
function nextPathOf({ call, reply, status }: CbAnswer): string | null {
  const { envelope } = reply;
  if (!envelope || status > 299) return null;
  const positions = z.partial(z.object(cursors)).safeParse(envelope.data ?? {});
  const [path = '', query = ''] = call.path.split('?', 2);
  const search = new URLSearchParams(query);
  for (const name of ['nextAccounting', 'nextNotAccounting'] as const) search.delete(name);
  const cursorsLeft = Object.entries(positions.data ?? {}).filter(([, position]) => position !== null);
  for (const [name, position] of cursorsLeft) search.set(name, String(position));
  if (cursorsLeft.length > 0) return `${path}?${search}`;
  const link = envelope.next;
  if (link?.method !== 'GET' || link.href.trim() === '') return null;
  return linkedPath(call.path, link.href, 'list', call.transactionId);
}

/** psd2 sends only this one call, so the operator starts SCA, with the resource that the bank named. */
function withWayToSca(error: Psd2Error, { returnAddress }: FreeCall): Psd2Error {
  if (error.code !== 'sca_required' || !error.resourceId) return error;
  const header = `TPP-Redirect-URI: ${returnAddress()}`;
  return error.with({
    hint: 'The customer must authorise first and then returns to your callback. After that, make the call again. Start with:',
    next: [['api', 'GET', scaPath(error.resourceId), '--header', header]],
  });
}

/** psd2 sends `execute` and `confirm` only once. With a wrong token, the operator looks at the status, and sends it again. */
function withWayOn(error: Psd2Error, { irrevocable }: BankCall): Psd2Error {
  if (!irrevocable || error.code !== 'not_logged_in') return error;
  return error.with({
    hint: 'psd2 has not sent the call again, because the bank may have received the request twice. Look at the status of the resource first. Renew the token with:',
    next: [['auth', 'refresh']],
  });
}

/** The request of a free call, without secrets. */
export async function composeFreely(
  { compose }: { compose(call: BankCall): Promise<Signed> },
  free: FreeCall,
  bearer: string | undefined,
): Promise<ComposedRequest> {
  const { request, signingString } = await compose({
    ...toBankCall(free),
    ...(bearer !== undefined && { bearer }),
  });
  const { method, target, headers, body } = request;
  return { method, target, headers, body: body ? redactBody(target, body) : null, signingString };
}

const SECRET_FIELDS = ['client_secret', 'code', 'token', 'refresh_token', 'access_token', 'password'];

/** Removes the secrets from a token call. It parses the JSON, because a text search misses escaped names. */
function redactBody(target: string, body: Buffer): string {
  const text = body.toString('utf8');
  if (!/\/oauth\//.test(pathOf({ target }))) return text;
  return JSON.stringify(JSON.parse(text), (name, value) =>
    SECRET_FIELDS.includes(name) ? '<secret>' : value,
  );
}
