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
const links = {
  ...{ approach: 'redirect', redirect: 'https://a', oauth: 'https://b', start: 'https://c' },
  ...{ id: 'a', status: 'https://d', usualStatus: 'https://g', madeAt: '2026-11-22T10:05:00.000Z' },
  ...{ confirmation: 'https://e', isDone: true, message: 'Look at your phone', unusable: 'https://f' },
  ...{ step: STEP, begins: 'https://h' },
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

const REASON = { level: 'payment', code: 'AC01', proprietary: 'X9', text: 'No such account' };
const reasons = ['payment', 'group', 'file', 'message'].map((level) => ({ ...REASON, level }));
const COST_TOLD = { totalAmount: verification.totalAmount, commissions: verification.commissions };
const WORDS = {
  transactionStatus: 'RJCT',
  scaStatus: 'failed',
  cost: { ...COST_TOLD, unreadFees: '1 point' },
};
const SAID = { bank: { ...WORDS, messages: ['Ask again'] }, reasons };
const certificate = { name: 'CN=psd2, 01', sha256: 'ab'.repeat(32) };
const LATE = '2026-11-22T10:05:00.000Z';

/** Events that every kind of flow has. */
const COMMON = [
  ...['AUTHORIZED', 'NOT_AUTHORIZED', 'EXPIRED', 'PENDING'].map((status) => ({
    type: 'authorization',
    status,
    bankStatus: 'FINISHED',
  })),
  { type: 'authorization', status: 'NOT_AUTHORIZED', bankStatus: 'RJCT', description: 'No', ...SAID },
  { type: 'resolved', outcome: 'executed', by: 'ada', note: 'asked the bank' },
  { type: 'resolved', outcome: 'not-executed', by: 'ada', note: null },
];
/** What a customer gives psd2: nobody keeps what. */
const GIVEN = [
  ...['password', 'method', 'code'].map((what) => ({ type: 'credential-sent', what, ...intent })),
  {
    ...{ type: 'credential-sent', what: 'password', requestId: 'q1', digest: null },
    begins: true,
    psuId: 'PSU-1',
  },
  { ...{ type: 'credential-sent', what: 'code', requestId: 'q1', digest: null }, ofCancellation: true },
  { type: 'credential-sent', what: 'code', requestId: 'q1', digest: null, isFound: true },
  { type: 'credential-not-begun' },
  { type: 'credential-not-begun', ofCancellation: true },
  { type: 'credential-answered', scaStatus: 'started', links },
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

/** Events of an operation that came with later versions, each with all that it may have. */
const LATER_STEPS = [
  ...['verify-sent', 'further-verify-sent', 'approach-sent', 'execute-sent', 'code-sent', 'cancel-sent'].map(
    (type) => ({ type, ...intent, psuId: 'anna', bankTime: LATE }),
  ),
  ...['verified', 'further-verified'].map((type) => ({
    ...{ type, ...verification, ...COST_TOLD, unreadFees: '1 point', certificate, messages: ['Hello'] },
    ...{ bank: SAID.bank, links },
  })),
  ...plain(
    'fees-accepted',
    'approach-refused',
    'initiate-again',
    'cancel-taken',
    'cancel-begun',
    'bulk-left',
  ),
  ...plain('link-over', 'basket-deleted', 'cancel-sca-started', 'ordered'),
  { type: 'links-left', links },
  { type: 'sca-started', links, psuId: 'anna' },
  { type: 'cancelled', description: 'Nobody authorised it', linkUntil: LATE, ...SAID },
  { type: 'cancel-sca-started', id: 'a', psuId: 'anna', links },
  { type: 'cancel-noted', scaStatus: 'received' },
  { type: 'cancel-noted', id: 'a', scaStatus: 'received' },
  { type: 'cancel-told', messages: ['Soon'] },
  { type: 'basket-deleted', linkUntil: LATE },
  { type: 'cost-told', ...COST_TOLD, unreadFees: '1 point' },
  { type: 'debtor-named', account: 'DE89370400440532013000' },
  { type: 'debtor-named', account: null },
  { type: 'verify-refused', description: 'No', reasons },
  { type: 'executed', cro: null, isFinal: true, bank: SAID.bank },
  { type: 'ordered', bank: SAID.bank },
  { type: 'execute-refused', description: 'No', reasons },
  { type: 'execute-unanswered', description: 'No', isDuplicate: true, isPaidByLink: true, ...SAID },
  { type: 'settlement', status: 'KO', description: 'No', ...SAID },
  ...['payer', 'payee'].map((source) => ({
    ...{ type: 'payee-checked', result: 'close', name: 'Maria Rossi', problem: 'late', source },
  })),
];
/** Values that psd2 never wrote where there are only a few. */
const WRONG_LATER_STEPS = [
  { type: 'executed', cro: null, isFinal: false },
  ...['isDuplicate', 'isPaidByLink'].map((name) => ({ type: 'execute-unanswered', [name]: false })),
  { type: 'verify-refused', reasons: [{ ...REASON, level: 'bank' }] },
  ...wrongIn(REASON).map((each) => ({ type: 'verify-refused', reasons: [each] })),
  ...wrongIn(certificate).map((each) => ({ type: 'verified', ...verification, certificate: each })),
  ...wrongIn(COST_TOLD).map((each) => ({ type: 'executed', cro: null, bank: { ...bank, cost: each } })),
  { type: 'links-left' },
];

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
      {
        ...begin,
        order: {
          ...{
            ...order,
            from: null,
            fromCurrency: 'EUR',
            toCurrency: 'USD',
            batchBooking: false,
            maxCost: '20.00',
          },
          creditorReference: { reference: 'RF18539007547034', type: 'SCOR', issuer: null },
        },
      },
      ...STEPS,
      ...LATER_STEPS,
      ...['match', 'close', 'none', 'unavailable'].map((result) => ({
        ...{ type: 'payee-checked', result, name: null, problem: null },
      })),
    ],
    damaged: [
      ...WRONG_LATER_STEPS,
      ...wrongIn({ reference: 'RF18539007547034', type: 'SCOR', issuer: null }).map((each) => ({
        ...{ ...begin, order: { ...order, creditorReference: each } },
      })),
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
      { ...begin, order: { ...generic, from: null }, furtherData: ['a'] },
      ...STEPS,
      ...LATER_STEPS,
    ],
    damaged: [
      ...WRONG_LATER_STEPS,
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
        { type: 'list-with-balances' },
        { type: 'funds', account: 'DE89370400440532013000' },
        {
          ...{ type: 'funds', account: 'pan:525412******3241', cardNumber: '525412******3241' },
          ...{ cardExpiryDate: '2027-01-31', cardInformation: 'Visa', registrationInformation: 'C-1' },
        },
      ].flatMap((access) => [
        { ...CONSENT, terms: { ...terms, access }, returnState: 's' },
        { type: 'requested', resourceId: 'r1', outcomes: [], terms: { ...terms, access } },
      ]),
      { ...CONSENT, terms: {} },
      { type: 'requested', resourceId: 'r1', outcomes: [], terms, access: { x: 1 }, links },
      { type: 'requested', resourceId: 'r1', outcomes: [], bankStatus: 'received', besideOthers: true },
      { type: 'requested', resourceId: 'r1', outcomes: [], messages: ['Hello'], certificate },
      { type: 'links-left', links },
      { type: 'delete-taken', bankStatus: 'terminatedByTpp' },
      ...GIVEN,
      { type: 'sca-started', links, psuId: 'anna' },
      ...['granted', 'noted', 'ended'].map((type) => ({
        ...{ type, bankStatus: 'x', messages: ['Soon'] },
        ...(type === 'granted'
          ? { validUntil: null, frequencyPerDay: null, recurring: null }
          : { scaStatus: 'started' }),
        ...(type === 'ended' && { state: 'revoked' }),
      })),
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
        { type: 'funds' },
        { type: 'funds', account: 'A', cardExpiryDate: '2027-02-30' },
        { type: 'other' },
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
  ...[
    'begins',
    'isFound',
    'ofCancellation',
    'psuId',
    'bankTime',
    'certificate',
    'reasons',
    'unreadFees',
    'id',
  ],
  ...['messages of verified', 'messages of further-verified', 'messages of requested'],
  ...['messages of granted', 'messages of noted', 'messages of ended', 'scaStatus of noted'],
  ...['scaStatus of ended', 'linkUntil', 'isFinal', 'isDuplicate', 'isPaidByLink'],
  ...['description of cancelled', 'description of authorization'],
]);

