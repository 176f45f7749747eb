import { describe, expect, it } from 'vitest';
import * as z from 'zod';
import type { KnownInterface } from '../../../src/bank/call/call.ts';
import type { Grant } from '../../../src/bank/ports/customer.ts';
import { login } from '../../../src/commands/auth/login.ts';
import { auditedIn, storeLogin } from '../access.ts';
import { failureOf } from '../failure.ts';
import { bankWhere } from '../named-bank.ts';
import { useOperatorOfEachTest } from '../operator.ts';

const operator = useOperatorOfEachTest();
const ANNA = '1048262';
const APPLICATION = ['auth', 'login', '--client-credentials'];

const audit = async () => auditedIn(await operator.json(z.unknown(), ['audit']));

it('without a terminal psd2 auth login --paste ends before it sends anything', async () => {
  expect(await failureOf(operator.run(['auth', 'login', '--paste']))).toEqual({
    ...{ code: 'usage', exitCode: 2 },
    message: '--paste asks for an address, and psd2 cannot ask without a terminal',
    hint: 'Use a redirect URI on this machine instead (PSD2_REDIRECT_URI).',
  });
});

describe('if another customer logs in than the one that is named', () => {
  const BRUNO = '2073915';
  const named = { globals: { customer: BRUNO } } as const;
  const loggedIn = async () => {
    const { tokens } = await operator.open().context.store();
    return (await tokens.logins()).map(({ customerId }) => customerId);
  };

  it('by --customer, psd2 stores nothing, and the customers before stay', async () => {
    await storeLogin(operator.open().context, BRUNO);
    expect(await failureOf(operator.runApproved(['auth', 'login'], 'anna', named))).toEqual({
      ...{ code: 'login_refused', exitCode: 6 },
      message: `Customer ${ANNA} has logged in, not customer ${BRUNO}`,
      hint: 'psd2 has stored nothing, and has revoked the tokens. Let the other customer log out at the bank, then try again:',
      next: [['auth', 'login', '--customer', BRUNO]],
    });
    expect([await loggedIn(), await audit()]).toEqual([[BRUNO], []]);
  });

  it('by PSD2_CUSTOMER, which is a default for commands, the login counts', async () => {
    const changes = () => ({ sourceOf: () => 'environment' as const });
    await operator.runApproved(['auth', 'login'], 'anna', { ...named, changes });
    expect(await loggedIn()).toEqual([ANNA]);
  });
});

it('a customer who logs in is stored, is the one of later commands, and is in the audit log', async () => {
  const { printed } = await operator.runApproved(['auth', 'login'], 'anna');
  const data: unknown = JSON.parse(printed());
  expect(login.prints?.shape.is(data)).toBe(true);
  const { tokens } = await operator.open().context.store();
  const kept = await tokens.login(ANNA);
  expect(data).toEqual({
    ...{ profile: 'env', grantType: 'authorization_code', customerId: ANNA, scope: kept?.scope },
    accessTokenExpiresAt: kept?.accessTokenExpiresAt,
    refreshTokenExpiresAt: kept?.refreshTokenExpiresAt,
  });
  expect(kept?.apiTrackId).toMatch(/^\d{10}$/);
  expect(await tokens.last()).toBe(ANNA);
  expect(await audit()).toEqual([['logged-in', ANNA, 'authorization_code']]);
});

describe('the application', () => {
  it('logs in without a customer, and acts for the one who logged in last', async () => {
    const { printed } = await operator.run(APPLICATION);
    expect(JSON.parse(printed())).toMatchObject({
      ...{ grantType: 'client_credentials', customerId: null, callsToday: 0 },
    });
    await storeLogin(operator.open().context, ANNA);
    const { tokens } = await operator.open().context.store();
    expect((await tokens.login(null))?.apiTrackId).toMatch(/^\d{10}$/);
    const again = await operator.run(APPLICATION);
    expect(JSON.parse(again.printed())).toMatchObject({ grantType: 'client_credentials', customerId: ANNA });
    expect(await audit()).toEqual([
      ['logged-in', null, 'client_credentials'],
      ['logged-in', null, 'client_credentials'],
    ]);
  });

  it('a person reads what is stored, the calls of the day, and what comes next', async () => {
    const how = { format: 'table', columns: 100 } as const;
    const { printed, said } = await operator.run(APPLICATION, { ...how, env: { PSD2_CC_DAILY_LIMIT: '50' } });
    const lines = printed()
      .split('\n')
      .map((line) => line.split(/ {2,}/));
    expect(lines).toContainEqual(['Profile', 'env']);
    expect(lines).toContainEqual(['Grant', 'client_credentials']);
    expect(lines).toContainEqual(['Calls today', '0 of 50']);
    expect(said()).toBe('Next:\n  psd2 accounts list --grant client_credentials\n');
  });
});

