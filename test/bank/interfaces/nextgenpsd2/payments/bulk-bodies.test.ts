import type { X509Certificate } from 'node:crypto';
import { describe, expect, it } from 'vitest';
import type { BankFile } from '../../../../../src/bank/interfaces/nextgenpsd2/description/schema.ts';
import { bulkOf, bulkTermsOf } from '../../../../../src/bank/interfaces/nextgenpsd2/payments/bulk.ts';
import { initiationOf } from '../../../../../src/bank/interfaces/nextgenpsd2/payments/initiation.ts';
import {
  assertAllOrdered,
  assertOrdered,
} from '../../../../../src/bank/interfaces/nextgenpsd2/payments/ordered.ts';
import { parseDate } from '../../../../../src/domain/calendar.ts';
import type { Initiation } from '../../../../../src/domain/operation.ts';
import { parsePaymentAmount } from '../../../../../src/domain/order/payment-amount.ts';
import { parseSepaText } from '../../../../../src/domain/order/sepa-text.ts';
import type { TransferOrder } from '../../../../../src/domain/transfer.ts';
import { transferOrder } from '../../../../domain/orders.ts';
import { silent, TRANSACTION_ID } from '../client.ts';
import { certificateOf, identifiedCalls } from '../identified.ts';
import {
  described,
  errorOf,
  failureOf,
  noBankHas,
  OTHER_THAN_ORDERED,
  PLAIN_FACTS,
  type Scripted,
  said,
  scriptedCalls,
} from '../scripted.ts';

// The bytes of a bulk payment, and what psd2 makes of stored bytes that somebody has changed.

type Payments = NonNullable<BankFile['payments']>;
const BACK = { address: 'http://127.0.0.1:8910/callback?state=s1', state: 's1' };
const NEW_ID = '01234567-89ab-4cde-8f01-23456789abcd';
const ID = '0123456789ab4cde8f0123456789abcd';
const IBAN = 'DE02100100109307118603';
const PAYEE = 'IT60X0542811101000000123456';
const SCT = ['sepa-credit-transfers'];
const JSON_BULK: Payments = { products: { 'bulk-payments': SCT } };
const xmlBulk = (format: 'pain.001.001.03' | 'pain.001.001.09', more: Payments['bulk'] = {}): Payments => ({
  bulk: { format, ...more },
  products: { 'bulk-payments': ['pain.001-sct', 'sct'] },
});
const ADDRESS = { town: 'Torino', country: 'IT' };
const LATER = { executionDate: parseDate('--date', '2026-11-25'), futureDated: true };

const order = (reference: string | null, amount: string, more: Partial<TransferOrder> = {}) =>
  transferOrder({
    ...{ instant: false, type: null, reference, amount: parsePaymentAmount(amount) },
    ...{ fromIban: IBAN, description: '', ...more },
  });

const PLAIN = order('INV-7', '12.50', { description: 'Rent' });

function bulkAt(payments: Payments, answers: Scripted[] = [], qwac?: X509Certificate) {
  const script = identifiedCalls(answers, { payments }, qwac);
  const bulk = bulkOf(script.calls, script.oauth);
  if (!bulk) throw new TypeError('The bank has no bulk payments');
  return { ...script, bulk };
}

const entry = (id: string, amount: string) => ({
  endToEndIdentification: id,
  instructedAmount: { currency: 'EUR', amount },
  creditorAccount: { iban: PAYEE },
  creditorName: 'Mario Rossi',
});

describe('what a bank takes as bulk payments', () => {
  const PAIN = 'pain.001-sepa-credit-transfers';
  const xml = (products: string[], more = {}): Payments => ({
    bulk: { format: 'pain.001.001.03', ...more },
    products: { 'bulk-payments': products },
  });
  const takes = (instant: boolean, plain: boolean, maxEntries: number | null = null) => ({
    ...{ maxEntries, instant, plain },
  });
  it.each<[string, Payments, object | null]>([
    ['nothing', {}, null],
    ['products in JSON', JSON_BULK, takes(false, true)],
    ['at most seven', { ...JSON_BULK, bulk: { maxEntries: 7 } }, takes(false, true, 7)],
    ['instant ones', { products: { 'bulk-payments': ['instant-sct'] } }, takes(true, false)],
    ['both', { products: { 'bulk-payments': ['INST-sct', ...SCT] } }, takes(true, true)],
    ['products in XML, where the bank file says JSON', { products: { 'bulk-payments': [PAIN] } }, null],
    ['products in XML', xml([PAIN]), takes(false, true)],
    ['products in XML of both kinds', xml([PAIN, 'sct-inst']), takes(false, true)],
    ['names of its own for XML', xml(['own', 'own-inst']), takes(true, true)],
    ['no products, in XML', xml([]), null],
    ['no end-to-end id, in JSON', { ...JSON_BULK, allowed: ['creditorAddress'] }, null],
    ['no end-to-end id, in XML', { ...xml([PAIN]), allowed: ['creditorAddress'] }, takes(false, true)],
  ])('%s', (_, payments, expected) => {
    const terms = bulkTermsOf(described({ payments }));
    expect(
      terms && {
        maxEntries: terms.maxEntries,
        instant: terms.takes({ instant: true, from: null }),
        plain: terms.takes({ instant: false, from: null }),
      },
    ).toEqual(expected);
  });
});

