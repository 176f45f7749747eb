import { expect, it } from 'vitest';
import type * as z from 'zod/mini';
import { consentEvent, genericEvent, transferEvent } from '../../src/domain/events.ts';
import { transferOrder } from './orders.ts';

const intent = { requestId: 'q1', digest: 'SHA-256=x' };
const verification = {
  ...{ resourceId: 'r1', bankName: 'A bank', nextStep: 'execute' },
  totalAmount: { amount: '12.50', currency: 'EUR' },
  commissions: { amount: '-0.10', currency: 'EUR' },
};
const order = {
  ...transferOrder({ reference: 'INV-7' }),
  ...{ fromIban: 'IT60X0542811101000000123456', payeeSource: 'payer' },
};
const generic = { customerId: '1234567', from: '0000012345', operation: 'bollettino', data: '{"a":1}' };
const beginning = { type: 'created', flow: 'x', transactionId: 't1' };
const begin = { ...beginning, commits: 'on execute' };
const plain = (...types: string[]) => types.map((type) => ({ type }));
const nothing = { totalAmount: null, commissions: null, bankName: null };

const bank = { transactionStatus: 'ACSC', scaStatus: null };
const links = {
  ...{ approach: 'redirect', redirect: 'https://a', oauth: 'https://b', start: 'https://c' },
  status: 'https://d',
  ...{ confirmation: 'https://e', isDone: true, message: 'Look at your phone', unusable: 'https://f' },
};
const initiation = {
  ...{ service: 'payments', product: 'sepa-credit-transfers', endToEndId: 'E-1', body: '{}' },
  ...{ returnAddress: 'https://tpp.example/back', returnState: 's', repeatMinutes: 60, needsLink: true },
  ...{ executesWithoutSca: 'possible', forBasket: true },
};
const address = { street: 'Allee', building: '7', postcode: '10115', town: 'Berlin', country: 'DE' };
const standing = { frequency: 'Monthly', end: '2027-12-31', day: 31 };
const terms = {
  ...{ access: { type: 'list-only' }, validUntil: '2027-01-31', frequencyPerDay: 4, recurring: true },
};
const granted = {
  ...{ type: 'granted', bankStatus: 'valid', validUntil: '2027-01-31', frequencyPerDay: 4, recurring: true },
  access: { accounts: [{ iban: 'IT60X0542811101000000123456' }] },
};

/** The object without each of its fields, and with something else in each. @param optional those that may be missing */
const wrongIn = (object: object, ...optional: string[]): object[] =>
  Object.keys(object).flatMap((name) => {
    const wrong = { ...object, [name]: { not: 'this' } };
    const without = Object.fromEntries(Object.entries(object).filter(([each]) => each !== name));
    return optional.includes(name) ? [wrong] : [wrong, without];
  });

/** Events that every kind of flow has. */
const COMMON = [
  ...['AUTHORIZED', 'NOT_AUTHORIZED', 'EXPIRED', 'PENDING'].map((status) => ({
    type: 'authorization',
    status,
    bankStatus: 'FINISHED',
  })),
  { type: 'resolved', outcome: 'executed', by: 'ada', note: 'asked the bank' },
  { type: 'resolved', outcome: 'not-executed', by: 'ada', note: null },
];
const METHOD = {
  id: '942',
  type: 'SMS_OTP',
  version: '1',
  name: 'mobile TAN',
  explanation: 'to your telephone',
};
const CHALLENGE = {
  information: 'Compare',
  data: ['1'],
  image: 'AA==',
  otpMaxLength: '6',
  otpFormat: 'Integer',
};
const STEP = { next: 'code', link: '/v1/x', methods: [METHOD], chosen: METHOD, challenge: CHALLENGE };
/** What a customer gives psd2: nobody keeps what. */
const GIVEN = [
  ...['password', 'method', 'code'].map((what) => ({ type: 'credential-sent', what, ...intent })),
  {
    ...{ type: 'credential-sent', what: 'password', requestId: 'q1', digest: null },
    begins: true,
    psuId: 'PSU-1',
  },
  { ...{ type: 'credential-sent', what: 'code', requestId: 'q1', digest: null }, ofCancellation: true },
  { type: 'credential-not-begun' },
  {
    type: 'credential-answered',
    scaStatus: null,
    links: { approach: 'embedded', step: STEP, begins: '/v1/y' },
  },
  { type: 'credential-answered', scaStatus: 'finalised', id: 'a1', ofCancellation: true },
];
const STEPS = [
  ...['verify-sent', 'further-verify-sent', 'approach-sent', 'execute-sent'].map((type) => ({
    type,
    ...intent,
  })),
  { type: 'execute-sent', requestId: 'q1', digest: null },
  { type: 'verified', ...verification },
  { type: 'further-verified', ...verification, ...nothing },
  { type: 'further-data', data: ['a', 'b'] },
  ...plain('verify-again', 'verify-not-begun', 'accepted', 'cancelled', 'sca-started', 'sca-returned'),
  ...plain('sca-again', 'execute-not-begun', 'execute-turned-away', 'execute-unanswered', 'verify-refused'),
  { type: 'execute-unanswered', description: 'Not found' },
  { type: 'verify-refused', description: 'No' },
  { type: 'executed', cro: '1' },
  { type: 'executed', cro: null },
  { type: 'execute-refused', description: 'No' },
  ...['OK', 'KO', 'PENDING'].map((status) => ({ type: 'settlement', status, description: null })),
  { type: 'settlement', status: 'KO', description: 'No' },
  { type: 'bulk-joined', bulk: 'op-1' },
  ...GIVEN,
  { type: 'sca-started', links },
  { type: 'sca-started', links: { approach: 'decoupled' } },
  { type: 'sca-started', links: { approach: null } },
  { type: 'executed', cro: null, bank },
  { type: 'cancelled', bank: { transactionStatus: null, scaStatus: 'finalised' } },
  ...COMMON,
];
const ORDERS_AT_SECOND_INTERFACE = [
  ...['payments', 'periodic-payments', 'bulk-payments', 'signing-baskets'].map((service) => ({
    initiation: { ...initiation, service },
  })),
  { initiation: { ...initiation, repeatMinutes: null, executesWithoutSca: 'never' } },
].map((more) => ({ ...begin, commits: 'by the customer', ...more }));
const WRONG_STEPS = [
  ...wrongIn(links, ...Object.keys(links).slice(1)).map((each) => ({ type: 'sca-started', links: each })),
  { type: 'sca-started', links: { ...links, approach: 'other' } },
  { type: 'credential-sent', what: 'other', ...intent },
  { type: 'credential-sent', what: 'code' },
  { type: 'sca-started', links: { ...links, isDone: false } },
  ...wrongIn(bank).map((each) => ({ type: 'executed', cro: null, bank: each })),
];
const WRONG_INITIATIONS = [
  ...wrongIn(initiation, 'forBasket'),
  { ...initiation, service: 'other' },
  { ...initiation, executesWithoutSca: 'perhaps' },
  { ...initiation, forBasket: false },
].map((each) => ({ ...begin, initiation: each }));

