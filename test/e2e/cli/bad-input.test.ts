import { existsSync, readdirSync } from 'node:fs';
import { join } from 'node:path';
import { expect, it } from 'vitest';
import { readError } from '../support/errors.ts';
import { keepRunning, words } from '../support/psd2.ts';
import * as shapes from '../support/shapes.ts';
import { useTappedBank } from '../support/tap.ts';

const { operator, tap } = useTappedBank();
keepRunning(operator);

const flows = () => {
  const folder = join(operator.config, 'flows', 'sandbox');
  return existsSync(folder) ? readdirSync(folder).filter((name) => name.endsWith('.ndjson')) : [];
};
const ORDER = words`transfer create --from 0010482620 --to DE89370400440532013000 --name ${'Ada Lovelace'}
  --amount 12.50`;

// One of each kind: what is wrong within a kind, the tests of its room have.
it.concurrent.each<[what: string, args: string[], code: string, message: RegExp]>([
  ['IBAN', [...ORDER, '--yes', '--to', 'DE88370400440532013000'], 'invalid_iban', /wrong check digits/],
  ['amount', [...ORDER, '--yes', '--amount', '12,50'], 'invalid_amount', /has a decimal comma/],
  ['date', [...ORDER, '--yes', '--date', '2020-01-01'], 'invalid_date', /is in the past/],
  ['product id', ['accounts', 'balance', '00104826/0'], 'invalid_product_id', /contains the character "\/"/],
  [
    'text',
    [...ORDER, '--yes', '--name', 'Ada\nLovelace'],
    'invalid_text',
    /the character "\\n" at position 4/,
  ],
  ['confirmation', ORDER, 'confirmation_needed', /cannot ask without a terminal/],
  ['payee', [...ORDER, '--yes', '--instant'], 'confirmation_needed', /needs a verified payee/],
  ['grant', [...ORDER, '--yes', '--grant', 'client_credentials'], 'usage', /needs the customer/],
  ['query', [...ORDER, '--yes', '--query', 'state['], 'usage', /is not JMESPath at character 7/],
  ['option', ['accounts', 'list', '--colour'], 'usage', /[Uu]nknown option '--colour'/],
  ['command', ['acounts', 'list'], 'usage', /unknown command 'acounts'/i],
  ['flow', ['transfer', 'resume', 'tr-nothing'], 'flow_not_found', /No flow of this profile/],
])('psd2 refuses this input before it calls the bank: %s', async (_what, args, code, message) => {
  const before = { connections: tap.connections(), flows: flows() };
  const ended = await operator.psd2([...args, '--json']);
  expect(readError(ended)).toMatchObject({ code, exitCode: 2, message: expect.stringMatching(message) });
  expect(ended.stdout).toBe('');
  expect({ connections: tap.connections(), flows: flows() }).toEqual(before);
});

it('a correct command reaches the bank through the same tap', async () => {
  const before = tap.connections();
  await operator.json(shapes.accounts, ['accounts', 'list']);
  expect(tap.connections()).toBe(before + 1);
});
