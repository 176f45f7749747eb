import { describe, expect, it } from 'vitest';
import type { BankCall } from '../../../../../src/bank/call/call.ts';
import type { BankFile } from '../../../../../src/bank/interfaces/nextgenpsd2/description/schema.ts';
import { basketsOf } from '../../../../../src/bank/interfaces/nextgenpsd2/payments/baskets.ts';
import {
  aboutPayment,
  paymentCalls,
} from '../../../../../src/bank/interfaces/nextgenpsd2/payments/payment-calls.ts';
import type { PaymentCalls } from '../../../../../src/bank/ports/payment-calls.ts';
import type { Initiation } from '../../../../../src/domain/operation.ts';
import type { TransferOrder } from '../../../../../src/domain/transfer.ts';
import { transferOrder } from '../../../../domain/orders.ts';
import { silent, TRANSACTION_ID } from '../client.ts';
import {
  aboutAnother,
  errorOf,
  failureOf,
  IDS,
  noBankHas,
  ORIGIN,
  OTHER_THAN_ORDERED,
  PLAIN_FACTS,
  refused,
  type Scripted,
  said,
  scriptedCalls,
} from '../scripted.ts';

// Each call about a payment or a signing basket: what psd2 sends, and what it makes of the answer.

const BACK = 'http://127.0.0.1:8910/callback?state=s1';
const INITIATION: Initiation = {
  ...{ service: 'payments', product: 'sct', endToEndId: 'INV-7', body: '{"a":1}' },
  ...{ returnAddress: BACK, returnState: 's1', repeatMinutes: null, needsLink: true },
  executesWithoutSca: 'possible',
};
const PLAIN = transferOrder({ instant: false, type: null });
const SELF = '/v1/payments/sct/p1';
const ABOUT = { ...PLAIN_FACTS, ofPayment: TRANSACTION_ID };

interface Made {
  order?: Partial<TransferOrder>;
  initiation?: Partial<Initiation>;
  isBulk?: boolean;
  file?: Omit<BankFile, 'interface'>;
}

function made(answers: Scripted[], { order = {}, initiation = {}, file = {}, ...more }: Made = {}) {
  const script = scriptedCalls(answers, file);
  const calls = paymentCalls({
    ...{ ...script.calls, oauth: script.oauth, order: { ...PLAIN, ...order }, transactionId: TRANSACTION_ID },
    ...{ initiation: { ...INITIATION, ...initiation }, ...more },
  });
  return { ...script, calls };
}

const LOGIN_PAGE = {
  oauth: { authorizationEndpoint: 'https://login.example/login', tokenEndpoint: `${ORIGIN}/token` },
};
/** The scope of a login for a payment or a basket. */
async function scopeOf(sca: PaymentCalls['sca'], resourceId: string) {
  const turn = await sca?.proceed?.({
    ...startOf(resourceId),
    links: { approach: null, oauth: 'https://bank.example/meta' },
    login: { clientId: 'c', redirectUri: 'http://127.0.0.1/', state: 's', codeVerifier: 'v'.repeat(43) },
  });
  return turn?.next === 'log in' && new URL(turn.url).searchParams.get('scope');
}
const startOf = (resourceId: string) => ({
  ...{ resourceId, redirectUri: BACK, transactionId: TRANSACTION_ID, beforeSend: silent },
});
const STARTING = { body: {}, redirectUri: BACK, beforeSend: silent };
const SITE = 'https://customers.bank.example/sca';
const STARTED = said({ _links: { scaRedirect: { href: SITE } } }, 201);

/** What psd2 knows of a payment or a basket that the bank has received. */
const verifiedAs = (resourceId: string, more: object = {}) => ({
  ...{ resourceId, totalAmount: null, commissions: null, bankName: null, nextStep: 'authorisation' },
  ...{ bank: atBank('RCVD'), links: { approach: null }, ...more },
});
const atBank = (transactionStatus: string, scaStatus: string | null = null) => ({
  transactionStatus,
  scaStatus,
});
const DONE = { approach: null, isDone: true };
const ELSEWHERE = { links: { approach: null, status: 'https://evil.example/x' } };
const unusable = "The bank's link scaRedirect is not an https address";
const UNSAFE = { links: { approach: null, unusable } };
/** What the answer tells the operator, and the customer. */
const telling = (...messages: string[]) => ({
  ...{ messages, links: { approach: null, message: messages.at(-1) } },
});
const NO_FURTHER = noBankHas('further steps of a verification');

it('a call about a payment has its facts, and says whose login it needs', async () => {
  const { calls, sent } = scriptedCalls([said({}), said({})]);
  const bank = aboutPayment(calls.bank, 'tx-1');
  const call = { method: 'GET', path: SELF, facts: PLAIN_FACTS, transactionId: TRANSACTION_ID } as const;
  expect(await bank.send(call)).toMatchObject({ status: 200 });
  expect(await bank.ask(call, ({ status }) => ({ status, notices: [] }))).toMatchObject({ status: 200 });
  expect(sent).toEqual(
    [call, call].map((each) => ({ ...each, facts: { ...PLAIN_FACTS, ofPayment: 'tx-1' } })),
  );
});

/** A call about the payment. */
const about = (method: BankCall['method'], path: string, more: object = {}) => ({
  ...{ method, path, facts: ABOUT, transactionId: TRANSACTION_ID, ...more },
});
const eur = (amount: string, currency = 'EUR') => ({ amount, currency });
const page = (text: string) => ({ body: text, headers: { 'content-type': 'application/xml' } });
const REPORT = `<Document xmlns="urn:iso:std:iso:20022:tech:xsd:pain.002.001.03"><CstmrPmtStsRpt><GrpHdr><MsgId>1</MsgId></GrpHdr><OrgnlGrpInfAndSts><OrgnlMsgId>M-1</OrgnlMsgId><GrpSts>ACSP</GrpSts></OrgnlGrpInfAndSts></CstmrPmtStsRpt></Document>`;

