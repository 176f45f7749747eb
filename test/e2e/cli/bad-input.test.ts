import { existsSync, readdirSync } from 'node:fs';
import { join } from 'node:path';
import { describe, expect, it } from 'vitest';
import { readError } from '../support/errors.ts';
import { keepRunning } from '../support/psd2.ts';
import * as shapes from '../support/shapes.ts';
import { useTappedBank } from '../support/tap.ts';

const ACCOUNT = '0010482620';
const IBAN = 'DE89370400440532013000';
const { operator, tap } = useTappedBank();
keepRunning(operator);

const flows = () => {
  const folder = join(operator.config, 'flows', 'sandbox');
  return existsSync(folder) ? readdirSync(folder).filter((name) => name.endsWith('.ndjson')) : [];
};

/** The arguments of a correct transfer with these changes; `undefined` leaves an option out. */
function transfer(changed: Record<string, string | undefined>, ...more: string[]): string[] {
  const options = {
    '--from': ACCOUNT,
    '--to': IBAN,
    '--name': 'Ada Lovelace',
    '--amount': '12.50',
    ...changed,
  };
  const words = Object.entries(options).flatMap(([name, value]) =>
    value === undefined ? [] : [name, value],
  );
  return ['transfer', 'create', ...words, ...more];
}
const confirmed = (changed: Record<string, string | undefined>, ...more: string[]) =>
  transfer(changed, '--yes', ...more);

