import { describe, expect, it } from 'vitest';
import type { BankFile } from '../../../../src/bank/interfaces/nextgenpsd2/description/schema.ts';
import { parsePaymentAmount } from '../../../../src/domain/order/payment-amount.ts';
import { transferOrder } from '../../../domain/orders.ts';
import { json, silent, TRANSACTION_ID, useNextGen, useNextGenBank } from './client.ts';

// The initiation of a bulk payment: what psd2 sends, and what it makes of the bank's answers.

const recorded = useNextGenBank();
const open = useNextGen(recorded);
const BACK = { address: 'http://127.0.0.1:8910/callback?state=s1', state: 's1' };
const IBAN = 'DE02100100109307118603';

const order = (reference: string, amount: string, more: object = {}) =>
  transferOrder({
    instant: false,
    type: null,
    reference,
    amount: parsePaymentAmount(amount),
    fromIban: IBAN,
    description: '',
    ...more,
  });

function bulkOf(payments: NonNullable<BankFile['payments']>) {
  const { bulk } = open({ file: { payments } }).bank.payments;
  if (!bulk) throw new Error('The bank has no bulk payments');
  return bulk;
}

const JSON_BULK = { products: { 'bulk-payments': ['sepa-credit-transfers'] } };
const PAIN = 'pain.001-sepa-credit-transfers';
const XML_BULK = (format: 'pain.001.001.03' | 'pain.001.001.09') => ({
  bulk: { format },
  products: { 'bulk-payments': [PAIN, 'sepa-credit-transfers'] },
});

/** A pain.002 of three payments. */
const REPORT = `<?xml version="1.0" encoding="UTF-8"?>
<Document xmlns="urn:iso:std:iso:20022:tech:xsd:pain.002.001.03"><CstmrPmtStsRpt><GrpHdr><MsgId>1</MsgId></GrpHdr>
<OrgnlGrpInfAndSts><OrgnlMsgId>${TRANSACTION_ID.replaceAll('-', '')}</OrgnlMsgId><GrpSts>PART</GrpSts></OrgnlGrpInfAndSts><OrgnlPmtInfAndSts><OrgnlPmtInfId>${TRANSACTION_ID.replaceAll('-', '')}</OrgnlPmtInfId>${[
  ['INV-1', 'ACSC'],
  ['INV-2', 'RJCT'],
  ['INV-3', 'PDNG'],
]
  .map(
    ([id, status]) =>
      `<TxInfAndSts><OrgnlEndToEndId>${id}</OrgnlEndToEndId><TxSts>${status}</TxSts></TxInfAndSts>`,
  )
  .join('')}</OrgnlPmtInfAndSts></CstmrPmtStsRpt></Document>`;