it('at a bank whose customers have ids the options for them are refused', async () => {
  expect(await failureOf(operator.run(['auth', 'login', '--psu-id', 'ada']))).toMatchObject({
    message: 'The interface of this bank, the step interface (cb), has no --psu-id',
  });
});

describe('at a bank without logins', () => {
  const named = { find: bankWhere({ customers: 'named by the operator', logsIn: 'nobody' }) };
  const ada = { ...named, globals: { customer: 'ada' } };

  it('psd2 notes the customer, and asks for the consent next', async () => {
    const { printed, said } = await operator.run(['auth', 'login'], {
      ...{ ...ada, format: 'table', columns: 100 },
    });
    expect(printed()).toMatch(/^Customer +ada$/m);
    expect(said().split('\n')).toEqual([
      'This bank has no separate login; the customer signs in when giving consent. psd2 will use the name ada.',
      ...['Next:', '  psd2 consent request', '  psd2 accounts list', ''],
    ]);
    const { tokens, customers } = await operator.open().context.store();
    expect([await tokens.last(), await customers.list()]).toEqual(['ada', ['ada']]);
    const json = await operator.run(['auth', 'login'], ada);
    expect(JSON.parse(json.printed())).toEqual({
      ...{ profile: 'env', grantType: 'authorization_code', customerId: 'ada', scope: null },
      ...{ accessTokenExpiresAt: null, refreshTokenExpiresAt: null, consent: null },
    });
    expect(json.said()).not.toContain('Next:');
  });

  it('keeps who the customer is, and a second login changes only what it says', async () => {
    await operator.run(['auth', 'login', '--psu-id', 'ada-1', '--psu-id-type', 'card'], ada);
    await operator.run(['auth', 'login', '--psu-corporate-id', 'firm'], ada);
    const { customers } = await operator.open().context.store();
    expect((await customers.read('ada'))?.psu).toEqual({
      ...{ id: 'ada-1', idType: 'card', corporateId: 'firm', corporateIdType: null },
    });
    const wrong = operator.run(['auth', 'login', '--psu-id', ' '], ada);
    expect(await failureOf(wrong)).toMatchObject({ message: expect.stringContaining('--psu-id has') });
  });
});

