import { createHash } from 'node:crypto';
import { describe, expect, it } from 'vitest';
import type { BankCall } from '../../../../src/bank/call/call.ts';
import { type BankFile, bankFile } from '../../../../src/bank/interfaces/nextgenpsd2/description/schema.ts';
import { nextgenpsd2 } from '../../../../src/bank/interfaces/nextgenpsd2/interface.ts';
import type { Capability, PlannedPayment } from '../../../../src/bank/ports/bank.ts';
import { parseDate } from '../../../../src/domain/calendar.ts';
import { thrownBy } from '../../../support/thrown.ts';
import { json, refusal, TRANSACTION_ID, useNextGen, useNextGenBank } from './client.ts';
import { certificateOf, identifiedCalls } from './identified.ts';
import { PAYING, scriptedCalls } from './scripted.ts';

// What psd2 knows of a bank before it has opened it, and what an opened bank remembers.

type Fields = Omit<BankFile, 'interface'>;
const described = (file: Fields = {}) => nextgenpsd2(bankFile.parse({ interface: 'nextgenpsd2', ...file }));

const STANDARD: Capability[] = [
  ...(['payments', 'standing orders', 'signing baskets', 'confirmation of funds', 'consent status'] as const),
  ...(['consent deletion', 'Consent-ID', 'addresses of payees', 'terms of consents'] as const),
  ...(['links for SCA', 'PSU-ID', 'balances by type'] as const),
];
const FUNDS = 'consents for confirmations of funds';
const BULK: Fields = { payments: { products: { 'bulk-payments': ['sepa-credit-transfers'] } } };

it.each<[string, Fields, Capability[]]>([
  ['says nothing', {}, [FUNDS]],
  ['has no consents for confirmations of funds', { funds: { consent: 'never' } }, []],
  ['has bulk payments', BULK, [FUNDS, 'bulk payments']],
  ['has embedded SCA', { sca: { approaches: ['redirect', 'embedded'] } }, [FUNDS, 'embedded SCA']],
])('a bank that %s has these capabilities', (_, file, more) => {
  const { has, bulk, takesCredentials, ...facts } = described(file);
  expect(facts).toMatchObject({ customers: 'named by the operator', probes: 'signature' });
  expect([...has].sort()).toEqual([...STANDARD, ...more].sort());
  expect([bulk !== undefined, takesCredentials !== undefined]).toEqual([
    more.includes('bulk payments'),
    more.includes('embedded SCA'),
  ]);
});

const PRE_STEP = { authorizationEndpoint: 'https://idp.example/a', tokenEndpoint: 'https://idp.example/t' };
const TWO_SCOPES = { scope: { preStep: { ais: 'a', pis: 'p' } } };
it.each<[Fields['oauth'], logsIn: string, ofPayments: boolean, ofApplication: boolean]>([
  [{}, 'nobody', false, false],
  [{ mode: 'none', ...TWO_SCOPES }, 'nobody', false, false],
  [{ mode: 'integrated' }, 'with a consent', false, false],
  [{ mode: 'integrated', applicationToken: true }, 'with a consent', false, true],
  [{ mode: 'pre-step', ...PRE_STEP }, 'customers', false, false],
  [{ mode: 'pre-step', ...PRE_STEP, scope: { preStep: 'both' } }, 'customers', false, false],
  [{ mode: 'pre-step', ...PRE_STEP, ...TWO_SCOPES }, 'customers', true, false],
  [{ mode: 'client-credentials', ...PRE_STEP }, 'application', false, false],
  [{ mode: 'client-credentials', ...PRE_STEP, ...TWO_SCOPES }, 'application', false, false],
])('with oauth %j, "%s" logs in', (oauth, logsIn, ofPayments, ofApplication) => {
  const facts = described(oauth && { oauth });
  expect([facts.logsIn, facts.hasLoginForPayments ?? false, facts.hasApplicationToken ?? false]).toEqual([
    logsIn,
    ofPayments,
    ofApplication,
  ]);
});

