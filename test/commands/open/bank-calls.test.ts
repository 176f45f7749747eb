import { beforeAll, beforeEach, describe, expect, inject, it } from 'vitest';
import type {
  Answer,
  BankCall,
  Caller,
  KnownInterface,
  Wire,
  WireSettings,
} from '../../../src/bank/call/call.ts';
import type { Bank } from '../../../src/bank/ports/bank.ts';
import type { ConsentDetails } from '../../../src/bank/ports/customer.ts';
import type { BankConnection } from '../../../src/bank/transport/connection.ts';
import type { ApplicationBank, Context } from '../../../src/commands/context.ts';
import {
  type FindInterface,
  openApplicationBank,
  openCustomerBank,
  openUnattendedBank,
} from '../../../src/commands/open/bank.ts';
import { profileProtect } from '../../../src/commands/profile/protect.ts';
import { paymentHolder } from '../../../src/domain/identifiers.ts';
import { type ErrorContext, Psd2Error } from '../../../src/errors.ts';
import { loadOrCreateRegistration } from '../../../src/sandbox/folder/registration.ts';
import { readCalls } from '../../../src/store/machine/call-log.ts';
import type { StoreFolder } from '../../../src/store/machine/folder.ts';
import type { Environment } from '../../../src/store/machine/settings.ts';
import { ToyBank } from '../../bank/contract/toy.ts';
import { newConfigFolder, temporaryFolder } from '../../store/temporary-folder.ts';
import { granting } from '../../store/whole-store.ts';
import { storeConsentFlow, storeLogin } from '../access.ts';
import { openCommand } from '../command.ts';
import { failureOf } from '../failure.ts';
import { reading, statusOf } from './calls.ts';

const temporary = temporaryFolder();
/** The certificates are valid by then. */
const NOW = new Date(Date.now() + 60_000).toISOString();
const CUSTOMER = { customers: 'named by the bank', logsIn: 'customers' } as const;
const NAMED = { customers: 'named by the operator', logsIn: 'nobody' } as const;

let folder: StoreFolder;
let env: Environment;
beforeAll(async () => {
  const files = await loadOrCreateRegistration(inject('registration'));
  env = { PSD2_QWAC_CERT: files.qwacCertFile, PSD2_QWAC_KEY: files.qwacKeyFile };
});
beforeEach(() => {
  folder = newConfigFolder(temporary);
});
type How = NonNullable<Parameters<typeof openCommand>[2]>;

const HOLDERS = { ada: 'ada', own: null, payment: paymentHolder('payment-1') };

/** Stores tokens: those of ada, of the application, and of a payment of ada. */
async function storeTokens(...names: (keyof typeof HOLDERS)[]): Promise<void> {
  const { context } = openCommand(folder, NOW);
  for (const name of names)
    await storeLogin(context, HOLDERS[name], { accessToken: `of ${name}`, apiTrackId: `track of ${name}` });
}

/** What a bank says of each consent. */
const revoked = async (): Promise<ConsentDetails> => ({
  ...{ consentStatus: 'revokedByPsu', means: 'revoked', validUntil: null, frequencyPerDay: null },
  ...{ recurring: null, access: null },
});

/** Where a bank lets its customers authenticate. It tells nothing of it. */
const SCA: Bank['sca'] = {
  start: async ({ resourceId }) => `https://customers.toy.example/${resourceId}`,
  status: () => Promise.reject(new Psd2Error('bank_failing', 'The bank is failing')),
};

/** A bank without a server. It gives each call the next status, 200 by default. */
function bankWith(
  changes: Partial<KnownInterface>,
  client: { clientId: string; needsSecret: boolean } | null = null,
) {
  const { interface: toy } = new ToyBank();
  const settings: WireSettings[] = [];
  const callers = new Map<Bank, Caller>();
  const grants: string[] = [];
  const wire: Wire = {
    compose: async ({ method, path, bearer }) => ({
      request: { method, target: path, headers: bearer === undefined ? {} : { bearer }, body: undefined },
      ...{ tppRequestId: 'q', digest: null, signingString: '' },
    }),
    check: () => {},
    understand: async () => ({ json: {}, requestId: null, asksForSca: false, turnedAway: false }),
    routeOf: () => ({ path: '{other}', kind: 'other' }),
  };
  const find: FindInterface = async () => ({
    ...{ ...toy, ...changes },
    open: (given) => {
      settings.push(given);
      const opened = toy.open(given);
      return {
        ...opened,
        client: () => client,
        connect(over) {
          const plain = opened.connect(over);
          const tokens: Bank['login']['tokens'] = async (_client, grant) => {
            grants.push(grant.grant_type);
            return {
              accessToken: 'granted',
              refreshToken: null,
              expiresIn: null,
              refreshExpiresIn: null,
              scope: null,
            };
          };
          const login = { ...plain.login, tokens };
          const bank = { ...plain, login, consents: { ...plain.consents, details: revoked }, sca: SCA };
          callers.set(
            bank,
            over(wire, () => bank),
          );
          return bank;
        },
      };
    },
  });
  return { settings, callers, grants, find };
}

