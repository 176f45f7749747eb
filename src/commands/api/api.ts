import type { BankInterface, ComposedRequest, FreeAnswer, FreeCall } from '../../bank/ports/bank.ts';
import { Psd2Error } from '../../errors.ts';
import { quoteForShell } from '../../quote-for-shell.ts';
import type { PemSetting } from '../../store/machine/setting-table.ts';
import { redirectUriOf } from '../../store/machine/settings.ts';
import { anything, list, object, orNull, record, text } from '../../terminal/output/fields.ts';
import type { ApplicationBank, Context } from '../context.ts';
import { collect, verb } from '../declare.ts';
import { forFlow, refuseOtherCustomer } from '../flow/customer.ts';
import { notLoggedIn } from '../open/customer.ts';
import { readJsonOption } from '../shared/read-data.ts';

export interface ApiOptions {
  data?: string | undefined;
  header: string[];
  token: boolean;
  transaction?: string | undefined;
  /** The flow of a consent. */
  consent?: string | undefined;
  dryRun: boolean;
  curl: boolean;
  /** Read all pages of a list. */
  paginate: boolean;
}

/** psd2 prints this in place of the token. */
const TOKEN_PLACE = '<access token>';

const METHODS = ['GET', 'POST', 'PUT', 'DELETE'] as const;

/** Headers that give a call another method or path, past what psd2 refuses to send. */
const OTHER_CALL =
  /^x[-_](?:(?:http[-_]|original[-_]|forwarded[-_])?method(?:[-_]override)?|(?:original|rewrite)[-_]ur[il])$/;

/** The bank's JSON, of any shape. */
const bankAnswer = anything("the body of the bank's answer, unchanged");

const bankAnswers = list(bankAnswer);

/** A request that psd2 did not send, without secrets. */
const composedRequest = object({
  method: text('GET, POST, PUT or DELETE'),
  url: text('complete URL'),
  headers: record(text(), 'headers, in the order of sending'),
  body: orNull(text('body, without secrets')),
  signingString: text('exact string that was signed'),
});

export const api = verb(
  {
    prints: { what: "the bank's answer", shape: bankAnswer },
    printsWith: {
      '--dry-run': { what: 'a request that was not sent', shape: composedRequest },
      '--paginate': { what: "the bank's answers, one for each page", shape: bankAnswers },
    },
    help: `
psd2 replaces {customerId} in the path with the id of the customer who is logged in.

With --paginate, psd2 prints each page when it arrives: -o ndjson one page per line, --json an array of pages,
--raw the bank's own bytes one after another. If the bank says no, its answer is the last page.

Examples:
  $ psd2 api GET /private/customers/customerid-info
  $ psd2 api GET "/private/customers/{customerId}/accounts" --raw
  $ psd2 api POST /private/customers/{customerId}/consent/request --data @consent.json --dry-run
  $ psd2 api GET /v1/accounts --consent co-0mwq9zif7
  $ psd2 api GET "/v1/accounts/3dc3d5b3/transactions?bookingStatus=both" --consent co-0mwq9zif7 --paginate -o ndjson`,
    kind: 'inquiry',
  },
  (command) =>
    command
      .argument('<method>', 'GET, POST, PUT or DELETE')
      .argument('<path>', 'path below the base URL, percent-encoded, with its query')
      .option('--data <json>', 'body: JSON, @file, or - for standard input')
      .option('--header <name:value>', 'add a header; may be repeated', collect, [])
      .option('--no-token', 'call without the access token')
      .option('--transaction <uuid>', 'TPP-Transaction-ID; default: a new one')
      .option('--consent <flow>', 'add the Consent-ID of this consent, at a bank that has one')
      .option('--paginate', 'with GET: also make the calls of the next pages, until the last one')
      .option('--dry-run', 'print the request and its signing string instead of sending it')
      .option('--curl', 'print a curl command for the call instead of sending it'),
  (context, method, path, { dryRun = false, curl = false, paginate = false, ...options }) =>
    makeCall(context, method, path, { ...options, dryRun, curl, paginate }),
);

/**
 * Makes any call of the interface as psd2 itself would. The bank's JSON goes to stdout,
 * whatever the status. Any status other than a success is also an error.
 */
