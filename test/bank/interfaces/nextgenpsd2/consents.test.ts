import { describe, expect, it } from 'vitest';
import { addDays, bankDay } from '../../../../src/domain/calendar.ts';
import type { ConsentTerms } from '../../../../src/domain/consent.ts';
import { announcements } from '../../client.ts';
import { json, type NextGenOptions, refusal, TRANSACTION_ID, useNextGen, useNextGenBank } from './client.ts';

const bank = useNextGenBank();
const open = useNextGen(bank);

const TODAY = bankDay(new Date());
const IBAN = 'DE89370400440532013000';
const CREATED = {
  consentId: 'c1',
  consentStatus: 'received',
  _links: {
    scaRedirect: { href: 'https://customers.bank.example/sca?x=1' },
    scaStatus: { href: '/v1/consents/c1/authorisations/z' },
  },
};

async function request(terms?: Partial<ConsentTerms>, options?: NextGenOptions) {
  const { announced, beforeSend } = announcements();
  const categories = [
    { name: 'ACCOUNT_INFO' as const, products: [] },
    { name: 'PAYMENTS' as const, products: [] },
  ];
  const asked = {
    customerId: 'shop',
    categories,
    redirectUri: 'http://127.0.0.1:1/',
    transactionId: TRANSACTION_ID,
    beforeSend,
  };
  const work = open(options).bank.consents.request({ ...asked, ...(terms && { terms }) });
  return { work, announced };
}

async function requested(
  terms?: Partial<ConsentTerms>,
  options?: NextGenOptions,
  answer = json(CREATED, 201),
) {
  bank.expect('POST', '/v1/consents', answer);
  const { work, announced } = await request(terms, options);
  const result = await work;
  return { result, announced, body: bank.lastJson };
}

describe('a request for a consent', () => {
  it('whose days the bank refuses gets no advice about readings', async () => {
    const error = await requested({}, {}, refusal(400, 'PERIOD_INVALID')).catch((reason: unknown) => reason);
    expect(error).toMatchObject({ code: 'bank_refused' });
    expect(error).not.toHaveProperty('hint', expect.anything());
    expect(error).toMatchObject({ message: expect.stringMatching(/does not take the days of POST/) });
  });

  it('without a choice lets the customer choose at the bank, for as long as the bank allows', async () => {
    const { result, body, announced } = await requested();
    const validUntil = addDays(TODAY, 180);
    expect(body).toEqual({
      access: { accounts: [], balances: [], transactions: [] },
      recurringIndicator: true,
      validUntil,
      frequencyPerDay: 4,
      combinedServiceIndicator: false,
    });
    expect(result).toEqual({
      resourceId: 'c1',
      outcomes: [
        { name: 'ACCOUNT_INFO', outcome: true },
        { name: 'PAYMENTS', outcome: false },
      ],
      terms: {
        access: { type: 'bank-offered', balances: true, transactions: true },
        recurring: true,
        validUntil,
        frequencyPerDay: 4,
      },
      access: { accounts: [], balances: [], transactions: [] },
      bankStatus: 'received',
      besideOthers: false,
      links: {
        approach: null,
        redirect: 'https://customers.bank.example/sca?x=1',
        id: 'z',
        status: '/v1/consents/c1/authorisations/z',
      },
    });
    expect(announced).toEqual([
      { requestId: bank.last.headers['x-request-id'], digest: bank.last.headers.digest },
    ]);
  });

  it.each([
    [{ type: 'all-accounts' }, { allPsd2: 'allAccounts' }],
    [{ type: 'list-only' }, { availableAccounts: 'allAccounts' }],
    [
      { type: 'bank-offered', balances: true, transactions: false },
      { accounts: [], balances: [] },
    ],
    [
      {
        type: 'dedicated',
        accounts: [IBAN, 'maskedPan:5254**41', 'bban:0815'],
        balances: [IBAN],
        transactions: [],
      },
      { accounts: [{ iban: IBAN }, { maskedPan: '5254**41' }, { bban: '0815' }], balances: [{ iban: IBAN }] },
    ],
  ] as const)('for %j', async (access, expected) => {
    const terms = {
      access:
        access.type === 'dedicated'
          ? { ...access, accounts: [...access.accounts], balances: [...access.balances], transactions: [] }
          : access,
    };
    expect((await requested(terms)).body).toMatchObject({ access: expected });
    expect(JSON.stringify((await requested(terms)).body)).toContain(JSON.stringify(expected));
  });

  it.each([
    ['no id', { consentStatus: 'received' }],
    ['an id that no header can carry', { consentId: 'a\nb', consentStatus: 'received' }],
    ['no status', { consentId: 'c1' }],
  ])('an answer with %s is none', async (_name, body) => {
    bank.expect('POST', '/v1/consents', json(body, 201));
    await expect((await request()).work).rejects.toMatchObject({ code: 'bank_answer' });
  });

  it('a lost answer is no refusal, and psd2 does not repeat the call', async () => {
    bank.expect('POST', '/v1/consents', 'cut before the answer');
    const { work } = await request();
    const error = await work.catch((thrown: unknown) => thrown);
    expect(error).toMatchObject({ code: 'bank_unreachable' });
    expect(error).not.toHaveProperty('refusal');
    expect(bank.received).toHaveLength(1);
  });
});