it.each<[Payments['bulk'], string]>([
  [undefined, 'optional'],
  [{}, 'optional'],
  [{ maxEntries: 7 }, 'optional'],
  [{ batchBooking: 'never' }, 'never'],
  [{ batchBooking: 'required' }, 'required'],
])('whether a bank with %j takes word of how it books a bulk payment: %s', (bulk, batchBooking) => {
  const terms = bulkTermsOf(described({ payments: { ...JSON_BULK, ...(bulk && { bulk }) } }));
  expect(terms).toMatchObject({ batchBooking });
});

describe('the body in JSON', () => {
  const made = async (payments: Payments, ...orders: TransferOrder[]) =>
    bulkAt({ ...JSON_BULK, ...payments }).bulk.initiation(orders, BACK, () => NEW_ID);

  it('has the account once, and each transfer', async () => {
    expect(await made({}, order('INV-1', '1.10'), order('INV-2', '2.20', { description: 'Two' }))).toEqual({
      ...{ service: 'bulk-payments', product: 'sepa-credit-transfers', endToEndId: ID },
      body: JSON.stringify({
        debtorAccount: { iban: IBAN },
        payments: [
          entry('INV-1', '1.10'),
          { ...entry('INV-2', '2.20'), remittanceInformationUnstructured: 'Two' },
        ],
      }),
      ...{ returnAddress: BACK.address, returnState: 's1', repeatMinutes: null, needsLink: true },
      executesWithoutSca: 'possible',
    });
  });

  it('has a later day once', async () => {
    const orders = [order('INV-1', '1.10', LATER), order('INV-2', '2.20', LATER)];
    const { body } = await made({ futureDays: 30 }, ...orders);
    const day = { debtorAccount: { iban: IBAN }, requestedExecutionDate: '2026-11-25' };
    const payments = [entry('INV-1', '1.10'), entry('INV-2', '2.20')];
    expect(body).toBe(JSON.stringify({ ...day, payments }));
  });

  it.each([
    ['optional', true, true],
    ['optional', false, false],
    ['required', undefined, undefined],
    ['never', true, undefined],
  ] as const)('%s, ordered as %s: says how the bank books it: %s', async (batchBooking, ordered, said) => {
    const more = ordered === undefined ? {} : { batchBooking: ordered };
    const bulk = { batchBooking } as const;
    const initiation = await made({ bulk }, order('INV-1', '1.10', more));
    expect(JSON.parse(initiation.body).batchBookingPreferred).toBe(said);
    const xml = bulkAt(xmlBulk('pain.001.001.03', bulk));
    const orders = [order('INV-1', '1.10', more)];
    const inXml = await xml.bulk.initiation(orders, BACK, () => NEW_ID);
    expect(/<BtchBookg>(\w+)</.exec(inXml.body)?.[1]).toBe(said === undefined ? undefined : `${said}`);
    // A later bank file changes nothing of a stored payment.
    for (const rule of ['optional', 'never'] as const) {
      const later = bulkAt(xmlBulk('pain.001.001.03', { batchBooking: rule }));
      await later.bulk.refuseOther(orders, inXml);
      await later.bulk.refuseOther(orders, initiation);
    }
    const other = initiation.body.replace('"payments"', `"batchBookingPreferred":${!ordered},"payments"`);
    const sums = '<NbOfTxs>1</NbOfTxs><CtrlSum>1.10</CtrlSum>\n';
    const otherXml = inXml.body.replace(sums, `<BtchBookg>${!ordered}</BtchBookg>${sums}`);
    for (const body of [other, otherXml]) {
      const checking = xml.bulk.refuseOther(orders, { ...initiation, body });
      expect(await failureOf(checking)).toEqual(OTHER_THAN_ORDERED);
    }
  });

  it('has what the bank demands where it belongs', async () => {
    const required = ['requestedExecutionDate', 'chargeBearer'];
    required.push('debtorAccount.currency', 'creditorAccount.currency');
    const { body } = await made({ required }, order('INV-1', '1.10'));
    const payee = { creditorAccount: { iban: PAYEE, currency: 'EUR' }, chargeBearer: 'SLEV' };
    expect(body).toBe(
      JSON.stringify({
        ...{ debtorAccount: { iban: IBAN, currency: 'EUR' }, requestedExecutionDate: '2026-11-21' },
        payments: [{ ...entry('INV-1', '1.10'), ...payee }],
      }),
    );
  });

  it('is refused if one of its transfers is', async () => {
    const urgent = made({}, order('INV-1', '1.10'), order('INV-2', '2.20', { urgent: true }));
    expect(await failureOf(urgent)).toEqual(noBankHas('urgent execution'));
    expect(await failureOf(made({}, order('INV-1', '1.10', { instant: true })))).toEqual({
      code: 'usage',
      message: 'The bank file has no instant product in payments.products.bulk-payments',
      hint: 'It has: sepa-credit-transfers. Choose one with --type.',
    });
  });

  it('needs a transfer, and a reference of each', async () => {
    await expect(made({})).rejects.toThrow(new TypeError('A bulk payment has at least one transfer'));
    await expect(made({}, order(null, '1.10'))).rejects.toThrow(
      new TypeError('A transfer of a bulk payment has a reference'),
    );
  });
});