describe('a bulk payment', () => {
  it('is absent at a bank whose file has no product of it, or none in the form that it says', () => {
    expect(open().bank.payments.bulk).toBeUndefined();
    expect(
      open({ file: { payments: { products: { 'bulk-payments': [PAIN] } } } }).bank.payments.bulk,
    ).toBeUndefined();
  });

  it('names its account and day once, and each transfer by its end-to-end id', async () => {
    const bulk = bulkOf({ ...JSON_BULK, futureDays: 30, required: ['debtorAccount.currency'] });
    const takes = (instant: boolean) => bulk.takes({ instant, from: null });
    expect([bulk.maxEntries, takes(false), takes(true)]).toEqual([null, true, false]);
    const later = { executionDate: transferOrder().executionDate, futureDated: false };
    const orders = [order('INV-1', '1.10', later), order('INV-2', '2.20', { ...later, description: 'Two' })];
    const initiation = await bulk.initiation(orders, BACK, () => TRANSACTION_ID);
    recorded.expect(
      'POST',
      '/v1/bulk-payments/sepa-credit-transfers',
      json(
        {
          transactionStatus: 'RCVD',
          paymentId: 'b1',
          _links: { scaRedirect: { href: 'https://x.example/s' } },
        },
        201,
      ),
    );
    const calls = bulk.calls({
      order: orders[0] ?? order('INV-0', '1.00'),
      transactionId: TRANSACTION_ID,
      initiation,
    });
    expect(await calls.verify(silent)).toMatchObject({ resourceId: 'b1' });
    const [sent] = recorded.received;
    expect(JSON.parse(String(sent?.body))).toEqual({
      debtorAccount: { iban: IBAN, currency: 'EUR' },
      payments: [
        {
          endToEndIdentification: 'INV-1',
          instructedAmount: { currency: 'EUR', amount: '1.10' },
          creditorAccount: { iban: 'IT60X0542811101000000123456' },
          creditorName: 'Mario Rossi',
        },
        {
          endToEndIdentification: 'INV-2',
          instructedAmount: { currency: 'EUR', amount: '2.20' },
          creditorAccount: { iban: 'IT60X0542811101000000123456' },
          creditorName: 'Mario Rossi',
          remittanceInformationUnstructured: 'Two',
        },
      ],
    });
  });

  it.each(['pain.001.001.03', 'pain.001.001.09'] as const)(
    'goes out as %s where the bank wants that',
    async (format) => {
      const bulk = bulkOf(XML_BULK(format));
      const initiation = await bulk.initiation(
        [order('INV-1', '1.10'), order('INV-2', '2.20')],
        BACK,
        () => TRANSACTION_ID,
      );
      expect(initiation).toMatchObject({ service: 'bulk-payments', product: PAIN });
      for (const part of [`xsd:${format}"`, '<NbOfTxs>2</NbOfTxs><CtrlSum>3.3', `<IBAN>${IBAN}</IBAN>`])
        expect(initiation.body).toContain(part);
      expect(initiation.body.match(/<EndToEndId>[^<]+/g)).toEqual(['<EndToEndId>INV-1', '<EndToEndId>INV-2']);
      recorded.expect(
        'POST',
        `/v1/bulk-payments/${PAIN}`,
        json({ transactionStatus: 'RCVD', paymentId: 'b1', _links: {} }, 201),
      );
      const calls = bulk.calls({ order: order('INV-1', '1.10'), transactionId: TRANSACTION_ID, initiation });
      await calls.verify(silent);
      expect(recorded.received[0]?.headers['content-type']).toBe('application/xml');
      expect(String(recorded.received[0]?.body)).toBe(initiation.body);
    },
  );

  it('tells of each transfer what the bank says, if only some are paid', async () => {
    const bulk = bulkOf(JSON_BULK);
    const initiation = await bulk.initiation([order('INV-1', '1.10')], BACK, () => TRANSACTION_ID);
    recorded.expect(
      'GET',
      '/v1/bulk-payments/sepa-credit-transfers/b1',
      json({
        transactionStatus: 'PART',
        payments: [
          { endToEndIdentification: 'INV-1', transactionStatus: 'ACSC' },
          {
            ...{ endToEndIdentification: 'INV-2', transactionStatus: 'RJCT', rejectionReason: 'AC01' },
            tppMessages: [{ category: 'ERROR', code: 'PAYMENT_FAILED', text: 'NOTE: closed' }],
          },
          { endToEndIdentification: 'INV-3', transactionStatus: 'PDNG' },
          { endToEndIdentification: 'INV-4' },
          { endToEndIdentification: 'INV-5', transactionStatus: 'ACSC' },
          { endToEndIdentification: 'INV-5', transactionStatus: 'RJCT' },
        ],
      }),
    );
    expect([...(await bulk.entries(initiation, 'b1', TRANSACTION_ID))]).toEqual([
      ['INV-1', { transactionStatus: 'ACSC', means: 'paid', isFinal: true }],
      [
        'INV-2',
        {
          ...{ transactionStatus: 'RJCT', means: 'refused' },
          reasons: [
            { level: 'payment', code: 'AC01', proprietary: null, text: null },
            { level: 'message', code: null, proprietary: 'PAYMENT_FAILED', text: 'NOTE: closed' },
          ],
        },
      ],
      ['INV-3', { transactionStatus: 'PDNG', means: 'open' }],
    ]);
  });

  it('takes no transfer as refused that the bank calls so only once: a gateway may mix up answers', async () => {
    const bulk = bulkOf(JSON_BULK);
    const initiation = await bulk.initiation([order('INV-1', '1.10')], BACK, () => TRANSACTION_ID);
    const says = (...statuses: string[]) =>
      recorded.expect(
        'GET',
        '/v1/bulk-payments/sepa-credit-transfers/b1',
        json({
          transactionStatus: 'PART',
          payments: statuses.map((transactionStatus, index) => ({
            endToEndIdentification: `INV-${index + 1}`,
            transactionStatus,
          })),
        }),
      );
    says('ACSC', 'RJCT', 'RJCT', 'ACSC');
    says('ACSC', 'ACSC', 'RJCT', 'RJCT');
    const entries = await bulk.entries(initiation, 'b1', TRANSACTION_ID);
    expect([...entries].map(([id, { means }]) => `${id} ${means}`)).toEqual(['INV-1 paid', 'INV-3 refused']);
    const [first, second] = recorded.received.map(({ clientPort }) => clientPort);
    expect(second).not.toBe(first);
  });

  it.each([
    [
      'about another file',
      REPORT.replace(/<OrgnlMsgId>[^<]*/, '<OrgnlMsgId>OTHER'),
      'the file OTHER, not about',
    ],
    [
      'about another group',
      REPORT.replace(/<OrgnlPmtInfId>[^<]*/, '<OrgnlPmtInfId>OTHER'),
      'the file OTHER, not about',
    ],
    [
      'about no file',
      REPORT.replace(/<OrgnlMsgId>.*?<.OrgnlMsgId>|<OrgnlPmtInfId>.*?<.OrgnlPmtInfId>/g, ''),
      'does not say which file',
    ],
  ])('in XML decides nothing by a report %s', async (_what, body, message) => {
    const bulk = bulkOf(XML_BULK('pain.001.001.09'));
    const initiation = await bulk.initiation([order('INV-1', '1.10')], BACK, () => TRANSACTION_ID);
    const calls = bulk.calls({ order: order('INV-1', '1.10'), transactionId: TRANSACTION_ID, initiation });
    const about = { code: 'bank_answer', message: expect.stringContaining(message) };
    const answer = { status: 200, headers: {}, body };
    recorded.expect('GET', `/v1/bulk-payments/${PAIN}/b1/status`, answer);
    await expect(calls.sca?.status('b1', TRANSACTION_ID)).rejects.toMatchObject(about);
    recorded.expect('GET', `/v1/bulk-payments/${PAIN}/b1/status`, answer);
    await expect(bulk.entries(initiation, 'b1', TRANSACTION_ID)).rejects.toMatchObject(about);
  });

  it.each([
    ['a pain.002', REPORT, ['INV-1 paid', 'INV-2 refused', 'INV-3 open']],
    ['a pain.002 with a DOCTYPE', REPORT.replace('<Document', '<!DOCTYPE x><Document'), []],
    ['another document', REPORT.replace('pain.002', 'camt.054'), []],
    ['half of one', REPORT.slice(0, 200), []],
    ['JSON', '{"transactionStatus":"PART"}', []],
  ])('in XML is asked for its pain.002, and %s says what it says', async (_what, body, expected) => {
    const bulk = bulkOf(XML_BULK('pain.001.001.09'));
    const initiation = await bulk.initiation([order('INV-1', '1.10')], BACK, () => TRANSACTION_ID);
    recorded.expect('GET', `/v1/bulk-payments/${PAIN}/b1/status`, {
      status: 200,
      headers: { 'content-type': 'application/xml' },
      body,
    });
    const entries = await bulk.entries(initiation, 'b1', TRANSACTION_ID);
    expect([...entries].map(([id, { means }]) => `${id} ${means}`)).toEqual(expected);
    expect(recorded.received[0]?.headers.accept).toBe('application/xml');
  });

  it.each([
    ['a pain.002', REPORT, 'PART'],
    ['a pain.002 without a status of all', REPORT.replace(/<GrpSts>PART<.GrpSts>/, ''), null],
    ['JSON', '{"transactionStatus":"RCVD"}', 'RCVD'],
    ['another document', REPORT.replace('pain.002', 'camt.054'), null],
  ])('in XML may have its status in %s', async (_what, body, expected) => {
    const bulk = bulkOf(XML_BULK('pain.001.001.09'));
    const initiation = await bulk.initiation([order('INV-1', '1.10')], BACK, () => TRANSACTION_ID);
    const calls = bulk.calls({ order: order('INV-1', '1.10'), transactionId: TRANSACTION_ID, initiation });
    recorded.expect('GET', `/v1/bulk-payments/${PAIN}/b1/status`, { status: 200, headers: {}, body });
    const asked = calls.sca?.status('b1', TRANSACTION_ID);
    if (expected === null) await expect(asked).rejects.toMatchObject({ code: 'bank_answer' });
    else expect((await asked)?.authorizationStatus).toBe(expected);
  });

  it.each([
    ['PART', 'executed'],
    ['ACSP', 'executed'],
    ['RJCT', 'failed'],
    ['RCVD', null],
    ['SOMETHING', null],
  ])('with the status %s has become %s', async (status, became) => {
    const bulk = bulkOf(JSON_BULK);
    const initiation = await bulk.initiation([order('INV-1', '1.10')], BACK, () => TRANSACTION_ID);
    const calls = bulk.calls({ order: order('INV-1', '1.10'), transactionId: TRANSACTION_ID, initiation });
    recorded.expect(
      'GET',
      '/v1/bulk-payments/sepa-credit-transfers/b1/status',
      json({ transactionStatus: status }),
    );
    expect((await calls.sca?.status('b1', TRANSACTION_ID))?.became).toBe(became);
  });

  it('of one transfer alone is nothing of PART', async () => {
    const { bank } = open();
    const single = order('INV-1', '1.10');
    const initiation = await bank.payments.initiation?.(single, BACK, () => TRANSACTION_ID);
    const calls = bank.payments.transfer({
      order: single,
      transactionId: TRANSACTION_ID,
      ...(initiation && { initiation }),
    });
    recorded.expect(
      'GET',
      '/v1/payments/sepa-credit-transfers/p1/status',
      json({ transactionStatus: 'PART' }),
    );
    expect((await calls.sca?.status('p1', TRANSACTION_ID))?.became).toBeNull();
  });
});

