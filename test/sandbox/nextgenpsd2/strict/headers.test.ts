import { describe, expect, test } from 'vitest';
import type { BankFile } from '../../../../src/bank/interfaces/nextgenpsd2/description/schema.ts';
import type { Addressed, OperationId } from '../../../../src/sandbox/nextgenpsd2/operations.ts';
import {
  answerTypes,
  bodyForm,
  bodyType,
  checkBankHeaders,
  checkDate,
  checkHeaderNames,
  checkMediaTypes,
  checkPsuHeaders,
  checkRequestId,
} from '../../../../src/sandbox/nextgenpsd2/strict/headers.ts';
import { rawRequest } from '../../strict/raw.ts';
import { answerTo, bankOf } from '../refused.ts';

// Each rule for the headers of a call alone, with what the client reads.

const KINDS = ['start', 'initiation', 'cancel', 'update', 'resource', 'reading', 'funds'] as const;

const call = (
  id: OperationId = 'getConsentStatus',
  kind: Addressed['kind'] = 'resource',
  parameters: Record<string, string> = {},
): Addressed => ({ id, kind, parameters: new Map(Object.entries(parameters)) });

const sent = (...headers: [name: string, value: string][]) => rawRequest({ headers });

describe('a header that only some calls have', () => {
  const PSU = ['PSU-ID', 'PSU-ID-Type', 'PSU-Corporate-ID', 'PSU-Corporate-ID-Type'];
  const WAYS = [
    ...['TPP-Redirect-URI', 'TPP-Nok-Redirect-URI', 'TPP-Redirect-Preferred', 'TPP-Decoupled-Preferred'],
    'TPP-Explicit-Authorisation-Preferred',
  ];
  const NOTICES = [
    ...['TPP-Notification-URI', 'TPP-Notification-Content-Preferred', 'TPP-Brand-Logging-Information'],
  ];
  const OTHERS = ['Consent-ID', 'TPP-Rejection-NoFunds-Preferred'];
  const FOREIGN = [
    ...['TPP-Certificate', 'TPP-Transaction-ID', 'TPP-Request-ID', 'cb-trace-id', 'cb-apitrack-id'],
  ];
  const ANY = ['PSU-IP-Address', 'PSU-Device-ID', 'X-Request-ID', 'X-More', 'Accept'];

  test.each<[kind: Addressed['kind'], taken: string[]]>([
    ['start', [...PSU, ...WAYS, ...NOTICES]],
    ['initiation', [...PSU, ...WAYS, ...NOTICES, ...OTHERS]],
    ['cancel', WAYS],
    ['update', PSU],
    ['resource', []],
    ['reading', ['Consent-ID']],
    ['funds', ['Consent-ID']],
  ])('%s takes %j', (kind, taken) => {
    const all = [...PSU, ...WAYS, ...NOTICES, ...OTHERS, ...FOREIGN, ...ANY];
    const answers = all.map((name) =>
      answerTo(() => checkHeaderNames(sent([name, 'x']), call(undefined, kind), bankOf())),
    );
    const expected = all.map((name) =>
      taken.includes(name) || ANY.includes(name)
        ? 'taken'
        : `400 FORMAT_ERROR ${name}: ${name} is no header of this call.`,
    );
    expect(answers).toEqual(expected);
  });

  test.each(KINDS)('may not come twice, in any case: %s', (kind) => {
    const twice = sent(['X-More', '1'], ['Accept', 'x'], ['x-more', '2']);
    expect(answerTo(() => checkHeaderNames(twice, call(undefined, kind), bankOf()))).toBe(
      '400 FORMAT_ERROR x-more: The header x-more came twice.',
    );
  });

  const empty = (name: string) => `400 FORMAT_ERROR ${name}: The header ${name} is empty. Leave it out.`;
  test.each<[name: string, file: Omit<BankFile, 'interface'>, answer: string]>([
    ['PSU-ID', {}, empty('PSU-ID')],
    ['PSU-ID', { psu: { id: 'empty' } }, 'taken'],
    ['PSU-ID-Type', { psu: { id: 'empty' } }, empty('PSU-ID-Type')],
    ['Consent-ID', {}, empty('Consent-ID')],
    ['TPP-Redirect-URI', {}, empty('TPP-Redirect-URI')],
    ['PSU-IP-Address', {}, empty('PSU-IP-Address')],
    ['TPP-More', {}, empty('TPP-More')],
    ['X-PSU-More', {}, 'taken'],
    ['X-TPP-More', {}, 'taken'],
    ['X-More', {}, 'taken'],
  ])('%s may be empty at a bank with %j: %s', (name, file, answer) => {
    const check = () =>
      checkHeaderNames(sent([name, '']), call('initiatePayment', 'initiation'), bankOf(file));
    expect(answerTo(check)).toBe(answer);
  });
});