describe('a consent at the bank', () => {
  it.each([
    ['received', 'open', 'PENDING', null],
    ['partiallyAuthorised', 'open', 'PENDING', null],
    ['valid', 'valid', 'AUTHORIZED', 'executed'],
    ['rejected', 'rejected', 'NOT_AUTHORIZED', null],
    ['expired', 'expired', 'EXPIRED', null],
    ['revokedByPsu', 'revoked', 'NOT_AUTHORIZED', null],
    ['terminatedByTpp', 'ended by us', 'NOT_AUTHORIZED', null],
    ['constructor', 'unknown', 'PENDING', null],
  ])('%s', async (consentStatus, means, status, became) => {
    const { consents, sca } = open().bank;
    for (let each = 0; each < 2; each += 1)
      bank.expect('GET', '/v1/consents/c1/status', json({ consentStatus }));
    expect(await consents.status?.('c1', TRANSACTION_ID)).toMatchObject({ consentStatus, means });
    expect(await sca.status('c1', TRANSACTION_ID)).toEqual({
      authorizationStatus: consentStatus,
      executionStatus: null,
      authorization: { type: 'authorization', status, bankStatus: consentStatus },
      became,
    });
  });

  it('its details; what the bank does not say, or says oddly, is null', async () => {
    const details = {
      consentStatus: 'valid',
      validUntil: '2026-12-31',
      frequencyPerDay: 4,
      recurringIndicator: true,
      access: { accounts: [{ iban: IBAN }] },
    };
    bank.expect('GET', '/v1/consents/c1', json(details));
    const { consents } = open().bank;
    expect(await consents.details?.('c1', TRANSACTION_ID)).toEqual({
      consentStatus: 'valid',
      means: 'valid',
      validUntil: '2026-12-31',
      frequencyPerDay: 4,
      recurring: true,
      access: { accounts: [{ iban: IBAN }] },
    });
    bank.expect(
      'GET',
      '/v1/consents/c1',
      json({ consentStatus: 'valid', validUntil: 'soon', frequencyPerDay: 'x', access: [] }),
    );
    expect(await consents.details?.('c1', TRANSACTION_ID)).toMatchObject({
      validUntil: null,
      frequencyPerDay: null,
      recurring: null,
      access: null,
    });
  });

  it('at a bank that deletes only what is authorised, psd2 says so and asks for nothing else', async () => {
    const { consents } = open({ file: { consent: { delete: 'authorised' } } }).bank;
    bank.expect('GET', '/v1/consents/c1/status', json({ consentStatus: 'received' }));
    await expect(consents.delete?.('c1', TRANSACTION_ID)).rejects.toMatchObject({ code: 'bank_refused' });
    bank.expect('GET', '/v1/consents/c1/status', json({ consentStatus: 'valid' }));
    bank.expect('DELETE', '/v1/consents/c1', { status: 204 });
    expect(await consents.delete?.('c1', TRANSACTION_ID)).toBe('terminatedByTpp');
  });
});
