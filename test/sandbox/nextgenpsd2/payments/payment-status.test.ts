import { describe, expect, test } from 'vitest';
import type { BankFile } from '../../../../src/bank/interfaces/nextgenpsd2/description/schema.ts';
import { accessSide } from '../../../../src/sandbox/nextgenpsd2/access-side.ts';
import { doorOf } from '../../../../src/sandbox/nextgenpsd2/door-state.ts';
import type { Variation } from '../../../../src/sandbox/nextgenpsd2/variations.ts';
import { bankHere } from '../bank-here.ts';
import { ANNA } from '../door-client.ts';
import { ANNAS, INSTANT, PAYEE, paymentBody, SCT } from '../payment-client.ts';

const MINUTE = 60_000;
const DAY = 24 * 60 * MINUTE;
const PERIODIC = '/v1/periodic-payments/sepa-credit-transfers';
const BULK = '/v1/bulk-payments/sepa-credit-transfers';
const EXPLICIT = { 'tpp-explicit-authorisation-preferred': 'true' };
const products = {
  payments: ['sepa-credit-transfers', 'instant-sepa-credit-transfers', 'pain.001-sepa-credit-transfers'],
  'periodic-payments': ['sepa-credit-transfers'],
  'bulk-payments': ['sepa-credit-transfers'],
};

async function opened(payments: BankFile['payments'] = {}, variations: Variation[] = []) {
  const file = { payments: { products, futureDays: 30, ...payments }, sca: { authorisationMinutes: 5 } };
  const here = await bankHere(file, variations);
  const access = accessSide(here.bank);
  const begin = (path: string, changes: object = {}, headers = {}) => {
    const body = path === BULK ? { debtorAccount: { iban: ANNAS }, ...changes } : paymentBody({ ...changes });
    const reply = here.serve(`POST ${path}`, { body, headers });
    const at = `${path}/${reply.json.paymentId}`;
    return {
      at,
      status: () => String(here.serve(`GET ${at}/status`).json.transactionStatus),
      approve: () => here.approve(reply, ANNA),
      refuse: () => access.refuse(String(reply.json._links?.scaStatus?.href).split('/').at(-1) ?? ''),
      paid: () =>
        doorOf(here.bank)
          .payments.find(String(reply.json.paymentId))
          ?.executions.filter(({ paid }) => paid).length,
    };
  };
  /** The status after each of these times. */
  const over = (payment: ReturnType<typeof begin>, ...times: number[]) =>
    times.map((milliseconds) => {
      here.clock.advance(milliseconds);
      return payment.status();
    });
  return { ...here, begin, over };
}

describe('a payment that nobody has authorised', () => {
  test.each([
    ['whose authorisation has begun', {}],
    ['whose authorisation the TPP begins', EXPLICIT],
  ])('%s is RJCT after its time', async (_, headers) => {
    const { begin, over } = await opened();
    const payment = begin(SCT, {}, headers);
    expect(over(payment, 0, 5 * MINUTE, 1)).toEqual(['RCVD', 'RCVD', 'RJCT']);
  });

  test('is RJCT once the customer has refused, and cannot be cancelled', async () => {
    const { begin, answer } = await opened({ cancel: 'direct' });
    const payment = begin(SCT);
    payment.refuse();
    expect(payment.status()).toBe('RJCT');
    expect(answer(`DELETE ${payment.at}`)).toBe(
      '405 CANCELLATION_INVALID: The payment cannot be cancelled. It is RJCT.',
    );
  });

  test('waits as long as its basket does', async () => {
    const { begin, serve, clock } = await opened();
    const payment = begin(SCT, {}, EXPLICIT);
    serve('POST /v1/signing-baskets', {
      body: { paymentIds: [payment.at.split('/').at(-1)] },
      headers: EXPLICIT,
    });
    clock.advance(10 * MINUTE);
    expect(payment.status()).toBe('RCVD');
  });
});