/** A file of ours, and what the bank says of it and of one payment. */
const OURS = '<Document><MsgId>M-1</MsgId></Document>';
const reportOf = (group: string, id: string, status: string) =>
  REPORT.replace('ACSP', group).replace(
    '</CstmrPmtStsRpt>',
    `<OrgnlPmtInfAndSts><TxInfAndSts><OrgnlEndToEndId>${id}</OrgnlEndToEndId><TxSts>${status}</TxSts></TxInfAndSts></OrgnlPmtInfAndSts></CstmrPmtStsRpt>`,
  );

it('a payment can have other minutes for its authorisation than a consent', () => {
  const { calls } = made([], { file: { sca: { authorisationMinutes: { payments: 15, consents: 1440 } } } });
  expect(calls.sca?.timing).toMatchObject({ authorisationMinutes: 15 });
});

it.each([
  ['{"creditorAccount":{}}', /^The payment names no account to debit/],
  ['{"debtorAccount":{}}', /bank file may say/],
])('a bank that wants an account to debit is said to want one: %s', async (body, hint) => {
  const refusal = refused('FORMAT_ERROR', 400, 'debtorAccount is missing');
  const { calls } = made([refusal], { initiation: { body } });
  await expect(calls.verify(silent)).rejects.toMatchObject({ hint: expect.stringMatching(hint) });
});

it.each([
  ['{"frequency":"Monthly"}', 'dayOfExecution is missing', /^Give the day of the month with --day/],
  ['{"frequency":"Monthly"}', 'Please give the day of execution', /^Give the day of the month with --day/],
  ['{"dayOfExecution":"3"}', 'dayOfExecution is wrong', /bank file may say/],
])('a bank that wants a day of a standing order is said to want one: %s, %s', async (body, words, hint) => {
  const initiation = { service: 'periodic-payments', body: `{"debtorAccount":{},${body.slice(1)}` } as const;
  const { calls } = made([refused('FORMAT_ERROR', 400, words)], { initiation });
  await expect(calls.verify(silent)).rejects.toMatchObject({ hint: expect.stringMatching(hint) });
});

it.each<[string, Partial<Initiation>, string, RegExp]>([
  ['a day that it has', { service: 'periodic-payments', body: '{"dayOfExecution":"3"}' }, 'Wrong', /./],
  ['a day, of a payment that does not repeat', { body: '{"debtorAccount":{}}' }, 'No day of execution', /./],
  [
    'another day',
    { service: 'periodic-payments', body: '{"debtorAccount":{}}' },
    'The day is missing, and so is execution',
    /./,
  ],
])('a bank that does not speak of %s is told of no --day', async (_, initiation, words, hint) => {
  const { calls } = made([refused('FORMAT_ERROR', 400, words)], { initiation });
  const failure = await failureOf(calls.verify(silent));
  expect(failure).toMatchObject({ hint: expect.stringMatching(hint) });
  expect(failure).not.toMatchObject({ hint: expect.stringContaining('--day') });
});

it.each(['day_of_execution', 'Day-Of-Execution', 'dayofexecution', 'DAY OF EXECUTION'])(
  'a bank that writes %s is told of --day, whatever the code of its refusal',
  async (name) => {
    for (const code of ['FORMAT_ERROR', 'PAYMENT_FAILED']) {
      const initiation = { service: 'periodic-payments', body: '{"frequency":"Monthly"}' } as const;
      const { calls } = made([refused(code, 400, `${name} is missing`)], { initiation });
      expect(await failureOf(calls.verify(silent))).toMatchObject({
        hint: 'Give the day of the month with --day, and write "dayOfExecution" into payments.required of the bank file, so that psd2 asks for it.',
      });
    }
  },
);

it.each([
  [['Wrong', 'dayOfExecution is missing']],
  [['dayOfExecution is missing', 'Wrong']],
  [['Wrong', 'Wrong', 'No day of execution']],
])('a bank that speaks of a day in one of several messages is told of --day: %j', async (texts) => {
  const initiation = { service: 'periodic-payments', body: '{"frequency":"Monthly"}' } as const;
  const tppMessages = texts.map((text) => ({ category: 'ERROR', code: 'FORMAT_ERROR', text }));
  const { calls } = made([said({ tppMessages }, 400)], { initiation });
  expect(await failureOf(calls.verify(silent))).toMatchObject({ hint: expect.stringContaining('--day') });
});

it.each<[string, string, boolean]>([
  ['FORMAT_ERROR', '{"creditorAccount":{}}', true],
  ['PARAMETER_NOT_SUPPORTED', '{"creditorAccount":{}}', false],
  ['FORMAT_ERROR', '<Document/>', false],
])('%s for %s tells of a debtor that is not named: %s', async (code, body, tells) => {
  const failure = await failureOf(made([refused(code, 400)], { initiation: { body } }).calls.verify(silent));
  const hint =
    'The payment names no account to debit. If the bank wants one, add --from, and write payments.debtorAccount "required" into the bank file.';
  if (tells) expect(failure).toMatchObject({ hint });
  else expect(failure).not.toMatchObject({ hint });
});

it.each<[string | undefined, boolean]>([
  ['r1', true],
  [undefined, false],
])('an initiation has the id of the request that it had before: %j', async (requestId, hasOne) => {
  const { calls, sent } = made([said({ transactionStatus: 'RCVD', paymentId: 'p1' }, 201)]);
  await calls.verify(silent, requestId);
  expect(sent[0]?.requestId).toBe(requestId);
  expect('requestId' in (sent[0] ?? {})).toBe(hasOne);
});