it.each<[Fields['consent'], object]>([
  [{}, { types: bankFile.parse({ interface: 'nextgenpsd2' }).consent.types, once: true }],
  [
    { types: ['all-accounts', 'dedicated'], once: false },
    { types: ['all-accounts', 'dedicated'], once: false },
  ],
])('a bank with consent %j takes consents of these terms', (consent, terms) => {
  expect(described(consent && { consent }).consentTerms).toEqual(terms);
});

describe('a payment before its order', () => {
  const TODAY = parseDate('--date', '2026-11-20');
  const IBAN = 'DE89370400440532013000';
  const PLAN = {
    ...{ instant: false, urgent: false, description: '', address: null },
    ...{ executionDate: null, from: IBAN, fromIban: null },
  } satisfies PlannedPayment;
  const NONE = { from: null, fromIban: null };
  const products = (...payments: string[]) => ({ products: { payments } });
  const [XML, JSON_PRODUCT] = ['pain.001-sepa-credit-transfers', 'sepa-credit-transfers'];
  const IN_XML_OR_BULK = {
    products: { payments: [XML], 'bulk-payments': [XML, JSON_PRODUCT] },
    ...{ debtorAccount: 'optional' as const, bulk: { format: 'pain.001.001.09' as const } },
  };
  const IN_BULK = { ...products(XML), debtorAccount: 'optional' } as const;

  it.each<[string, NonNullable<Fields['payments']>, Partial<PlannedPayment>, isRefused: boolean]>([
    ['that takes JSON', { debtorAccount: 'optional' }, NONE, false],
    ['that takes both', { ...products(XML, JSON_PRODUCT), debtorAccount: 'optional' }, NONE, false],
    ['that takes XML alone', { ...products(XML), debtorAccount: 'optional' }, NONE, true],
    ['that takes XML, and never an account', { ...products(XML), debtorAccount: 'never' }, NONE, true],
    ['that takes XML', { ...products(XML), debtorAccount: 'optional' }, {}, false],
    [
      'that takes XML, by its IBAN',
      { ...products(XML), debtorAccount: 'optional' },
      { ...NONE, fromIban: IBAN },
      false,
    ],
    // Who asks for the account says so itself.
    ['that demands the account', products(XML), NONE, false],
    // What goes in a bulk payment is judged with it.
    [
      'that takes XML, and a bulk payment of JSON',
      { ...IN_XML_OR_BULK, bulk: { format: 'json' } },
      NONE,
      false,
    ],
    ['that takes XML, and a bulk payment of XML', IN_XML_OR_BULK, NONE, true],
    ['that takes XML, and bulk payments of others', { ...IN_BULK, bulk: { format: 'json' } }, NONE, true],
  ])('at a bank %s names its account where it must', (_, payments, plan, isRefused) => {
    const refuse = () => described({ payments }).refusePayment?.({ ...PLAN, ...plan }, TODAY);
    if (isRefused) expect(thrownBy(refuse)).toMatchObject({ code: 'usage', hint: 'Name it with --from.' });
    else expect(refuse).not.toThrow();
  });

  const REFERENCE = { reference: 'RF18539007547034', type: 'SCOR', issuer: 'ISO' } as const;
  it.each<[string, NonNullable<Fields['payments']>, isRefused: boolean]>([
    ['that takes JSON', {}, true],
    ['that takes XML', products(XML), false],
    ['that takes XML, then JSON', products(XML, JSON_PRODUCT), false],
    ['that takes JSON, then XML', products(JSON_PRODUCT, XML), false],
    ['that takes bulk payments in XML', { bulk: { format: 'pain.001.001.03' } }, false],
    ['that takes bulk payments in JSON', { bulk: { format: 'json' } }, true],
    ['that names it', { allowed: ['remittanceInformationStructured'] }, false],
    ['that demands a part of it', { required: ['remittanceInformationStructured.reference'] }, false],
    ['that names another field', { allowed: ['remittanceInformationUnstructured'] }, true],
  ])(
    'at a bank %s has the reference of a payee where the bank has a place for it',
    (_, payments, isRefused) => {
      const refuse = () =>
        described({ payments }).refusePayment?.({ ...PLAN, creditorReference: REFERENCE }, TODAY);
      const says = 'This bank does not take the reference of a payee in a payment';
      if (isRefused) expect(thrownBy(refuse)).toMatchObject({ code: 'usage', message: says });
      else expect(refuse).not.toThrow();
    },
  );

  it('from a card cannot be paid, and from any other account can', () => {
    const { cannotPay } = described();
    expect([cannotPay?.({ productCode: null }), cannotPay?.({ productCode: null, card: true })]).toEqual([
      false,
      true,
    ]);
  });

  it.each([
    ['required', undefined],
    ['optional', 'optional'],
    ['never', 'never'],
  ] as const)('a bank where its account is %s', (debtorAccount, said) => {
    expect(described({ payments: { debtorAccount } }).debtorAccount).toBe(said);
  });
});