const CONSENT = {
  ...{ ...beginning, customerId: '1234567', categories: [{ name: 'PAYMENTS', products: ['0000012345'] }] },
};

/** For each kind of flow: its events as they are stored, and events that psd2 never wrote. */
const KINDS: { schema: z.ZodMiniType<object>; stored: object[]; damaged: object[] }[] = [
  {
    schema: transferEvent,
    stored: [
      { ...begin, order },
      ...['on execute', 'by the customer'].map((commits) => ({ ...begin, commits, order })),
      { ...begin, order: { ...order, type: null, reference: null }, furtherData: ['a'] },
      ...ORDERS_AT_SECOND_INTERFACE.map((each) => ({ ...each, order })),
      { ...begin, order: { ...order, payeeAddress: address, standing, batch: { batch: 'b', line: 1 } } },
      { ...begin, order: { ...order, payeeAddress: { town: 'Berlin', country: 'DE' } } },
      ...['Daily', 'Weekly', 'Monthly', 'Annual'].map((frequency) => ({
        ...begin,
        order: { ...order, standing: { frequency, end: null, day: null } },
      })),
      ...STEPS,
      ...['match', 'close', 'none', 'unavailable'].map((result) => ({
        ...{ type: 'payee-checked', result, name: null, problem: null },
      })),
      ...['payer', 'payee'].map((source) => ({
        ...{ type: 'payee-checked', result: 'close', name: 'Maria Rossi', problem: 'late', source },
      })),
    ],
    damaged: [
      ...['a b', '', 'a\n', 'é', ' a', 'a '].map((transactionId) => ({
        ...begin,
        transactionId,
        commits: 'on execute',
        order,
      })),
      ...[{ amount: '12,50' }, { amount: 12.5 }, { amount: ['12.50'] }, { executionDate: '2026-11-31' }].map(
        (change) => ({ ...begin, order: { ...order, ...change } }),
      ),
      { ...begin, order: { ...order, executionDate: ['2026-11-21'] } },
      { ...begin, order: { ...order, payeeSource: 'rumour' } },
      { ...begin, order: generic },
      { ...begin, commits: 'by psd2', order },
      ...WRONG_STEPS,
      ...WRONG_INITIATIONS.map((each) => ({ ...each, order })),
      ...wrongIn(address, 'street', 'building', 'postcode', 'town').map((each) => ({
        ...begin,
        order: { ...order, payeeAddress: each },
      })),
      ...wrongIn(standing).map((each) => ({ ...begin, order: { ...order, standing: each } })),
      ...wrongIn({ batch: 'b', line: 1 }).map((each) => ({ ...begin, order: { ...order, batch: each } })),
      { type: 'verified', ...verification, totalAmount: { amount: 'much', currency: 'EUR' } },
      { type: 'settlement', status: 'OKAY', description: null },
      { type: 'payee-checked', result: 'perhaps', name: null, problem: null },
      { type: 'payee-checked', result: 'match', name: null, problem: null, source: 'rumour' },
    ],
  },
  {
    schema: genericEvent,
    stored: [
      { ...begin, order: generic },
      ...ORDERS_AT_SECOND_INTERFACE.map((each) => ({ ...each, order: generic })),
      ...STEPS,
    ],
    damaged: [
      ...WRONG_STEPS,
      ...WRONG_INITIATIONS.map((each) => ({ ...each, order: generic })),
      { ...begin, order },
      { type: 'verified', ...verification, commissions: {} },
    ],
  },
  {
    schema: consentEvent,
    stored: [
      CONSENT,
      ...['request-sent', 'approach-sent', 'confirm-sent'].map((type) => ({ type, ...intent })),
      { type: 'requested', resourceId: 'r1', outcomes: [{ name: 'PAYMENTS', outcome: true }] },
      ...plain('request-not-begun', 'request-refused', 'all-refused', 'sca-started', 'sca-returned'),
      ...plain('confirm-not-begun', 'confirm-turned-away', 'confirmed', 'confirm-refused'),
      ...plain('confirm-unanswered', 'cancelled'),
      ...[
        { type: 'dedicated', accounts: ['IT60X0542811101000000123456'], balances: [], transactions: [] },
        { type: 'bank-offered', balances: true, transactions: false },
        { type: 'all-accounts' },
        { type: 'list-only' },
      ].map((access) => ({ ...CONSENT, terms: { ...terms, access }, returnState: 's' })),
      { ...CONSENT, terms: {} },
      { type: 'requested', resourceId: 'r1', outcomes: [], terms, access: { x: 1 }, links },
      { type: 'requested', resourceId: 'r1', outcomes: [], bankStatus: 'received', besideOthers: true },
      { type: 'sca-started', links },
      granted,
      { ...granted, validUntil: null, frequencyPerDay: null, recurring: null },
      { type: 'noted', bankStatus: 'partiallyAuthorised' },
      ...['rejected', 'expired', 'cancelled', 'revoked'].map((state) => ({
        ...{ type: 'ended', state, bankStatus: 'x' },
      })),
      { type: 'ended', state: 'revoked', bankStatus: null },
      ...COMMON,
    ],
    damaged: [
      ...wrongIn(terms, ...Object.keys(terms)).map((each) => ({ ...CONSENT, terms: each })),
      ...wrongIn(terms).map((each) => ({ type: 'requested', resourceId: 'r1', outcomes: [], terms: each })),
      ...[
        { type: 'some' },
        { type: 'dedicated', accounts: [1], balances: [], transactions: [] },
        { type: 'dedicated', accounts: [], balances: [] },
        { type: 'bank-offered', balances: true },
      ].map((access) => ({ ...CONSENT, terms: { access } })),
      { type: 'ended', state: 'confirmed', bankStatus: null },
      { ...granted, validUntil: '2027-02-30' },
      { ...beginning, customerId: '1234567', categories: [{ name: 'OTHER', products: [] }] },
      { type: 'requested', resourceId: 'r1', outcomes: [{ name: 'PAYMENTS', outcome: 'yes' }] },
      { type: 'executed', cro: null },
    ],
  },
];
/** Fields that not every event of its type has. */
const OPTIONAL = new Set([
  'furtherData',
  'description of verify-refused',
  'description of execute-unanswered',
  'source',
  ...['bank', 'links', 'initiation', 'terms', 'returnState', 'access'],
  ...['bankStatus of requested', 'besideOthers'],
  ...['begins', 'psuId', 'ofCancellation', 'id'],
]);