describe('the account that the customer has chosen', () => {
  const IBAN = 'DE02100100109307118603';
  const OTHER = { iban: 'DE89370400440532013000' };
  const debtorAccount = { iban: 'DE02 1001 0010 9307 1186 03' };
  const sent = { instructedAmount: eur('12.50'), creditorAccount: { iban: 'IT60X0542811101000000123456' } };
  it.each<[string, object, string | null]>([
    ['is what the bank names', { ...sent, debtorAccount }, IBAN],
    ['is what the bank names, with nothing else', { debtorAccount }, IBAN],
    ['may be a masked card', { debtorAccount: { maskedPan: '525412******3241' } }, '525412******3241'],
    ['is masked by psd2 itself', { debtorAccount: { maskedPan: '5254121234563241' } }, '525412******3241'],
    ['is no text for a terminal', { debtorAccount: { iban: '\u001b[31mDE89\u202e\n$(x)' } }, null],
    ['is no endless text', { debtorAccount: { bban: '7'.repeat(71) } }, null],
    ['is not the one of the payee', { ...sent, debtorAccount: sent.creditorAccount }, null],
    ['is unknown of another currency', { debtorAccount, instructedAmount: eur('12.5', 'USD') }, null],
    ['is no card number', { debtorAccount: { pan: '5254123412343241' } }, '************3241'],
    ['is unknown if the bank does not name it', sent, null],
    ['is unknown if it is no account', { ...sent, debtorAccount: {} }, null],
    ['is unknown of another payee', { debtorAccount, creditorAccount: OTHER }, null],
    ['is unknown of another amount', { debtorAccount, instructedAmount: eur('12.51') }, null],
  ])('%s', async (_, answer, expected) => {
    const { calls, sent: asked } = made([said({ transactionStatus: 'ACSC', ...answer })], {
      initiation: { body: JSON.stringify(sent) },
    });
    expect(await calls.debtor?.('p1')).toBe(expected);
    expect(asked).toEqual([about('GET', SELF)]);
  });
});

describe('an initiation', () => {
  const received = (more: object, headers = {}) =>
    said({ transactionStatus: 'RCVD', paymentId: 'p1', ...more }, 201, headers);
  const ofBody = (body: string): Made => ({ initiation: { body } });
  const FEES = { transactionFees: eur('1.50') };
  const EXCHANGE = { currencyConversionFee: eur('2.50') };
  const IN_TWO = { ...FEES, currencyConversionFee: eur('9.00', 'USD') };
  const MESSAGES = { tppMessages: [{ text: 'Late' }, { code: 'W1' }], psuMessage: 'Hi' };
  it.each<[string, Made, object]>([
    ['in JSON', {}, {}],
    ['in XML', ofBody('<Document/>'), { 'content-type': 'application/xml' }],
    ['in XML and JSON', ofBody('--b-1\r\n'), { 'content-type': 'multipart/form-data; boundary=b-1' }],
    ['in a basket', { initiation: { forBasket: true } }, { 'tpp-explicit-authorisation-preferred': 'true' }],
  ])('%s sends its bytes, and can be sent only once', async (_, what, headers) => {
    const { calls, sent } = made([received({})], what);
    expect(await calls.verify(silent)).toEqual(verifiedAs('p1'));
    expect(sent).toEqual([
      {
        ...{ method: 'POST', path: '/v1/payments/sct', body: what.initiation?.body ?? '{"a":1}', headers },
        facts: PLAIN_FACTS,
        ...{
          transactionId: TRANSACTION_ID,
          beforeSend: silent,
          redirectUri: BACK,
          irrevocable: true,
          judged: 'payment',
        },
      },
    ]);
  });

  it.each<[string, object, object]>([
    ['fees', FEES, { commissions: eur('1.50') }],
    ['a fee for the exchange', EXCHANGE, { commissions: eur('2.50') }],
    ['both, of which the sum counts', { ...FEES, ...EXCHANGE }, { commissions: eur('4.00') }],
    [
      'both in two currencies, which psd2 cannot add',
      IN_TWO,
      { commissions: eur('1.50'), unreadFees: '9.00 USD' },
    ],
    ['an amount of all', { estimatedTotalAmount: eur('14.00') }, { totalAmount: eur('14.00') }],
    ['fees that are none', { transactionFees: 'much' }, { unreadFees: '"much"' }],
    ['a message to the customer', { psuMessage: 'Use the app' }, telling('Use the app')],
    ['messages to psd2 and to the customer', MESSAGES, telling('Late', 'W1', 'Hi')],
    ['an SCA status', { scaStatus: 'received' }, { bank: atBank('RCVD', 'received') }],
    ['a rejection', { transactionStatus: 'RJCT' }, { bank: atBank('RJCT'), links: DONE, isRejected: true }],
    ['one that is executed already', { transactionStatus: 'ACSC' }, { bank: atBank('ACSC'), links: DONE }],
    ['a link to another host', { _links: { scaStatus: { href: 'https://evil.example/x' } } }, ELSEWHERE],
    ['a page that is not safe', { _links: { scaRedirect: 'http://evil.example/x' } }, UNSAFE],
  ])('is answered with %s', async (_, answer, verified) => {
    expect(await made([received(answer)]).calls.verify(silent)).toEqual(verifiedAs('p1', verified));
  });

  it.each([
    ['with an error beside its id', { tppMessages: [{ category: 'ERROR', code: 'X' }] }, 201],
    ['with a rejection, and not with 201', { transactionStatus: 'RJCT' }, 202],
  ])('is answered %s: nobody knows what became of it', async (_, answer, status) => {
    const reply = said({ transactionStatus: 'RCVD', paymentId: 'p1', ...answer }, status);
    expect(await failureOf(made([reply]).calls.verify(silent))).toMatchObject({
      ...{ code: 'bank_answer', noProof: expect.any(String) },
    });
  });

  it('is answered with a rejection that has no id: nothing began', async () => {
    const answer = {
      transactionStatus: 'RJCT',
      tppMessages: [{ category: 'ERROR', code: 'AC04', text: 'Closed' }],
    };
    expect(await failureOf(made([said(answer, 201)]).calls.verify(silent))).toMatchObject({
      ...{ code: 'payment_failed', beganNothing: true, reasons: [{ code: 'AC04', text: 'Closed' }] },
    });
  });

  it('is answered without an id: nobody knows what became of it', async () => {
    expect(await failureOf(made([said({ transactionStatus: 'RCVD' }, 201)]).calls.verify(silent))).toEqual({
      code: 'bank_answer',
      message: "The bank's answer to POST /v1/payments/sct does not say that it has begun",
      noProof: 'The answer is a success without the id of a payment',
      ...{ httpStatus: 201, ...IDS },
    });
  });

  it('has no further step', async () => {
    expect(await failureOf(made([]).calls.verifyFurther('p1', 's', 'd', silent))).toEqual(NO_FURTHER);
  });
});