const OPTIONAL_IN_ORDER = [
  ...['fromIban', 'payeeSource', 'payeeAddress', 'standing', 'batch', 'fromCurrency', 'toCurrency'],
  ...['batchBooking', 'maxCost', 'creditorReference'],
];

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

/** The event with something else in each field, however deep. What a bank says of the access is any object. */
function damagedWithin(value: object, isEvent = true): object[] {
  return Object.entries(value).flatMap(([name, each]: [string, unknown]) => {
    const isObject = typeof each === 'object' && each !== null;
    const inside = isObject && !(isEvent && name === 'access') ? damagedWithin(each, false) : [];
    return [isObject ? 'text' : { not: 'this' }, ...inside].map((wrong) =>
      Array.isArray(value)
        ? value.map((other: unknown, at) => (String(at) === name ? wrong : other))
        : { ...value, [name]: wrong },
    );
  });
}

/** The names of all fields, by the type of the event: `cancelled bank messages`. */
function fieldsOf(value: unknown, path: string): string[] {
  if (Array.isArray(value)) return value.flatMap((each) => fieldsOf(each, path));
  if (typeof value !== 'object' || value === null) return [];
  return Object.entries(value).flatMap(([name, each]: [string, unknown]) => [
    `${path} ${name}`,
    ...fieldsOf(each, `${path} ${name}`),
  ]);
}