/** Opens that bank for a command. */
async function openAt(
  changes: Partial<KnownInterface>,
  given: How & { unattended?: boolean; client?: Parameters<typeof bankWith>[1] } = {},
) {
  const { unattended = false, client, ...how } = given;
  const { settings, callers, grants, find } = bankWith(changes, client);
  const command = openCommand(folder, NOW, { ...how, find, env: { ...env, ...how.env } });
  const statuses: number[] = [];
  const bearers: (string | undefined)[] = [];
  const connection: BankConnection = {
    send: async ({ headers }, _timeout, _signal, watch) => {
      watch?.sent?.();
      bearers.push(headers.bearer);
      return { status: statuses.shift() ?? 200, headers: {}, body: Buffer.from('raw') };
    },
    close: async () => {},
  };
  const { context: plain } = command;
  const context: Context = {
    ...plain,
    transport: async (grant) => ({ ...(await plain.transport(grant)), connection }),
  };
  const open = unattended ? openUnattendedBank : openCustomerBank;
  const opened = await open(context, find);
  const callerOf = ({ bank }: { bank: Bank }) => {
    const caller = callers.get(bank);
    if (caller === undefined) throw new TypeError('The bank was not connected');
    return caller;
  };
  const ask = (call: BankCall, read: (answer: Answer) => ReturnType<typeof statusOf> = statusOf) =>
    callerOf(opened).ask(call, read);
  return { ...command, opened, find, settings, grants, statuses, bearers, ask, callerOf };
}
const ada = (more: Partial<How['globals']> = {}) => ({ globals: { customer: 'ada', ...more } });
/** Finds this error in an answer. */
const finding = (error: Psd2Error) => () => {
  throw error;
};
const facts = (more: Partial<BankCall['facts']> = {}): Partial<BankCall> => ({
  facts: { reads: null, needsConsent: false, login: false, ...more },
});