describe('the name and the settlement of a payment', () => {
  const standing = { frequency: 'Monthly', end: null, day: null } as const;
  it.each<[string, Made, boolean]>([
    ['transfer', {}, false],
    ['transfer', { order: { instant: true } }, true],
    ['transfer', { order: { instant: true, futureDated: true } }, false],
    ['standing order', { order: { standing } }, false],
    ['bulk payment', { isBulk: true, order: { standing } }, false],
    ['bulk payment', { isBulk: true, order: { instant: true } }, true],
  ])('%s, %j: settles %s', async (name, what, settles) => {
    const answer = said({ transactionStatus: 'PART' });
    const { calls } = made([answer, answer], what);
    expect([calls.name, calls.execute]).toEqual([name, null]);
    expect(await calls.sca?.status('p1', TRANSACTION_ID)).toMatchObject({
      became: what.isBulk ? 'executed' : null,
    });
    expect(await calls.executionStatus?.('p1')).toEqual(
      settles
        ? {
            ...{ executionStatus: 'PART', executionStatusDescription: null },
            status: what.isBulk ? 'OK' : 'PENDING',
          }
        : undefined,
    );
  });

  it('the bank file says which statuses settle', async () => {
    const file = { payments: { final: ['ACSP' as const] } };
    const { calls } = made([said({ transactionStatus: 'ACSP' })], { order: { instant: true }, file });
    expect(await calls.executionStatus?.('p1')).toMatchObject({ status: 'OK' });
  });
});