describe('the body in XML', () => {
  const XML = xmlBulk('pain.001.001.09');
  it('names one of several accounts with an IBAN by its currency', async () => {
    const { body } = await made([order('INV-1', '1.10', { fromCurrency: 'EUR', toCurrency: 'USD' })]);
    expect(body).toContain(`<DbtrAcct><Id><IBAN>${IBAN}</IBAN></Id><Ccy>EUR</Ccy></DbtrAcct>`);
    expect(body).toContain(`<CdtrAcct><Id><IBAN>${PAYEE}</IBAN></Id><Ccy>USD</Ccy></CdtrAcct>`);
  });

  it.each([
    ['USD', undefined],
    [undefined, 'USD'],
    ['USD', 'CHF'],
  ])('names the account of each payee by its own currency: %s, %s', async (...currencies) => {
    const orders = currencies.map((toCurrency, index) =>
      order(`INV-${index}`, '1.10', toCurrency === undefined ? {} : { toCurrency }),
    );
    const { body } = await made(orders);
    const inXml = body.match(/<CdtrAcct>.*?<\/CdtrAcct>/g) ?? [];
    expect(inXml.map((account) => /<Ccy>(.*)<\/Ccy>/.exec(account)?.[1])).toEqual(currencies);
    const inJson = JSON.parse((await bulkAt(JSON_BULK).bulk.initiation(orders, BACK, () => NEW_ID)).body);
    const accounts: { creditorAccount: { currency?: string } }[] = inJson.payments;
    expect(accounts.map(({ creditorAccount }) => creditorAccount.currency)).toEqual(currencies);
  });

  const made = async (orders: TransferOrder[], payments = XML, qwac?: X509Certificate) =>
    bulkAt(payments, [], qwac).bulk.initiation(orders, BACK, () => NEW_ID);
  const text = (value: string) => parseSepaText('--payee-town', value, 70);
  const town = { town: text('Berlin'), country: 'DE' };

  it('has all that was ordered', async () => {
    const full = { street: text('Ring'), building: text('7'), postcode: text('10115'), ...town };
    const orders = [
      order('INV-1', '1.10', { description: 'One', payeeAddress: full }),
      order('INV-2', '2.20', { payeeAddress: town }),
    ];
    const agent =
      '<DbtrAgt><FinInstnId><Othr><Id>NOTPROVIDED</Id></Othr></FinInstnId></DbtrAgt><ChrgBr>SLEV</ChrgBr>';
    const account = `<CdtrAcct><Id><IBAN>${PAYEE}</IBAN></Id></CdtrAcct>`;
    const initiation = await made(orders);
    expect(initiation).toMatchObject({ service: 'bulk-payments', product: 'pain.001-sct', endToEndId: ID });
    expect(initiation.body).toBe(`<?xml version="1.0" encoding="UTF-8"?>
<Document xmlns="urn:iso:std:iso:20022:tech:xsd:pain.001.001.09">
<CstmrCdtTrfInitn>
<GrpHdr><MsgId>${ID}</MsgId><CreDtTm>2026-11-21T12:00:00.000Z</CreDtTm><NbOfTxs>2</NbOfTxs><CtrlSum>3.30</CtrlSum><InitgPty><Nm>Caff    S hne (Torino)</Nm></InitgPty></GrpHdr>
<PmtInf>
<PmtInfId>${ID}</PmtInfId><PmtMtd>TRF</PmtMtd><NbOfTxs>2</NbOfTxs><CtrlSum>3.30</CtrlSum>
<PmtTpInf><SvcLvl><Cd>SEPA</Cd></SvcLvl></PmtTpInf>
<ReqdExctnDt><Dt>2026-11-21</Dt></ReqdExctnDt>
<Dbtr><Nm>NOTPROVIDED</Nm></Dbtr><DbtrAcct><Id><IBAN>${IBAN}</IBAN></Id></DbtrAcct>
${agent}
<CdtTrfTxInf>
<PmtId><EndToEndId>INV-1</EndToEndId></PmtId><Amt><InstdAmt Ccy="EUR">1.10</InstdAmt></Amt>
<Cdtr><Nm>Mario Rossi</Nm><PstlAdr><StrtNm>Ring</StrtNm><BldgNb>7</BldgNb><PstCd>10115</PstCd><TwnNm>Berlin</TwnNm><Ctry>DE</Ctry></PstlAdr></Cdtr>${account}
<RmtInf><Ustrd>One</Ustrd></RmtInf></CdtTrfTxInf>
<CdtTrfTxInf>
<PmtId><EndToEndId>INV-2</EndToEndId></PmtId><Amt><InstdAmt Ccy="EUR">2.20</InstdAmt></Amt>
<Cdtr><Nm>Mario Rossi</Nm><PstlAdr><TwnNm>Berlin</TwnNm><Ctry>DE</Ctry></PstlAdr></Cdtr>${account}
</CdtTrfTxInf>
</PmtInf>
</CstmrCdtTrfInitn>
</Document>
`);
    const { bulk, sent } = bulkAt(XML, [said({ transactionStatus: 'RCVD', paymentId: 'b1' }, 201)]);
    const calls = bulk.calls({ order: PLAIN, transactionId: TRANSACTION_ID, initiation });
    expect(await calls.verify(silent)).toMatchObject({ resourceId: 'b1' });
    expect(sent).toMatchObject([
      { method: 'POST', path: '/v1/bulk-payments/pain.001-sct', body: initiation.body },
    ]);
  });

  it.each([
    ['/C=IT/CN=O=Other', 'TPP'],
    ['/C=IT/O=ÄÖÜ/CN=x', 'TPP'],
    [`/C=IT/O=${'x'.repeat(64)}/CN=x`, 'x'.repeat(64)],
    ['/C=IT/O=Rossi, Söhne \\+ C. S.p.A./CN=x', 'Rossi, S hne + C. S.p.A.'],
    ["/C=IT/O=AZaz09 \\/?:().,'-/CN=x", 'AZaz09 /?:().,&#39;-'],
    ['/C=IT/O="Rossi" <A>;=B_C@D\\\\E&F/CN=x', 'Rossi   A   B C D E F'],
    ['/C=IT/O=#1\nAB/CN=x', '1 AB'],
    ['/C=IT/CN=x/O=Last', 'Last'],
  ])('%s initiates it as %s', async (subject, initiator) => {
    const { body } = await made([order('INV-1', '1.10')], XML, certificateOf(subject));
    expect(/<InitgPty><Nm>(.*)<\/Nm>/.exec(body)?.[1]).toBe(initiator);
  });

  it('needs the IBAN of the account, and a reference of each transfer', async () => {
    const unknown = transferOrder({ instant: false, type: null, reference: 'INV-1' });
    expect(await failureOf(made([unknown]))).toEqual({
      code: 'usage',
      message: 'The account 0000012345 has no IBAN, so psd2 cannot debit it',
    });
    await expect(made([order(null, '1.10')])).rejects.toThrow(
      new TypeError('A transfer of a bulk payment has a reference'),
    );
  });
});