describe('the token of a call', () => {
  it.each<[KnownInterface['logsIn'], Partial<BankCall['facts']>, string | undefined]>([
    ['customers', {}, 'of ada'],
    ['customers', { needsConsent: true }, 'of ada'],
    ['application', {}, 'of own'],
    ['application', { needsConsent: true }, 'of own'],
    ['application', { login: true }, undefined],
    ['with a consent', { needsConsent: true }, 'of ada'],
    ['with a consent', {}, undefined],
    ['nobody', { needsConsent: true }, undefined],
  ])('where %s log in, a call with %j has %j', async (logsIn, given, bearer) => {
    await storeTokens('ada', 'own');
    const { ask, bearers } = await openAt({ ...CUSTOMER, logsIn }, ada());
    await ask(reading(null, facts(given)));
    expect(bearers).toEqual([bearer]);
  });

  it("is the application's with --grant client_credentials, and none for a call of the application alone", async () => {
    await storeTokens('ada', 'own');
    const { ask, bearers, opened } = await openAt(CUSTOMER, ada({ grant: 'client_credentials' }));
    await ask(reading(null));
    expect([bearers, opened.holder, opened.customerId]).toEqual([['of own'], null, 'ada']);
    const alone = await openAt(CUSTOMER, ada());
    await alone.callerOf({ bank: alone.opened.connect() }).ask(reading(null), statusOf);
    expect(alone.bearers).toEqual([undefined]);
  });

  const NONE = {};
  it.each<[string, ('ada' | 'own' | 'payment')[], Partial<BankCall['facts']>, string | undefined, string[]]>([
    ['the application', ['own', 'ada'], NONE, 'of own', []],
    ['the application, also about a payment', ['own', 'payment'], { ofPayment: 'payment-1' }, 'of own', []],
    ['the customer for a reading', ['own', 'ada'], { needsConsent: true }, 'of ada', []],
    ['nobody for a login', ['own', 'ada'], { login: true }, undefined, []],
    ['the application, which gets its first one by itself', ['ada'], NONE, 'granted', ['client_credentials']],
  ])('where the bank wants one of the application, too, is that of %s', async (...row) => {
    const [, stored, given, bearer, expected] = row;
    await storeTokens(...stored);
    for (const grant of ['authorization_code', 'client_credentials'] as const) {
      if (expected.length > 0) folder = newConfigFolder(temporary);
      const at = { ...NAMED, logsIn: 'with a consent', hasApplicationToken: true } as const;
      const { ask, bearers, grants } = await openAt(at, {
        ...{ ...ada({ grant }), client: { clientId: 'tpp', needsSecret: false } },
      });
      await ask(reading(null, facts(given)));
      // With that grant, the calls for the customer carry the token of the application anyway.
      const isOwn = grant === 'client_credentials' && bearer === 'of ada';
      expect(bearers).toEqual([isOwn ? 'of own' : bearer]);
      expect(grants).toEqual(expected);
    }
  });

  it.each([
    ['the consent that the login came with', 'consent-1', 'of ada'],
    ['another consent', 'consent-2', undefined],
  ])('about %s is with that login alone', async (_, ofConsent, bearer) => {
    const { context } = openCommand(folder, NOW);
    await storeLogin(context, 'ada', { accessToken: 'of ada', consent: 'consent-1' });
    const { ask, bearers } = await openAt({ ...NAMED, logsIn: 'with a consent' }, ada());
    await ask(reading(null, facts({ ofConsent })));
    expect(bearers).toEqual([bearer]);
  });

  it('is that of the payment that a call is about, if there is one', async () => {
    await storeTokens('payment', 'ada');
    const { ask, bearers } = await openAt({ ...NAMED, logsIn: 'with a consent' }, ada());
    await ask(reading(null, facts({ ofPayment: 'payment-1' })));
    await ask(reading(null, facts({ ofPayment: 'payment-2' })));
    expect(bearers).toEqual(['of payment', undefined]);
  });
});

describe('without a login', () => {
  it('a call for a customer is not made where customers log in', async () => {
    await storeTokens('own');
    expect(await failureOf(openAt(CUSTOMER, ada()))).toMatchObject({
      ...{ code: 'not_logged_in', message: 'Nobody is logged in with the profile "env"' },
      next: [['--profile', 'env', 'auth', 'login']],
    });
    const own = await openAt(CUSTOMER, ada({ grant: 'client_credentials' }));
    expect(own.opened.holder).toBeNull();
  });

  it.each(['nobody', 'application', 'with a consent'] as const)(
    'it is made where %s logs in',
    async (logsIn) => {
      const { opened } = await openAt({ ...NAMED, logsIn }, ada());
      expect([opened.customerId, opened.holder]).toEqual(['ada', logsIn === 'application' ? null : 'ada']);
    },
  );

  it('while the customer is absent, the first call says so', async () => {
    const { ask } = await openAt(CUSTOMER, { ...ada(), unattended: true });
    expect(await failureOf(ask(reading(null)))).toMatchObject({ code: 'not_logged_in' });
  });

  it.each([
    ['with a consent', ['consent', 'request', '--customer', 'ada']],
    ['customers', ['auth', 'login']],
  ] as const)('that can be renewed, the advice where customers log in (%s) is %j', async (logsIn, next) => {
    const ended = { refreshToken: null, accessTokenExpiresAt: '2026-01-01T00:00:00.000Z' };
    await storeLogin(openCommand(folder, NOW).context, 'ada', ended);
    const { ask, opened } = await openAt({ ...CUSTOMER, logsIn }, ada());
    expect((await failureOf(ask(reading('list')))).next).toEqual([next]);
    expect((await failureOf(opened.accessTokens.renewed('of ada'))).next).toEqual([next]);
  });
});