describe('X-Request-ID', () => {
  const wrong = (value: string) =>
    `400 FORMAT_ERROR X-Request-ID: X-Request-ID is not a UUID of version 4. Expected: a UUID of version 4. Received: ${value}.`;
  const id = (version: string, variant: string) => `5b0a4c0e-5f6e-${version}c3d-${variant}a57-6d1f0a6f1b11`;
  test.each([
    ...['8', '9', 'a', 'b', 'A', 'B'].map((variant) => [id('4', variant), 'taken']),
    [id('4', '9').toUpperCase(), 'taken'],
    ...['1', '3', '5', '7'].map((version) => [id(version, '9'), wrong(id(version, '9'))]),
    ...['7', 'c', '0'].map((variant) => [id('4', variant), wrong(id('4', variant))]),
    [`${id('4', '9')}0`, wrong(`${id('4', '9')}0`)],
    [`0${id('4', '9')}`, wrong(`0${id('4', '9')}`)],
    ['', wrong('')],
  ])('%s: %s', (value, answer) => {
    expect(answerTo(() => checkRequestId(sent(['X-Request-ID', value])))).toBe(answer);
  });

  test('is missing', () => {
    expect(answerTo(() => checkRequestId(sent()))).toBe(wrong('nothing'));
  });
});

describe('the headers of the bank file', () => {
  const headers = {
    static: { 'aspsp-code': '12345', 'X-API-Key': 'env:PSD2_BANK_KEY' },
    perOperation: { createConsent: { 'X-Product': 'P1' }, getAccountList: { 'X-List': 'all' } },
  };
  const STATIC: [string, string][] = [
    ['ASPSP-Code', '12345'],
    ['x-api-key', 'secret'],
  ];
  const needs = (name: string, expected: string, received: string) =>
    `400 FORMAT_ERROR ${name}: The bank needs the header ${name}. Expected: ${expected}. Received: ${received}.`;
  const KEY = 'the value of PSD2_BANK_KEY';
  test.each<
    [what: string, id: OperationId, given: [string, string][], key: string | undefined, answer: string]
  >([
    ['all of every call', 'getConsentStatus', STATIC, 'secret', 'taken'],
    ['any value, if the sandbox does not know it', 'getConsentStatus', STATIC, undefined, 'taken'],
    [
      'another value of a variable',
      'getConsentStatus',
      STATIC,
      'other',
      needs('X-API-Key', KEY, 'another value'),
    ],
    [
      'an empty value, if the sandbox does not know it',
      ...([
        'getConsentStatus',
        [
          ['aspsp-code', '12345'],
          ['x-api-key', ''],
        ],
      ] as const),
      ...[undefined, needs('X-API-Key', KEY, '')],
    ],
    [
      'no value of a variable',
      'getConsentStatus',
      STATIC.slice(0, 1),
      'secret',
      needs('X-API-Key', KEY, 'nothing'),
    ],
    ['no value at all', 'getConsentStatus', [], 'secret', needs('aspsp-code', '"12345"', 'nothing')],
    [
      'another value',
      ...([
        'getConsentStatus',
        [
          ['aspsp-code', '1'],
          ['x-api-key', 'secret'],
        ],
      ] as const),
      ...(['secret', needs('aspsp-code', '"12345"', 'another value')] as const),
    ],
    ['that of the call', 'createConsent', [...STATIC, ['x-product', 'P1']], 'secret', 'taken'],
    ['none of the call', 'createConsent', STATIC, 'secret', needs('X-Product', '"P1"', 'nothing')],
    [
      'that of another call',
      ...(['createConsent', [...STATIC, ['x-product', 'P1'], ['x-list', 'all']], 'secret'] as const),
      '400 FORMAT_ERROR X-List: X-List is no header of this call.',
    ],
    [
      'that of another call, where the call has none',
      ...(['getConsentStatus', [...STATIC, ['x-list', 'all']], 'secret'] as const),
      '400 FORMAT_ERROR X-List: X-List is no header of this call.',
    ],
  ] as [string, OperationId, [string, string][], string | undefined, string][])(
    '%s, of %s',
    (_, id, given, key, answer) => {
      const environment = key === undefined ? {} : { PSD2_BANK_KEY: key };
      const check = () => checkBankHeaders(sent(...given), bankOf({ headers }), call(id), environment);
      expect(answerTo(check)).toBe(answer);
    },
  );

  test('may be the header of the token at some calls', () => {
    const bank = bankOf({
      headers: { perOperation: { createConsent: { 'X-Token': 'of the application' } } },
      oauth: { mode: 'pre-step', tokenHeader: 'X-Token' },
    });
    const check = (id: OperationId) =>
      answerTo(() => checkBankHeaders(sent(['x-token', 'x']), bank, call(id)));
    expect(check('getAccountList')).toBe('taken');
    expect(check('createConsent')).toBe(needs('X-Token', '"of the application"', 'another value'));
  });
});

