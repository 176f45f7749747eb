import * as z from 'zod/mini';
import { readAnswer } from '../../bank/call/answer.ts';
import { jsonOf } from '../../bank/call/answer-json.ts';
import type { Answer, BankCall } from '../../bank/call/exchange.ts';
import { pathSegment } from '../../bank/endpoints/path-segment.ts';
import { isMoneyTransfer } from '../../domain/transfer.ts';
import { Psd2Error } from '../../errors.ts';
import { redirectUriOf } from '../../store/machine/settings.ts';
import type { Context } from '../context.ts';
import { readJsonOption } from '../shared/read-data.ts';

export interface ApiOptions {
  data?: string | undefined;
  header: string[];
  token: boolean;
  transaction?: string | undefined;
  dryRun: boolean;
  curl: boolean;
}

const METHODS = ['GET', 'POST', 'PUT', 'DELETE'] as const;

/**
 * `psd2 api <METHOD> <path>`: makes any call of the interface as psd2 itself would. The bank's JSON goes to stdout,
 * whatever the status. Any status other than a success is also an error.
 */
export async function api(
  context: Context,
  methodName: string,
  path: string,
  options: ApiOptions,
): Promise<void> {
  const method = METHODS.find((known) => known === methodName.toUpperCase());
  if (!method)
    throw new Psd2Error(
      'usage',
      `The method ${JSON.stringify(methodName)} is not one of ${METHODS.join(', ')}`,
    );
  const isSent = !options.dryRun && !options.curl;
  if (isSent) refuseExecution(method, path);
  const call: BankCall = {
    method,
    path: await readPath(context, path),
    transactionId: options.transaction === undefined ? context.world.newId() : readUuid(options.transaction),
    headers: Object.fromEntries(options.header.map(readHeader)),
    irrevocable: isIrrevocable(method, path),
    ...(options.data !== undefined && { body: await readJsonOption(context, '--data', options.data) }),
  };
  // The path is complete now, with the customer's id.
  if (isSent) refuseExecution(method, call.path);
  if (options.dryRun && options.curl) throw new Psd2Error('usage', '--dry-run and --curl exclude each other');

  if (!isSent) {
    const bank = await context.applicationBank();
    const composed = await bank.compose({ ...call, ...(options.token && { bearer: TOKEN_PLACE }) });
    const { printCurl, printRequest } = await import('./show-request.ts');
    if (options.curl) printCurl(context, bank, composed);
    else printRequest(context, bank.baseUrl, composed);
    return;
  }

  const bank = options.token ? (await context.bank()).bank : (await context.applicationBank()).connect();
  const answer = await bank.exchange(call);
  if (context.globals.raw) context.printBytes(answer.body);
  else await printAnswer(context, answer);
  await readAnswer(answer, z.unknown()).catch((error) => {
    throw withWayOn(withWayToSca(error, redirectUriOf(context.profile())), call);
  });
}

/**
 * Refuses to execute a bank transfer: only `psd2 transfer` does that (command contract, "One set of rules"). It reads the
 * path as a lenient server would.
 *
 * @throws Psd2Error `usage`
 */
function refuseExecution(method: string, path: string): void {
  if (method === 'GET' || !executesTransfer(path)) return;
  throw new Psd2Error('usage', 'psd2 api does not execute a bank transfer', {
    hint: 'Use psd2 transfer, which checks the payee, the amount and the reference. --dry-run and --curl show the request.',
  });
}

function executesTransfer(path: string): boolean {
  const names = namesIn(path);
  return lastOf(names) === 'execute' && names.some(isMoneyTransfer);
}

/** Whether a call does something that cannot be taken back. */
function isIrrevocable(method: string, path: string): boolean {
  return method !== 'GET' && ['execute', 'confirm'].includes(lastOf(namesIn(path)) ?? '');
}