describe('what the bank says of each transfer', () => {
  const stored = (body: string): Initiation => ({
    ...{ service: 'bulk-payments', product: 'sct', endToEndId: ID, body, returnAddress: BACK.address },
    ...{ returnState: 's1', repeatMinutes: null, needsLink: true, executesWithoutSca: 'possible' },
  });
  const IN_XML = stored(`<Document><MsgId>${ID}</MsgId></Document>`);
  const entryOf = (endToEndIdentification: string, transactionStatus?: string, more = {}) => ({
    ...{ endToEndIdentification, ...(transactionStatus && { transactionStatus }), ...more },
  });
  const entries = Object.entries({ 'INV-1': 'ACSC', 'INV-2': 'RJCT', 'INV-3': 'PDNG' })
    .map(
      ([id, status]) =>
        `<TxInfAndSts><OrgnlEndToEndId>${id}</OrgnlEndToEndId><TxSts>${status}</TxSts></TxInfAndSts>`,
    )
    .join('');
  const REPORT = `<?xml version="1.0" encoding="UTF-8"?>
<Document xmlns="urn:iso:std:iso:20022:tech:xsd:pain.002.001.03"><CstmrPmtStsRpt><GrpHdr><MsgId>1</MsgId></GrpHdr>
<OrgnlGrpInfAndSts><OrgnlMsgId>${ID}</OrgnlMsgId><GrpSts>PART</GrpSts></OrgnlGrpInfAndSts><OrgnlPmtInfAndSts><OrgnlPmtInfId>${ID}</OrgnlPmtInfId>${entries}</OrgnlPmtInfAndSts></CstmrPmtStsRpt></Document>`;
  const meaningsOf = (found: ReadonlyMap<string, { means: string }>) =>
    [...found].map(([id, { means }]) => `${id} ${means}`);

  const SOME = said({
    payments: [
      ...[entryOf('INV-1', 'ACSC'), { transactionStatus: 'ACSC' }, entryOf('INV-3', 'PDNG')],
      ...[entryOf('INV-4'), entryOf('INV-5', 'ACSC'), entryOf('INV-5', 'RJCT')],
    ],
  });
  const PAID = ['INV-1', { transactionStatus: 'ACSC', means: 'paid', isFinal: true }];
  const OPEN = ['INV-3', { transactionStatus: 'PDNG', means: 'open' }];
  it.each<[string, Scripted, unknown[]]>([
    ['those with an id and one status', SOME, [PAID, OPEN]],
    ['none', said({}), []],
    ['none that psd2 can read', said({ payments: 'all' }), []],
  ])('in JSON: %s', async (_, answer, expected) => {
    const { bulk, sent } = bulkAt(JSON_BULK, [answer]);
    expect([...(await bulk.entries(stored('{}'), 'b1', TRANSACTION_ID))]).toEqual(expected);
    const path = '/v1/bulk-payments/sct/b1';
    expect(sent).toEqual([
      { method: 'GET', path, facts: PLAIN_FACTS, transactionId: TRANSACTION_ID, decides: true },
    ]);
  });

  it.each([
    ['the whole is rejected, and one is paid', 'RJCT', 'ACSC'],
    ['the whole is settled, and one is rejected', 'ACSC', 'RJCT'],
  ])('in JSON decides nothing if it contradicts itself: %s', async (_, transactionStatus, ofOne) => {
    const answer = said({ transactionStatus, payments: [entryOf('INV-1', ofOne)] });
    const { bulk } = bulkAt(JSON_BULK, [answer, answer]);
    const refused = { code: 'bank_answer', contradicts: true };
    await expect(bulk.entries(stored('{}'), 'b1', TRANSACTION_ID)).rejects.toMatchObject(refused);
  });

  it('has its reasons', async () => {
    const tppMessages = [{ category: 'ERROR', code: 'PAYMENT_FAILED', text: 'NOTE: closed' }];
    const answer = said({ payments: [entryOf('INV-2', 'RJCT', { rejectionReason: 'AC01', tppMessages })] });
    const { bulk } = bulkAt(JSON_BULK, [answer, answer]);
    expect((await bulk.entries(stored('{}'), 'b1', TRANSACTION_ID)).get('INV-2')).toEqual({
      ...{ transactionStatus: 'RJCT', means: 'refused' },
      reasons: [
        { level: 'payment', code: 'AC01', proprietary: null, text: null },
        { level: 'message', code: null, proprietary: 'PAYMENT_FAILED', text: 'NOTE: closed' },
      ],
    });
  });

  it.each([
    [['AC01', 'AM04', undefined]],
    [[undefined, 'AM04', 'AC01']],
    [['AM04', 'AM04', 'AC01']],
    [[undefined, undefined, undefined]],
  ])('has the reason of each in XML: %j', async (codes) => {
    const ids = codes.map((_, at) => `INV-${at + 1}`);
    const rejected = codes.map((code, at) => {
      const reason = code === undefined ? '' : `<StsRsnInf><Rsn><Cd>${code}</Cd></Rsn></StsRsnInf>`;
      return `<TxInfAndSts><OrgnlEndToEndId>${ids[at]}</OrgnlEndToEndId><TxSts>RJCT</TxSts>${reason}</TxInfAndSts>`;
    });
    const body = REPORT.replace(entries, rejected.join(''));
    const { bulk } = bulkAt(JSON_BULK, [{ body }, { body }]);
    const found = await bulk.entries(IN_XML, 'b1', TRANSACTION_ID);
    expect(ids.map((id) => found.get(id)?.reasons?.map(({ code }) => code))).toEqual(
      codes.map((code) => code && [code]),
    );
  });

  it('is a refusal only if the bank says so twice: a gateway may mix up answers', async () => {
    const saying = (...statuses: string[]) =>
      said({ payments: statuses.map((status, at) => entryOf(`INV-${at + 1}`, status)) });
    const answers = [saying('ACSC', 'RJCT', 'RJCT', 'ACSC'), saying('ACSC', 'ACSC', 'RJCT', 'RJCT')];
    const { bulk, sent } = bulkAt(JSON_BULK, answers);
    const found = await bulk.entries(stored('{}'), 'b1', TRANSACTION_ID);
    expect(meaningsOf(found)).toEqual(['INV-1 paid', 'INV-3 refused']);
    // The second call gets a connection of its own.
    expect(sent.map(({ decides }) => decides)).toEqual([true, 'an end']);
  });

  it.each<[string, Scripted, string[]]>([
    ['those in the report', { body: REPORT }, ['INV-1 paid', 'INV-2 refused', 'INV-3 open']],
    ['none in a report that is refused', { body: REPORT, status: 404 }, []],
    ['none in a page', { body: REPORT, headers: { 'content-type': 'text/html' } }, []],
    ['none in one with a DOCTYPE', { body: REPORT.replace('<Document', '<!DOCTYPE x><Document') }, []],
    ['none in another document', { body: REPORT.replace('pain.002', 'camt.054') }, []],
    ['none in half of a report', { body: REPORT.slice(0, 200) }, []],
    ['none without a report', said({ transactionStatus: 'PART' }), []],
  ])('in XML: %s', async (_, answer, expected) => {
    const { bulk, sent, notices } = bulkAt(JSON_BULK, [answer, answer]);
    expect(meaningsOf(await bulk.entries(IN_XML, 'b1', TRANSACTION_ID))).toEqual(expected);
    expect(sent[0]).toEqual({
      ...{ method: 'GET', path: '/v1/bulk-payments/sct/b1/status', facts: PLAIN_FACTS, decides: true },
      ...{ transactionId: TRANSACTION_ID, headers: { accept: 'application/xml' } },
    });
    expect(notices).toEqual([]);
  });

  const other = (name: string) => REPORT.replace(new RegExp(`<${name}>[^<]*`), `<${name}>OTHER`);
  const IDS = /<OrgnlMsgId>.*?<.OrgnlMsgId>|<OrgnlPmtInfId>.*?<.OrgnlPmtInfId>/g;
  it.each([
    ['about another file', other('OrgnlMsgId'), 'the file OTHER, not about'],
    ['about another group', other('OrgnlPmtInfId'), 'the file OTHER, not about'],
    ['about no file', REPORT.replace(IDS, ''), 'does not say which file'],
  ])('in XML decides nothing by a report %s', async (_, body, message) => {
    const { bulk } = bulkAt(xmlBulk('pain.001.001.09'), [{ body }, { body }]);
    const calls = bulk.calls({ order: PLAIN, transactionId: TRANSACTION_ID, initiation: IN_XML });
    const refused = { code: 'bank_answer', message: expect.stringContaining(message) };
    await expect(calls.sca?.status('b1', TRANSACTION_ID)).rejects.toMatchObject(refused);
    await expect(bulk.entries(IN_XML, 'b1', TRANSACTION_ID)).rejects.toMatchObject(refused);
  });

  it.each([
    ['a pain.002', REPORT, { authorizationStatus: 'PART', became: 'executed' }],
    ['a pain.002 without a status of all', REPORT.replace(/<GrpSts>PART<.GrpSts>/, ''), null],
    ['JSON', '{"transactionStatus":"RCVD"}', { authorizationStatus: 'RCVD', became: null }],
    ['another document', REPORT.replace('pain.002', 'camt.054'), null],
  ])('in XML may have the status of all in %s', async (_, body, status) => {
    const { bulk } = bulkAt(xmlBulk('pain.001.001.09'), [{ body }]);
    const calls = bulk.calls({ order: PLAIN, transactionId: TRANSACTION_ID, initiation: IN_XML });
    const asked = Promise.resolve(calls.sca?.status('b1', TRANSACTION_ID));
    if (status === null) expect(await failureOf(asked)).toMatchObject({ code: 'bank_answer' });
    else expect(await asked).toMatchObject(status);
  });
});

