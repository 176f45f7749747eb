import * as z from 'zod/mini';
import type {
  BankCall,
  Caller,
  CallFacts,
  KnownInterface,
  Said,
  Wire,
  WireSettings,
} from '../../../src/bank/call/call.ts';
import type { Bank } from '../../../src/bank/ports/bank.ts';
import type { BeforeSend } from '../../../src/bank/ports/call.ts';
import type { Sca, ScaLinks } from '../../../src/bank/ports/customer.ts';
import { addDays, bankDay } from '../../../src/domain/calendar.ts';
import type { ConsentTerms } from '../../../src/domain/consent.ts';
import { isDecimal } from '../../../src/domain/decimal.ts';
import { isAccountId } from '../../../src/domain/identifiers.ts';
import type { ResourceStatus } from '../../../src/domain/payment-answers.ts';
import { Psd2Error } from '../../../src/errors.ts';

// An interface of a third kind, as banks in the United Kingdom and in France have it: links lead the customer to a login, which
// gives a token for this consent or payment alone, and then psd2 sends the last call.

const created = z.object({ id: z.string(), link: z.string() });
const told = z.object({ status: z.enum(['open', 'authorised', 'paid']) });

const NO_FACTS: CallFacts = { reads: null, needsConsent: false, login: false };

export const toyInterface: KnownInterface = {
  name: 'toy',
  has: new Set(['payments', 'consent status', 'terms of consents', 'links for SCA']),
  consentTerms: { types: ['all-accounts'], once: false },
  probes: 'signature',
  customers: 'named by the operator',
  logsIn: 'with a consent',
  ownHeaders: [],
  readCustomerId: (text) => text,
  readAccountId(text) {
    if (isAccountId(text)) return text;
    throw new Psd2Error('invalid_product_id', `The toy has no account ${JSON.stringify(text)}`);
  },
  refusalOf: () => null,
  open: (settings) => ({
    client: () => ({ clientId: 'toy', needsSecret: false }),
    connect(over) {
      const bankOver = (calls: Caller) => bankOf(calls, settings);
      return bankOver(over(wireOf(settings), bankOver));
    },
    compose: lacking,
  }),
};

function wireOf({ pathPrefix, newId }: WireSettings): Wire {
  return {
    async compose({ method, path, body, bearer }) {
      const headers = { accept: 'application/json', ...(bearer && { authorization: `Bearer ${bearer}` }) };
      const bytes = body === undefined ? undefined : Buffer.from(JSON.stringify(body));
      const request = { method, target: `${pathPrefix}${path}`, headers, body: bytes };
      return { request, tppRequestId: newId(), digest: null, signingString: '' };
    },
    check(answer) {
      if (answer.headers['x-toy'] !== 'yes') throw new Psd2Error('bank_answer', 'This is no toy');
    },
    async understand({ status, body }): Promise<Said> {
      const json: unknown = JSON.parse(body.toString() || 'null');
      return { json, requestId: null, asksForSca: false, turnedAway: status === 401 };
    },
    routeOf: ({ path, facts }) => ({
      path: path.replace(/[0-9a-f-]{36}/, '{id}'),
      kind: facts.login ? 'auth' : facts.ofPayment === undefined ? 'ais' : 'pis',
    }),
  };
}

