import { join } from 'node:path';
import { describe, expect, it } from 'vitest';
import * as z from 'zod';
import { readError } from '../support/errors.ts';
import { ADDRESS, readDocument } from '../support/psd2.ts';
import { syncReport } from '../support/shapes.ts';
import { accounts, consent, login, useSecondDoor } from './second-door-customer.ts';

const ALL = ['0010482620', '0010482638', '0000093017'];
const SAVINGS = 'IT31P0999001600000010482638';
const ACCOUNT_IBAN = 'IT89F0999001600000010482620';
const endings = z.array(
  z.object({ kind: z.string(), customerId: z.string().nullable(), next: z.array(z.string()) }),
);

describe('at a bank of the standard', () => {
  const operator = useSecondDoor();
  const { psd2, json, request } = operator;
  const stateOf = async (flow: string) => (await json(consent, ['consent', 'show', flow])).state;
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

  it('another consent replaces it only after a yes; one for one reading replaces nothing', async () => {
    const before = await json(z.array(consent), ['consent', 'list']);
    expect(await errorOf('consent', 'request')).toMatchObject({ code: 'confirmation_needed', exitCode: 2 });
    expect(await json(z.array(consent), ['consent', 'list'])).toEqual(before);
    const once = await json(consent, ['consent', 'request', '--once']);
    expect(once).toMatchObject({ state: 'confirmed', recurring: false });
    const [former] = before;
    expect(await json(consent, ['consent', 'status', former?.flow ?? ''])).toMatchObject({
      state: 'confirmed',
    });
    const newer = await request('--account', SAVINGS, '--valid-until', lastDayIn(30), '--frequency', '2');
    expect(newer).toMatchObject({
      frequencyPerDay: 2,
      validUntil: lastDayIn(30),
      access: {
        accounts: [{ iban: SAVINGS }],
        balances: [{ iban: SAVINGS }],
        transactions: [{ iban: SAVINGS }],
      },
    });
    const ended = { flow: former?.flow, state: 'expired', consentStatus: 'expired' };
    // The bank was not asked for it.
    const listed = await json(z.array(consent), ['consent', 'list']);
    expect(listed.find(({ flow }) => flow === former?.flow)).toMatchObject(ended);
    expect(await json(consent, ['consent', 'status', former?.flow ?? ''])).toMatchObject(ended);
    // The look at the former consent has not brought it back.
    expect(await json(login, ['auth', 'status'])).toMatchObject({ consent: { flow: newer.flow } });
  });

  it('when a consent for one reading is used up, readings use the recurring one again', async () => {
    const max = ['--customer', 'max'];
    await request(...max);
    await request(...max, '--once');
    const [account = ''] = ALL;
    for (const _ of ['with the one for one reading', 'with the recurring one']) {
      expect(await json(accounts, ['accounts', 'list', ...max])).toHaveLength(3);
      const { code, stderr } = await psd2(['accounts', 'balance', account, ...max]);
      expect(code, stderr).toBe(0);
    }
  });

  it('a customer has no tokens: psd2 says so, and what to do instead', async () => {
    for (const verb of ['token', 'refresh']) {
      expect(await errorOf('auth', verb, '--customer', 'max')).toMatchObject({
        ...{ code: 'not_logged_in', exitCode: 4, message: expect.stringContaining('gives no tokens') },
        next: [['psd2', 'auth', 'status', '--customer', 'max']],
      });
      expect(await errorOf('auth', verb, '--customer', 'nobody')).toMatchObject({
        message: expect.stringContaining('gives no tokens'),
        next: [['psd2', 'consent', 'request', '--customer', 'nobody']],
      });
    }
  });

  it('an account that no consent covers is refused before a call, whatever it is called', async () => {
    const [id = '', savings = ''] = ALL;
    const kate = ['--customer', 'kate', '--verbose', '--json'];
    await request('--customer', 'kate');
    await psd2(['accounts', 'list', ...kate]);
    await request('--customer', 'kate', '--account', SAVINGS);
    for (const account of [id, ACCOUNT_IBAN]) {
      const ended = await psd2(['accounts', 'balance', account, ...kate]);
      expect(readError(ended)).toMatchObject({
        ...{ code: 'not_logged_in', exitCode: 4, hint: expect.stringContaining(`It covers ${SAVINGS}.`) },
        next: [['psd2', 'consent', 'request', '--customer', 'kate', '--account', ACCOUNT_IBAN]],
      });
      expect(ended.stderr).not.toContain('"event":"call"');
    }
    const covered = await psd2(['accounts', 'balance', savings, ...kate]);
    expect(covered).toMatchObject({ code: 0, stderr: expect.stringContaining('"event":"call"') });
    // It covers no card, so the list takes one call.
    const read = await psd2(['accounts', 'list', ...kate]);
    expect(JSON.parse(read.stdout)).toHaveLength(1);
    expect(read.stderr.match(/"event":"call"/g)).toHaveLength(1);
  });

  it('psd2 expiring names the command that asks for the same consent again', async () => {
    const { code, stdout } = await psd2(['expiring', '--within', '31d', '--json']);
    expect(code).toBe(12);
    expect(readDocument(endings, stdout).filter(({ kind }) => kind === 'consent')).toMatchObject([
      {
        customerId: 'default',
        next: ['psd2', '--customer', 'default', 'consent', 'request', '--account', SAVINGS],
      },
    ]);
  });

  it('a consent that the customer withdraws is revoked, and no reading uses it', async () => {
    const { flow, resourceId } = await request('--customer', 'bob');
    await operator.revoke(resourceId);
    expect(await json(consent, ['consent', 'status', flow])).toMatchObject({
      state: 'revoked',
      consentStatus: 'revokedByPsu',
    });
    expect(await errorOf('accounts', 'list', '--customer', 'bob')).toMatchObject({
      exitCode: 4,
      next: [['psd2', 'consent', 'request', '--customer', 'bob']],
    });
    expect(await errorOf('consent', 'resume', flow)).toMatchObject({ code: 'not_authorised', exitCode: 6 });
  });

  it('a reading that the bank refuses for the consent finds out how it is, and psd2 status names it', async () => {
    const { flow, resourceId } = await request('--customer', 'fred');
    await operator.revoke(resourceId);
    expect(await errorOf('accounts', 'list', '--customer', 'fred')).toMatchObject({
      ...{ exitCode: 4, bankCode: expect.stringContaining('CONSENT') },
    });
    expect(await stateOf(flow)).toBe('revoked');
    const items = z.object({ attention: z.array(z.looseObject({ id: z.string() })) });
    const status = await psd2(['status', '--json']);
    expect(status.code).toBe(12);
    expect(readDocument(items, status.stdout).attention).toContainEqual(
      expect.objectContaining({
        ...{ kind: 'consent', id: flow, state: 'revoked', customerId: 'fred' },
        next: ['psd2', 'consent', 'request', '--customer', 'fred'],
      }),
    );
    const out = join(operator.folder, 'synced');
    const sync = ['sync', '--all-customers', '--out', out, '--psu-ip', '192.0.2.1', '--json'];
    const rounds = [await psd2(sync), await psd2(sync)];
    for (const ended of rounds) {
      expect(readError(ended)).toMatchObject({ code: 'not_logged_in', exitCode: 4 });
      expect(syncReport.parse(JSON.parse(ended.stdout)).customers).toContainEqual(
        expect.objectContaining({ customerId: 'fred', status: 'failed' }),
      );
    }
    await request('--customer', 'fred');
    const after = readDocument(items, (await psd2(['status', '--json'])).stdout);
    expect(after.attention.filter(({ id }) => id === flow)).toEqual([]);
  });

  it('if psd2 forgets a customer, it ends their consents at the bank first', async () => {
    const named = ['--customer', 'to-forget'];
    const { flow, resourceId } = await json(z.looseObject({ flow: z.string(), resourceId: z.string() }), [
      ...['consent', 'request', ...named, '--yes'],
    ]);
    const atBank = async () => {
      const path = `/v1/consents/${resourceId}/status`;
      return json(z.looseObject({ consentStatus: z.string() }), ['api', 'GET', path]);
    };
    expect(await atBank()).toEqual({ consentStatus: 'valid' });
    const proof = z.looseObject({ atBank: z.looseObject({ consents: z.array(z.string()) }) });
    const forgotten = await json(proof, ['customer', 'forget', 'to-forget', '--yes']);
    expect(forgotten.atBank.consents).toEqual([resourceId]);
    expect(await atBank()).toEqual({ consentStatus: 'terminatedByTpp' });
    expect(await stateOf(flow)).toBe('cancelled');
    expect(await json(z.array(login), ['auth', 'list'])).not.toContainEqual(
      expect.objectContaining({ customerId: 'to-forget' }),
    );
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

describe('at a bank that keeps several consents', () => {
  const { request, json } = useSecondDoor(['--variation', 'multiple-consents']);

  it('each stays in force, and the list of accounts is read with the one for all', async () => {
    const all = await request('--all-accounts');
    const one = await request('--account', SAVINGS);
    for (const { flow } of [all, one])
      expect(await json(consent, ['consent', 'status', flow])).toMatchObject({ state: 'confirmed' });
    expect(await json(accounts, ['accounts', 'list'])).toHaveLength(3);
  });
});

describe('at a bank that asks the customer elsewhere', () => {
  const operator = useSecondDoor([], {
    sca: { approaches: ['decoupled'], pollSeconds: 1 },
    psu: { id: 'required' },
  });

  it('psd2 names the option for the customer, and keeps what it says', async () => {
    expect(readError(await operator.psd2(['consent', 'request', '--json']))).toMatchObject({
      exitCode: 2,
      message: expect.stringContaining('--psu-id'),
    });
    const psd2 = await operator.start(['consent', 'request', '--psu-id', 'anna', '--json']);
    const [, page = ''] = await psd2.prints(/Log in at (http\S+) and/);
    await operator.psd2(['sandbox', 'customer', page]);
    const { code, stdout } = await psd2.ended;
    expect(code).toBe(0);
    expect(readDocument(consent, stdout)).toMatchObject({ state: 'confirmed' });
  });
});

/** A day at the bank. */
function lastDayIn(days: number): string {
  const day = new Date(Date.now() + days * 24 * 3_600_000);
  return new Intl.DateTimeFormat('sv-SE', { timeZone: 'Europe/Rome' }).format(day);
}
