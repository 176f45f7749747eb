import { describe, expect, it } from 'vitest';
import * as z from 'zod';
import { readError } from '../support/errors.ts';
import { ADDRESS, readDocument } from '../support/psd2.ts';
import { accounts, consent, login, useSecondDoor } from './second-door-customer.ts';

const ALL = ['0010482620', '0010482638', '0000093017'];
const SAVINGS = 'IT31P0999001600000010482638';
const ACCOUNT_IBAN = 'IT89F0999001600000010482620';

describe('at a bank of the standard', () => {
  const operator = useSecondDoor();
  const { psd2, json, request } = operator;
  const errorOf = async (...args: string[]) => readError(await psd2([...args, '--json']));

  it('a customer consents, and psd2 reads with the consent', async () => {
    const given = await request();
    expect(given).toMatchObject({
      state: 'confirmed',
      consentStatus: 'valid',
      customerId: 'default',
      recurring: true,
      frequencyPerDay: 1000,
      access: { accounts: [{ iban: ACCOUNT_IBAN }, { iban: SAVINGS }, { maskedPan: expect.any(String) }] },
    });
    const read = await json(accounts, ['accounts', 'list']);
    expect(read.map(({ accountId }) => accountId)).toEqual(ALL);
    expect(await json(z.array(login), ['auth', 'list'])).toMatchObject([
      { customerId: 'default', accessTokenExpiresAt: null, consent: { flow: given.flow } },
    ]);
    expect(await json(login, ['auth', 'status'])).toMatchObject({ consent: { flow: given.flow } });
  });

  it('if the wait runs out, the customer can still decide, and psd2 can go on', async () => {
    const env = { PSD2_BROWSER: 'none' };
    const late = await psd2(['consent', 'request', '--customer', 'eva', '--sca-timeout', '1', '--json'], {
      env,
    });
    const { flow } = readDocument(consent, late.stdout);
    expect(readError(late)).toMatchObject({ code: 'authorisation_timeout', exitCode: 6, flow });
    const open = await json(z.array(consent), ['consent', 'list', '--attention']);
    expect(open.map((each) => each.flow)).toEqual([flow]);
    expect(await errorOf('consent', 'resolve', flow, '--executed', '--yes')).toMatchObject({ exitCode: 2 });
    // The customer decides on the page of the first run.
    const [, page = ''] = ADDRESS.exec(late.stderr) ?? [];
    await operator.psd2(['sandbox', 'customer', page]);
    const resumed = await psd2(['consent', 'resume', flow, '--json'], { env: { PSD2_BROWSER: 'false' } });
    expect(readDocument(consent, resumed.stdout)).toMatchObject({ state: 'confirmed' });
  });
});

describe.each([
  ['an authorisation that psd2 starts', [], { sca: { start: 'explicit' } }],
  ['a link that starts it, and links relative to the base URL', ['--variation', 'start-link,base-links'], {}],
  [
    'confirmation codes, whole links, and problems',
    ['--variation', 'confirmation-codes,absolute-links,problem-json'],
    {},
  ],
])('at a bank with %s', (_, rules, file) => {
  const { request, json } = useSecondDoor(rules, file);

  it('the customer consents', async () => {
    expect(await request()).toMatchObject({ state: 'confirmed' });
    expect(await json(accounts, ['accounts', 'list'])).toHaveLength(3);
  });
});