describe('Date', () => {
  const NOW = new Date('2026-11-20T11:00:00Z');
  const NOON = 'Fri, 20 Nov 2026 11:00:00 GMT';
  const late = (value: string) =>
    `400 TIMESTAMP_INVALID Date: Date is more than five minutes from the bank's clock. Expected: about "${NOON}". Received: ${value}.`;
  const form = (value: string) =>
    `400 FORMAT_ERROR Date: Date is not an IMF-fixdate. Expected: "${NOON}". Received: ${value}.`;
  const check = (value: string | undefined, date: 'never' | 'always' | 'signed', isSigned: boolean) =>
    answerTo(() =>
      checkDate(
        sent(...(value === undefined ? [] : [['Date', value] as [string, string]])),
        bankOf({ headers: { date } }),
        isSigned,
        NOW,
      ),
    );

  test.each([
    [NOON, 'taken'],
    ['Fri, 20 Nov 2026 10:55:00 GMT', 'taken'],
    ['Fri, 20 Nov 2026 11:05:00 GMT', 'taken'],
    ['Fri, 20 Nov 2026 10:54:59 GMT', late('Fri, 20 Nov 2026 10:54:59 GMT')],
    ['Fri, 20 Nov 2026 11:05:01 GMT', late('Fri, 20 Nov 2026 11:05:01 GMT')],
    ['2026-11-20T11:00:00Z', form('2026-11-20T11:00:00Z')],
    ['', form('')],
    [undefined, form('nothing')],
  ])('%s at a bank that wants it: %s', (value, answer) => {
    expect(check(value, 'always', false)).toBe(answer);
  });

  test.each([
    ['always', true, true],
    ['always', false, true],
    ['signed', true, true],
    ['signed', false, false],
    ['never', true, false],
    ['never', false, false],
  ] as const)('%s, of a call that is signed (%s): needed or refused', (date, isSigned, isWanted) => {
    const refused = `400 FORMAT_ERROR Date: The bank does not take the header Date. Expected: no Date. Received: ${NOON}.`;
    expect(check(NOON, date, isSigned)).toBe(isWanted ? 'taken' : refused);
    expect(check(undefined, date, isSigned)).toBe(isWanted ? form('nothing') : 'taken');
  });
});