describe('the name of a customer', () => {
  it.each(['default', 'a.b_c-1', 'x'.repeat(64)])('can be %s', (text) => {
    expect(described().readCustomerId(text)).toBe(text);
  });

  it.each([
    ['', 'The customer "" has other characters than letters, digits, ".", "_" and "-"'],
    ['..', 'The customer ".." has other characters than letters, digits, ".", "_" and "-"'],
    ['a b', 'The customer "a b" has other characters than letters, digits, ".", "_" and "-"'],
    ['ä', 'The customer "ä" has other characters than letters, digits, ".", "_" and "-"'],
    ['a/b', 'The customer "a/b" has other characters than letters, digits, ".", "_" and "-"'],
    [
      'ä'.repeat(64),
      `The customer "${'ä'.repeat(64)}" has other characters than letters, digits, ".", "_" and "-"`,
    ],
    ['a'.repeat(65), 'The name of the customer has 65 characters, but at most 64 are allowed'],
  ])('cannot be %s', (text, message) => {
    expect(thrownBy(() => described().readCustomerId(text))).toMatchObject({
      ...{ code: 'usage', message },
      hint: 'Choose a name of 1 to 64 letters, digits, ".", "_" and "-" for the customer.',
    });
  });
});

describe('the id of an account', () => {
  const IBAN = 'DE89370400440532013000';
  it.each([
    ['a1', 'a1'],
    ['card:a1', 'card:a1'],
    ['account:a1', 'a1'],
    ['xaccount:a1', 'xaccount:a1'],
    [IBAN, IBAN],
    ['DE89 3704 0044 0532 0130 00', IBAN],
    [`account:${IBAN}`, IBAN],
    // The part after the IBAN is a currency, whatever its case, and only then is the whole in capitals.
    [`${IBAN}:eur`.toLowerCase(), `${IBAN}:EUR`],
    [`${IBAN}:USD`, `${IBAN}:USD`],
    [IBAN.toLowerCase(), IBAN.toLowerCase()],
    ['no0012345678901:usd', 'NO0012345678901:USD'],
    ['no001234567890:usd', 'no001234567890:usd'],
    [`de00${'1'.repeat(30)}:eur`, `DE00${'1'.repeat(30)}:EUR`],
    [`de00${'1'.repeat(31)}:eur`, `de00${'1'.repeat(31)}:eur`],
    ['de89370400440532013000:euro', 'de89370400440532013000:euro'],
    ['de89370400440532013000:eu', 'de89370400440532013000:eu'],
    ['d189370400440532013000:eur', 'd189370400440532013000:eur'],
    ['dea9370400440532013000:eur', 'dea9370400440532013000:eur'],
    ['x'.repeat(70), 'x'.repeat(70)],
  ])('%s is %s', (text, id) => {
    expect(described().readAccountId(text)).toBe(id);
  });

  it.each(['', ' ', 'account:', 'ä', 'x'.repeat(71)])('cannot be %j', (text) => {
    expect(thrownBy(() => described().readAccountId(text))).toMatchObject({
      ...{ code: 'invalid_product_id', hint: 'See the accounts with:', next: [['accounts', 'list']] },
      message: `The account ${JSON.stringify(text)} is neither an id nor an IBAN`,
    });
  });
});