describe('a stored payment', () => {
  const TEXTLESS = order('INV-7', '12.50');
  const STANDING = order('INV-7', '12.50', {
    ...LATER,
    standing: { frequency: 'Monthly', end: parseDate('--end', '2027-12-01'), day: 3 },
  });
  const stored = (made: TransferOrder, payments: Payments = {}) => {
    const products = { 'periodic-payments': SCT };
    const { calls } = scriptedCalls([], { payments: { futureDays: 30, products, ...payments } });
    return initiationOf(calls, made, BACK, () => NEW_ID);
  };
  const changed = (initiation: Initiation, more: object): Initiation => ({
    ...initiation,
    body: JSON.stringify({ ...JSON.parse(initiation.body), ...more }),
  });

  const LATE = order('INV-7', '12.50', LATER);
  const ADDRESSED = order('INV-7', '12.50', { payeeAddress: ADDRESS });
  const KNOWN = ['debtorAccount.currency', 'creditorAccount.currency', 'chargeBearer'];
  const GIVEN = { allowed: ['creditorAgent'], required: ['instructionIdentification'] };
  it.each<[string, TransferOrder, Payments]>([
    ['is what was ordered', PLAIN, {}],
    ['has the day that the bank demands', PLAIN, { required: ['requestedExecutionDate'] }],
    ['has the text that the bank demands', TEXTLESS, { required: ['remittanceInformationUnstructured'] }],
    ['has a later day', LATE, {}],
    ['repeats', STANDING, {}],
    ['has all that psd2 knows', PLAIN, { required: KNOWN }],
    ['has a new id, at a bank that takes no end-to-end id', order(null, '12.50'), GIVEN],
    ['has no end-to-end id', PLAIN, { allowed: ['remittanceInformationUnstructured'] }],
    ["has the payee's address", ADDRESSED, {}],
  ])('%s', (_, made, payments) => {
    expect(() => assertOrdered(made, stored(made, payments))).not.toThrow();
  });

  it("has the bank's own word for how often it is made, and no other", () => {
    const { payments } = described({ payments: { frequencies: { Monthly: 'MNTH', Weekly: 'WEEK' } } });
    const initiation = stored(STANDING, { frequencies: payments.frequencies });
    expect(() => assertOrdered(STANDING, initiation, payments)).not.toThrow();
    const weekly = changed(initiation, { frequency: 'WEEK' });
    expect(errorOf(() => assertOrdered(STANDING, weekly, payments))).toEqual(OTHER_THAN_ORDERED);
  });

  it.each<[string, TransferOrder, object]>([
    ['another end-to-end id', PLAIN, { endToEndIdentification: 'INV-8' }],
    ['a field more', PLAIN, { ultimateCreditor: 'Mallory' }],
    ['a field more in an account', PLAIN, { creditorAccount: { iban: PLAIN.to, currency: 'USD' } }],
    ["another payee's bank", PLAIN, { creditorAgent: 'AAAADEBBXXX' }],
    ['other charges', PLAIN, { chargeBearer: 'DEBT' }],
    ['an address', PLAIN, { creditorAddress: { country: 'IT' } }],
    ['another address', ADDRESSED, { creditorAddress: { country: 'IT' } }],
    ['another text', PLAIN, { remittanceInformationUnstructured: 'Gift' }],
    ['no text', PLAIN, { remittanceInformationUnstructured: undefined }],
    ['another day', PLAIN, { requestedExecutionDate: '2026-11-22' }],
    ['another later day', LATE, { requestedExecutionDate: '2026-11-26' }],
    ['no later day', LATE, { requestedExecutionDate: undefined }],
    ['another first day', STANDING, { startDate: '2026-11-26' }],
    ['another last day', STANDING, { endDate: '2028-12-01' }],
    ['no last day', STANDING, { endDate: undefined }],
    ['another frequency', STANDING, { frequency: 'Daily' }],
    ['another day of the month', STANDING, { dayOfExecution: '4' }],
    ['a repetition', PLAIN, { frequency: 'Daily', startDate: '2026-11-21' }],
    ['an amount that is a number', PLAIN, { instructedAmount: { currency: 'EUR', amount: 12.5 } }],
    ['no payee', PLAIN, { creditorAccount: undefined }],
    ['null for the payee', PLAIN, { creditorAccount: null }],
    ['a text for the payee', PLAIN, { creditorAccount: PLAIN.to }],
    ['a list for the payee', PLAIN, { creditorAccount: [{ iban: PLAIN.to }] }],
    ['an empty payee', PLAIN, { creditorAccount: {} }],
    ['null for the amount', PLAIN, { instructedAmount: null }],
    ['a field more that is null', PLAIN, { ultimateCreditor: null }],
  ])('with %s is refused', (_, made, more) => {
    expect(errorOf(() => assertOrdered(made, changed(stored(made), more)))).toEqual(OTHER_THAN_ORDERED);
  });

  it.each<[string, Partial<Initiation>]>([
    ['no JSON', { body: 'not JSON' }],
    ['no object', { body: 'null' }],
    ['a list', { body: `[${stored(PLAIN).body}]` }],
    ['JSON that psd2 has not written', { body: ` ${stored(PLAIN).body}` }],
    ['a service of standing orders', { service: 'periodic-payments' }],
    ['a service of bulk payments', { service: 'bulk-payments' }],
  ])('with %s is refused', (_, more) => {
    expect(errorOf(() => assertOrdered(PLAIN, { ...stored(PLAIN), ...more }))).toEqual(OTHER_THAN_ORDERED);
  });

  it('of a standing order in the service of payments is refused', () => {
    const other = { ...stored(STANDING), service: 'payments' } as const;
    expect(errorOf(() => assertOrdered(STANDING, other))).toEqual(OTHER_THAN_ORDERED);
  });
});

