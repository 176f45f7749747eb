import { isIP } from 'node:net';
import { Option } from '@commander-js/extra-typings';
import type { Globals } from '../commands/context.ts';
import { Psd2Error } from '../errors.ts';
import { isSet } from './output-mode.ts';

/** The global options with their environment (command contract, "Global options"). */
export const GLOBAL_OPTIONS = {
  profile: new Option('--profile <name>', 'profile to use').env('PSD2_PROFILE'),
  customer: new Option('--customer <id>', 'customer to act for (default: the most recent login)').env(
    'PSD2_CUSTOMER',
  ),
  grant: new Option('--grant <type>', 'grant type whose token is used')
    .choices(['authorization_code', 'client_credentials'] as const)
    .default('authorization_code' as const)
    .env('PSD2_GRANT'),
  output: new Option('-o, --output <format>', 'format: table, json, ndjson or csv').env('PSD2_OUTPUT'),
  json: new Option('--json', 'short for -o json'),
  query: new Option('--query <JMESPath>', 'filter the JSON output with a JMESPath expression'),
  rawOutput: new Option('-r, --raw-output', 'print strings from --query without quotes, one a line'),
  raw: new Option('--raw', "print the bank's own answer, byte for byte (only commands that read)"),
  input: new Option('--no-input', 'never ask; a missing value is an error (PSD2_NO_INPUT=1)'),
  yes: new Option('-y, --yes', 'confirm in advance what the command would ask'),
  quiet: new Option('-q, --quiet', 'print only data, warnings and errors'),
  verbose: new Option('-v, --verbose', 'show each request, without secrets (PSD2_DEBUG=1)'),
  timeout: new Option('--timeout <seconds>', 'time limit for one HTTP call')
    .default('30')
    .env('PSD2_TIMEOUT'),
  browser: new Option('--no-browser', 'show the address for the customer instead of opening it'),
  qr: new Option('--qr', "show the address as a QR code for the customer's phone instead of opening it"),
  scaTimeout: new Option('--sca-timeout <seconds>', 'how long to wait for the customer')
    .default('300')
    .env('PSD2_SCA_TIMEOUT'),
  psuIp: new Option('--psu-ip <address>', "the customer's IP address, sent as PSU-IP-Address").env(
    'PSD2_PSU_IP',
  ),
  lang: new Option('--lang <tag>', 'language tag, sent as Accept-Language').env('PSD2_LANG'),
  trace: new Option('--trace <component>', 'component name, sent as CB-Trace-Id: viewId=<component>').env(
    'PSD2_TRACE',
  ),
  color: new Option('--no-color', 'print without colour (NO_COLOR)'),
};

/** The global options as commander gives them. */
export interface RawGlobals {
  profile?: string | undefined;
  customer?: string | undefined;
  grant: 'authorization_code' | 'client_credentials';
  output?: string | undefined;
  json?: true | undefined;
  query?: string | undefined;
  rawOutput?: true | undefined;
  raw?: true | undefined;
  input: boolean;
  yes?: true | undefined;
  quiet?: true | undefined;
  verbose?: true | undefined;
  timeout: string;
  browser: boolean;
  qr?: true | undefined;
  scaTimeout: string;
  psuIp?: string | undefined;
  lang?: string | undefined;
  trace?: string | undefined;
  color: boolean;
}

/** @throws Psd2Error `usage` */
export function readGlobals(raw: RawGlobals, env: NodeJS.ProcessEnv): Globals {
  /** The option or variable that gave a value, for the messages. */
  const by = ({ long = '', envVar = '' }: { long?: string; envVar?: string }, value: string | undefined) =>
    env[envVar] === value ? envVar : long;
  return {
    profile: raw.profile || undefined,
    customer: raw.customer || undefined,
    grant: raw.grant,
    yes: raw.yes === true,
    verbose: raw.verbose === true || isSet(env.PSD2_DEBUG),
    raw: raw.raw === true,
    noBrowser: !raw.browser,
    qrCode: raw.qr === true,
    timeoutMs: readSeconds(by(GLOBAL_OPTIONS.timeout, raw.timeout), raw.timeout),
    scaTimeoutMs: readSeconds(by(GLOBAL_OPTIONS.scaTimeout, raw.scaTimeout), raw.scaTimeout),
    psuIpAddress: readAddress(by(GLOBAL_OPTIONS.psuIp, raw.psuIp), raw.psuIp),
    language: readLanguage(by(GLOBAL_OPTIONS.lang, raw.lang), raw.lang),
    traceComponent: readComponent(by(GLOBAL_OPTIONS.trace, raw.trace), raw.trace),
  };
}

function readSeconds(name: string, text: string): number {
  const seconds = /^\d{1,6}(\.\d{1,3})?$/.test(text) ? Number(text) : 0;
  if (seconds > 0) return Math.round(seconds * 1000);
  throw new Psd2Error('usage', `${name} ${JSON.stringify(text)} is not a number of seconds above 0`);
}

function readAddress(name: string, text: string | undefined): string | undefined {
  if (!text || isIP(text) !== 0) return text || undefined;
  throw new Psd2Error('usage', `${name} ${JSON.stringify(text)} is not an IP address`);
}

function readLanguage(name: string, text: string | undefined): string | undefined {
  if (!text || /^[A-Za-z0-9*;=.,\- ]{1,100}$/.test(text)) return text || undefined;
  throw new Psd2Error('usage', `${name} ${JSON.stringify(text)} is not a language tag`, {
    hint: 'For example it-IT.',
  });
}

function readComponent(name: string, text: string | undefined): string | undefined {
  if (!text || /^[\x21-\x7e]{1,100}$/.test(text)) return text || undefined;
  throw new Psd2Error('usage', `${name} ${JSON.stringify(text)} is not the name of a component`, {
    hint: 'It has no blanks and at most 100 characters.',
  });
}