describe('the media types', () => {
  const of = (service: string, product = 'sepa-credit-transfers') =>
    call('initiatePayment', 'initiation', { 'payment-service': service, 'payment-product': product });
  const SINGLE = 'pain.001-sepa-credit-transfers';
  const xmlBulk = { payments: { bulk: { format: 'pain.001.001.09' } } } as const;

  test.each<[operation: Addressed, file: Omit<BankFile, 'interface'>, form: string]>([
    [of('payments'), {}, 'json'],
    [of('payments', SINGLE), {}, 'xml'],
    [of('periodic-payments'), {}, 'json'],
    [of('periodic-payments', SINGLE), {}, 'multipart'],
    [of('bulk-payments'), {}, 'json'],
    [of('bulk-payments'), { payments: { bulk: {} } }, 'json'],
    [of('bulk-payments'), { payments: { bulk: { format: 'json' } } }, 'json'],
    [of('bulk-payments'), xmlBulk, 'xml'],
    [of('payments'), xmlBulk, 'json'],
    [call(), xmlBulk, 'json'],
  ])('%j at a bank with %j: a body in %s', (operation, file, form) => {
    expect(bodyForm(bankOf(file), operation)).toBe(form);
  });

  const jsonType = { headers: { contentType: 'application/json; charset=utf-8' } };
  test.each<
    [operation: Addressed, file: Omit<BankFile, 'interface'>, sent: string | undefined, type: string]
  >([
    [of('payments'), {}, undefined, 'application/json'],
    [of('payments'), jsonType, undefined, 'application/json; charset=utf-8'],
    [of('payments', SINGLE), jsonType, undefined, 'application/xml'],
    [of('periodic-payments', SINGLE), {}, undefined, 'multipart/form-data'],
    [of('periodic-payments', SINGLE), {}, 'application/json', 'multipart/form-data'],
    [
      of('periodic-payments', SINGLE),
      {},
      'Multipart/Form-Data; boundary=a',
      'Multipart/Form-Data; boundary=a',
    ],
    // What follows about such a payment is in JSON.
    [{ ...of('payments', SINGLE), id: 'startPaymentAuthorisation' }, {}, undefined, 'application/json'],
  ])('%j at a bank with %j, sent with %s: %s', (operation, file, type, expected) => {
    expect(bodyType(bankOf(file), operation, type)).toBe(expected);
  });

  const status = (product: string): Addressed => ({
    ...of('payments', product),
    id: 'getPaymentInitiationStatus',
  });
  const details = (id: string) => call('getTransactionDetails', 'reading', { transactionId: id });
  const JSON_TYPE = 'application/json';
  const XML = 'application/xml';
  test.each<[operation: Addressed, file: Omit<BankFile, 'interface'>, types: string[]]>([
    [call(), {}, [JSON_TYPE]],
    [call(), { headers: { accept: 'JSON' } }, ['JSON']],
    [call('getTransactionList', 'reading'), {}, [JSON_TYPE, XML, 'text/plain']],
    [call('getCardAccountTransactionList', 'reading'), {}, [JSON_TYPE, XML, 'text/plain']],
    [
      call('getTransactionList', 'reading'),
      { accounts: { reports: ['mt940', 'json'] } },
      ['text/plain', JSON_TYPE],
    ],
    [call('getTransactionList', 'reading'), { accounts: { reports: ['camt'] } }, [XML]],
    [call('getAccountList', 'reading'), { accounts: { reports: ['camt'] } }, [JSON_TYPE]],
    [details('download'), { accounts: { reports: ['camt'] } }, [XML]],
    [details('T000000001'), { accounts: { reports: ['camt'] } }, [JSON_TYPE]],
    [{ ...details('download'), id: 'getBalances' }, { accounts: { reports: ['camt'] } }, [JSON_TYPE]],
    [status(SINGLE), {}, [JSON_TYPE, XML]],
    [status('sepa-credit-transfers'), {}, [JSON_TYPE]],
    [{ ...status(SINGLE), id: 'getPaymentInformation' }, {}, [JSON_TYPE]],
  ])('%j at a bank with %j is answered in %j', (operation, file, types) => {
    expect(answerTypes(bankOf(file), operation)).toEqual(types);
  });

  const check = (operation: Addressed, headers: [string, string][], body = '', file = {}) =>
    answerTo(() => checkMediaTypes(rawRequest({ headers, body }), bankOf(file), operation));
  const notOffered = (offered: string, received: string) =>
    `406 REQUESTED_FORMATS_INVALID Accept: The bank does not answer in this format. Expected: Accept: ${offered}. Received: ${received}.`;
  const ALL = 'application/json, application/xml, text/plain';
  test.each<[operation: Addressed, accept: string | undefined, answer: string]>([
    [call(), JSON_TYPE, 'taken'],
    [call(), XML, notOffered(JSON_TYPE, XML)],
    [call(), '*/*', notOffered(JSON_TYPE, '*/*')],
    [call(), undefined, notOffered(JSON_TYPE, 'nothing')],
    [call('getTransactionList', 'reading'), 'text/plain', 'taken'],
    [call('getTransactionList', 'reading'), 'text/html', notOffered(ALL, 'text/html')],
    // A link leads to a document, so its reader takes any type.
    [details('download'), '*/*', 'taken'],
    [details('download'), undefined, 'taken'],
    [details('download'), 'text/html', notOffered(ALL, 'text/html')],
  ])('%j with Accept: %s: %s', (operation, accept, answer) => {
    expect(check(operation, accept === undefined ? [] : [['Accept', accept]])).toBe(answer);
  });

  const wrongType = (expected: string, received: string) =>
    `415 FORMAT_ERROR Content-Type: Content-Type is not what the bank takes. Expected: ${expected}. Received: ${received}.`;
  test.each<[body: string, type: string | undefined, answer: string]>([
    ['{}', JSON_TYPE, 'taken'],
    ['{}', XML, wrongType(JSON_TYPE, XML)],
    ['{}', undefined, wrongType(JSON_TYPE, 'nothing')],
    ['', undefined, 'taken'],
    ['', JSON_TYPE, wrongType('no Content-Type without a body', JSON_TYPE)],
  ])('a body of "%s" with Content-Type: %s: %s', (body, type, answer) => {
    const headers: [string, string][] = [['Accept', JSON_TYPE]];
    expect(check(call(), type === undefined ? headers : [...headers, ['Content-Type', type]], body)).toBe(
      answer,
    );
  });
});