describe('the status of a payment', () => {
  it.each([{}, { paymentId: 'p1' }])('decides, with %j', async (more) => {
    const answer = said({ transactionStatus: 'ACTC', ...more });
    const { calls, sent } = made([answer], { order: { futureDated: true } });
    expect(await calls.sca?.status('p1', 'another transaction')).toMatchObject({ became: 'ordered' });
    expect(sent).toEqual([about('GET', `${SELF}/status`, { decides: true })]);
  });

  it('decides an end, with its time, what it costs and what the bank says', async () => {
    const answer = { transactionStatus: 'ACTC', transactionFees: eur('1.50'), psuMessage: 'Hi' };
    const headers = { date: 'Sat, 21 Nov 2026 10:00:00 GMT' };
    const { calls, sent } = made([said(answer, 200, headers)], { order: { futureDated: true } });
    expect(await calls.sca?.status('p1', TRANSACTION_ID, 'an end')).toMatchObject({
      ...{ became: 'ordered', saidAt: '2026-11-21T10:00:00.000Z', messages: ['Hi'] },
      cost: { totalAmount: null, commissions: eur('1.50') },
    });
    expect(sent).toMatchObject([{ decides: 'an end' }]);
  });

  const AT_TEN = { date: 'Sat, 21 Nov 2026 10:00:00 GMT' };
  it.each<[string, Scripted, string | undefined]>([
    ['JSON', said({ transactionStatus: 'ACSP' }, 200, AT_TEN), '2026-11-21T10:00:00.000Z'],
    ['JSON that was stored', said({ transactionStatus: 'ACSP' }, 200, { ...AT_TEN, age: '9' }), undefined],
    ['JSON without a time', said({ transactionStatus: 'ACSP' }), undefined],
    ['XML', { body: REPORT, headers: AT_TEN }, '2026-11-21T10:00:00.000Z'],
    ['XML that was stored', { body: REPORT, headers: { ...AT_TEN, age: '9' } }, undefined],
    ['XML without a time', { body: REPORT }, undefined],
  ])('in %s has the time when the bank said it', async (_, answer, saidAt) => {
    const { calls } = made([answer], { initiation: { body: OURS } });
    const status = await calls.sca?.status('p1', TRANSACTION_ID);
    expect(status).toMatchObject({ authorizationStatus: 'ACSP' });
    expect(status?.saidAt).toBe(saidAt);
  });

  it('of another payment decides nothing', async () => {
    const { calls } = made([said({ transactionStatus: 'ACSC', paymentId: 'p2' })]);
    const asking = Promise.resolve(calls.sca?.status('p1', TRANSACTION_ID));
    expect(await failureOf(asking)).toEqual(aboutAnother('payment', 'p2', 'p1'));
  });

  it('is asked for in XML if the bank has no other one', async () => {
    const none = { ...said({ tppMessages: [] }), status: 406 };
    const { calls, sent } = made([none, page(REPORT)], { initiation: { body: OURS } });
    expect(await calls.sca?.status('p1', TRANSACTION_ID)).toMatchObject({ became: 'executed' });
    const asked = about('GET', `${SELF}/status`, { decides: true });
    expect(sent).toEqual([asked, { ...asked, headers: { accept: 'application/xml' } }]);
  });

  it.each<[string, string, object, string?]>([
    [
      'by its end-to-end id',
      reportOf('ACSP', 'INV-7', 'ACSC'),
      { became: 'executed', authorizationStatus: 'ACSC' },
    ],
    ['by its id at the bank', REPORT.replace('M-1', 'p1'), { became: 'executed' }],
    ['not by another id', reportOf('ACSC', 'INV-8', 'ACSC'), { code: 'bank_answer' }],
    ['not twice', reportOf('ACSC', 'INV-7', 'RJCT'), { code: 'bank_answer' }],
    ['not in a page', REPORT.replace('M-1', 'p1'), { code: 'bank_answer' }, 'text/html'],
  ])(
    'of a payment in JSON is read in XML where the bank has no other one: %s',
    async (_, report, expected, type = 'application/xml') => {
      const none = { ...said({ tppMessages: [] }), status: 406 };
      const answer = { ...page(report), headers: { 'content-type': type } };
      const { calls } = made([none, answer], { initiation: { body: '{"a":1}' } });
      const asked = Promise.resolve(calls.sca?.status('p1', TRANSACTION_ID));
      expect('code' in expected ? await failureOf(asked) : await asked).toMatchObject(expected);
    },
  );

  const IN_XML = 'the answer is application/xml';
  const notJson = `The bank's answer to GET ${SELF}/status is not JSON: ${IN_XML}`;
  const NOT_JSON = { code: 'bank_answer', message: notJson };
  const notAllowed = `The bank does not allow GET ${SELF}/status (HTTP 403): ${IN_XML}`;
  const REFUSED = { code: 'forbidden', message: notAllowed };
  const both = "The bank's answer contradicts itself: it says GrpSts ACSC and TxSts RJCT";
  const CONTRADICTS = { code: 'bank_answer', message: both, contradicts: true };
  it.each<[string, string, Scripted, object]>([
    ['XML', OURS, page(REPORT), { authorizationStatus: 'ACSP', became: 'executed' }],
    ['XML about it alone', OURS, page(reportOf('PART', 'INV-7', 'RJCT')), { became: 'failed' }],
    ['XML about another one alone', OURS, page(reportOf('ACSP', 'E-2', 'ACSC')), { became: 'executed' }],
    ['XML that contradicts itself', OURS, page(reportOf('ACSC', 'INV-7', 'RJCT')), CONTRADICTS],
    ['JSON', '<Document/>', said({ transactionStatus: 'RCVD' }), { authorizationStatus: 'RCVD' }],
    ['XML that is no report', '<Document/>', page('<Document/>'), NOT_JSON],
    ['XML, for a payment in JSON', '{"a":"<"}', page(REPORT), NOT_JSON],
    ['XML with a refusal', '<Document/>', { ...page(REPORT), status: 403 }, REFUSED],
  ])('may come in %s', async (_, body, answer, expected) => {
    const { calls } = made([answer], { initiation: { body } });
    const asked = Promise.resolve(calls.sca?.status('p1', TRANSACTION_ID));
    expect('code' in expected ? await failureOf(asked) : await asked).toMatchObject(expected);
  });
});

describe('why the bank has rejected a payment', () => {
  const why = '<StsRsnInf><Rsn><Cd>AC04</Cd></Rsn><AddtlInf>NOTE: closed</AddtlInf></StsRsnInf>';
  const rejected = REPORT.replace(/<GrpSts>[^<]*<\/GrpSts>/, `<GrpSts>RJCT</GrpSts>${why}`);
  const rejectedWith = (more: object) => said({ transactionStatus: 'RJCT', ...more });
  const nothing = { level: 'message', code: null, proprietary: null, text: null };
  const tppMessages = [{ category: 'ERROR', code: 'FUNDS_NOT_AVAILABLE', text: 'No funds' }];
  const funds = { ...nothing, proprietary: 'FUNDS_NOT_AVAILABLE', text: 'No funds' };
  const words = { ...nothing, text: 'NOTE: x' };
  it.each<[string, string, Scripted, object[] | undefined]>([
    ['XML', OURS, page(rejected), [{ ...nothing, level: 'file', code: 'AC04', text: 'NOTE: closed' }]],
    ['JSON', '{}', rejectedWith({ psuMessage: 'NOTE: x', tppMessages }), [funds, words]],
    ['words alone', '{}', rejectedWith({ psuMessage: 'NOTE: x' }), [words]],
    ['nothing', '{}', rejectedWith({}), undefined],
    ['words of an open payment', '{}', said({ transactionStatus: 'RCVD', psuMessage: 'x' }), undefined],
  ])('in %s', async (_, body, answer, reasons) => {
    const { calls } = made([answer], { initiation: { body } });
    expect((await calls.sca?.status('p1', TRANSACTION_ID))?.reasons).toEqual(reasons);
  });
});