describe('a payment that was authorised', () => {
  // Friday. The next business day is Monday.
  test.each<
    [path: string, changes: object, payments: BankFile['payments'], times: number[], statuses: string[]]
  >([
    [SCT, {}, {}, [0, 2 * DAY, DAY], ['ACSP', 'ACSP', 'ACSC']],
    [SCT, { creditorName: 'EXECUTE REFUSED' }, {}, [0, 3 * DAY], ['RJCT', 'RJCT']],
    [SCT, { instructedAmount: { currency: 'EUR', amount: '99999999.00' } }, {}, [0], ['RJCT']],
    [INSTANT, {}, {}, [0, 499, 1], ['ACSP', 'ACSP', 'ACSC']],
    [INSTANT, {}, { final: ['ACCC', 'ACSC'] }, [0, 500], ['ACSP', 'ACCC']],
    // The final word of an instant payment is not that of others.
    [SCT, {}, { final: ['ACCC', 'ACSC'] }, [0, 3 * DAY], ['ACSP', 'ACSC']],
    [INSTANT, { creditorName: 'INSTANT KO' }, {}, [0, 500], ['ACSP', 'RJCT']],
    [SCT, { requestedExecutionDate: '2026-11-20' }, {}, [0, 3 * DAY], ['ACSP', 'ACSC']],
    [SCT, { requestedExecutionDate: '2026-11-24' }, {}, [0, 3 * DAY, DAY], ['ACTC', 'ACTC', 'ACSC']],
    [
      SCT,
      { requestedExecutionDate: '2026-11-24', creditorName: 'EXECUTE REFUSED' },
      {},
      [3 * DAY, DAY],
      ['ACTC', 'RJCT'],
    ],
  ] as [string, object, BankFile['payments'], number[], string[]][])(
    '%s with %j at a bank with %j: after %j, %j',
    async (path, changes, payments, times, statuses) => {
      const { begin, over } = await opened(payments);
      const payment = begin(path, changes);
      payment.approve();
      expect(over(payment, ...times)).toEqual(statuses);
    },
  );

  const entry = (creditorName: string) => ({
    ...{
      instructedAmount: { currency: 'EUR', amount: '1.00' },
      creditorAccount: { iban: PAYEE },
      creditorName,
    },
  });
  test.each<[names: string[], early: string, late: string, entries: string[]]>([
    [['A', 'B'], 'ACSP', 'ACSC', ['ACSC', 'ACSC']],
    [['A', 'EXECUTE REFUSED'], 'PART', 'PART', ['ACSC', 'RJCT']],
    [['EXECUTE REFUSED', 'A'], 'PART', 'PART', ['RJCT', 'ACSC']],
    [['EXECUTE REFUSED', 'EXECUTE REFUSED'], 'RJCT', 'RJCT', ['RJCT', 'RJCT']],
  ])('a bulk to %j: %s, and later %s with %j', async (names, early, late, entries) => {
    const { begin, over, serve } = await opened();
    const bulk = begin(BULK, { payments: names.map(entry) });
    const each = (): unknown[] => {
      const { payments } = serve(`GET ${bulk.at}`).json;
      return Array.isArray(payments) ? payments.map(({ transactionStatus }) => transactionStatus) : [];
    };
    expect(each()).toEqual(names.map(() => 'RCVD'));
    bulk.approve();
    expect(over(bulk, 0, 3 * DAY)).toEqual([early, late]);
    expect(each()).toEqual(entries);
  });

  test.each<[changes: object, times: number[], statuses: string[], paid: number]>([
    [{ startDate: '2026-11-20', frequency: 'Weekly' }, [0, 7 * DAY], ['ACSP', 'ACSP'], 2],
    [{ startDate: '2026-11-24', frequency: 'Weekly' }, [0, 4 * DAY], ['ACTC', 'ACSP'], 1],
    [
      { startDate: '2026-11-20', endDate: '2026-11-27', frequency: 'Weekly' },
      [0, 7 * DAY, 30 * DAY],
      ['ACSP', 'ACSC', 'ACSC'],
      2,
    ],
    // It goes on after a payment that failed.
    [
      { startDate: '2026-11-20', frequency: 'Weekly', creditorName: 'EXECUTE REFUSED' },
      [0, 7 * DAY],
      ['ACSP', 'ACSP'],
      0,
    ],
  ])('a standing order of %j: after %j, %j, and %i paid', async (changes, times, statuses, paid) => {
    const { begin, over } = await opened();
    const payment = begin(PERIODIC, changes);
    payment.approve();
    expect(over(payment, ...times)).toEqual(statuses);
    expect(payment.paid()).toBe(paid);
  });

  test.each<[variations: Variation[], times: number[], statuses: string[]]>([
    [['executes-late'], [0, 60 * MINUTE - 1, 1], ['ACTC', 'ACTC', 'ACSP']],
    [['no-sca'], [0], ['ACSP']],
  ])('with %j: after %j, %j', async (variations, times, statuses) => {
    const { begin, over } = await opened({}, variations);
    const payment = begin(SCT);
    if (!variations.includes('no-sca')) payment.approve();
    expect(over(payment, ...times)).toEqual(statuses);
  });
});

