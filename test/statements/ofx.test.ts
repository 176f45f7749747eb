import { describe, expect, it } from 'vitest';
import { writeOfxStatement } from '../../src/statements/ofx.ts';
import { amountOf, booking } from '../domain/bookings.ts';
import { balancesOf, EXAMPLE, statementOf, TOLD } from './statements.ts';

const ofx = (...given: Parameters<typeof statementOf>) => {
  const statement = statementOf(...given);
  return writeOfxStatement(statement, balancesOf(statement).closing);
};

/** The elements of the only transaction, after its amount and id. */
const textsOf = (document: string) => /<\/FITID>(.*)<\/STMTTRN>/.exec(document)?.[1];

describe('OFX', () => {
  it('an OFX statement has the account, the closing balance and every booking', () => {
    expect(ofx(EXAMPLE)).toBe(`<?xml version="1.0" encoding="UTF-8" standalone="no"?>
<?OFX OFXHEADER="200" VERSION="211" SECURITY="NONE" OLDFILEUID="NONE" NEWFILEUID="NONE"?>
<OFX>
<SIGNONMSGSRSV1><SONRS><STATUS><CODE>0</CODE><SEVERITY>INFO</SEVERITY></STATUS><DTSERVER>20261121100500.000[0:GMT]</DTSERVER><LANGUAGE>ITA</LANGUAGE></SONRS></SIGNONMSGSRSV1>
<BANKMSGSRSV1><STMTTRNRS><TRNUID>0</TRNUID><STATUS><CODE>0</CODE><SEVERITY>INFO</SEVERITY></STATUS>
<STMTRS><CURDEF>EUR</CURDEF>
<BANKACCTFROM><BANKID>09990</BANKID><ACCTID>0010482620</ACCTID><ACCTTYPE>CHECKING</ACCTTYPE></BANKACCTFROM>
<BANKTRANLIST><DTSTART>20260101</DTSTART><DTEND>20260331</DTEND>
<STMTTRN><TRNTYPE>CREDIT</TRNTYPE><DTPOSTED>20260131</DTPOSTED><DTAVAIL>20260131</DTAVAIL><TRNAMT>20.00</TRNAMT><FITID>a1</FITID><REFNUM>TRN-1</REFNUM><NAME>BONIFICO</NAME><MEMO>STIPENDIO</MEMO></STMTTRN>
<STMTTRN><TRNTYPE>FEE</TRNTYPE><DTPOSTED>20260202</DTPOSTED><DTAVAIL>20260202</DTAVAIL><TRNAMT>-1.00</TRNAMT><FITID>b2</FITID><NAME>COMMISSIONI</NAME></STMTTRN>
<STMTTRN><TRNTYPE>DEBIT</TRNTYPE><DTPOSTED>20260203</DTPOSTED><TRNAMT>-1234.50</TRNAMT><FITID>c3</FITID><NAME>PAGAMENTO POS</NAME><MEMO>L&#39;ARTE &amp; CO &lt;1&gt; DEL 03.02.2026</MEMO></STMTTRN>
</BANKTRANLIST>
<LEDGERBAL><BALAMT>1000.00</BALAMT><DTASOF>20260331</DTASOF></LEDGERBAL>
</STMTRS></STMTTRNRS></BANKMSGSRSV1>
</OFX>
`);
  });

  const IBAN = 'IT89F0999001600000010482620';
  const TO = 'DE02100100109307118603';
  const LONG = `<NAME>${'d'.repeat(32)}</NAME><MEMO>${'t'.repeat(255)}</MEMO>`;
  it.each([
    ['a description and details', 'BONIFICO', 'STIPENDIO', '<NAME>BONIFICO</NAME><MEMO>STIPENDIO</MEMO>'],
    ['only details', '', 'STIPENDIO', '<NAME>STIPENDIO</NAME><MEMO>STIPENDIO</MEMO>'],
    ['no texts', '', '', '<NAME>-</NAME>'],
    ['a blank description', ' ', 'STIPENDIO', '<NAME>STIPENDIO</NAME><MEMO>STIPENDIO</MEMO>'],
    ['blank texts', ' ', ' ', '<NAME>-</NAME>'],
    ['long texts', 'd'.repeat(33), 't'.repeat(256), LONG],
  ])('a booking with %s has a name in OFX, as the format requires', (_, description, details, texts) => {
    expect(textsOf(ofx([booking('2026-02-03', '-1.00', description, details)]))).toBe(texts);
  });

  it('an OFX transaction has the other side, both kinds of remittance, and the original currency', () => {
    expect(textsOf(ofx([TOLD]))).toBe(
      '<REFNUM>E2E-77</REFNUM><NAME>Musterladen</NAME><BANKACCTTO><BANKID>10010010</BANKID><ACCTID>DE02100100109307118603</ACCTID><ACCTTYPE>CHECKING</ACCTTYPE></BANKACCTTO><MEMO>Rechnung 1 RF18539007547034</MEMO><ORIGCURRENCY><CURRATE>0.924</CURRATE><CURSYM>USD</CURSYM></ORIGCURRENCY>',
    );
  });

  it.each([
    [{ counterpartyIban: IBAN }, `<NAME>x</NAME><MEMO>${IBAN}</MEMO>`],
    [{ counterpartyAccount: '12 34' }, '<BANKID>PSD2</BANKID><ACCTID>1234</ACCTID>'],
    [{ counterpartyIban: TO, counterpartyAccount: '12 34' }, `<ACCTID>${TO}</ACCTID>`],
  ])('an OFX transaction has the account %j where there is room for it', (told, written) => {
    expect(textsOf(ofx([{ ...booking('2026-02-03', '-1.00', 'x'), ...told }]))).toContain(written);
  });

  it.each([
    [{ originalAmount: amountOf('-2.00'), originalCurrency: 'USD' }, true],
    [{ originalAmount: amountOf('-2.00'), originalCurrency: 'usd' }, false],
    [{ originalAmount: amountOf('-2.00') }, false],
    [{ originalAmount: amountOf('0.00'), originalCurrency: 'USD' }, false],
    [{ originalCurrency: 'USD' }, false],
  ])('an OFX transaction of %j has the original currency: %j', (told, isThere) => {
    const document = ofx([{ ...booking('2026-02-03', '-1.00', 'x'), ...told }]);
    expect(document.includes('<CURRATE>0.50</CURRATE><CURSYM>USD</CURSYM>')).toBe(isThere);
    expect(document.includes('ORIGCURRENCY')).toBe(isThere);
  });

  it('an OFX statement cuts a transfer reference after 32 characters', () => {
    const long = { ...booking('2026-02-03', '-1.00', 'x'), transferReference: 'r'.repeat(33) };
    expect(textsOf(ofx([long]))).toBe(`<REFNUM>${'r'.repeat(32)}</REFNUM><NAME>x</NAME>`);
  });

  it.each([null, 'none', ''])('an OFX statement calls the bank PSD2 if the IBAN is %j', (iban) => {
    expect(ofx([], undefined, { iban })).toContain('<BANKID>PSD2</BANKID>');
  });
});