describe('the authorisations of a payment', () => {
  const list = (...authorisationIds: string[]) => said({ authorisationIds });
  const sca = (scaStatus: string, more = {}) => said({ scaStatus, ...more });
  const asked = about('GET', `${SELF}/authorisations`, { decides: true });
  const step = (id: string) => about('GET', `${SELF}/authorisations/${id}`, { decides: true });

  it('are listed', async () => {
    const { calls, sent } = made([list('a1', 'a2')]);
    expect(await calls.sca?.authorisations?.('p1', TRANSACTION_ID)).toEqual(['a1', 'a2']);
    expect(sent).toEqual([asked]);
  });

  const TWO = list('a1', 'a2');
  const TEN = [...'0123456789'];
  const FAILING = TEN.map(() => sca('failed'));
  const WAITING = sca('received', { psuMessage: 'Use the app' });
  const progress = (scaStatus: string, means: string, message: string | null = null) => ({
    ...{ scaStatus, means, message },
  });
  const GOING_ON = progress('received', 'going on', 'Use the app');
  const [DONE_AT, EXEMPT] = [progress('finalised', 'done'), progress('exempted', 'done')];
  it.each<[string, Scripted[], object | null, string[]]>([
    ['none', [list()], null, []],
    ['the one that is done', [TWO, sca('finalised')], progress('finalised', 'done'), ['a1']],
    ['the last one, if none is done', [TWO, sca('failed'), WAITING], GOING_ON, ['a1', 'a2']],
    ['the one that is done, after one that goes on', [TWO, WAITING, sca('finalised')], DONE_AT, ['a1', 'a2']],
    [
      'the one that is done, after one that has failed',
      [TWO, sca('failed'), sca('exempted')],
      EXEMPT,
      ['a1', 'a2'],
    ],
    [
      'the last one, if the first goes on',
      [TWO, WAITING, sca('failed')],
      progress('failed', 'failed'),
      ['a1', 'a2'],
    ],
    ['the last of ten', [list(...TEN), ...FAILING], progress('failed', 'failed'), TEN],
    ['none of eleven', [list(...TEN, 'a')], null, []],
  ])('without a link, what counts is %s', async (_, answers, expected, steps) => {
    const script = made(answers);
    expect(await script.calls.sca?.progressWithoutLink?.('p1', TRANSACTION_ID)).toEqual(expected);
    expect(script.sent).toEqual([asked, ...steps.map(step)]);
  });

  it('one starts at the path of the standard', async () => {
    const { calls, sent } = made([STARTED]);
    expect(await calls.sca?.start(startOf('p1'))).toBe(SITE);
    expect(sent).toEqual([about('POST', `${SELF}/authorisations`, STARTING)]);
  });

  it('of a login has the scope of the payment', async () => {
    expect(await scopeOf(made([], { file: LOGIN_PAGE }).calls.sca, 'p1')).toBe('PIS:p1');
  });
});

const TAKEN = { verdict: 'taken' };

describe('the cancellation of a payment', () => {
  const cancel = (script: ReturnType<typeof made>, wasTaken = false) =>
    Promise.resolve(
      script.calls.cancellation?.request({
        ...{ resourceId: 'p1', redirectUri: BACK, beforeSend: silent, wasTaken },
      }),
    );
  const AUTHORISATIONS = `${SELF}/cancellation-authorisations`;
  const asked = about('DELETE', SELF, { beforeSend: silent, redirectUri: BACK });
  const LINKED = { transactionStatus: 'RCVD', _links: { startAuthorisation: { href: AUTHORISATIONS } } };

  const WANTED = { approach: null, start: AUTHORISATIONS };
  const ELSEWHERE = { 'aspsp-sca-approach': 'DECOUPLED' };
  const MAYBE = { verdict: 'taken', mayWantCustomer: true };
  it.each<[string, Scripted, object]>([
    ['taken at once', { status: 204 }, TAKEN],
    ['taken at once, in words', said({ transactionStatus: 'CANC' }), TAKEN],
    ['for the customer to authorise', said(LINKED, 202), { verdict: 'to be authorised', links: WANTED }],
    [
      'for the customer to authorise elsewhere',
      { status: 202, headers: ELSEWHERE },
      { verdict: 'to be authorised', links: { approach: 'decoupled' } },
    ],
    ['taken, perhaps for the customer to authorise', said({}, 202), MAYBE],
    ['taken, without a word', { status: 202 }, MAYBE],
  ])('is %s', async (_, answer, expected) => {
    const script = made([answer]);
    expect(await cancel(script)).toEqual({ notices: [], ...expected });
    expect(script.sent).toEqual([asked]);
  });

  const WORDS = { tppMessages: [{ category: 'WARNING', code: 'W1', text: 'Late' }], psuMessage: 'Hi' };
  it.each<[string, Scripted, object, string[]]>([
    ['is taken at once', said(WORDS), TAKEN, ['Late', 'Hi']],
    ['is taken, perhaps for the customer to authorise', said(WORDS, 202), MAYBE, ['Late', 'Hi']],
    [
      'is for the customer to authorise',
      said({ ...LINKED, ...WORDS }, 202),
      { verdict: 'to be authorised', links: { ...WANTED, message: 'Hi' } },
      ['Late', 'Hi'],
    ],
    ['is told to the customer alone', said({ psuMessage: 'Hi' }), TAKEN, ['Hi']],
    ['is told to psd2 alone', said({ tppMessages: WORDS.tppMessages }), TAKEN, ['Late']],
  ])('that %s keeps what the bank says beside it', async (_, answer, expected, messages) => {
    expect(await cancel(made([answer]))).toMatchObject({ ...expected, messages });
  });

  it('of a payment that the bank does not know is proof only after one that it has taken', async () => {
    const unknown = refused('RESOURCE_UNKNOWN', 404);
    expect(await cancel(made([unknown]), true)).toEqual({ verdict: 'is gone', notices: [] });
    expect(await failureOf(cancel(made([unknown])))).toMatchObject({ isNotKnown: true });
  });

  it.each([true, false])('takes a TAN, and says what it is for: %s', async (isOfCancellation) => {
    const { calls, sent } = made([said({ scaStatus: 'finalised' })], {
      file: { sca: { approaches: ['embedded'] } },
    });
    const sca = isOfCancellation ? calls.cancellation?.sca : calls.sca;
    await sca?.give?.({
      ...{ resourceId: 'p1', links: { approach: 'embedded', id: 'a1', step: { next: 'code' } } },
      ...{ gift: { what: 'method', value: '1' }, redirectUri: BACK, psu: undefined },
      ...{ transactionId: TRANSACTION_ID, beforeSend: silent },
    });
    const gives = isOfCancellation ? { what: 'method', ofCancellation: true } : { what: 'method' };
    expect(sent[0]?.gives).toEqual(gives);
    expect(sent[0]?.path).toBe(`${isOfCancellation ? AUTHORISATIONS : `${SELF}/authorisations`}/a1`);
  });

  it('is authorised at a path of its own', async () => {
    const { calls, sent } = made([STARTED, said({ authorisationIds: ['a'] })]);
    expect(await calls.cancellation?.sca.start(startOf('p1'))).toBe(SITE);
    expect(sent).toEqual([about('POST', AUTHORISATIONS, STARTING)]);
    expect(await calls.cancellation?.sca.authorisations?.('p1', TRANSACTION_ID)).toEqual(['a']);
  });

  const direct = { payments: 'none', 'periodic-payments': 'direct' } as const;
  it.each([
    ['none', 'payments', false],
    [direct, 'payments', false],
    [direct, 'periodic-payments', true],
    [direct, 'signing-baskets', true],
  ] as const)('%j says of %s whether the bank has it: %s', async (how, service, isThere) => {
    const file = { payments: { cancel: how } };
    const asking = cancel(made([{ status: 204 }], { file, initiation: { service } }));
    if (isThere) expect(await asking).toMatchObject(TAKEN);
    else
      expect(await failureOf(asking)).toEqual({
        code: 'usage',
        message: 'This bank cancels no payments',
        hint: 'The customer can ask the bank. What becomes of the payment, psd2 asks the bank.',
      });
  });

  it('meets a refusal that is not the bank’s own: nobody knows', async () => {
    expect(await failureOf(cancel(made([{ status: 405 }])))).toMatchObject({
      code: 'outcome_unknown',
      message: `The answer to DELETE ${SELF} is not the bank's own word (HTTP 405): the answer is empty. It does not say what became of it`,
    });
  });
});