describe('a stored bulk payment', () => {
  const orders = [
    order('INV-1', '1.10', { description: 'One & two:pain.001.001.03' }),
    order('INV-2', '2.20'),
  ];
  const kinds = [
    ['JSON', { ...JSON_BULK, required: ['requestedExecutionDate', 'remittanceInformationUnstructured'] }],
    ['pain.001.001.03', XML_BULK('pain.001.001.03')],
    ['pain.001.001.09', XML_BULK('pain.001.001.09')],
  ] as const;

  it.each(kinds)('in %s pays what was ordered, also hours later', async (_, payments) => {
    const bulk = bulkOf({ ...payments, required: [...('required' in payments ? payments.required : [])] });
    const stored = await bulk.initiation(orders, BACK, () => TRANSACTION_ID);
    const body = stored.body.replace(/<CreDtTm>[^<]*/, '<CreDtTm>2026-11-19T23:59:59.000Z');
    await expect(bulk.refuseOther(orders, { ...stored, body })).resolves.toBeUndefined();
  });

  it.each([
    ['a payee', 0, 'IT60X0542811101000000123456', 'DE89370400440532013000'],
    ['an amount', 0, '1.10', '9.10'],
    ['a name', 0, 'Mario Rossi', 'Mallory'],
    ['a text', 0, 'One & two', 'Three'],
    ['the account', 0, IBAN, 'DE89370400440532013000'],
    ['an end-to-end id', 0, 'INV-2', 'INV-1'],
    ['a payee', 1, 'IT60X0542811101000000123456', 'DE89370400440532013000'],
    ['an amount', 1, '1.10</InstdAmt>', '9.10</InstdAmt>'],
    ['an initiator that hides a payment', 1, '</Nm></InitgPty>', '</Nm></InitgPty><PmtInf/>'],
    ['an end-to-end id', 2, 'INV-2', 'INV-1'],
  ])('is refused if somebody has changed %s in it (%i)', async (_what, kind, before, after) => {
    const [, payments] = kinds[kind] ?? kinds[0];
    const bulk = bulkOf({ ...payments, required: [] });
    const stored = await bulk.initiation(orders, BACK, () => TRANSACTION_ID);
    const body = stored.body.replace(before, after);
    expect(body).not.toBe(stored.body);
    await expect(bulk.refuseOther(orders, { ...stored, body })).rejects.toMatchObject({ code: 'config' });
  });

  it.each([
    ['one payment more', (entries: object[]) => [...entries, ...entries.slice(0, 1)]],
    ['one payment less', (entries: object[]) => entries.slice(1)],
    ['other payments', (entries: object[]) => entries.toReversed()],
    [
      'a payment of another account',
      ([first, ...others]: object[]) => [{ ...first, debtorAccount: { iban: 'DE1' } }, ...others],
    ],
  ])('is refused if it has %s', async (_what, change) => {
    const bulk = bulkOf(JSON_BULK);
    const stored = await bulk.initiation(orders, BACK, () => TRANSACTION_ID);
    const { payments, ...common } = JSON.parse(stored.body);
    const body = JSON.stringify({ ...common, payments: change(payments) });
    await expect(bulk.refuseOther(orders, { ...stored, body })).rejects.toMatchObject({ code: 'config' });
    const twice = stored.body.replace('"creditorName":', '"creditorName":"Mallory","creditorName":');
    await expect(bulk.refuseOther(orders, { ...stored, body: twice })).rejects.toMatchObject({
      code: 'config',
    });
    const single = { ...stored, service: 'payments' as const };
    await expect(bulk.refuseOther(orders, single)).rejects.toMatchObject({ code: 'config' });
  });
});