describe('psd2 refuses bad input before it calls the bank', () => {
  it.concurrent.each<[what: string, args: string[], code: string, message: RegExp]>([
    // IBAN
    [
      'IBAN with wrong check digits',
      confirmed({ '--to': 'DE88370400440532013000' }),
      'invalid_iban',
      /"DE88370400440532013000" has wrong check digits/,
    ],
    [
      'IBAN that is too short',
      confirmed({ '--to': 'DE8937040044053201300' }),
      'invalid_iban',
      /has 21 characters, which is not the length of an IBAN of DE/,
    ],
    [
      'IBAN of an unknown country',
      confirmed({ '--to': 'XX89370400440532013000' }),
      'invalid_iban',
      /unknown country code "XX"/,
    ],
    [
      'IBAN outside SEPA',
      confirmed({ '--to': 'TR330006100519786457841326' }),
      'invalid_iban',
      /the country TR, which is not in SEPA/,
    ],
    [
      'IBAN with a letter among its digits',
      confirmed({ '--to': 'DE8937040044053201300O' }),
      'invalid_iban',
      /a letter where DE has digits/,
    ],
    [
      'IBAN with a character that is not allowed',
      confirmed({ '--to': 'DE89-3704-0044-0532-0130-00' }),
      'invalid_iban',
      /contains the character "-"/,
    ],
    ['empty IBAN', confirmed({ '--to': '' }), 'invalid_iban', /is empty/],
    // amount
    ['amount of zero', confirmed({ '--amount': '0.00' }), 'invalid_amount', /"0.00" is zero/],
    ['negative amount', confirmed({ '--amount': '-5' }), 'invalid_amount', /"-5" is negative/],
    [
      'amount with three decimals',
      confirmed({ '--amount': '1.005' }),
      'invalid_amount',
      /more than two decimals/,
    ],
    [
      'amount with a decimal comma',
      confirmed({ '--amount': '12,50' }),
      'invalid_amount',
      /has a decimal comma/,
    ],
    [
      'amount with an exponent',
      confirmed({ '--amount': '1e3' }),
      'invalid_amount',
      /"1e3" is not a decimal number/,
    ],
    [
      'amount that is too large',
      confirmed({ '--amount': '1000000000' }),
      'invalid_amount',
      /more than 999999999.99/,
    ],
    // date
    [
      'date in another format',
      confirmed({ '--date': '30/11/2026' }),
      'invalid_date',
      /not a date in the form YYYY-MM-DD/,
    ],
    [
      'date that does not exist',
      confirmed({ '--date': '2027-02-29' }),
      'invalid_date',
      /is a day that does not exist/,
    ],
    [
      'date in the past',
      confirmed({ '--date': '2020-01-01' }),
      'invalid_date',
      /--date 2020-01-01 is in the past/,
    ],
    [
      'range that ends before it begins',
      ['accounts', 'transactions', ACCOUNT, '--from', '2026-02-01', '--to', '2026-01-01'],
      'invalid_date',
      /--from 2026-02-01 is after --to 2026-01-01/,
    ],
    [
      'range whose first day is not a date',
      ['accounts', 'transactions', ACCOUNT, '--from', 'yesterday'],
      'invalid_date',
      /--from "yesterday"/,
    ],
    // product id
    [
      'product id that is too short',
      confirmed({ '--from': '10482620' }),
      'invalid_product_id',
      /has 8 characters instead of 10/,
    ],
    [
      'product id with a character that is not allowed',
      ['accounts', 'balance', '00104826/0'],
      'invalid_product_id',
      /contains the character "\/"/,
    ],
    [
      'product id of a consent',
      ['consent', 'request', '--category', 'PAYMENTS', '--account', '1'],
      'invalid_product_id',
      /has 1 characters/,
    ],
    // texts
    [
      'name with an accent',
      confirmed({ '--name': 'Ada Lövelace' }),
      'invalid_text',
      /--name contains the character "ö" at position 6/,
    ],
    [
      'description with an emoji',
      confirmed({ '--description': 'Rent 🏠' }),
      'invalid_text',
      /--description contains the character "🏠" at position 6/,
    ],
    [
      'name with a line break',
      confirmed({ '--name': 'Ada\nLovelace' }),
      'invalid_text',
      /--name contains the character "\\n" at position 4/,
    ],
    ['empty name', confirmed({ '--name': ' ' }), 'invalid_text', /--name is empty/],
    [
      'name that is too long',
      confirmed({ '--name': 'A'.repeat(71) }),
      'invalid_text',
      /--name has 71 characters, but at most 70/,
    ],
    [
      'description that is too long',
      confirmed({ '--description': 'A'.repeat(141) }),
      'invalid_text',
      /has 141 characters, but at most 140/,
    ],
    [
      'reference that begins with a slash',
      confirmed({ '--reference': '/1' }),
      'invalid_text',
      /--reference must not begin or end with a slash/,
    ],
    // the rest of a transfer
    [
      'another currency',
      confirmed({ '--currency': 'USD' }),
      'usage',
      /"USD" is not possible: SEPA transfers are in EUR/,
    ],
    [
      'types that contradict each other',
      confirmed({ '--type': 'SLOW' }, '--instant', '--payee-verified'),
      'usage',
      /--instant and --type SLOW contradict/,
    ],
    [
      'client credentials for a transfer',
      confirmed({}, '--grant', 'client_credentials'),
      'usage',
      /needs the customer/,
    ],
    [
      'no confirmation',
      transfer({}),
      'confirmation_needed',
      /needs a confirmation, and psd2 cannot ask without a terminal/,
    ],
    ['no payee verification', confirmed({}, '--instant'), 'confirmation_needed', /needs a verified payee/],
    [
      'no payee verification for the type INSTANT',
      confirmed({ '--type': 'INSTANT' }),
      'confirmation_needed',
      /needs a verified payee/,
    ],
    [
      'payee verified but not confirmed',
      transfer({}, '--instant', '--payee-verified'),
      'confirmation_needed',
      /needs a confirmation/,
    ],
    [
      'data for two steps from one standard input',
      confirmed({}, '--verify-data', '-', '--verify-data', '-'),
      'usage',
      /Only one of --data and --verify-data can read standard input/,
    ],
    // options and commands
    ['unknown option', ['accounts', 'list', '--colour'], 'usage', /[Uu]nknown option '--colour'/],
    ['missing option', confirmed({ '--amount': undefined }), 'usage', /The option --amount is missing/],
    [
      'several missing options',
      confirmed({ '--amount': undefined, '--name': undefined }),
      'usage',
      /Options are missing: --name, --amount/,
    ],
    [
      'mistyped option beside a missing one',
      [...confirmed({ '--amount': undefined }), '--insant'],
      'usage',
      /[Uu]nknown option '--insant'/,
    ],
    ['missing argument', ['accounts', 'balance'], 'usage', /missing required argument 'account'/i],
    ['one argument too many', ['accounts', 'list', 'all'], 'usage', /too many arguments/i],
    ['unknown command', ['acounts', 'list'], 'usage', /unknown command 'acounts'/i],
    ['unknown subcommand', ['accounts', 'lst'], 'usage', /unknown command 'lst'/i],
    ['missing command', ['accounts'], 'usage', /A command is missing/],
    ['unknown output format', ['accounts', 'list', '-o', 'yaml'], 'usage', /"yaml" is not known/],
    ['unknown grant', ['accounts', 'list', '--grant', 'password'], 'usage', /'password' is invalid/],
    [
      'timeout that is not a number',
      ['accounts', 'list', '--timeout', 'soon'],
      'usage',
      /--timeout "soon" is not a number of seconds/,
    ],
    [
      'limit of zero',
      ['accounts', 'transactions', ACCOUNT, '--limit', '0'],
      'usage',
      /--limit "0" is not a whole number/,
    ],
    [
      'booked and pending',
      ['accounts', 'transactions', ACCOUNT, '--booked', '--pending'],
      'usage',
      /--booked and --pending/,
    ],
    [
      'PSU address that is not an IP address',
      ['accounts', 'list', '--psu-ip', '1.2.3'],
      'usage',
      /--psu-ip "1.2.3" is not an IP address/,
    ],
    [
      'customer id with letters',
      ['accounts', 'list', '--customer', 'anna'],
      'usage',
      /"anna" is not a number/,
    ],
    [
      'consent without a category',
      ['consent', 'request', '--all-accounts'],
      'usage',
      /The category is missing/,
    ],
    [
      'consent of an unknown category',
      ['consent', 'request', '--category', 'CARDS', '--all-accounts'],
      'usage',
      /Unknown category "CARDS"/,
    ],
    [
      'consent without an account',
      ['consent', 'request', '--category', 'PAYMENTS'],
      'usage',
      /The account is missing/,
    ],
    [
      'unknown transfer',
      ['transfer', 'resume', 'tr-nothing'],
      'flow_not_found',
      /No flow of this profile matches "tr-nothing"/,
    ],
    [
      'unknown consent',
      ['consent', 'show', 'co-nothing'],
      'flow_not_found',
      /No flow of this profile matches "co-nothing"/,
    ],
  ])('psd2 refuses this input before it calls the bank: %s', async (_what, args, code, message) => {
    const before = { connections: tap.connections(), flows: flows() };
    const ended = await operator.psd2([...args, '--json']);
    expect(readError(ended)).toMatchObject({ code, exitCode: 2, message: expect.stringMatching(message) });
    expect(ended.stdout).toBe('');
    expect({ connections: tap.connections(), flows: flows() }).toEqual(before);
  });

  it('with --json, bad input gives one line of JSON, also where psd2 would show help', async () => {
    const { stderr } = await operator.psd2(['accounts', '--json']);
    expect(stderr.split('\n')).toEqual([expect.stringMatching(/^\{"event":"error","error":/), '']);
    const asked = await operator.psd2(['accounts']);
    expect(asked).toMatchObject({ code: 2, stdout: '' });
    expect(asked.stderr).toMatch(/^Usage: psd2 accounts /);
  });

  it('psd2 alone is valid, and prints the help', async () => {
    const { code, stdout, stderr } = await operator.psd2([]);
    expect({ code, stderr }).toEqual({ code: 0, stderr: '' });
    expect(stdout).toBe((await operator.psd2(['--help'])).stdout);
  });

  it('without --json, psd2 explains bad input in a sentence', async () => {
    const { code, stdout, stderr } = await operator.psd2(confirmed({ '--amount': '12,50' }));
    expect({ code, stdout }).toEqual({ code: 2, stdout: '' });
    expect(stderr.split('\n')).toEqual([
      'psd2: The amount "12,50" has a decimal comma.',
      '  Use digits, with a point and at most two decimals, for example 12.50.',
      '',
    ]);
  });

  it('a correct command reaches the bank through the same tap', async () => {
    const before = tap.connections();
    await operator.json(shapes.accounts, ['accounts', 'list']);
    expect(tap.connections()).toBe(before + 1);
  });

  it.each([
    [['acounts', 'list'], 'Did you mean accounts?'],
    [['accounts', 'lst'], 'Did you mean list?'],
    [['accounts', 'list', '--jsn'], 'Did you mean --json?'],
  ])('psd2 suggests a correction for %j', async (args, suggestion) => {
    const { code, stderr } = await operator.psd2(args);
    expect(code).toBe(2);
    expect(stderr).toContain(suggestion);
  });
});

it.each([[['accounts', 'list']], [['auth', 'status']], [['auth', 'token']]])(
  'psd2 %j names a customer who is not logged in, and those who are',
  async (args) => {
    const before = tap.connections();
    const error = readError(await operator.psd2([...args, '--customer', '2073915', '--json']));
    expect(error).toMatchObject({
      code: 'not_logged_in',
      exitCode: 4,
      message: 'The customer 2073915 is not logged in with the profile "sandbox"',
      hint: 'Logged in: 1048262. Or run: psd2 --customer 2073915 --profile sandbox auth login',
      next: [['psd2', '--customer', '2073915', '--profile', 'sandbox', 'auth', 'login']],
    });
    expect(tap.connections()).toBe(before);
  },
);

it('a reference can be used once, and the refusal names the flow that has it', async () => {
  const args = confirmed({ '--reference': 'RENT-2026-11' });
  const first = await operator.json(shapes.transfer, args);
  const [before, known] = [tap.connections(), flows()];
  const second = await operator.psd2([...args, '--json']);
  expect(readError(second)).toMatchObject({
    code: 'duplicate_reference',
    exitCode: 2,
    message: expect.stringContaining(first.flow),
  });
  expect([tap.connections(), flows()]).toEqual([before, known]);
});
