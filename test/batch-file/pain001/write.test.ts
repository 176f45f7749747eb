import { describe, expect, test } from 'vitest';
import type { PaymentGroup } from '../../../src/batch-file/pain001/write.ts';
import { parseSepaIban } from '../../../src/domain/order/iban.ts';
import { parsePaymentAmount } from '../../../src/domain/order/payment-amount.ts';
import { readFile } from '../reading.ts';
import { textOf } from '../rows.ts';
import { orderedPayment, writeExample } from './written.ts';

const RF = { reference: 'RF18539007547034', type: 'SCOR', issuer: 'ISO' };

test('a pain.001.001.09 that psd2 writes has all that it says of its payments', async () => {
  const address = {
    ...{ country: 'IT', townName: 'Roma', postCode: '00100', streetName: 'Via Roma', buildingNumber: '1' },
    lines: ['Scala B', 'Int. 7'],
  };
  const least = { ...address, postCode: null, streetName: null, buildingNumber: null, lines: [] };
  const payments = [
    orderedPayment({ instructionId: 'I-1', address }),
    orderedPayment({ endToEndId: 'E-2', address: least, description: '', creditorReference: RF }),
  ];
  expect(await textOf(writeExample('pain.001.001.09', payments))).toMatchInlineSnapshot(`
    "<?xml version="1.0" encoding="UTF-8"?>
    <Document xmlns="urn:iso:std:iso:20022:tech:xsd:pain.001.001.09">
    <CstmrCdtTrfInitn>
    <GrpHdr><MsgId>M-1</MsgId><CreDtTm>2026-11-20T10:00:00+01:00</CreDtTm><NbOfTxs>3</NbOfTxs><CtrlSum>26.00</CtrlSum><InitgPty><Nm>Acme&#39;s (IT) + Co.</Nm></InitgPty></GrpHdr>
    <PmtInf>
    <PmtInfId>P-1</PmtInfId><PmtMtd>TRF</PmtMtd><NbOfTxs>2</NbOfTxs><CtrlSum>25.00</CtrlSum>
    <PmtTpInf><SvcLvl><Cd>SEPA</Cd></SvcLvl></PmtTpInf>
    <ReqdExctnDt><Dt>2026-12-01</Dt></ReqdExctnDt>
    <Dbtr><Nm>Acme</Nm></Dbtr><DbtrAcct><Id><IBAN>IT60X0542811101000000123456</IBAN></Id></DbtrAcct>
    <DbtrAgt><FinInstnId><Othr><Id>NOTPROVIDED</Id></Othr></FinInstnId></DbtrAgt><ChrgBr>SLEV</ChrgBr>
    <CdtTrfTxInf>
    <PmtId><InstrId>I-1</InstrId><EndToEndId>E-1</EndToEndId></PmtId><Amt><InstdAmt Ccy="EUR">12.50</InstdAmt></Amt>
    <Cdtr><Nm>Ada Lovelace</Nm><PstlAdr><StrtNm>Via Roma</StrtNm><BldgNb>1</BldgNb><PstCd>00100</PstCd><TwnNm>Roma</TwnNm><Ctry>IT</Ctry><AdrLine>Scala B</AdrLine><AdrLine>Int. 7</AdrLine></PstlAdr></Cdtr><CdtrAcct><Id><IBAN>DE89370400440532013000</IBAN></Id></CdtrAcct>
    <RmtInf><Ustrd>Invoice 7</Ustrd></RmtInf></CdtTrfTxInf>
    <CdtTrfTxInf>
    <PmtId><EndToEndId>E-2</EndToEndId></PmtId><Amt><InstdAmt Ccy="EUR">12.50</InstdAmt></Amt>
    <Cdtr><Nm>Ada Lovelace</Nm><PstlAdr><TwnNm>Roma</TwnNm><Ctry>IT</Ctry></PstlAdr></Cdtr><CdtrAcct><Id><IBAN>DE89370400440532013000</IBAN></Id></CdtrAcct>
    <RmtInf><Strd><CdtrRefInf><Tp><CdOrPrtry><Cd>SCOR</Cd></CdOrPrtry><Issr>ISO</Issr></Tp><Ref>RF18539007547034</Ref></CdtrRefInf></Strd></RmtInf></CdtTrfTxInf>
    </PmtInf>
    <PmtInf>
    <PmtInfId>P-2</PmtInfId><PmtMtd>TRF</PmtMtd><NbOfTxs>1</NbOfTxs><CtrlSum>1.00</CtrlSum>
    <PmtTpInf><InstrPrty>HIGH</InstrPrty><SvcLvl><Cd>SEPA</Cd></SvcLvl><LclInstrm><Cd>INST</Cd></LclInstrm></PmtTpInf>
    <ReqdExctnDt><Dt>2026-12-01</Dt></ReqdExctnDt>
    <Dbtr><Nm>Acme</Nm></Dbtr><DbtrAcct><Id><IBAN>IT60X0542811101000000123456</IBAN></Id></DbtrAcct>
    <DbtrAgt><FinInstnId><Othr><Id>NOTPROVIDED</Id></Othr></FinInstnId></DbtrAgt><ChrgBr>SLEV</ChrgBr>
    <CdtTrfTxInf>
    <PmtId><EndToEndId>E-3</EndToEndId></PmtId><Amt><InstdAmt Ccy="EUR">1.00</InstdAmt></Amt>
    <Cdtr><Nm>A&#39;B (C) + D</Nm></Cdtr><CdtrAcct><Id><IBAN>DE89370400440532013000</IBAN></Id></CdtrAcct>
    </CdtTrfTxInf>
    </PmtInf>
    </CstmrCdtTrfInitn>
    </Document>
    "
  `);
});