/** The same of the schema. */
function fieldsIn(schema: unknown, path = ''): string[] {
  const { def } = Object(Reflect.get(Object(schema), '_zod'));
  if (def.type === 'lazy') return fieldsIn(def.getter(), path);
  if (def.type === 'union') return def.options.flatMap((each: unknown) => fieldsIn(each, path));
  if (def.type === 'array') return fieldsIn(def.element, path);
  if (def.type === 'nullable' || def.type === 'optional') return fieldsIn(def.innerType, path);
  if (def.type !== 'object') return [];
  const types: string[] = path === '' ? typesIn(def.shape.type) : [path];
  return types.flatMap((type) =>
    Object.entries(def.shape).flatMap(([name, each]) => [
      `${type} ${name}`,
      ...fieldsIn(each, `${type} ${name}`),
    ]),
  );
}

function typesIn(schema: unknown): string[] {
  const { def } = Object(Reflect.get(Object(schema), '_zod'));
  return def.type === 'enum' ? Object.values(def.entries) : def.values;
}

it('each field of each event is in a stored event of this test', () => {
  for (const { schema, stored } of KINDS) {
    const known = new Set(stored.flatMap((event) => fieldsOf(event, String(Reflect.get(event, 'type')))));
    const fields = fieldsIn(schema);
    expect(fields.length).toBeGreaterThan(100);
    expect(fields.filter((field) => !known.has(field))).toEqual([]);
  }
});

it('psd2 reads no event in which something else is anywhere', () => {
  for (const { schema, stored } of KINDS)
    for (const event of stored)
      for (const version of damagedWithin(event))
        expect(schema.safeParse(version).success, JSON.stringify(version)).toBe(false);
});

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