describe('what a call takes from the store', () => {
  const keep = async () => {
    const { customers } = await openCommand(folder, NOW).context.store();
    await customers.change('ada', (before) => ({
      ...granting('co-1')(before),
      psu: { id: 'ada-1', idType: 'card', corporateId: null, corporateIdType: null },
    }));
  };

  it('is who the customer is at the bank and the consents, where the operator names the customers', async () => {
    await keep();
    const { settings, ask, context } = await openAt(NAMED, ada());
    const [first] = settings;
    expect(first?.psu).toEqual({ id: 'ada-1', idType: 'card', corporateId: undefined });
    expect((await first?.consents?.for('list'))?.consentId).toBe('consent of co-1');
    await ask(reading(null));
    expect([...readCalls(context.folder.log)].map(({ customer }) => customer)).toEqual(['ada']);
  });

  it('is neither where the bank names them', async () => {
    await keep();
    await storeTokens('ada');
    const { settings, ask, context } = await openAt(CUSTOMER, ada());
    expect([settings[0]?.psu, settings[0]?.consents]).toEqual([undefined, undefined]);
    await ask(reading(null));
    expect([...readCalls(context.folder.log)].map((call) => 'customer' in call)).toEqual([false]);
  });

  it("is the bank's session of the login, which an answer may change", async () => {
    await storeTokens('ada');
    const { settings, opened } = await openAt(CUSTOMER, ada());
    expect(settings[0]?.session).toEqual({ apiTrackId: 'track of ada' });
    expect(opened.session).toBe(settings[0]?.session);
  });

  it.each([
    ['https://bank.example', ''],
    ['https://bank.example/prefix', '/prefix'],
  ])('with the base URL %s has the prefix %j', async (PSD2_BASE_URL, pathPrefix) => {
    const { settings } = await openAt(NAMED, { ...ada(), env: { PSD2_BASE_URL } });
    expect(settings[0]).toMatchObject({ pathPrefix, origin: 'https://bank.example' });
  });

  it.each([
    ['the profile', null, 'own', 'secret'],
    ['the bank, with a secret', { clientId: 'known', needsSecret: true }, 'known', 'secret'],
    ['the bank, without one', { clientId: 'known', needsSecret: false }, 'known', ''],
  ])('is the id of the application of %s', async (_, client, clientId, clientSecret) => {
    const secrets = { PSD2_CLIENT_ID: 'own', PSD2_CLIENT_SECRET: 'secret' };
    const { opened } = await openAt(NAMED, { ...ada(), env: secrets, client });
    expect(opened.client()).toEqual({ clientId, clientSecret });
  });

  it('is a secret that must be there if the bank wants one', async () => {
    const { opened } = await openAt(NAMED, { ...ada(), client: { clientId: 'known', needsSecret: true } });
    expect(() => opened.client()).toThrow('The profile "env" has no client secret');
  });

  it('is the secret of a protected profile, too', async () => {
    const key = { PSD2_CONFIG_PASSPHRASE: 'passphrase' };
    const { context } = openCommand(folder, NOW, { env: key, globals: { profile: 'bank' } });
    const files = {
      qwacCertificate: { path: env.PSD2_QWAC_CERT ?? '' },
      qwacKey: { path: env.PSD2_QWAC_KEY ?? '' },
    };
    const settings = { baseUrl: 'https://bank.example', clientSecret: 'hush', ...files };
    await context.profiles.write('bank', settings);
    await profileProtect(context, undefined, { keyring: false, passphrase: true, passphraseStdin: false });
    const client = { clientId: 'known', needsSecret: true };
    const { opened } = await openAt(NAMED, { ...ada({ profile: 'bank' }), env: key, client });
    expect(opened.client()).toEqual({ clientId: 'known', clientSecret: 'hush' });
  });
});