describe('at a bank that answers in memory', () => {
  const REDIRECT = 'https://tpp.example/callback';
  const TOKENS = {
    accessToken: 'new',
    expiresIn: 600,
    refreshToken: 'r1',
    refreshExpiresIn: null,
    scope: 'all',
  };
  const SECRETS = {
    authorization_code: { clientId: 'client', clientSecret: 'one' },
    client_credentials: { clientId: 'application', clientSecret: 'two' },
  };
  const settings = {
    ...{ PSD2_BROWSER: 'none', PSD2_REDIRECT_URI: REDIRECT },
    ...{ PSD2_CLIENT_ID: 'client', PSD2_CLIENT_SECRET: 'one' },
    ...{ PSD2_CC_CLIENT_ID: 'application', PSD2_CC_CLIENT_SECRET: 'two' },
  };
  type How = NonNullable<Parameters<typeof operator.run>[1]>;

  /** A bank that logs everybody in, and an operator who pastes the address that it sends the customer back to. */
  function bankWithLogins(changes: Partial<KnownInterface>) {
    const asked: unknown[] = [];
    const questions: string[] = [];
    let state = '';
    const own = {
      authorize: async (start: { state: string }) => {
        state = start.state;
        return 'https://bank.example/login';
      },
      tokens: async (client: unknown, grant: Grant) => {
        asked.push([client, grant]);
        return TOKENS;
      },
      whose: async () => {
        asked.push('whose');
        return ANNA;
      },
    };
    const find = bankWhere(changes, ({ login }) => ({ login: { ...login, ...own } }));
    const askSecret = async (question: string, check?: (answer: string) => unknown) => {
      questions.push(question);
      const address = `${REDIRECT}?code=c1&state=${state}`;
      await check?.(address);
      return address;
    };
    const logIn = (words: string[], how: How = {}) =>
      operator.run(['auth', 'login', ...words], { find, env: settings, operator: { askSecret }, ...how });
    return { asked, questions, logIn };
  }
  const byCode = (kind: keyof typeof SECRETS) => [
    SECRETS[kind],
    kind === 'client_credentials'
      ? { grant_type: kind }
      : { grant_type: kind, code: 'c1', redirect_uri: REDIRECT },
  ];
  const stored = async () => {
    const { tokens, customers } = await operator.open().context.store();
    const logins = (await tokens.logins()).map(({ customerId }) => customerId);
    return {
      ...{ logins, own: (await tokens.login(null)) !== undefined },
      ...{ last: await tokens.last(), noted: await customers.list() },
    };
  };
  const status = (printed: string) => {
    const { grantType, customerId } = z
      .looseObject({ grantType: z.string(), customerId: z.nullable(z.string()) })
      .parse(JSON.parse(printed));
    return { grantType, customerId };
  };

  it('a customer whom the operator names logs in under that name, and the bank is not asked whose the tokens are', async () => {
    const { asked, questions, logIn } = bankWithLogins({ customers: 'named by the operator' });
    const { printed } = await logIn(['--paste', '--psu-id', 'ada-1'], { globals: { customer: 'ada' } });
    expect(status(printed())).toEqual({ grantType: 'authorization_code', customerId: 'ada' });
    expect(asked).toEqual([byCode('authorization_code')]);
    expect(questions).toEqual(['The address that the browser ended at']);
    expect(await stored()).toEqual({ logins: ['ada'], own: false, last: 'ada', noted: ['ada'] });
    expect(await audit()).toEqual([['logged-in', 'ada', 'authorization_code']]);
  });

  it('where the bank names the customers, it says whose the tokens are, and a person reads what comes next', async () => {
    const { asked, logIn } = bankWithLogins({});
    const { said } = await logIn(['--paste'], {
      ...{ format: 'table', columns: 100 },
      changes: () => ({ repeated: { profile: 'bank', customer: ANNA } }),
    });
    expect(asked).toEqual([byCode('authorization_code'), 'whose']);
    expect(said().split('\n').slice(-4)).toEqual([
      'Next:',
      '  psd2 --profile bank accounts list',
      '  psd2 --profile bank consent request --category ACCOUNT_INFO --all-accounts',
      '',
    ]);
    expect(await stored()).toEqual({ logins: [ANNA], own: false, last: ANNA, noted: [] });
  });

  it('where the application alone logs in, its tokens are stored as its own, and the customer is noted', async () => {
    const { asked, logIn } = bankWithLogins({ customers: 'named by the operator', logsIn: 'application' });
    const { printed, said } = await logIn([], { globals: { customer: 'ada' } });
    expect(status(printed())).toEqual({ grantType: 'client_credentials', customerId: 'ada' });
    expect(asked).toEqual([byCode('client_credentials')]);
    expect(said()).toBe(
      'This bank has no separate login; the customer signs in when giving consent. psd2 will use the name ada.\n',
    );
    expect(await stored()).toEqual({ logins: [], own: true, last: 'ada', noted: ['ada'] });
  });

  it('--client-credentials notes no customer, although the operator names one', async () => {
    const { asked, logIn } = bankWithLogins({ customers: 'named by the operator', logsIn: 'application' });
    const { printed } = await logIn(['--client-credentials'], { globals: { customer: 'ada' } });
    expect(status(printed())).toEqual({ grantType: 'client_credentials', customerId: null });
    expect(asked).toEqual([byCode('client_credentials')]);
    expect(await stored()).toEqual({ logins: [], own: true, last: undefined, noted: [] });
  });

  it('a bank where nobody logs in and that names the customers notes the one of --customer', async () => {
    const { asked, logIn } = bankWithLogins({ logsIn: 'nobody' });
    const { printed } = await logIn([], { globals: { customer: 'ada' } });
    expect(status(printed())).toEqual({ grantType: 'authorization_code', customerId: 'ada' });
    expect(asked).toEqual([]);
    expect(await stored()).toEqual({ logins: [], own: false, last: 'ada', noted: ['ada'] });
  });

  it('a login that Ctrl-C must not lose is named for both kinds', async () => {
    const { logIn } = bankWithLogins({});
    const finished: string[] = [];
    const changes: How['changes'] = ({ world }) => ({
      world: {
        ...world,
        finish: (what, work) => {
          finished.push(what);
          return work();
        },
      },
    });
    await logIn(['--paste'], { changes });
    await logIn(['--client-credentials'], { changes });
    expect(finished).toEqual(['The new login', 'The new login']);
  });
});
