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
 * `psd2 api <METHOD> <path>`: any call of the interface, as psd2 itself makes them. The bank's JSON goes to
 * stdout, whatever the status; any status but a success is also an error.
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
    ...(options.data !== undefined && { body: await readJsonOption(context, '--data', options.data) }),
  };
  // `{customerId}` stands in its place now.
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
    throw withWayToSca(error, redirectUriOf(context.profile()));
  });
}

/**
 * A bank transfer is executed by `psd2 transfer` alone (command contract, "One set of rules"). The path is judged as a
 * lenient server would read it.
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
  let text = path.split(/[?#]/, 1)[0] ?? '';
  // A proxy may decode before the bank does.
  for (let before = ''; before !== text; ) {
    before = text;
    text = text.replace(/%([0-9a-f]{2})/gi, (_, hex) => String.fromCharCode(Number.parseInt(hex, 16)));
  }
  // Without matrix parameters, a query that was encoded, and what is not seen.
  const names = text
    .split(/[/\\]/)
    .map((name) => (name.split(/[;?#]/, 1)[0] ?? '').replace(/[^\x21-\x7e]/g, '').toLowerCase())
    .filter((name) => name !== '' && name !== '.');
  const parts: string[] = [];
  for (const name of names) {
    if (name === '..') parts.pop();
    else parts.push(name);
  }
  return parts.at(-1) === 'execute' && names.some(isMoneyTransfer);
}

/** What was asked for is what is sent: SCA is for the operator to start, with the resource that came along. */
function withWayToSca(error: unknown, redirectUri: string): unknown {
  if (!(error instanceof Psd2Error) || error.code !== 'sca_required' || !error.resourceId) return error;
  const path = `/private/auth/security/sca/${pathSegment(error.resourceId)}/approach`;
  return error.with({
    hint: 'Then make the call again. The customer is sent to SCA, and back to your callback, with:',
    next: [['api', 'GET', path, '--header', `TPP-Redirect-URI: ${redirectUri}`]],
  });
}

/** Stands where the token would: it is never printed. */
const TOKEN_PLACE = '<access token>';

async function printAnswer({ output }: Context, answer: Answer): Promise<void> {
  const json = await jsonOf(answer);
  const text = answer.body.toString('utf8');
  if (json !== undefined) output.json(json);
  else if (output.format !== 'table') output.json(text);
  else if (text !== '') output.lines([text]);
}

/** `{customerId}` stands for the customer; the rest is sent as it is given. @throws Psd2Error `usage` */
async function readPath(context: Context, path: string): Promise<string> {
  if (/^[a-z][a-z0-9+.-]*:\/\//i.test(path)) {
    throw new Psd2Error(
      'usage',
      `${JSON.stringify(path)} is a whole address, and every call goes to the base URL`,
      {
        hint: 'Give the path that follows the base URL, for example /private/customerid-info.',
      },
    );
  }
  const absolute = path.startsWith('/') ? path : `/${path}`;
  if (/[^\x21-\x7e]/.test(absolute)) {
    throw new Psd2Error(
      'usage',
      'The path holds a blank or another character that has to be percent-encoded',
    );
  }
  if (!absolute.includes('{customerId}')) return absolute;
  const { tokens } = await context.store();
  const customerId = context.globals.customer ?? (await tokens.last());
  if (customerId === undefined) {
    throw new Psd2Error('not_logged_in', 'Nobody is logged in, so psd2 cannot replace {customerId}', {
      next: [['auth', 'login']],
    });
  }
  return absolute.replaceAll('{customerId}', encodeURIComponent(customerId));
}

function readUuid(text: string): string {
  if (/^[0-9a-f]{8}(-[0-9a-f]{4}){3}-[0-9a-f]{12}$/i.test(text)) return text;
  throw new Psd2Error('usage', `--transaction ${JSON.stringify(text)} is not a UUID`);
}

/** Headers that psd2 makes itself, since they are signed, secret, or about the connection. */
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
    throw new Psd2Error('usage', `The header ${name} is made by psd2 itself`, { hint: 'Leave it out.' });
  }
  return [name.toLowerCase(), value];
}