describe('around a call', () => {
  it('the bank counts it, by its result', async () => {
    const { ask, statuses, context } = await openAt(NAMED, ada());
    statuses.push(200, 404);
    await ask(reading(null));
    await ask(reading(null));
    const { tally } = await context.transport('authorization_code');
    expect([tally.byResult.get('2xx'), tally.byResult.get('4xx')]).toEqual([1, 1]);
  });

  it('--raw prints the answers of calls for a customer, and no others', async () => {
    await storeTokens('ada');
    const printed: string[] = [];
    const printBytes = (bytes: Uint8Array) => void printed.push(Buffer.from(bytes).toString());
    const changes = () => ({ printBytes });
    for (const raw of [{ raw: true } as const, {}]) {
      const { ask, opened, callerOf } = await openAt(CUSTOMER, { ...ada(raw), changes });
      await ask(reading(null));
      await callerOf({ bank: opened.connect() }).ask(reading(null), statusOf);
    }
    expect(printed).toEqual(['raw']);
  });

  it.each([
    [null, 'The bank says: Be quick\n'],
    ['W1', 'The bank says: Be quick [W1]\n'],
  ])('what the bank says with the code %j is shown once', async (code, text) => {
    const { ask, said } = await openAt(NAMED, ada());
    for (const _ of ['once', 'again'])
      await ask(reading(null), ({ status }) => ({ notices: [{ text: 'Be quick', code }], status }));
    expect(said()).toBe(text);
  });

  it('a refusal is noted for the customer, and a read is counted', async () => {
    await storeTokens('ada');
    const { ask, context } = await openAt(CUSTOMER, ada());
    await failureOf(ask(reading('list'), finding(new Psd2Error('forbidden', 'No'))));
    const { notes } = await context.store();
    expect(await notes.hasRefusedCall('ada')).toBe(true);
    await ask(reading('list'));
    expect(await notes.hasRefusedCall('ada')).toBe(false);
    const allowance = { budget: 1, isOperators: true, isSpread: false };
    // Another run may not read any more.
    const { context: next } = openCommand(folder, NOW);
    expect(await (await next.reads()).take('ada', null, allowance)).toBe('used-up');
    expect(await (await next.reads()).take('ada', 'a1', allowance)).toBe('taken');
  });

  const MAY_NOT =
    'On a terminal, or with --yes, psd2 sends the customer to authenticate and repeats the call.';
  const NOTHING = 'The bank named no resource to authorise. The customer must log in again:';
  it.each<[string, Parameters<typeof openAt>[1], ErrorContext, string | undefined]>([
    ['who is absent', { ...ada(), unattended: true }, { resourceId: 'r1' }, undefined],
    ['whom psd2 may not send to the bank', ada(), { resourceId: 'r1' }, MAY_NOT],
    ['who has nothing to authorise', ada(), {}, NOTHING],
  ])('no SCA is asked of a customer %s', async (_, how, context, hint) => {
    await storeTokens('ada');
    const { ask } = await openAt(CUSTOMER, how);
    const required = finding(new Psd2Error('sca_required', 'SCA', context));
    expect((await failureOf(ask(reading('list'), required))).hint).toBe(hint);
  });

  it.each<[string, How, BankCall['method'], boolean]>([
    ['--yes', { globals: { customer: 'ada', yes: true } }, 'GET', true],
    ['a terminal', { ...ada(), operator: {} }, 'GET', true],
    ['--yes, for a call that changes something', { globals: { customer: 'ada', yes: true } }, 'PUT', false],
  ])('with %s the customer is sent, and the call is made again: %j %s %s', async (_, how, method, isSent) => {
    await storeTokens('ada');
    const redirect = { PSD2_BROWSER: 'none', PSD2_REDIRECT_URI: 'https://tpp.example/callback' };
    const { ask, said } = await openAt(CUSTOMER, { ...how, env: redirect });
    const required = finding(new Psd2Error('sca_required', 'SCA', { resourceId: 'r1' }));
    await failureOf(ask(reading('list', { method }), required));
    const sends = ['The bank requires the customer to authenticate again first.', 'toy.example/r1'];
    for (const text of sends) expect(said().includes(text)).toBe(isSent);
  });

  it('the end of a consent is noticed, but not with --raw', async () => {
    const { context } = openCommand(folder, NOW);
    const { customers, flows } = await context.store();
    const requested = { type: 'requested' as const, resourceId: 'c1', outcomes: [] };
    const flow = await storeConsentFlow(context, { customerId: 'ada' }, requested);
    await customers.change('ada', (before) => {
      const { consents, ...rest } = granting(flow)(before);
      return { ...rest, consents: consents.map((each) => ({ ...each, consentId: 'c1' })) };
    });
    const ended = finding(new Psd2Error('not_logged_in', 'It has ended', { endsConsent: true }));
    const stateAfter = async (globals: How['globals']) => {
      const { ask } = await openAt(NAMED, ada(globals));
      const failure = await failureOf(ask(reading('list', { headers: { 'consent-id': 'c1' } }), ended));
      return [failure.message, (await flows.find('consent', flow)).state];
    };
    expect(await stateAfter({ raw: true })).toEqual(['It has ended', 'requested']);
    expect(await stateAfter({})).toEqual(['The customer has revoked the consent c1 at the bank', 'revoked']);
  });
});

it('the bank of the application can be opened without a customer', async () => {
  const { find, settings } = bankWith(NAMED);
  const { context } = openCommand(folder, NOW, { env, find });
  const transport = await context.transport('authorization_code');
  const bank: ApplicationBank = await openApplicationBank(context, transport, find);
  expect(bank.session).toEqual({ apiTrackId: undefined });
  expect([settings[0]?.psu, settings[0]?.consents]).toEqual([undefined, undefined]);
});