export async function makeCall(
  plainContext: Context,
  methodName: string,
  path: string,
  options: ApiOptions,
): Promise<void> {
  const method = METHODS.find((each) => each === methodName.toUpperCase());
  if (!method)
    throw new Psd2Error(
      'usage',
      `The method ${JSON.stringify(methodName)} is not one of ${METHODS.join(', ')}`,
    );
  if (options.paginate) refusePages(method, options);
  const isSent = !options.dryRun && !options.curl;
  const bankInterface = await plainContext.bankInterface();
  const refuse = (callPath: string) => {
    const refusal = isSent ? bankInterface.refusalOf(method, callPath) : null;
    if (refusal) throw refusal;
  };
  refuse(path);
  const body =
    options.data === undefined ? undefined : await readJsonOption(plainContext, '--data', options.data);
  if (body !== undefined) refuseCredentials(body);
  const { context, headers } = await withConsent(plainContext, options.consent);
  const call: FreeCall = {
    method,
    path: await readPath(context, path),
    transactionId: options.transaction === undefined ? context.world.newId() : readUuid(options.transaction),
    headers: {
      ...Object.fromEntries(options.header.map((text) => readHeader(text, bankInterface))),
      ...headers,
    },
    returnAddress: () => redirectUriOf(context.profile()),
    ...(body !== undefined && { body }),
  };
  // The path is complete now, with the customer's id.
  refuse(call.path);
  if (options.dryRun && options.curl)
    throw new Psd2Error('usage', '--dry-run and --curl cannot be used together');

  if (!isSent) {
    const bank = await context.applicationBank();
    const composed = await bank.compose(call, options.token ? TOKEN_PLACE : undefined);
    if (options.curl) printCurl(context, bank, composed);
    else printRequest(context, bank.baseUrl, composed);
    return;
  }

  const bank = options.token ? (await context.bank()).bank : (await context.applicationBank()).connect();
  if (options.paginate) return printPages(context, bank.pages(call));
  const answer = await bank.send(call);
  if (context.globals.raw) context.printBytes(answer.body);
  else printAnswer(context, answer);
  if (answer.refusal) throw answer.refusal;
}

/** What has a customer's PIN or TAN (the standard, "Update PSU Data"). */
const CREDENTIALS = /^(psudata|scaauthenticationdata)$/i;

/** A call with a PIN or TAN would stand in the shell's history, and psd2 would not know what it sent. @throws Psd2Error `usage` */
function refuseCredentials(body: string): void {
  JSON.parse(body, (name, value) => {
    if (!CREDENTIALS.test(name)) return value;
    throw new Psd2Error('usage', `psd2 api sends no ${name}: no PIN and no TAN of a customer`, {
      hint: 'The commands in which a customer authorises ask for them, and keep nothing of them (docs/embedded.md).',
    });
  });
}

/** The `Consent-ID` of a consent, in the name of the customer who gave it. @throws Psd2Error `usage` */
async function withConsent(
  context: Context,
  reference: string | undefined,
): Promise<{ context: Context; headers: Record<string, string> }> {
  if (reference === undefined) return { context, headers: {} };
  await context.needs('Consent-ID');
  const { flows } = await context.store();
  const consent = await flows.find('consent', reference);
  refuseOtherCustomer(context, consent);
  const { resourceId } = consent;
  if (resourceId !== null)
    return { context: await forFlow(context, consent), headers: { 'consent-id': resourceId } };
  throw new Psd2Error('usage', `The bank has given the consent ${consent.flow} no id`, {
    flow: consent.flow,
  });
}

function printAnswer({ output }: Context, { json, body }: FreeAnswer): void {
  const text = body.toString('utf8');
  if (json !== undefined) output.json(json);
  else if (output.format !== 'table') output.json(text);
  else if (text !== '') output.lines([text]);
}

/** Only a list has pages, and psd2 knows the next page only from an answer. @throws Psd2Error `usage` */
function refusePages(method: string, { dryRun, curl }: ApiOptions): void {
  if (method !== 'GET') throw new Psd2Error('usage', `--paginate is for GET, not for ${method}`);
  const other = dryRun ? '--dry-run' : curl ? '--curl' : undefined;
  if (other === undefined) return;
  throw new Psd2Error('usage', `--paginate and ${other} cannot be used together`, {
    hint: 'psd2 knows the next page only when the bank has answered.',
  });
}

/** Prints each page when it arrives. @throws Psd2Error if a page is not a success: it is printed too, as the last one */
async function printPages(context: Context, pages: AsyncIterable<FreeAnswer>): Promise<void> {
  const { globals, output } = context;
  let refusal: Psd2Error | null = null;
  async function* answers() {
    for await (const answer of pages) {
      refusal = answer.refusal;
      if (globals.raw) context.printBytes(answer.body);
      yield answer.json ?? answer.body.toString('utf8');
    }
  }
  if (globals.raw) for await (const _answer of answers());
  else await output.documents(answers());
  if (refusal) throw refusal;
}

