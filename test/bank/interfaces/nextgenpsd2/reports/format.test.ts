import { describe, expect, it } from 'vitest';
import type { BankCall } from '../../../../../src/bank/call/call.ts';
import type { BankFile } from '../../../../../src/bank/interfaces/nextgenpsd2/description/schema.ts';
import {
  askAnyReport,
  askForDocument,
  askForReport,
  lacksFormat,
} from '../../../../../src/bank/interfaces/nextgenpsd2/reports/format.ts';
import type { ConsentSource } from '../../../../../src/bank/ports/call.ts';
import { Psd2Error } from '../../../../../src/errors.ts';
import {
  failureOf,
  IDS,
  PLAIN_FACTS,
  refused,
  type Scripted,
  said,
  scriptedCalls,
  TRANSACTION_ID,
} from '../scripted.ts';

// Which format a report has, by its first characters and what the bank calls it; in which order the bank is asked for each.

const CALL: BankCall = {
  ...{ method: 'GET', path: '/v1/accounts/a1/transactions', transactionId: TRANSACTION_ID },
  facts: { ...PLAIN_FACTS, needsConsent: true, reads: { account: 'a1', of: 'transactions' } },
  headers: { 'consent-id': 'c1', 'x-own': 'o' },
};

/** The format as which an answer is read: none of these bodies is a whole report, and each format refuses it in its own words. */
async function formatOf(body: string | Buffer, type?: string) {
  const answer = { body, headers: type === undefined ? {} : { 'content-type': type } };
  const failure = JSON.stringify(
    await failureOf(askAnyReport(scriptedCalls([answer]).calls, CALL, undefined)),
  );
  if (failure.includes('The XML')) return 'camt';
  if (/statement|currency of the account|opening balance|field\b/i.test(failure)) return 'mt940';
  return failure.includes('is not JSON') ? 'json' : failure;
}

const [XML, TEXT, HTML] = ['application/xml', 'text/plain', 'text/html'];
const BOM = Buffer.from([0xef, 0xbb, 0xbf]).toString('latin1');
const latin1 = (text: string) => Buffer.from(text, 'latin1');

it.each<[string, string | undefined, 'camt' | 'mt940' | 'json']>([
  ['<?xml version="1.0"?><a/>', undefined, 'camt'],
  ['<Document/>', undefined, 'camt'],
  ['<Document xmlns="x"/>', undefined, 'camt'],
  ['<ns2:Document/>', undefined, 'camt'],
  [' \r\n<Document/>', undefined, 'camt'],
  ['\u0001<Document/>', undefined, 'camt'],
  ['<Documents/>', undefined, 'json'],
  ['<a:b:Document/>', undefined, 'json'],
  ['<xml/>', undefined, 'json'],
  ['x<Document/>', undefined, 'json'],
  // What the bank calls XML is XML if it looks like it.
  ['<Documents/>', XML, 'camt'],
  ['<Documents/>', 'text/xml; charset=UTF-8', 'camt'],
  ['<Documents/>', 'Application/Vnd.Bank+XML', 'camt'],
  ['<Documents/>', 'application/xmlx', 'json'],
  ['<Documents/>', 'xml', 'json'],
  ['<Documents/>', 'application/xhtml+xml', 'json'],
  ['Documents', XML, 'json'],
  // A page of a gateway, whatever it is called.
  ['<?xml version="1.0"?><html>', TEXT, 'json'],
  ['<?xml version="1.0"?><HTML>', TEXT, 'json'],
  ['<?xml version="1.0"?><!DOCTYPE html>', TEXT, 'json'],
  ['<?xml version="1.0"?><!doctype HTML>', TEXT, 'json'],
  ['<html>', HTML, 'json'],
  [`<Document>${' '.repeat(1000)}<html>`, undefined, 'camt'],
  ['{1:F01X}', undefined, 'mt940'],
  ['{"1:', undefined, 'json'],
  [':20:X', undefined, 'mt940'],
  ['\u0001:20:X', undefined, 'mt940'],
  [' \n:20:X', undefined, 'mt940'],
  [':21:X', undefined, 'mt940'],
  [':25:X\n:60F:Y', undefined, 'mt940'],
  [':28C:X', undefined, 'mt940'],
  [':28CC:X', undefined, 'json'],
  [':30:X', undefined, 'json'],
  [':2:X', undefined, 'json'],
  ['x:20:X', undefined, 'json'],
  // Lines of a bank before the message: then the second field says what it is, or the bank.
  ['BANK\n:20:X\n:25:Y\n:60F:Z', undefined, 'mt940'],
  ['BANK\n:20:X\nmore\n:28C:Y', undefined, 'mt940'],
  ['BANK\n:20:X\n:61:Y', undefined, 'json'],
  ['BANK\n:25:Y', undefined, 'json'],
  ['BANK\n:25:Y\n:20:X', undefined, 'json'],
  ['BANK\n:20:X\n:61:Y', TEXT, 'mt940'],
  ['BANK\n:61:Y', 'Text/Plain;charset=utf-8', 'mt940'],
  ['BANK\n:61:Y', 'x-text/plain', 'json'],
  ['BANK :61:Y', TEXT, 'json'],
  ['BANK\n:6:Y', TEXT, 'json'],
  ['BANK', TEXT, 'json'],
  ['', TEXT, 'json'],
])('%j, which the bank calls %s, is read as %s', async (body, type, format) => {
  expect(await formatOf(body, type)).toBe(format);
  if (body !== '' && !body.startsWith('\u0001'))
    expect(await formatOf(latin1(BOM + body), type)).toBe(format);
});