const OPTIONAL_IN_ORDER = ['fromIban', 'payeeSource', 'payeeAddress', 'standing', 'batch'];

/** The event without each of the fields that it must have, and with something else in each field. */
function damagedVersions(event: object): object[] {
  const entries = Object.entries(event);
  const type = String(Reflect.get(event, 'type'));
  return entries.flatMap(([name]) => {
    // What a bank says of the access is any object, and terms need no field.
    const isOpen = name === 'access' || name === 'terms';
    const wrong = { ...event, [name]: isOpen ? 'text' : { not: 'this' } };
    const isOptional = OPTIONAL.has(name) || OPTIONAL.has(`${name} of ${type}`);
    const without = Object.fromEntries(entries.filter(([each]) => each !== name));
    return isOptional ? [wrong] : [wrong, without];
  });
}

it('psd2 reads every event that it has ever stored, with every field, and refuses what it never stored', () => {
  for (const { schema, stored, damaged } of KINDS) {
    for (const event of stored) {
      expect(schema.parse(event)).toEqual(event);
      for (const version of damagedVersions(event))
        expect(schema.safeParse(version).success, JSON.stringify(version)).toBe(false);
      const { order: inside } = { order: undefined, ...event };
      for (const version of inside === undefined ? [] : damagedVersions(inside)) {
        const isShort = OPTIONAL_IN_ORDER.some(
          (name) => Object.hasOwn(Object(inside), name) && !Object.hasOwn(version, name),
        );
        if (isShort && schema === transferEvent) continue;
        expect(schema.safeParse({ ...event, order: version }).success, JSON.stringify(version)).toBe(false);
      }
    }
    for (const event of [...damaged, { type: 'unknown' }, { type: '' }, {}])
      expect(schema.safeParse(event).success, JSON.stringify(event)).toBe(false);
  }
});