describe('a signing basket', () => {
  const BASKET = '/v1/signing-baskets/b1';
  function basket(answers: Scripted[], file: Omit<BankFile, 'interface'> = {}) {
    const script = scriptedCalls(answers, { payments: { executesWithoutSca: 'never' }, ...file });
    const baskets = basketsOf(script.calls, script.oauth);
    const back = { address: BACK, state: 's1' };
    const initiation = baskets.initiation(['p1', 'p2'], back, () => '01234567-89ab-4cde-8f01-23456789abcd');
    const calls = baskets.calls({ transactionId: TRANSACTION_ID, initiation });
    return { ...script, baskets, initiation, calls };
  }
  const EXEMPTED = { transactionStatus: 'ACTC', scaStatus: 'exempted' };
  const created = (more: object) => said({ transactionStatus: 'RCVD', basketId: 'b1', ...more }, 201);
  it('is kept with its payments', () => {
    const { initiation, calls } = basket([]);
    expect(initiation).toEqual({
      ...{ service: 'signing-baskets', product: '', endToEndId: '0123456789ab4cde8f0123456789abcd' },
      ...{ body: '{"paymentIds":["p1","p2"]}', returnAddress: BACK, returnState: 's1', repeatMinutes: null },
      ...{ needsLink: true, executesWithoutSca: 'never' },
    });
    expect([calls.name, calls.execute, calls.executionStatus]).toEqual(['signing basket', null, null]);
  });

  it.each([
    [404, said('<html></html>', 404), true],
    [405, refused('SERVICE_INVALID', 405), true],
    [501, said('<html></html>', 501), true],
    // They are about a payment in it.
    [404, refused('RESOURCE_UNKNOWN', 404), false],
    [404, refused('REFERENCE_STATUS_INVALID', 404), false],
    [400, refused('SERVICE_INVALID', 400), false],
    [409, refused('REFERENCE_STATUS_INVALID', 409), false],
    [502, said('<html></html>', 502), false],
  ])(
    'refused with %i: whether the bank has none is known from the answer: %#',
    async (status, answer, hasNone) => {
      const error = await failureOf(basket([answer]).calls.verify(silent));
      const says = expect.stringMatching(/^The bank has no signing baskets: /);
      expect(error).toMatchObject({ httpStatus: status });
      const none = { code: 'bank_refused', beganNothing: true, lacksService: true, message: says };
      if (hasNone) expect(error).toMatchObject(none);
      else {
        expect(error).not.toMatchObject({ message: says });
        expect(error).not.toHaveProperty('lacksService');
      }
    },
  );

  it.each([
    ['other payments', { body: '{"paymentIds":["p1","p3"]}' }],
    ['payments in another order', { body: '{"paymentIds":["p2","p1"]}' }],
    ['one payment more', { body: '{"paymentIds":["p1","p2","p2"]}' }],
    ['a field more', { body: '{"paymentIds":["p1","p2"],"more":1}' }],
    ['no payments', { body: '{}' }],
    ['no JSON', { body: '{' }],
    ['payments that are there twice', { body: '{"paymentIds":["p3"],"paymentIds":["p1","p2"]}' }],
    ['another service', { service: 'payments' as const }],
  ])('that somebody has given %s is refused', (_, changed) => {
    const { baskets, initiation } = basket([]);
    baskets.refuseOther(['p1', 'p2'], initiation);
    expect(errorOf(() => baskets.refuseOther(['p1', 'p2'], { ...initiation, ...changed }))).toEqual(
      OTHER_THAN_ORDERED,
    );
  });

  it.each<[string | undefined, object]>([
    [undefined, {}],
    ['r1', { requestId: 'r1' }],
  ])('is created once, with the id %j', async (requestId, more) => {
    const { calls, sent, initiation } = basket([created({})]);
    expect(await calls.verify(silent, requestId)).toEqual(verifiedAs('b1'));
    expect(sent).toEqual([
      {
        ...{ method: 'POST', path: '/v1/signing-baskets', body: initiation.body, beforeSend: silent },
        facts: PLAIN_FACTS,
        ...{
          transactionId: TRANSACTION_ID,
          redirectUri: BACK,
          irrevocable: true,
          judged: 'signing basket',
          ...more,
        },
      },
    ]);
  });

  it.each<[string, object, object]>([
    ['messages', { tppMessages: [{ text: 'Late' }], psuMessage: 'Hi' }, telling('Late', 'Hi')],
    ['an SCA status', { scaStatus: 'received' }, { bank: atBank('RCVD', 'received') }],
    ['nothing more to authorise', EXEMPTED, { bank: atBank('ACTC', 'exempted'), links: DONE }],
    ['a rejection', { transactionStatus: 'RJCT' }, { bank: atBank('RJCT'), links: DONE, isRejected: true }],
    [
      'a rejection, because there is another one',
      { transactionStatus: 'RJCT', statusReason: { code: 'AM05' } },
      {
        ...{ bank: atBank('RJCT'), links: DONE, isRejected: true, isDuplicate: true },
        reasons: [{ level: 'group', code: 'AM05', proprietary: null, text: null }],
      },
    ],
    ['a link to another host', { _links: { scaStatus: 'https://evil.example/x' } }, ELSEWHERE],
    ['a page that is not safe', { _links: { scaRedirect: 'http://evil.example/x' } }, UNSAFE],
  ])('is answered with %s', async (_, answer, verified) => {
    expect(await basket([created(answer)]).calls.verify(silent)).toEqual(verifiedAs('b1', verified));
  });

  it('has no further step', async () => {
    expect(await failureOf(basket([]).calls.verifyFurther('b1', 's', 'd', silent))).toEqual(NO_FURTHER);
  });

  it.each<[string, object, object?]>([
    ['RCVD', { became: null, awaitsSca: true }],
    ['ACTC', { became: 'ordered' }],
    ['ACSC', { became: 'executed' }],
    ['RJCT', { became: 'failed' }],
    ['RJCT', { became: 'duplicate' }, { statusReason: { code: 'DU01' } }],
  ])('has the status %s: %j', async (transactionStatus, means, more = {}) => {
    const { calls, sent } = basket([said({ transactionStatus, ...more })]);
    expect(await calls.sca?.status('b1', TRANSACTION_ID)).toMatchObject(means);
    expect(sent).toEqual([about('GET', `${BASKET}/status`, { decides: true })]);
  });

  it('has authorisations, and one starts at its own path', async () => {
    const { calls, sent } = basket([said({ authorisationIds: ['a1'] }), STARTED]);
    expect(await calls.sca?.authorisations?.('b1', TRANSACTION_ID)).toEqual(['a1']);
    expect(await calls.sca?.start(startOf('b1'))).toBe(SITE);
    expect(sent).toEqual([
      about('GET', `${BASKET}/authorisations`, { decides: true }),
      about('POST', `${BASKET}/authorisations`, STARTING),
    ]);
  });

  it('has a status that decides an end, with its time, its reasons and what the bank says', async () => {
    const answer = {
      ...{ transactionStatus: 'RJCT', psuMessage: 'Sorry' },
      statusReason: { code: 'AC04' },
    };
    const { calls, sent } = basket([said(answer, 200, { date: 'Sat, 21 Nov 2026 10:00:00 GMT' })]);
    expect(await calls.sca?.status('b1', TRANSACTION_ID, 'an end')).toMatchObject({
      ...{ became: 'failed', saidAt: '2026-11-21T10:00:00.000Z' },
      reasons: [
        { level: 'group', code: 'AC04' },
        { level: 'message', text: 'Sorry' },
      ],
    });
    expect(sent).toEqual([about('GET', `${BASKET}/status`, { decides: 'an end' })]);
  });

  it('may cost something', async () => {
    const fees = { transactionFees: eur('1.50'), estimatedTotalAmount: eur('14.00') };
    expect(await basket([created(fees)]).calls.verify(silent)).toEqual(
      verifiedAs('b1', { commissions: eur('1.50'), totalAmount: eur('14.00') }),
    );
  });

  it.each<[string, Scripted, boolean, object]>([
    ['deleted', { status: 204 }, false, { verdict: 'taken', notices: [] }],
    ['deleted, with an empty answer', said({}), false, { verdict: 'taken', notices: [] }],
    ['perhaps deleted later', { status: 202 }, false, { verdict: 'taken', notices: [] }],
    ['gone', refused('RESOURCE_UNKNOWN', 404), true, { verdict: 'is gone', notices: [] }],
  ])('is %s', async (_, answer, wasTaken, expected) => {
    const { calls, sent } = basket([answer]);
    const asked = { resourceId: 'b1', redirectUri: BACK, beforeSend: silent, wasTaken };
    expect(await calls.cancellation?.request(asked)).toEqual(expected);
    expect(sent).toEqual([about('DELETE', BASKET, { beforeSend: silent })]);
  });

  it('that the bank does not know was never deleted, if the bank has taken no deletion', async () => {
    const { calls } = basket([refused('RESOURCE_UNKNOWN', 404)]);
    const asked = { resourceId: 'b1', redirectUri: BACK, beforeSend: silent, wasTaken: false };
    const asking = Promise.resolve(calls.cancellation?.request(asked));
    expect(await failureOf(asking)).toMatchObject({ isNotKnown: true });
  });

  it('has a login with the scope of the basket', async () => {
    expect(await scopeOf(basket([], LOGIN_PAGE).calls.sca, 'b1')).toBe('PIS:b1');
  });
});