test('a pain.001.001.03 that psd2 writes has the day without an element of its own', async () => {
  const written = await textOf(writeExample('pain.001.001.03'));
  expect(written.match(/<Document.*|<ReqdExctnDt>.*/g)).toEqual([
    '<Document xmlns="urn:iso:std:iso:20022:tech:xsd:pain.001.001.03">',
    ...Array(2).fill('<ReqdExctnDt>2026-12-01</ReqdExctnDt>'),
  ]);
});

const BOOKED = '<BtchBookg>';
test.each<[changes: Partial<PaymentGroup>, booking: string, type: string]>([
  [{}, '', '<SvcLvl><Cd>SEPA</Cd></SvcLvl>'],
  [{ batchBooking: undefined }, '', '<SvcLvl><Cd>SEPA</Cd></SvcLvl>'],
  [{ batchBooking: true }, `${BOOKED}true</BtchBookg>`, '<SvcLvl><Cd>SEPA</Cd></SvcLvl>'],
  // The bank books as it likes if nobody says so.
  [{ batchBooking: false }, `${BOOKED}false</BtchBookg>`, '<SvcLvl><Cd>SEPA</Cd></SvcLvl>'],
  [{ instant: true }, '', '<SvcLvl><Cd>SEPA</Cd></SvcLvl><LclInstrm><Cd>INST</Cd></LclInstrm>'],
  [{ urgent: true }, '', '<InstrPrty>HIGH</InstrPrty><SvcLvl><Cd>SEPA</Cd></SvcLvl>'],
])('a group with %j says how it is booked and paid', async (changes, booking, type) => {
  const written = await textOf(writeExample('pain.001.001.09', undefined, changes));
  const [, first = '', second = ''] = written.split('<PmtInf>');
  expect(first).toContain(`<PmtMtd>TRF</PmtMtd>${booking}<NbOfTxs>2</NbOfTxs>`);
  expect(first).toContain(`<PmtTpInf>${type}</PmtTpInf>`);
  // It says nothing of the next one.
  expect(second).toContain('<PmtMtd>TRF</PmtMtd><NbOfTxs>1</NbOfTxs>');
});

test('of several accounts with an IBAN, the currency names the one of the payer and that of the payee', async () => {
  const iban = parseSepaIban('IT60X0542811101000000123456');
  const payments = [orderedPayment({ accountCurrency: 'USD' }), orderedPayment()];
  const written = await textOf(
    writeExample('pain.001.001.09', payments, { debtor: { name: 'Acme', iban, accountCurrency: 'EUR' } }),
  );
  expect(written.match(/<(?:Dbtr|Cdtr)Acct>.*?<\/(?:Dbtr|Cdtr)Acct>/g)).toEqual([
    `<DbtrAcct><Id><IBAN>${iban}</IBAN></Id><Ccy>EUR</Ccy></DbtrAcct>`,
    '<CdtrAcct><Id><IBAN>DE89370400440532013000</IBAN></Id><Ccy>USD</Ccy></CdtrAcct>',
    '<CdtrAcct><Id><IBAN>DE89370400440532013000</IBAN></Id></CdtrAcct>',
    `<DbtrAcct><Id><IBAN>${iban}</IBAN></Id></DbtrAcct>`,
    '<CdtrAcct><Id><IBAN>DE89370400440532013000</IBAN></Id></CdtrAcct>',
  ]);
});

describe.each(['pain.001.001.03', 'pain.001.001.09'] as const)('a %s that psd2 writes', (format) => {
  test('is read back as it was, payment by payment', async () => {
    const { said, lines, source } = await readFile(await textOf(writeExample(format)));
    expect(said).toEqual([
      expect.stringMatching(/^warning .*PmtInf\[1\]\/CdtTrfTxInf\[2\]: Payment 1 has the same payee/),
    ]);
    expect(source).toEqual({ format, messageId: 'M-1', count: 3, sum: '26.00' });
    expect(
      lines.map(({ reference, amount, name, description, instant, urgent }) => [
        ...[reference, amount, name, description, instant, urgent],
      ]),
    ).toEqual([
      ['E-1', '12.50', 'Ada Lovelace', 'Invoice 7', false, false],
      ['E-2', '12.50', 'Ada Lovelace', 'Invoice 7', false, false],
      ['E-3', '1.00', "A'B (C) + D", '', true, true],
    ]);
    expect(
      lines.map(({ ids, fromIban, executionDate }) => [ids.paymentInformationId, fromIban, executionDate]),
    ).toEqual(['P-1', 'P-1', 'P-2'].map((id) => [id, 'IT60X0542811101000000123456', '2026-12-01']));
  });

  test('ends with an error if a group has other payments than it announces', async () => {
    const money = orderedPayment({ amount: parsePaymentAmount('12.51') });
    for (const [payments, real] of [
      [[orderedPayment()], '1 payments of 12.50'],
      [[money, orderedPayment()], '2 payments of 25.01'],
      [[orderedPayment({ amount: parsePaymentAmount('25') })], '1 payments of 25.00'],
    ] as const)
      await expect(textOf(writeExample(format, [...payments]))).rejects.toEqual(
        new TypeError(`P-1 has ${real}, and not 2 of 25.00`),
      );
  });
});