it('JSON is JSON, whatever the bank calls it', async () => {
  for (const type of [XML, TEXT]) {
    const answer = said({ transactions: { booked: [] } }, 200, { 'content-type': type });
    const read = await askAnyReport(scriptedCalls([answer]).calls, CALL, undefined);
    expect(read).toMatchObject({ data: { transactions: { booked: [] } }, status: 200 });
    expect(read).not.toHaveProperty('isPart');
  }
});

it('a refusal is none, whatever it looks like', async () => {
  for (const body of ['<?xml version="1.0"?><a/>', ':20:X']) {
    const { calls } = scriptedCalls([{ status: 403, body }]);
    expect(await failureOf(askAnyReport(calls, CALL, undefined))).toMatchObject({ code: 'forbidden' });
  }
});

describe('a report that is no JSON', () => {
  const camt = (amount: string) =>
    `<Document xmlns="urn:iso:std:iso:20022:tech:xsd:camt.053.001.08"><BkToCstmrStmt><Stmt><Ntry><Amt Ccy="${amount}</Amt><CdtDbtInd>DBIT</CdtDbtInd><Sts>BOOK</Sts></Ntry></Stmt></BkToCstmrStmt></Document>`;
  const read = (answer: Scripted) => askAnyReport(scriptedCalls([answer]).calls, CALL, 'CHF');
  const headers = { 'x-request-id': 'r1', 'content-type': XML };

  it('has the status and the headers of its answer, and says whether it is a part', async () => {
    expect(await read({ body: camt('EUR">1.00'), headers })).toMatchObject({
      ...{ status: 200, headers, notices: [], isPart: false, contradictions: [] },
      data: { transactions: { booked: [{ transactionAmount: { amount: '-1.00', currency: 'EUR' } }] } },
    });
  });

  it('has the currency of the list, if it names none', async () => {
    const body = ':20:S\n:25:1\n:13D:2611212210+0000\n:61:261121C5,NTRFX\n-';
    expect(await read({ body })).toMatchObject({
      data: { transactions: { pending: [{ transactionAmount: { amount: '5', currency: 'CHF' } }] } },
      ...{ isPart: false, contradictions: [] },
    });
  });

  it('may begin with a byte order mark', async () => {
    expect(await read({ body: `\uFEFF${camt('EUR">1.00')}` })).toHaveProperty('data');
    const words = camt('EUR">1.00').replace('</Ntry>', '<AddtlNtryInf>a\uFEFFb</AddtlNtryInf></Ntry>');
    expect(JSON.stringify(await read({ body: words }))).toContain('a\uFEFFb');
  });

  const SAYS = "The bank's answer to GET /v1/accounts/a1/transactions cannot be read. ";
  it.each<[string, Scripted, string, object]>([
    ['with its ids', { body: '<Document/>', headers }, 'The XML begins with "Document"', { requestId: 'r1' }],
    ['without an id of the bank', { body: '<Document/>' }, 'The XML begins with "Document"', {}],
    ['in no charset', { body: latin1('<Document>\u00e9</Document>') }, 'It is not UTF-8, and declares', {}],
    ['whose rows cannot be read', { body: camt(`EUR">${'1'.repeat(65)}`) }, 'The amount "1', {}],
  ])('is refused %s', async (_, answer, what, more) => {
    const failure = await failureOf(read(answer));
    expect(failure).toEqual({
      ...{ code: 'bank_answer', httpStatus: 200, ...IDS, ...more },
      message: expect.stringContaining(`${SAYS}${what}`),
    });
  });
});