/** The names in a path, in lower case, as a lenient server would read them. */
function namesIn(path: string): string[] {
  let text = path.split(/[?#]/, 1)[0] ?? '';
  // A proxy may decode the path before the bank does.
  for (let before = ''; before !== text; ) {
    before = text;
    text = text.replace(/%([0-9a-f]{2})/gi, (_, hex) => String.fromCharCode(Number.parseInt(hex, 16)));
  }
  // Drop matrix parameters, an encoded query and invisible characters.
  return text
    .split(/[/\\]/)
    .map((name) => (name.split(/[;?#]/, 1)[0] ?? '').replace(/[^\x21-\x7e]/g, '').toLowerCase())
    .filter((name) => name !== '' && name !== '.');
}

/** The last name, after each `..` has removed the name before it. */
function lastOf(names: readonly string[]): string | undefined {
  const parts: string[] = [];
  for (const name of names) {
    if (name === '..') parts.pop();
    else parts.push(name);
  }
  return parts.at(-1);
}

/** psd2 sends only this one call, so the operator starts SCA, with the resource that the bank named. */
function withWayToSca(error: unknown, redirectUri: string): unknown {
  if (!(error instanceof Psd2Error) || error.code !== 'sca_required' || !error.resourceId) return error;
  const path = `/private/auth/security/sca/${pathSegment(error.resourceId)}/approach`;
  return error.with({
    hint: 'The customer must authorise first and then returns to your callback. After that, make the call again. Start with:',
    next: [['api', 'GET', path, '--header', `TPP-Redirect-URI: ${redirectUri}`]],
  });
}

/** psd2 sends `execute` and `confirm` only once. With a wrong token, the operator looks at the status, and sends it again. */
function withWayOn(error: unknown, { irrevocable }: BankCall): unknown {
  if (!irrevocable || !(error instanceof Psd2Error) || error.code !== 'not_logged_in') return error;
  return error.with({
    hint: 'psd2 has not sent the call again, because a refusal is the word of one delivery. Look at the status of the resource first. Renew the token with:',
    next: [['auth', 'refresh']],
  });
}

/** psd2 prints this in place of the token. */
const TOKEN_PLACE = '<access token>';

async function printAnswer({ output }: Context, answer: Answer): Promise<void> {
  const json = await jsonOf(answer);
  const text = answer.body.toString('utf8');
  if (json !== undefined) output.json(json);
  else if (output.format !== 'table') output.json(text);
  else if (text !== '') output.lines([text]);
}

/** Replaces `{customerId}` in the path; the rest stays as given. @throws Psd2Error `usage` */
async function readPath(context: Context, path: string): Promise<string> {
  if (/^[a-z][a-z0-9+.-]*:\/\//i.test(path)) {
    throw new Psd2Error(
      'usage',
      `${JSON.stringify(path)} is a complete URL, but psd2 sends every call to the base URL`,
      {
        hint: 'Give the path that follows the base URL, for example /private/customers/customerid-info.',
      },
    );
  }
  const absolute = path.startsWith('/') ? path : `/${path}`;
  if (/[^\x21-\x7e]/.test(absolute)) {
    throw new Psd2Error(
      'usage',
      'The path contains a space or another character that must be percent-encoded',
    );
  }
  if (!absolute.includes('{customerId}')) return absolute;
  const { tokens } = await context.store();
  const customerId = context.globals.customer ?? (await tokens.last());
  if (customerId === undefined) {
    throw new Psd2Error('not_logged_in', 'No customer is logged in, so psd2 cannot replace {customerId}', {
      next: [['auth', 'login']],
    });
  }
  return absolute.replaceAll('{customerId}', encodeURIComponent(customerId));
}

function readUuid(text: string): string {
  if (/^[0-9a-f]{8}(-[0-9a-f]{4}){3}-[0-9a-f]{12}$/i.test(text)) return text;
  throw new Psd2Error('usage', `--transaction ${JSON.stringify(text)} is not a UUID`);
}

/** Headers that psd2 sets itself, because they are signed, secret, or part of the connection. */
const OWN_HEADERS = [
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

function readHeader(text: string): [string, string] {
  const match = /^([!#$%&'*+.^_`|~0-9A-Za-z-]+):\s*([\x20-\x7e]*)$/.exec(text);
  const [, name = '', value = ''] = match ?? [];
  if (!match) throw new Psd2Error('usage', `--header ${JSON.stringify(text)} is not of the form name:value`);
  if (OWN_HEADERS.includes(name.toLowerCase())) {
    throw new Psd2Error('usage', `psd2 sets the header ${name} itself`, { hint: 'Leave it out.' });
  }
  return [name.toLowerCase(), value];
}
