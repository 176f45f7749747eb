import { isIP } from 'node:net';
import { Command, Option } from '@commander-js/extra-typings';
import type { Globals } from '../commands/context.ts';
import { Psd2Error } from '../errors.ts';
import { isSet } from './output-mode.ts';

/** Adds the global options with their environment to the program (command contract, "Global options"). */
export function withGlobals(program: Command) {
  const all = program
    .addOption(new Option('--profile <name>', 'profile to use').env('PSD2_PROFILE'))
    .addOption(
      new Option('--customer <id>', 'customer to act for (default: the most recent login)').env(
        'PSD2_CUSTOMER',
      ),
    )
    .addOption(
      new Option('--grant <type>', 'grant type whose token is used')
        .choices(['authorization_code', 'client_credentials'] as const)
        .default('authorization_code' as const)
        .env('PSD2_GRANT'),
    )
    .addOption(new Option('-o, --output <format>', 'format: table, json, ndjson or csv').env('PSD2_OUTPUT'))
    .addOption(new Option('--json', 'short for -o json'))
    .addOption(new Option('--query <JMESPath>', 'filter the JSON output with a JMESPath expression'))
    .addOption(new Option('-r, --raw-output', 'print strings from --query without quotes, one per line'))
    .addOption(new Option('--raw', "print the bank's own answer, byte for byte (only commands that read)"))
    .addOption(new Option('--no-input', 'never ask; a missing value is an error (PSD2_NO_INPUT=1)'))
    .addOption(new Option('-y, --yes', 'confirm in advance what the command would ask'))
    .addOption(new Option('-q, --quiet', 'print only data, warnings and errors'))
    .addOption(new Option('-v, --verbose', 'show each request, without secrets (PSD2_DEBUG=1)'))
    .addOption(
      new Option('--timeout <seconds>', 'time limit for one HTTP call').default('30').env('PSD2_TIMEOUT'),
    )
    .addOption(new Option('--no-browser', 'show the address for the customer instead of opening it'))
    .addOption(
      new Option('--qr', "show the address as a QR code for the customer's phone instead of opening it"),
    )
    .addOption(
      new Option('--sca-timeout <seconds>', 'how long to wait for the customer')
        .default('300')
        .env('PSD2_SCA_TIMEOUT'),
    )
    .addOption(
      new Option('--psu-ip <address>', "the customer's IP address, sent as PSU-IP-Address").env(
        'PSD2_PSU_IP',
      ),
    )
    .addOption(new Option('--lang <tag>', 'language tag, sent as Accept-Language').env('PSD2_LANG'))
    .addOption(
      new Option('--trace <component>', 'component name, sent as CB-Trace-Id: viewId=<component>').env(
        'PSD2_TRACE',
      ),
    )
    .addOption(new Option('--no-color', 'print without colour (NO_COLOR)'));
  // An empty variable counts as not set: a pipeline passes on variables for which it has no value.
  for (const option of all.options)
    if (option.envVar !== undefined && process.env[option.envVar] === '') delete option.envVar;
  return all;
}

/** The global options, in the order of the help. */
export function globalOptions(): readonly Option[] {
  return withGlobals(new Command()).options;
}

type Given = ReturnType<ReturnType<typeof withGlobals>['opts']>;

/** The global options as commander gives them. */
export type RawGlobals = {
  [Name in keyof Given]: object extends Pick<Given, Name> ? Given[Name] | undefined : Given[Name];
};

/** @throws Psd2Error `usage` for a wrong or an empty value */
export function readGlobals(raw: RawGlobals, env: NodeJS.ProcessEnv): Globals {
  refuseEmptyGlobals(raw);
  /** The option or variable that gave a value. It is looked up for a message only: that takes long. */
  const by = (name: 'timeout' | 'scaTimeout' | 'psuIp' | 'lang' | 'trace') => () => {
    const option = globalOptions().find((each) => each.attributeName() === name);
    const { long = '', envVar = '' } = option ?? {};
    return env[envVar] === raw[name] ? envVar : long;
  };
  return {
    profile: raw.profile,
    customer: raw.customer,
    grant: raw.grant,
    yes: raw.yes === true,
    verbose: raw.verbose === true || isSet(env.PSD2_DEBUG),
    raw: raw.raw === true,
    noBrowser: !raw.browser,
    qrCode: raw.qr === true,
    timeoutMs: readSeconds(by('timeout'), raw.timeout),
    scaTimeoutMs: readSeconds(by('scaTimeout'), raw.scaTimeout),
    psuIpAddress: readIpAddress(by('psuIp'), raw.psuIp),
    language: readLanguage(by('lang'), raw.lang),
    traceComponent: readComponent(by('trace'), raw.trace),
  };
}

/**
 * An empty value comes from a variable that a script does not have. Without the value, the command would act at another bank or
 * for another customer than the script means.
 */
function refuseEmptyGlobals({ profile, customer, psuIp, lang, trace }: RawGlobals): void {
  const byOption = {
    '--profile': profile,
    '--customer': customer,
    '--psu-ip': psuIp,
    '--lang': lang,
    '--trace': trace,
  };
  for (const [option, value] of Object.entries(byOption))
    if (value?.trim() === '') throw new Psd2Error('usage', `The value of ${option} is empty`);
}

function readSeconds(name: () => string, text: string): number {
  const seconds = /^\d{1,6}(\.\d{1,3})?$/.test(text) ? Number(text) : 0;
  if (seconds > 0) return Math.round(seconds * 1000);
  throw new Psd2Error('usage', `${name()} ${JSON.stringify(text)} is not a number of seconds above 0`);
}

function readIpAddress(name: () => string, text: string | undefined): string | undefined {
  if (text === undefined || isIP(text) !== 0) return text;
  throw new Psd2Error('usage', `${name()} ${JSON.stringify(text)} is not an IP address`);
}

function readLanguage(name: () => string, text: string | undefined): string | undefined {
  if (text === undefined || /^[A-Za-z0-9*;=.,\- ]{1,100}$/.test(text)) return text;
  throw new Psd2Error('usage', `${name()} ${JSON.stringify(text)} is not a language tag`, {
    hint: 'For example it-IT.',
  });
}

function readComponent(name: () => string, text: string | undefined): string | undefined {
  if (text === undefined || /^[\x21-\x7e]{1,100}$/.test(text)) return text;
  throw new Psd2Error('usage', `${name()} ${JSON.stringify(text)} is not the name of a component`, {
    hint: 'It has no spaces and at most 100 characters.',
  });
}
