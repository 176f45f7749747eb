import type { ComposedRequest } from '../../bank/call/compose.ts';
import { pathOf } from '../../bank/transport/connection.ts';
import { Psd2Error } from '../../errors.ts';
import { quoteForShell } from '../../quote-for-shell.ts';
import type { PemSetting } from '../../store/machine/settings.ts';
import type { Context } from '../context.ts';
import type { ApplicationBank } from '../open/bank.ts';

/** Prints the request that psd2 would send, without secrets, and the exact string that it signed. */
export function printRequest(
  { output }: Context,
  baseUrl: URL,
  { request, signingString }: ComposedRequest,
): void {
  const { method, target, headers, body } = request;
  const text = body === undefined ? null : redactBody(request.target, body);
  const url = `${baseUrl.origin}${target}`;
  if (output.format !== 'table') {
    output.json({ method, url, headers, body: text, signingString });
    return;
  }
  output.lines([
    `${method} ${target} HTTP/1.1`,
    `host: ${baseUrl.host}`,
    ...Object.entries(headers).map(([name, value]) => `${name}: ${value}`),
    '',
    ...(text === null ? [] : [text, '']),
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
export function printCurl(context: Context, bank: ApplicationBank, { request }: ComposedRequest): void {
  const { method, target, headers, body } = request;
  const token = `printf 'authorization: Bearer %s\\n' "$(${tokenCommand(context, bank)})"`;
  const lines = [
    ...('authorization' in headers ? [`${token} |`] : []),
    // curl must send exactly what psd2 signed, so it must not expand or shorten the URL.
    `curl --globoff --path-as-is --request ${method} ${quoteForShell(`${bank.baseUrl.origin}${target}`)}`,
    `--cert ${quoteForShell(pathOfPem(bank, 'qwacCertificate'))} --key ${quoteForShell(pathOfPem(bank, 'qwacKey'))}`,
    ...(bank.profile.settings.ca ? [`--cacert ${quoteForShell(pathOfPem(bank, 'ca'))}`] : []),
    ...Object.entries(headers).map(([name, value]) =>
      name === 'authorization' ? '--header @-' : `--header ${quoteForShell(`${name}: ${value}`)}`,
    ),
    ...(body === undefined ? [] : [`--data-binary ${quoteForShell(redactBody(target, body))}`]),
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

const SECRET_FIELDS = ['client_secret', 'code', 'token', 'refresh_token', 'access_token', 'password'];

/** Removes the secrets from a token call. It parses the JSON, because a text search misses escaped names. */
function redactBody(target: string, body: Buffer): string {
  const text = body.toString('utf8');
  if (!/\/oauth\//.test(pathOf({ target }))) return text;
  return JSON.stringify(JSON.parse(text), (name, value) =>
    SECRET_FIELDS.includes(name) ? '<secret>' : value,
  );
}

function pathOfPem({ profile }: ApplicationBank, key: PemSetting): string {
  const source = profile.settings[key];
  if (source && 'path' in source) return source.path;
  throw new Psd2Error('config', 'The profile contains its certificates, but curl needs files', {
    hint: 'Add the profile with --reference, or set PSD2_QWAC_CERT and PSD2_QWAC_KEY.',
  });
}
