import { describe, expect, test } from 'vitest';
import { type ReportHeader, writePain002 } from '../../../src/batch-file/report/pain002.ts';
import type { LineState, ReportRow } from '../../../src/domain/batch/report-row.ts';
import { parseDate } from '../../../src/domain/calendar.ts';
import { OPERATION_STATES } from '../../../src/domain/operation.ts';
import { parsePaymentAmount } from '../../../src/domain/order/payment-amount.ts';
import { reportRow, textOf } from '../rows.ts';

const HEADER: ReportHeader = {
  ...{ messageId: 'psd2-1', createdAt: '2026-11-23T10:00:00+01:00', originalMessageId: 'M-1' },
  originalFormat: 'pain.001.001.09',
};
const NO_IDS = { paymentInformationId: null, instructionId: null, endToEndId: null };

function write(rows: ReportRow[], header: Partial<ReportHeader> = {}): Promise<string> {
  return textOf(writePain002(rows, { ...HEADER, ...header }));
}

/** Returns the texts of all elements of a name. */
function all(document: string, name: string): string[] {
  return [...document.matchAll(new RegExp(`<${name}>([^<]*)</${name}>`, 'g'))].map(([, text = '']) => text);
}

describe('the report of a batch as pain.002', () => {
  test('says of each payment all that is known, by the ids of its file', async () => {
    const rows = [
      reportRow({
        ...{ executionDate: parseDate('--date', '2026-12-01'), paidAt: '2026-12-01T10:00:00+01:00' },
        ids: { paymentInformationId: 'P-1', instructionId: 'I-1', endToEndId: 'F-1' },
      }),
      reportRow({
        ...{ line: 2, flow: null, state: 'waiting', from: null, description: '' },
        ids: { ...NO_IDS, paymentInformationId: 'P-1' },
      }),
      reportRow({
        ...{ line: 3, flow: 'f-3', state: 'failed', reason: 'No <money> & no "credit"' },
        ...{ from: 'IT60X0542811101000000123456', amount: parsePaymentAmount('1'), ids: NO_IDS },
        ...{ endToEndId: null },
      }),
    ];
    expect(await write(rows)).toMatchInlineSnapshot(`
      "<?xml version="1.0" encoding="UTF-8"?>
      <Document xmlns="urn:iso:std:iso:20022:tech:xsd:pain.002.001.10">
      <CstmrPmtStsRpt>
      <GrpHdr><MsgId>psd2-1</MsgId><CreDtTm>2026-11-23T10:00:00+01:00</CreDtTm></GrpHdr>
      <OrgnlGrpInfAndSts><OrgnlMsgId>M-1</OrgnlMsgId><OrgnlMsgNmId>pain.001.001.09</OrgnlMsgNmId></OrgnlGrpInfAndSts>
      <OrgnlPmtInfAndSts><OrgnlPmtInfId>P-1</OrgnlPmtInfId>
      <TxInfAndSts><StsId>f-1</StsId><OrgnlInstrId>I-1</OrgnlInstrId><OrgnlEndToEndId>F-1</OrgnlEndToEndId>
      <TxSts>ACSP</TxSts><StsRsnInf><AddtlInf>executed</AddtlInf></StsRsnInf>
      <AccptncDtTm>2026-12-01T10:00:00+01:00</AccptncDtTm><OrgnlTxRef><Amt><InstdAmt Ccy="EUR">12.50</InstdAmt></Amt><ReqdExctnDt><Dt>2026-12-01</Dt></ReqdExctnDt>
      <RmtInf><Ustrd>Invoice 7</Ustrd></RmtInf><DbtrAcct><Id><Othr><Id>0000012345</Id></Othr></Id></DbtrAcct>
      <Cdtr><Pty><Nm>Mario Rossi</Nm></Pty></Cdtr><CdtrAcct><Id><IBAN>IT60X0542811101000000123456</IBAN></Id></CdtrAcct></OrgnlTxRef></TxInfAndSts>
      <TxInfAndSts><OrgnlEndToEndId>E-1</OrgnlEndToEndId>
      <TxSts>RCVD</TxSts><StsRsnInf><AddtlInf>waiting</AddtlInf></StsRsnInf>
      <OrgnlTxRef><Amt><InstdAmt Ccy="EUR">12.50</InstdAmt></Amt>

      <Cdtr><Pty><Nm>Mario Rossi</Nm></Pty></Cdtr><CdtrAcct><Id><IBAN>IT60X0542811101000000123456</IBAN></Id></CdtrAcct></OrgnlTxRef></TxInfAndSts>
      </OrgnlPmtInfAndSts>
      <OrgnlPmtInfAndSts><OrgnlPmtInfId>M-1</OrgnlPmtInfId>
      <TxInfAndSts><StsId>f-3</StsId><OrgnlEndToEndId>R-1</OrgnlEndToEndId>
      <TxSts>RJCT</TxSts><StsRsnInf><AddtlInf>failed</AddtlInf><AddtlInf>No &lt;money&gt; &amp; no &#34;credit&#34;</AddtlInf></StsRsnInf>
      <OrgnlTxRef><Amt><InstdAmt Ccy="EUR">1.00</InstdAmt></Amt>
      <RmtInf><Ustrd>Invoice 7</Ustrd></RmtInf><DbtrAcct><Id><IBAN>IT60X0542811101000000123456</IBAN></Id></DbtrAcct>
      <Cdtr><Pty><Nm>Mario Rossi</Nm></Pty></Cdtr><CdtrAcct><Id><IBAN>IT60X0542811101000000123456</IBAN></Id></CdtrAcct></OrgnlTxRef></TxInfAndSts>
      </OrgnlPmtInfAndSts>
      </CstmrPmtStsRpt>
      </Document>
      "
    `);
  });

  test('has each reason with its code, the one that counts first', async () => {
    const nothing = { level: 'payment', code: null, proprietary: null, text: null } as const;
    const found = await write([
      reportRow({
        ...{ state: 'failed', reason: 'AC01: No such IBAN; X&9: See below' },
        bankReasons: [
          { ...nothing, code: 'AC01', text: 'No such IBAN' },
          { ...nothing, level: 'file', proprietary: 'X&9', text: 'See below' },
          { ...nothing, level: 'file', code: 'AC01', proprietary: 'Y', text: 'No such IBAN' },
        ],
      }),
      reportRow({ state: 'failed', bankReasons: [{ ...nothing, text: 'NOTE: closed' }] }),
    ]);
    expect(found.match(/<StsRsnInf>.*/g)).toEqual([
      '<StsRsnInf><Rsn><Cd>AC01</Cd></Rsn><AddtlInf>failed</AddtlInf><AddtlInf>AC01: No such IBAN; X&amp;9: See below</AddtlInf></StsRsnInf><StsRsnInf><Rsn><Prtry>X&amp;9</Prtry></Rsn><AddtlInf>See below</AddtlInf></StsRsnInf><StsRsnInf><Rsn><Cd>AC01</Cd></Rsn><AddtlInf>No such IBAN</AddtlInf></StsRsnInf>',
      '<StsRsnInf><AddtlInf>failed</AddtlInf></StsRsnInf>',
    ]);
  });

  test('answers a CSV, which has no message, and says so', async () => {
    expect(await write([], { originalFormat: 'csv', originalMessageId: 'b-1' })).toMatchInlineSnapshot(`
      "<?xml version="1.0" encoding="UTF-8"?>
      <Document xmlns="urn:iso:std:iso:20022:tech:xsd:pain.002.001.10">
      <CstmrPmtStsRpt>
      <GrpHdr><MsgId>psd2-1</MsgId><CreDtTm>2026-11-23T10:00:00+01:00</CreDtTm></GrpHdr>
      <OrgnlGrpInfAndSts><OrgnlMsgId>b-1</OrgnlMsgId><OrgnlMsgNmId>NOTPROVIDED</OrgnlMsgNmId></OrgnlGrpInfAndSts>
      </CstmrPmtStsRpt>
      </Document>
      "
    `);
  });

  test('has a group for each PmtInf, and one with the id of the message for what has none', async () => {
    const inGroup = (paymentInformationId: string | null) =>
      reportRow({ ids: { ...NO_IDS, paymentInformationId } });
    const document = await write(['P-1', 'P-1', 'P-2', null, null].map(inGroup));
    expect(
      document.match(/<\/?OrgnlPmtInfAndSts>|<OrgnlPmtInfId>[^<]*|<TxInfAndSts>/g),
    ).toMatchInlineSnapshot(`
      ["<OrgnlPmtInfAndSts>", "<OrgnlPmtInfId>P-1", "<TxInfAndSts>", "<TxInfAndSts>",
       "</OrgnlPmtInfAndSts>", "<OrgnlPmtInfAndSts>", "<OrgnlPmtInfId>P-2", "<TxInfAndSts>",
       "</OrgnlPmtInfAndSts>", "<OrgnlPmtInfAndSts>", "<OrgnlPmtInfId>M-1", "<TxInfAndSts>",
       "<TxInfAndSts>", "</OrgnlPmtInfAndSts>"]
    `);
  });

  test('rejects only what surely was not paid', async () => {
    const states: LineState[] = ['waiting', ...OPERATION_STATES];
    const statuses: Record<LineState, string> = {
      ...{ waiting: 'RCVD', created: 'RCVD' },
      ...{ verified: 'PDNG', authorizing: 'PDNG', authorized: 'PDNG', executing: 'PDNG', unknown: 'PDNG' },
      ended: 'PDNG',
      ...{ ordered: 'ACTC', executed: 'ACSP', settled: 'ACSC' },
      ...{ failed: 'RJCT', rejected: 'RJCT', expired: 'RJCT', cancelled: 'CANC' },
    };
    expect(all(await write(states.map((state) => reportRow({ state }))), 'TxSts')).toEqual(
      states.map((state) => statuses[state]),
    );
    const refused = states.map((state) => reportRow({ state, isUncertain: true }));
    expect(new Set(all(await write(refused), 'TxSts'))).toEqual(new Set(['PDNG']));
  });

  test.each([
    ['that of the file', { ids: { ...NO_IDS, endToEndId: 'F-1' } }, ['F-1']],
    ['that of the payment', { ids: NO_IDS }, ['E-1']],
    ['its reference', { ids: NO_IDS, endToEndId: null }, ['R-1']],
    ['none', { ids: NO_IDS, endToEndId: null, reference: null }, []],
    ['35 characters of it', { ids: { ...NO_IDS, endToEndId: 'x'.repeat(36) } }, ['x'.repeat(35)]],
  ])('has as end-to-end id %s', async (_what, changes, ids) => {
    expect(all(await write([reportRow(changes)]), 'OrgnlEndToEndId')).toEqual(ids);
  });

  test('splits a long reason into pieces of 105 characters, and ends it after ten of them', async () => {
    const texts = async (reason: string | null) =>
      all(await write([reportRow({ state: 'failed', reason })]), 'AddtlInf');
    expect(await texts(null)).toEqual(['failed']);
    expect(await texts('')).toEqual(['failed']);
    expect(await texts('a'.repeat(105))).toEqual(['failed', 'a'.repeat(105)]);
    expect(await texts(`${'a'.repeat(105)}b`)).toEqual(['failed', 'a'.repeat(105), 'b']);
    expect(await texts('a'.repeat(2000))).toEqual(['failed', ...Array(10).fill('a'.repeat(105))]);
  });

  test('shortens what ISO 20022 has no room for', async () => {
    const document = await write([
      reportRow({ name: 'n'.repeat(141), description: 'd'.repeat(141), from: 'f'.repeat(35) }),
    ]);
    expect(all(document, 'Nm')).toEqual(['n'.repeat(140)]);
    expect(all(document, 'Ustrd')).toEqual(['d'.repeat(140)]);
    expect(document).toContain(`<DbtrAcct><Id><Othr><Id>${'f'.repeat(34)}</Id></Othr></Id></DbtrAcct>`);
  });
});
