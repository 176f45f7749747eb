import { readdirSync, readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { expect, it } from 'vitest';
import * as z from 'zod';
import { readError } from '../support/errors.ts';
import { consent, useSecondDoor } from './second-door.ts';

// Consents for confirmations of funds, beside those for readings.

const IBAN = 'IT89F0999001600000010482620';
const PAN = '5254120000003017';
const operator = useSecondDoor(['--variation', 'funds-consents,company-account']);
const shown = z.looseObject({ flow: z.string(), state: z.string() });
const ASK = ['consent', 'request', '--category', 'FUNDS_AVAILABILITY', '--json', '--account'];

async function request(account: string, ...more: string[]) {
  const ended = await operator.psd2([...ASK, account, ...more]);
  return { ended, consent: shown.parse(JSON.parse(ended.stdout)) };
}
const check = (account: string, amount = '1') =>
  operator.psd2(['funds', 'check', '--account', account, '--amount', amount, '--json']);

it('funds are confirmed with the consent for that, which stands beside the one for readings', async () => {
  const refused = await check(IBAN);
  expect([refused.code, readError(refused)]).toMatchObject([
    4,
    { code: 'not_logged_in', next: [['psd2', ...ASK.filter((word) => word !== '--json'), IBAN]] },
  ]);
  await consent(operator, 'default', '--all-accounts');
  const { ended, consent: given } = await request(IBAN, '--card-expiry-date', '2031-12-31');
  expect(ended).toMatchObject({ code: 0, stderr: expect.not.stringContaining('A new one ends it') });
  expect((await check(IBAN)).code).toBe(0);
  expect((await check(IBAN, '999999')).code).toBe(7);
  expect((await operator.psd2(['accounts', 'list'])).code).toBe(0);
  const listed = await operator.psd2(['consent', 'list', '--json']);
  expect(JSON.parse(listed.stdout)).toMatchObject([
    {
      ...{
        flow: given.flow,
        state: 'confirmed',
        categories: [{ name: 'FUNDS_AVAILABILITY', outcome: true }],
      },
      ...{ consentStatus: 'valid', access: { account: { iban: IBAN } } },
      expiresAt: expect.stringContaining('2031-12-31'),
    },
    { state: 'confirmed', categories: [{ name: 'ACCOUNT_INFO' }] },
  ]);
  const expiring = JSON.parse((await operator.psd2(['expiring', '--within', '9999d', '--json'])).stdout);
  expect(expiring).toContainEqual(
    expect.objectContaining({
      kind: 'consent',
      name: 'FUNDS_AVAILABILITY',
      next: expect.arrayContaining([IBAN]),
    }),
  );
  expect((await operator.psd2(['consent', 'status', given.flow])).code).toBe(0);
  expect((await operator.psd2(['consent', 'delete', given.flow])).code).toBe(0);
  expect((await check(IBAN)).code).toBe(4);
  expect((await operator.psd2(['accounts', 'list'])).code).toBe(0);
});

it('the number of a card is nowhere but at the bank', async () => {
  const file = join(operator.folder, 'card');
  writeFileSync(file, `${PAN}\n`);
  const { ended } = await request(`pan:@${file}`, '--card-number', `@${file}`);
  const confirmed = await check(`pan:@${file}`);
  expect(confirmed).toMatchObject({ code: 0, stdout: expect.stringContaining('pan:525412******3017') });
  expect(ended.stdout + ended.stderr + confirmed.stderr).not.toContain(PAN);
  const kept = readdirSync(operator.folder, { recursive: true, withFileTypes: true })
    .filter((each) => each.isFile() && each.name !== 'card' && !each.parentPath.includes('sandbox'))
    .filter((each) => readFileSync(join(each.parentPath, each.name)).includes(PAN));
  expect(kept).toEqual([]);
  const inArgument = await operator.psd2([...ASK, `pan:${PAN}`]);
  expect(inArgument).toMatchObject({ code: 2, stderr: expect.not.stringContaining(PAN) });
});