describe('what a payment says of itself', () => {
  const account = (debtorAccount: object | undefined) => ({ debtorAccount });
  test.each<[sent: object | undefined, before: object | undefined, after: object]>([
    [{ iban: ANNAS }, { iban: ANNAS }, { iban: ANNAS }],
    [
      { iban: ANNAS, currency: 'EUR' },
      { iban: ANNAS, currency: 'EUR' },
      { iban: ANNAS, currency: 'EUR' },
    ],
    // Once the customer has chosen the account.
    [undefined, undefined, { iban: ANNAS }],
  ])('from %j is from %j, and after the authorisation from %j', async (sent, before, after) => {
    const { begin, serve } = await opened({ debtorAccount: 'optional' });
    const payment = begin(SCT, account(sent));
    const whole = { ...paymentBody(account(sent)), transactionStatus: 'RCVD' };
    expect(serve(`GET ${payment.at}`).json).toEqual(
      JSON.parse(JSON.stringify({ ...whole, ...account(before) })),
    );
    payment.approve();
    expect(serve(`GET ${payment.at}`).json).toEqual({
      ...whole,
      ...account(after),
      transactionStatus: 'ACSP',
    });
  });
});

describe('cancelling', () => {
  const late = { requestedExecutionDate: '2026-11-27' };
  const NONE = '405 CANCELLATION_INVALID: The payment cannot be cancelled. The bank cancels no payments.';
  const is = (status: string) =>
    `405 CANCELLATION_INVALID: The payment cannot be cancelled. It is ${status}.`;
  type Rule = NonNullable<BankFile['payments']>['cancel'];
  test.each<[rule: Rule, path: string, changes: object, isApproved: boolean, answer: string, status: string]>(
    [
      ['direct', SCT, {}, false, 'taken', 'CANC'],
      ['direct', SCT, late, true, 'taken', 'CANC'],
      ['direct', SCT, {}, true, is('ACSP'), 'ACSP'],
      ['authorised', SCT, {}, false, 'taken', 'RCVD'],
      ['authorised', SCT, late, true, 'taken', 'ACTC'],
      ['none', SCT, {}, false, NONE, 'RCVD'],
      ['none', SCT, {}, true, NONE, 'ACSP'],
      [{ payments: 'none' }, SCT, {}, false, NONE, 'RCVD'],
      [
        { payments: 'none' },
        PERIODIC,
        { startDate: '2026-11-20', frequency: 'Weekly' },
        false,
        'taken',
        'RCVD',
      ],
      [
        { 'periodic-payments': 'direct' },
        PERIODIC,
        { startDate: '2026-11-20', frequency: 'Weekly' },
        true,
        'taken',
        'CANC',
      ],
      [{ 'periodic-payments': 'direct' }, SCT, {}, false, 'taken', 'RCVD'],
      [
        { 'periodic-payments': 'direct' },
        ...([
          PERIODIC,
          { startDate: '2026-11-20', endDate: '2026-11-20', frequency: 'Weekly' },
          true,
          is('ACSC'),
          'ACSC',
        ] as const),
      ],
    ] as [Rule, string, object, boolean, string, string][],
  )(
    'where it is %j: %s with %j, authorised %s: %s, and then it is %s',
    async (cancel, path, changes, isApproved, expected, status) => {
      const { begin, answer } = await opened({ cancel });
      const payment = begin(path, changes);
      if (isApproved) payment.approve();
      expect(answer(`DELETE ${payment.at}`)).toBe(expected);
      expect(payment.status()).toBe(status);
    },
  );

  test('that the customer authorises says how it begins, and is done then', async () => {
    const { begin, serve, approve } = await opened();
    const payment = begin(SCT, late);
    payment.approve();
    const asked = serve(`DELETE ${payment.at}`);
    const start = `${payment.at}/cancellation-authorisations`;
    expect(asked).toMatchObject({ status: 202, headers: {} });
    expect(asked.json).toEqual({
      ...{ transactionStatus: 'ACTC', _links: { startAuthorisation: { href: `/nextgenpsd2${start}` } } },
    });
    const begun = serve(`POST ${start}`);
    expect(payment.status()).toBe('ACTC');
    approve(begun, ANNA);
    expect(payment.status()).toBe('CANC');
    expect([serve(`GET ${start}`).json, serve(`GET ${payment.at}/authorisations`).json]).toEqual([
      { authorisationIds: [begun.json.authorisationId] },
      { authorisationIds: [expect.not.stringMatching(String(begun.json.authorisationId))] },
    ]);
  });

  test('ends every authorisation that has begun, of the payment and of its cancellation', async () => {
    const { begin, serve, approve } = await opened();
    const payment = begin(SCT, late);
    serve(`POST ${payment.at}/authorisations`);
    payment.approve();
    const begun = [1, 2, 3].map(() => serve(`POST ${payment.at}/cancellation-authorisations`));
    const [, second = expect.unreachable()] = begun;
    approve(second, ANNA);
    const statuses = (kind: string) => {
      const { authorisationIds } = serve(`GET ${payment.at}/${kind}`).json;
      const ids: unknown[] = Array.isArray(authorisationIds) ? authorisationIds : [];
      return ids.map((id) => serve(`GET ${payment.at}/${kind}/${id}`).json.scaStatus);
    };
    expect(statuses('authorisations')).toEqual(['finalised', 'failed']);
    expect(statuses('cancellation-authorisations')).toEqual(['failed', 'finalised', 'failed']);
  });

  test('at once ends what the customer could authorise', async () => {
    const { begin, serve } = await opened({ cancel: 'direct' });
    const payment = begin(SCT);
    expect(serve(`DELETE ${payment.at}`)).toEqual({ status: 204, json: {} });
    expect(() => payment.approve()).toThrow('There is no open request');
    const [id] = Object(serve(`GET ${payment.at}/authorisations`).json.authorisationIds);
    expect(serve(`GET ${payment.at}/authorisations/${id}`).json).toEqual({ scaStatus: 'failed' });
    expect(payment.paid()).toBe(0);
  });
});