describe('giving up a payment', () => {
  // A smoke test initiates a payment and has the bank cancel it. At these banks it may not: money could move, or a phone could ring.
  const payments = (executesWithoutSca: 'never' | 'possible', cancel: 'direct' | 'authorised' | 'none') => ({
    payments: { executesWithoutSca, cancel },
  });
  const sca = (approaches: ('redirect' | 'decoupled')[], start: 'follow-links' | 'explicit') => ({
    sca: { approaches, start },
  });
  const SAFE = payments('never', 'direct');
  const EXECUTES = 'may execute a payment that nobody authorised (payments.executesWithoutSca)';
  const NO_CANCEL = 'does not cancel a payment without the customer (payments.cancel)';
  const RINGS = "may ask the customer's phone by itself (sca.start)";

  it.each<[string, Fields, string | undefined]>([
    ['is safe', SAFE, undefined],
    ['says nothing', {}, EXECUTES],
    ['may execute without SCA', payments('possible', 'direct'), EXECUTES],
    ['cancels only with SCA', payments('never', 'authorised'), NO_CANCEL],
    ['does not cancel', payments('never', 'none'), NO_CANCEL],
    ['does neither well', payments('possible', 'none'), EXECUTES],
    [
      "asks the customer's phone by itself",
      { ...SAFE, ...sca(['redirect', 'decoupled'], 'follow-links') },
      RINGS,
    ],
    ['asks it only when psd2 starts it', { ...SAFE, ...sca(['decoupled'], 'explicit') }, undefined],
    ['has no phone to ask', { ...SAFE, ...sca(['redirect'], 'follow-links') }, undefined],
    [
      'cancels payments, but nothing else',
      {
        payments: {
          executesWithoutSca: 'never',
          cancel: { payments: 'direct', 'periodic-payments': 'none' },
        },
      },
      undefined,
    ],
    [
      'cancels all but payments',
      {
        payments: {
          executesWithoutSca: 'never',
          cancel: { payments: 'none', 'periodic-payments': 'direct' },
        },
      },
      NO_CANCEL,
    ],
  ])('at a bank that %s', (_, file, why) => {
    const { refuseGivingUp } = described(file);
    if (why === undefined) expect(() => refuseGivingUp?.()).not.toThrow();
    else
      expect(thrownBy(() => refuseGivingUp?.())).toMatchObject({
        ...{
          code: 'usage',
          message: `By its bank file, the bank ${why}, so psd2 begins no payment only to give it up`,
        },
        hint: 'psd2 has sent nothing. --pay makes a small payment to the end instead.',
      });
  });
});