describe('a stored bulk payment', () => {
  const LATE = [order('INV-1', '1.10', LATER), order('INV-2', '2.20', LATER)];
  const refuse = (orders: TransferOrder[], initiation: Initiation) =>
    assertAllOrdered(orders, initiation, () => Promise.reject(new TypeError('It is in JSON')));

  it('of a later day has that day', async () => {
    const { bulk } = bulkAt({ ...JSON_BULK, futureDays: 30 });
    const initiation = await bulk.initiation(LATE, BACK, () => NEW_ID);
    expect(await refuse(LATE, initiation)).toBeUndefined();
    const whole = JSON.parse(initiation.body);
    const { requestedExecutionDate, ...dayless } = whole;
    expect(requestedExecutionDate).toBe('2026-11-25');
    const inEach = (more: object) => ({
      ...{ ...whole, payments: whole.payments.map((each: object) => ({ ...each, ...more })) },
    });
    const { debtorAccount } = whole;
    for (const body of [
      ...[dayless, { ...whole, requestedExecutionDate: '2026-11-26' }, [], 'none'],
      ...[{ ...whole, payments: {} }, { ...whole, payments: [] }, inEach({ debtorAccount })],
      ...[{ batchBookingPreferred: true }, { chargeBearer: 'DEBT' }].flatMap((more) => [
        ...[{ ...whole, ...more }, inEach(more)],
      ]),
    ]) {
      const checking = refuse(LATE, { ...initiation, body: JSON.stringify(body) });
      expect(await failureOf(checking)).toEqual(OTHER_THAN_ORDERED);
    }
    expect(await failureOf(refuse(LATE, { ...initiation, service: 'payments' }))).toEqual(OTHER_THAN_ORDERED);
  });

  it('of a day that the bank demands has that day', async () => {
    const today = [order('INV-1', '1.10')];
    const demanded = { ...JSON_BULK, required: ['requestedExecutionDate'] };
    const initiation = await bulkAt(demanded).bulk.initiation(today, BACK, () => NEW_ID);
    expect(await refuse(today, initiation)).toBeUndefined();
    const body = initiation.body.replace('2026-11-21', '2026-11-22');
    expect(await failureOf(refuse(today, { ...initiation, body }))).toEqual(OTHER_THAN_ORDERED);
  });

  it.each(['<InitgPty><Nm>Somebody & else</Nm></InitgPty>', '<InitgPty><Nm></Nm></InitgPty>'])(
    'in XML may have been made by another application: %s',
    async (party) => {
      const { bulk } = bulkAt(xmlBulk('pain.001.001.03'));
      const orders = [order('INV-1', '1.10')];
      const initiation = await bulk.initiation(orders, BACK, () => NEW_ID);
      const body = initiation.body.replace(/<InitgPty>.*<\/InitgPty>/, party);
      expect(await bulk.refuseOther(orders, { ...initiation, body })).toBeUndefined();
      for (const part of [/<InitgPty>.*<\/InitgPty>/, /<CreDtTm>.*<\/CreDtTm>/]) {
        const none = initiation.body.replace(part, '');
        expect(none).not.toBe(initiation.body);
        const checking = Promise.resolve(bulk.refuseOther(orders, { ...initiation, body: none }));
        expect(await failureOf(checking)).toEqual(OTHER_THAN_ORDERED);
      }
    },
  );

  const ORDERS = [
    order('INV-1', '1.10', { description: 'One & two:pain.001.001.03' }),
    order('INV-2', '2.20'),
  ];
  const DEMANDED = ['requestedExecutionDate', 'remittanceInformationUnstructured'];
  const KINDS = { json: JSON_BULK, '03': xmlBulk('pain.001.001.03'), '09': xmlBulk('pain.001.001.09') };
  const storedAs = async (payments: Payments) => {
    const { bulk } = bulkAt(payments);
    const initiation = await bulk.initiation(ORDERS, BACK, () => NEW_ID);
    const refusalOf = (more: Partial<Initiation>) =>
      failureOf(Promise.resolve(bulk.refuseOther(ORDERS, { ...initiation, ...more })));
    return { bulk, initiation, refusalOf };
  };

  it.each([
    ['json', { ...JSON_BULK, required: DEMANDED }],
    ['03', KINDS['03']],
    ['09', KINDS['09']],
  ])('in %s pays what was ordered, also hours later', async (_, payments) => {
    const { bulk, initiation } = await storedAs(payments);
    const body = initiation.body.replace(/<CreDtTm>[^<]*/, '<CreDtTm>2026-11-19T23:59:59.000Z');
    await expect(bulk.refuseOther(ORDERS, { ...initiation, body })).resolves.toBeUndefined();
  });

  it.each<[string, keyof typeof KINDS, string, string]>([
    ['a payee', 'json', PAYEE, 'DE89370400440532013000'],
    ['an amount', 'json', '1.10', '9.10'],
    ['a name', 'json', 'Mario Rossi', 'Mallory'],
    ['a text', 'json', 'One & two', 'Three'],
    ['the account', 'json', IBAN, 'DE89370400440532013000'],
    ['an end-to-end id', 'json', 'INV-2', 'INV-1'],
    ['that there is an end-to-end id', 'json', '"endToEndIdentification":"INV-2",', ''],
    ['a name, which is there twice', 'json', '"creditorName":', '"creditorName":"Mallory","creditorName":'],
    ['a payee', '03', PAYEE, 'DE89370400440532013000'],
    ['an amount', '03', '1.10</InstdAmt>', '9.10</InstdAmt>'],
    ['an initiator that hides a payment', '03', '</Nm></InitgPty>', '</Nm></InitgPty><PmtInf/>'],
    ['an end-to-end id', '09', 'INV-2', 'INV-1'],
  ])('is refused if somebody has changed %s in it (%s)', async (_, kind, before, after) => {
    const { initiation, refusalOf } = await storedAs(KINDS[kind]);
    const body = initiation.body.replace(before, after);
    expect(body).not.toBe(initiation.body);
    expect(await refusalOf({ body })).toEqual(OTHER_THAN_ORDERED);
  });

  const ofAnother = ([first, ...others]: object[]) => [
    ...[{ ...first, debtorAccount: { iban: 'DE1' } }, ...others],
  ];
  it.each<[string, (entries: object[]) => object[]]>([
    ['one payment more', (entries) => [...entries, ...entries.slice(0, 1)]],
    ['one payment less', (entries) => entries.slice(1)],
    ['other payments', (entries) => entries.toReversed()],
    ['a payment of another account', ofAnother],
  ])('is refused if it has %s', async (_, change) => {
    const { initiation, refusalOf } = await storedAs(JSON_BULK);
    const { payments, ...common } = JSON.parse(initiation.body);
    const body = JSON.stringify({ ...common, payments: change(payments) });
    expect(await refusalOf({ body })).toEqual(OTHER_THAN_ORDERED);
  });
});