describe('the status of a payment in pain.001', () => {
  const PATH = '/v1/payments/pain.001-sepa-credit-transfers';
  const xml = (id: string) =>
    `<Document xmlns="urn:iso:std:iso:20022:tech:xsd:pain.001.001.03"><CstmrCdtTrfInitn><GrpHdr><MsgId>M1</MsgId></GrpHdr><PmtInf><PmtInfId>G1</PmtInfId>` +
    `<DbtrAcct><Id><IBAN>${ANNAS}</IBAN></Id></DbtrAcct><CdtTrfTxInf><PmtId>${id}</PmtId><Amt><InstdAmt Ccy="EUR">12.50</InstdAmt></Amt><Cdtr><Nm>Beta</Nm></Cdtr><CdtrAcct><Id><IBAN>${PAYEE}</IBAN></Id></CdtrAcct></CdtTrfTxInf></PmtInf></CstmrCdtTrfInitn></Document>`;

  test.each([
    ['<EndToEndId>E2E-1</EndToEndId>', 'E2E-1'],
    ['<InstrId>X</InstrId>', 'NOTPROVIDED'],
  ])('with %s is a pain.002 for %s, or JSON', async (id, named) => {
    const { serve, approve } = await opened();
    const reply = serve(`POST ${PATH}`, { body: xml(id) });
    const at = `${PATH}/${reply.json.paymentId}/status`;
    const inXml = (): string => String(serve(`GET ${at}`, { headers: { accept: 'application/xml' } }).body);
    const element = (name: string) => new RegExp(`<${name}>([^<]*)</${name}>`).exec(inXml())?.[1];
    expect(serve(`GET ${at}`, { headers: { accept: 'application/json' } }).json).toEqual({
      transactionStatus: 'RCVD',
    });
    const said = () =>
      ['OrgnlMsgId', 'OrgnlPmtInfId', 'OrgnlMsgNmId', 'OrgnlEndToEndId', 'GrpSts', 'TxSts'].map(element);
    expect(said()).toEqual(['M1', 'G1', 'pain.001', named, 'RCVD', 'RCVD']);
    expect([element('MsgId'), element('CreDtTm')]).toEqual([
      String(reply.json.paymentId).slice(0, 35),
      '2026-11-20T11:00:00.000Z',
    ]);
    expect(inXml()).toContain(
      '<Document xmlns="urn:iso:std:iso:20022:tech:xsd:pain.002.001.03"><CstmrPmtStsRpt>',
    );
    approve(reply, ANNA);
    expect(said()).toEqual(['M1', 'G1', 'pain.001', named, 'ACSP', 'ACSP']);
  });

  test('in JSON is in JSON, whatever the call accepts', async () => {
    const { begin, serve } = await opened();
    const { at } = begin(SCT);
    const { json } = serve(`GET ${at}/status`, { headers: { accept: 'application/xml' } });
    expect(json).toEqual({ transactionStatus: 'RCVD' });
  });
});