describe('an opened bank', () => {
  const bank = useNextGenBank();
  const open = useNextGen(bank);

  it('names the certificate with which a flow begins', () => {
    const qwac = certificateOf('/C=IT/O=Acme/CN=x');
    const { identity } = identifiedCalls([], {}, qwac).calls.settings;
    expect(open({ identity }).bank.certificate?.()).toEqual({
      name: `C=IT, O=Acme, CN=x, serial ${qwac.serialNumber}`,
      sha256: createHash('sha256').update(qwac.raw).digest('hex'),
    });
  });

  it.each([
    ['192.0.2.7', true],
    ['1.2.3.4', true],
    ['::1', false],
    ['1.2.3', false],
    ['1.2.3.4.5', false],
    ['1.2.3.4444', false],
    ['a1.2.3.4', false],
    ['', false],
  ])('knows the address %j of a customer: %s', (psuIpAddress, isKnown) => {
    const opened = () => open({ psuIpAddress });
    if (isKnown) expect(opened).not.toThrow();
    else
      expect(thrownBy(opened)).toMatchObject({
        ...{ code: 'usage', message: `The address ${psuIpAddress} of the customer is not IPv4` },
        hint: 'The interface of this bank knows only IPv4 addresses.',
      });
  });

  const [FIRST, SECOND] = ['Sat, 21 Nov 2026 10:00:00 GMT', 'Sat, 21 Nov 2026 10:00:01 GMT'];
  it.each<[string, string[], string | undefined]>([
    ['none', [], undefined],
    ['one with an odd time', ['soon'], undefined],
    ['one', [FIRST], FIRST],
    ['two equal ones', [FIRST, FIRST], FIRST],
    ['two', [FIRST, SECOND], FIRST],
    ['two in the other order', [SECOND, FIRST], FIRST],
    ['three', [SECOND, FIRST, SECOND], FIRST],
    ['one with an odd time before it', ['soon', SECOND], SECOND],
    ['one with an odd time after it', [SECOND, 'soon'], SECOND],
  ])('knows the earliest time of its answers: %s', async (_, dates, earliest) => {
    const { bank: opened } = open();
    const ask = async (date: string) => {
      bank.expect('GET', '/v1/consents/c1/status', json({ consentStatus: 'valid' }, 200, { date }));
      await opened.consents.status?.('c1', TRANSACTION_ID);
    };
    for (const date of dates) await ask(date);
    const at = (date: string | undefined) => (date === undefined ? undefined : new Date(date));
    expect(opened.earliestAnswer()).toEqual(at(earliest));
    opened.forgetAnswers?.();
    expect(opened.earliestAnswer()).toBeUndefined();
    await ask(SECOND);
    expect(opened.earliestAnswer()).toEqual(at(SECOND));
  });

  it('does not take the time of an answer that it cannot use', async () => {
    const { bank: opened } = open();
    bank.expect('GET', '/v1/consents/c1/status', refusal(400, 'FORMAT_ERROR'));
    await expect(Promise.resolve(opened.consents.status?.('c1', TRANSACTION_ID))).rejects.toMatchObject({
      code: 'bank_refused',
    });
    expect(opened.earliestAnswer()).toBeUndefined();
  });
});

// After an answer that ends something, psd2 waits for what follows on its connection.
it.each<[string, status: number, body: string, call: Partial<BankCall>, mayEnd: boolean]>([
  ['a deletion', 204, '', { method: 'DELETE' }, true],
  ['a status that decides an end', 200, '{}', { decides: 'an end' }, true],
  ['a status that decides', 200, '{}', { decides: true }, false],
  ['a reading', 200, '{}', {}, false],
  ['a reading that is refused', 400, '{}', {}, false],
  ['an initiation', 201, '{"transactionStatus":"RCVD"}', { judged: 'payment' }, false],
  ['an initiation that is rejected', 201, '{"transactionStatus":"rjct"}', { judged: 'payment' }, true],
  ['an initiation that is refused', 400, '{}', { judged: 'payment' }, true],
])('the answer to %s (%i %s) may end something: %j is %s', (_, status, body, call, mayEnd) => {
  const { identity, now } = scriptedCalls([]).calls.settings;
  const opened = nextgenpsd2(bankFile.parse({ interface: 'nextgenpsd2' })).open({
    ...{ pathPrefix: '', origin: 'https://bank.example', identity, now, newId: () => 'id' },
    ...{ bankSigningCertificate: undefined, session: { apiTrackId: undefined }, consents: undefined },
    ...{ psuIpAddress: undefined, language: undefined, traceComponent: undefined, psu: undefined },
    ownAddress: async () => '192.0.2.7',
  });
  const said: (boolean | undefined)[] = [];
  opened.connect((wire) => {
    const answer = { status, headers: {}, body: Buffer.from(body) };
    said.push(wire.mayEnd?.(answer, { ...PAYING, irrevocable: false, method: 'GET', ...call }));
    return { send: () => Promise.reject(new TypeError()), ask: () => Promise.reject(new TypeError()) };
  });
  expect(said).toEqual([mayEnd]);
});