/** Replaces `{customerId}` in the path; the rest stays as given. @throws Psd2Error `usage` */
async function readPath(context: Context, path: string): Promise<string> {
  if (/^[a-z][a-z0-9+.-]*:\/\//i.test(path))
    throw new Psd2Error(
      'usage',
      `${JSON.stringify(path)} is a complete URL, but psd2 sends every call to the base URL`,
      {
        hint: 'Give only what follows the base URL, for example /private/customers/customerid-info or /v1/accounts.',
      },
    );
  const absolute = path.startsWith('/') ? path : `/${path}`;
  if (/[^\x21-\x7e]/.test(absolute))
    throw new Psd2Error(
      'usage',
      'The path contains a space or another character that must be percent-encoded',
    );
  for (const name of new URLSearchParams(absolute.split('?').slice(1).join('&')).keys())
    if (name.toLowerCase() === '_method') throw otherCall(`the query parameter ${name}`);
  if (!absolute.includes('{customerId}')) return absolute;
  const { tokens } = await context.store();
  const customerId = context.globals.customer ?? (await tokens.last());
  if (customerId === undefined) throw await notLoggedIn(context, undefined);
  return absolute.replaceAll('{customerId}', encodeURIComponent(customerId));
}

function readUuid(text: string): string {
  if (/^[0-9a-f]{8}(-[0-9a-f]{4}){3}-[0-9a-f]{12}$/i.test(text)) return text;
  throw new Psd2Error('usage', `--transaction ${JSON.stringify(text)} is not a UUID`);
}

function readHeader(text: string, { ownHeaders }: BankInterface): [string, string] {
  const match = /^([!#$%&'*+.^_`|~0-9A-Za-z-]+):\s*([\x20-\x7e]*)$/.exec(text);
  const [, name = '', value = ''] = match ?? [];
  if (!match) throw new Psd2Error('usage', `--header ${JSON.stringify(text)} is not of the form name:value`);
  if (OTHER_CALL.test(name.toLowerCase())) throw otherCall(`the header ${name}`);
  if (ownHeaders.includes(name.toLowerCase()))
    throw new Psd2Error('usage', `psd2 sets the header ${name} itself`, { hint: 'Leave it out.' });
  return [name.toLowerCase(), value];
}

function otherCall(what: string): Psd2Error {
  return new Psd2Error(
    'usage',
    `psd2 api does not send ${what}: a server may make another call of this one`,
    {
      hint: 'Leave it out, and give the method and the path that you mean.',
    },
  );
}

/** Prints the request that psd2 would send, without secrets, and the exact string that it signed. */
function printRequest(
  { output }: Context,
  baseUrl: URL,
  { method, target, headers, body, signingString }: ComposedRequest,
): void {
  const url = `${baseUrl.origin}${target}`;
  if (output.format !== 'table') {
    output.json({ method, url, headers, body, signingString });
    return;
  }
  output.lines([
    `${method} ${target} HTTP/1.1`,
    `host: ${baseUrl.host}`,
    ...Object.entries(headers).map(([name, value]) => `${name}: ${value}`),
    '',
    ...(body === null ? [] : [body, '']),
    'Signing string:',
    ...signingString.split('\n'),
  ]);
}

/**
 * Prints a curl command that makes the call. The command does not contain the token: when it runs, the shell gets the
 * token from `psd2 auth token`. curl reads it from standard input, because other users can see curl's arguments. The
 * signature is valid for a few minutes.
 *
 * @throws Psd2Error `config` if the profile has no paths for curl to read
 */
function printCurl(context: Context, bank: ApplicationBank, request: ComposedRequest): void {
  const { method, target, headers, body } = request;
  const carrier = Object.entries(headers).find(([, value]) => value === `Bearer ${TOKEN_PLACE}`)?.[0];
  const token = `printf '${carrier}: Bearer %s\\n' "$(${tokenCommand(context, bank)})"`;
  const lines = [
    ...(carrier === undefined ? [] : [`${token} |`]),
    // curl must send exactly what psd2 signed, so it must not expand or shorten the URL.
    `curl --globoff --path-as-is --request ${method} ${quoteForShell(`${bank.baseUrl.origin}${target}`)}`,
    `--cert ${quoteForShell(pathOfPem(bank, 'qwacCertificate'))} --key ${quoteForShell(pathOfPem(bank, 'qwacKey'))}`,
    ...(bank.profile.settings.ca ? [`--cacert ${quoteForShell(pathOfPem(bank, 'ca'))}`] : []),
    ...Object.entries(headers).map(([name, value]) =>
      name === carrier ? '--header @-' : `--header ${quoteForShell(`${name}: ${value}`)}`,
    ),
    ...(body === null ? [] : [`--data-binary ${quoteForShell(body)}`]),
  ];
  context.output.lines([lines.join(' \\\n  ')]);
}

/** The command that prints the token of the call. */
function tokenCommand({ globals }: Context, { profile }: ApplicationBank): string {
  const { grant, customer } = globals;
  return [
    `psd2 --profile ${quoteForShell(profile.name)}`,
    ...(grant === 'client_credentials' ? [`--grant ${grant}`] : []),
    ...(customer === undefined ? [] : [`--customer ${quoteForShell(customer)}`]),
    'auth token',
  ].join(' ');
}

function pathOfPem({ profile }: ApplicationBank, key: PemSetting): string {
  const source = profile.settings[key];
  if (source && 'path' in source) return source.path;
  throw new Psd2Error('config', 'The profile contains its certificates, but curl needs files', {
    hint: 'Add the profile with --reference, or set PSD2_QWAC_CERT and PSD2_QWAC_KEY.',
  });
}