describe('the order of formats', () => {
  const file: Omit<BankFile, 'interface'> = { accounts: { reports: ['json', 'camt', 'mt940'] } };
  const JSON_ROWS = said({ transactions: { booked: [] } });
  const NONE = refused('REQUESTED_FORMATS_INVALID', 406);
  async function asked(answers: Scripted[], last?: 'json' | 'camt' | 'mt940') {
    const taken: unknown[] = [];
    const consents: ConsentSource = {
      for: () => Promise.reject(new TypeError('No consent is needed')),
      reportOf: (consentId) => (consentId === 'c1' ? last : undefined),
      took: async (...what) => void taken.push(what),
    };
    const { calls, sent } = scriptedCalls(answers, file, consents);
    const reading = askForReport(calls, CALL, undefined);
    const result = await reading.then(
      ({ call }) => call.headers,
      (error: unknown) => (error instanceof Psd2Error ? error.httpStatus : error),
    );
    return { result, taken, formats: sent.map(({ headers }) => headers?.accept) };
  }
  const OWN = CALL.headers;
  const accepting = (accept: string) => ({ ...OWN, accept });

  it.each<[string, Scripted[], 'json' | 'camt' | 'mt940' | undefined, object]>([
    ['the first', [JSON_ROWS], undefined, { result: OWN, taken: [], formats: [undefined] }],
    [
      'the next that the bank has',
      [NONE, JSON_ROWS],
      undefined,
      { result: accepting(XML), taken: [['c1', 'camt']], formats: [undefined, XML] },
    ],
    ['the one that it had', [JSON_ROWS], 'camt', { result: accepting(XML), taken: [], formats: [XML] }],
    [
      'the one that it had, then the others in their order',
      [NONE, NONE, JSON_ROWS],
      'mt940',
      { result: accepting(XML), taken: [['c1', 'camt']], formats: [TEXT, undefined, XML] },
    ],
    [
      'none after the last',
      [NONE, NONE, NONE],
      undefined,
      { result: 406, taken: [], formats: [undefined, XML, TEXT] },
    ],
    [
      'none after another refusal',
      [{ status: 403 }],
      undefined,
      { result: 403, taken: [], formats: [undefined] },
    ],
  ])('is asked for: %s', async (_, answers, last, expected) => {
    expect(await asked(answers, last)).toEqual(expected);
  });

  const unasked = () => Promise.reject(new TypeError('No consent is needed'));
  it.each<[string, ConsentSource | undefined]>([
    ['has no consents', undefined],
    ['remembers no format', { for: unasked }],
    [
      'remembers none of a call without a consent',
      { for: unasked, reportOf: (id) => (id ? 'mt940' : 'json') },
    ],
  ])('is that of the bank file for who %s', async (_, consents) => {
    const { calls, sent } = scriptedCalls([NONE, JSON_ROWS], file, consents);
    const { headers: __, ...bare } = CALL;
    const read = await askForReport(calls, bare, undefined);
    expect(sent.map(({ headers }) => headers)).toEqual([undefined, { accept: XML }]);
    expect(read.call).toEqual({ ...bare, headers: { accept: XML } });
  });

  it('of a document behind a link is any', async () => {
    const { calls, sent } = scriptedCalls([JSON_ROWS], file);
    expect(await askForDocument(calls, CALL, undefined)).toMatchObject({
      data: { transactions: { booked: [] } },
    });
    expect(sent).toEqual([
      { ...CALL, headers: accepting('application/json, application/xml, text/plain, */*;q=0.1') },
    ]);
  });

  it.each<[string, unknown, boolean]>([
    ['406', new Psd2Error('bank_refused', 'No', { httpStatus: 406 }), true],
    [
      'the code',
      new Psd2Error('bank_refused', 'No', { httpStatus: 400, bankCode: 'REQUESTED_FORMATS_INVALID' }),
      true,
    ],
    [
      'another code',
      new Psd2Error('bank_refused', 'No', { httpStatus: 400, bankCode: 'FORMAT_ERROR' }),
      false,
    ],
    ['another status', new Psd2Error('bank_refused', 'No', { httpStatus: 405 }), false],
    ['no error of a call', { httpStatus: 406 }, false],
  ])('%s says whether the bank lacks one', (_, error, lacks) => {
    expect(lacksFormat(error)).toBe(lacks);
  });
});