describe('the headers about the customer', () => {
  const check = (
    kind: Addressed['kind'],
    id: OperationId,
    psu: BankFile['psu'],
    ...headers: [string, string][]
  ) => answerTo(() => checkPsuHeaders(sent(...headers), bankOf({ psu }), call(id, kind)));
  const IP: [string, string] = ['PSU-IP-Address', '192.0.2.1'];
  const FIELDS = [
    ['id', 'PSU-ID'],
    ['idType', 'PSU-ID-Type'],
    ['corporateId', 'PSU-Corporate-ID'],
  ] as const;

  test.each(FIELDS)('psu.%s: %s is needed, taken or refused', (field, name) => {
    const both = (presence: 'optional' | 'required' | 'never') => [
      check('initiation', 'initiatePayment', { [field]: presence }, IP),
      check('initiation', 'initiatePayment', { [field]: presence }, IP, [name, 'x']),
    ];
    expect(both('optional')).toEqual(['taken', 'taken']);
    expect(both('required')).toEqual([
      `400 FORMAT_ERROR ${name}: The bank needs the header ${name}.`,
      'taken',
    ]);
    expect(both('never')).toEqual([
      'taken',
      `400 FORMAT_ERROR ${name}: The bank does not take the header ${name}.`,
    ]);
  });

  test.each<[kind: Addressed['kind'], isChecked: boolean]>([
    ['start', true],
    ['initiation', true],
    ['cancel', false],
    ['update', false],
    ['resource', false],
    ['reading', false],
    ['funds', false],
  ])('psu.id is of calls where SCA starts: %s (%s)', (kind, isChecked) => {
    const refusal = '400 FORMAT_ERROR PSU-ID: The bank needs the header PSU-ID.';
    expect(check(kind, 'initiatePayment', { id: 'required' }, IP)).toBe(isChecked ? refusal : 'taken');
  });

  const only = (name: string, value: string, received: string) =>
    `400 FORMAT_ERROR ${name}: The bank takes one ${name} alone. Expected: "${value}". Received: ${received}.`;
  test.each<[psu: BankFile['psu'], name: string, value: string | undefined, answer: string]>([
    [{ id: 'empty' }, 'PSU-ID', '', 'taken'],
    [{ id: 'empty' }, 'PSU-ID', 'anna', only('PSU-ID', '', 'anna')],
    [{ id: 'empty' }, 'PSU-ID', undefined, only('PSU-ID', '', 'nothing')],
    [{ id: 'token-sub' }, 'PSU-ID', 'anna', 'taken'],
    [{ id: 'token-sub' }, 'PSU-ID', undefined, 'taken'],
    [{ idType: 'RETAIL' }, 'PSU-ID-Type', 'RETAIL', 'taken'],
    [{ idType: 'RETAIL' }, 'PSU-ID-Type', 'retail', only('PSU-ID-Type', 'RETAIL', 'retail')],
    [{ idType: 'RETAIL' }, 'PSU-ID-Type', undefined, only('PSU-ID-Type', 'RETAIL', 'nothing')],
  ])('%j with %s: %s: %s', (psu, name, value, answer) => {
    const given: [string, string][] = value === undefined ? [] : [[name, value]];
    expect(check('start', 'createConsent', psu, IP, ...given)).toBe(answer);
  });

  const wrong = (received: string) =>
    `400 FORMAT_ERROR PSU-IP-Address: PSU-IP-Address is not an IPv4 address. Expected: an IPv4 address. Received: ${received}.`;
  test.each<[id: OperationId, kind: Addressed['kind'], address: string | undefined, answer: string]>([
    ['createConsent', 'start', '192.0.2.1', 'taken'],
    ['createConsent', 'start', undefined, wrong('nothing')],
    ['initiatePayment', 'initiation', undefined, wrong('nothing')],
    ['createSigningBasket', 'initiation', undefined, wrong('nothing')],
    ['startConsentAuthorisation', 'start', undefined, 'taken'],
    ['getAccountList', 'reading', undefined, 'taken'],
    ['getAccountList', 'reading', '192.0.2.1', 'taken'],
    ['getAccountList', 'reading', '2001:db8::1', wrong('2001:db8::1')],
    ['getAccountList', 'reading', '192.0.2.256', wrong('192.0.2.256')],
    ['getAccountList', 'reading', '', wrong('')],
  ])('%s (%s) with the address %s: %s', (id, kind, address, answer) => {
    const given: [string, string][] = address === undefined ? [] : [['PSU-IP-Address', address]];
    expect(check(kind, id, {}, ...given)).toBe(answer);
  });
});