function bankOf(calls: Caller, settings: WireSettings): Bank {
  const ask = async <T>(
    call: Omit<BankCall, 'facts'> & Partial<BankCall>,
    shape: z.ZodMiniType<T>,
  ): Promise<T> => {
    const { data } = await calls.ask(
      { facts: NO_FACTS, ...call },
      ({ status, reply: said, call: { bearer } }) => {
        if (status >= 400)
          throw new Psd2Error(status === 401 ? 'not_logged_in' : 'bank_refused', `The toy says ${status}`, {
            ...{ refusal: status === 401 ? 'unread' : 'other', isBanks: true },
            ...(bearer !== undefined && { hadToken: true }),
          });
        return { data: shape.parse(said.json), notices: [] };
      },
    );
    return data;
  };
  const get = (path: string, transactionId: string, facts: Partial<CallFacts> = {}) => ({
    ...{ method: 'GET' as const, path, transactionId, facts: { ...NO_FACTS, ...facts } },
  });
  const begin = (path: string, body: object, transactionId: string, beforeSend: BeforeSend) =>
    ask(
      { method: 'POST', path, body, transactionId, beforeSend, facts: factsAbout(path, transactionId) },
      created,
    );
  const scaOf = (path: string): Sca => ({
    start: lacking,
    timing: { pollSeconds: 1, authorisationMinutes: 5 },
    status: async (id, transactionId, decides) => {
      const facts = factsAbout(path, transactionId);
      const { status } = await ask({ ...get(`${path}/${id}`, transactionId, facts), decides }, told);
      return statusOf(status);
    },
    // The link is good as long as nobody has used it.
    async proceed({ links, login }) {
      if (!links?.oauth) throw new Psd2Error('bank_answer', 'The toy gave no link');
      return { next: 'log in', url: `${links.oauth}&state=${login.state}`, server: 'toy', links };
    },
  });
  return {
    accounts: {
      isId: isAccountId,
      async list(_customer, transactionId) {
        const shape = z.object({ accounts: z.array(z.object({ id: z.string(), iban: z.string() })) });
        const { accounts } = await ask(
          get('/accounts', transactionId, { reads: 'list', needsConsent: true }),
          shape,
        );
        const no = { name: null, productCode: null, productDescription: null };
        return accounts.map(({ id, iban }) => ({
          ...no,
          accountId: id,
          productId: id,
          iban,
          currency: 'EUR',
        }));
      },
      async balance(_customer, accountId, transactionId) {
        const facts = { reads: { account: accountId }, needsConsent: true };
        const { cents } = await ask(
          get(`/accounts/${accountId}`, transactionId, facts),
          z.object({ cents: z.int() }),
        );
        const amount = (cents / 100).toFixed(2);
        if (!isDecimal(amount)) throw new TypeError('The toy counts in cents');
        const no = { accountAvailability: null, accountAvailableCredit: null, availableBalance: null };
        const booked = { amount, currency: 'EUR' };
        return { ...no, accountId, productId: accountId, accountBalance: booked, asOf: null };
      },
      pages: never,
      document: lacking,
      details: lacking,
    },
    consents: {
      async request({ transactionId, beforeSend, redirectUri = '' }) {
        const { id, link } = await begin('/consents', { back: redirectUri }, transactionId, beforeSend);
        const terms: ConsentTerms = {
          access: { type: 'all-accounts' },
          validUntil: addDays(bankDay(settings.now()), 90),
          ...{ frequencyPerDay: 4, recurring: true },
        };
        const more = { terms, access: {}, bankStatus: 'open', besideOthers: false };
        return { resourceId: id, outcomes: [], links: linksOf(link), ...more };
      },
      confirm: lacking,
      status: async (id, transactionId) => {
        const { status } = await ask(get(`/consents/${id}`, transactionId), told);
        return { consentStatus: status, means: status === 'authorised' ? 'valid' : 'open' };
      },
      async details(id, transactionId) {
        const { status } = await ask(get(`/consents/${id}`, transactionId), told);
        const no = { validUntil: null, frequencyPerDay: null, recurring: null, access: null };
        return { ...no, consentStatus: status, means: status === 'authorised' ? 'valid' : 'open' };
      },
    },
    login: {
      ...{ authorize: lacking, probe: lacking, revoke: async () => false, whose: lacking },
      async tokens(_client, grant, transactionId) {
        const call = { method: 'POST' as const, path: '/token', body: grant, transactionId };
        const facts = { ...NO_FACTS, login: true };
        const { token } = await ask(
          { ...call, facts, interruptible: 'until sent' },
          z.object({ token: z.string() }),
        );
        return {
          accessToken: token,
          expiresIn: 3600,
          refreshToken: null,
          refreshExpiresIn: null,
          scope: null,
        };
      },
    },
    payments: {
      commits: 'on execute',
      initiation: async ({ fromIban, to, name, amount }, { address, state }) => ({
        ...{
          service: 'payments',
          product: 'toy',
          endToEndId: '',
          returnAddress: address,
          returnState: state,
        },
        body: JSON.stringify({ iban: fromIban, to, name, cents: Number(amount) * 100, back: address }),
        ...{ repeatMinutes: null, needsLink: true, executesWithoutSca: 'never' },
      }),
      transfer: ({ transactionId, initiation }) => ({
        name: 'transfer',
        async verify(beforeSend) {
          const body = JSON.parse(initiation?.body ?? '{}');
          const { id, link } = await begin('/payments', body, transactionId, beforeSend);
          const no = { totalAmount: null, commissions: null, bankName: null, nextStep: 'sca' };
          return { ...no, resourceId: id, links: linksOf(link) };
        },
        verifyFurther: lacking,
        async execute(id, beforeSend) {
          const facts = { ...NO_FACTS, ofPayment: transactionId };
          const call = { method: 'POST' as const, path: `/payments/${id}/execution`, transactionId, facts };
          const shape = z.object({ receipt: z.string() });
          return { cro: (await ask({ ...call, beforeSend, irrevocable: true }, shape)).receipt };
        },
        executionStatus: null,
        sca: scaOf('/payments'),
      }),
      operation: never,
      terms: lacking,
      operationTerms: lacking,
      receipt: lacking,
    },
    sca: scaOf('/consents'),
    send: lacking,
    pages: never,
    earliestAnswer: () => undefined,
  };
}

function factsAbout(path: string, transactionId: string): CallFacts {
  return path === '/payments' ? { ...NO_FACTS, ofPayment: transactionId } : NO_FACTS;
}

function linksOf(link: string): ScaLinks {
  return { approach: 'redirect', oauth: link };
}

function statusOf(word: z.infer<typeof told>['status']): ResourceStatus {
  const status = word === 'open' ? 'PENDING' : 'AUTHORIZED';
  return {
    ...{ authorizationStatus: word, executionStatus: null },
    authorization: { type: 'authorization', status, bankStatus: word },
    became: word === 'paid' ? 'executed' : null,
  };
}

function never(): never {
  throw new TypeError('The toy does not have this');
}

function lacking(): Promise<never> {
  return Promise.reject(new TypeError('The toy does not have this'));
}
