import { describe, expect, it } from 'vitest';
import { writeCamt053Statement } from '../../src/statements/camt053.ts';
import type { Statement } from '../../src/statements/statement.ts';
import { booking } from '../domain/bookings.ts';
import { balancesOf, EXAMPLE, statementOf } from './statements.ts';

const camt = (statement: Statement) => writeCamt053Statement(statement, balancesOf(statement));

/** The contents of all elements with this name. */
function contentsOf(document: string, name: string): string[] {
  return [...document.matchAll(new RegExp(`<${name}>(.*?)</${name}>`, 'gs'))].map(([, text = '']) => text);
}

const messageIdOf = (statement: Statement) => contentsOf(camt(statement), 'MsgId');

describe('camt.053', () => {
  it('a camt.053 statement has the account, both balances, the totals and every booking', () => {
    const document = camt(statementOf(EXAMPLE));
    expect(document.replace(/(?<=<MsgId>)[0-9a-f]{32}/, '...')).toBe(`<?xml version="1.0" encoding="UTF-8"?>
<Document xmlns="urn:iso:std:iso:20022:tech:xsd:camt.053.001.08">
<BkToCstmrStmt>
<GrpHdr><MsgId>...</MsgId><CreDtTm>2026-11-21T11:05:00+01:00</CreDtTm></GrpHdr>
<Stmt>
<Id>0010482620-2026-01-01-2026-03-31</Id>
<CreDtTm>2026-11-21T11:05:00+01:00</CreDtTm>
<FrToDt><FrDtTm>2026-01-01T00:00:00+01:00</FrDtTm><ToDtTm>2026-03-31T23:59:59+02:00</ToDtTm></FrToDt>
<Acct><Id><IBAN>IT89F0999001600000010482620</IBAN></Id><Ccy>EUR</Ccy><Nm>Conto di casa</Nm></Acct>
<Bal><Tp><CdOrPrtry><Cd>OPBD</Cd></CdOrPrtry></Tp><Amt Ccy="EUR">2215.50</Amt><CdtDbtInd>CRDT</CdtDbtInd><Dt><Dt>2026-01-01</Dt></Dt></Bal>
<Bal><Tp><CdOrPrtry><Cd>CLBD</Cd></CdOrPrtry></Tp><Amt Ccy="EUR">1000.00</Amt><CdtDbtInd>CRDT</CdtDbtInd><Dt><Dt>2026-03-31</Dt></Dt></Bal>
<TxsSummry><TtlCdtNtries><NbOfNtries>1</NbOfNtries><Sum>20.00</Sum></TtlCdtNtries><TtlDbtNtries><NbOfNtries>2</NbOfNtries><Sum>1235.50</Sum></TtlDbtNtries></TxsSummry>
<Ntry><NtryRef>a1</NtryRef><Amt Ccy="EUR">20.00</Amt><CdtDbtInd>CRDT</CdtDbtInd><Sts><Cd>BOOK</Cd></Sts>
<BookgDt><Dt>2026-01-31</Dt></BookgDt><ValDt><Dt>2026-01-31</Dt></ValDt>
<AcctSvcrRef>a1</AcctSvcrRef>
<BkTxCd><Prtry><Cd>NOTPROVIDED</Cd></Prtry></BkTxCd>
<NtryDtls><TxDtls><Refs><AcctSvcrRef>a1</AcctSvcrRef><TxId>TRN-1</TxId></Refs><Amt Ccy="EUR">20.00</Amt><CdtDbtInd>CRDT</CdtDbtInd><RmtInf><Ustrd>BONIFICO</Ustrd><Ustrd>STIPENDIO</Ustrd></RmtInf></TxDtls></NtryDtls>
<AddtlNtryInf>BONIFICO STIPENDIO</AddtlNtryInf></Ntry>
<Ntry><NtryRef>b2</NtryRef><Amt Ccy="EUR">1.00</Amt><CdtDbtInd>DBIT</CdtDbtInd><Sts><Cd>BOOK</Cd></Sts>
<BookgDt><Dt>2026-02-02</Dt></BookgDt><ValDt><Dt>2026-02-02</Dt></ValDt>
<AcctSvcrRef>b2</AcctSvcrRef>
<BkTxCd><Prtry><Cd>NOTPROVIDED</Cd></Prtry></BkTxCd>
<NtryDtls><TxDtls><Refs><AcctSvcrRef>b2</AcctSvcrRef></Refs><Amt Ccy="EUR">1.00</Amt><CdtDbtInd>DBIT</CdtDbtInd><RmtInf><Ustrd>COMMISSIONI</Ustrd></RmtInf></TxDtls></NtryDtls>
<AddtlNtryInf>COMMISSIONI</AddtlNtryInf></Ntry>
<Ntry><NtryRef>c3</NtryRef><Amt Ccy="EUR">1234.50</Amt><CdtDbtInd>DBIT</CdtDbtInd><Sts><Cd>BOOK</Cd></Sts>
<BookgDt><Dt>2026-02-03</Dt></BookgDt>
<AcctSvcrRef>c3</AcctSvcrRef>
<BkTxCd><Prtry><Cd>43</Cd></Prtry></BkTxCd>
<NtryDtls><TxDtls><Refs><AcctSvcrRef>c3</AcctSvcrRef></Refs><Amt Ccy="EUR">1234.50</Amt><CdtDbtInd>DBIT</CdtDbtInd><RmtInf><Ustrd>PAGAMENTO POS</Ustrd><Ustrd>L&#39;ARTE &amp; CO &lt;1&gt; DEL 03.02.2026</Ustrd></RmtInf></TxDtls></NtryDtls>
<AddtlNtryInf>PAGAMENTO POS L&#39;ARTE &amp; CO &lt;1&gt; DEL 03.02.2026</AddtlNtryInf></Ntry>
</Stmt>
</BkToCstmrStmt>
</Document>
`);
  });

  it('a camt.053 statement says that a balance below zero is a debit', () => {
    const document = camt(statementOf([booking('2026-02-03', '1500.00')]));
    expect(document).toContain(
      '<Cd>OPBD</Cd></CdOrPrtry></Tp><Amt Ccy="EUR">500.00</Amt><CdtDbtInd>DBIT</CdtDbtInd>',
    );
  });

  it('a camt.053 statement leaves out what the bank does not give: name, texts, bookings', () => {
    const unnamed = camt(statementOf([booking('2026-02-03', '-1.00', ' ', '')], undefined, { name: null }));
    for (const element of ['Nm', 'RmtInf', 'Ustrd', 'AddtlNtryInf']) {
      expect(unnamed).not.toContain(`<${element}>`);
    }
    expect(unnamed).toContain('<Amt Ccy="EUR">1.00</Amt><CdtDbtInd>DBIT</CdtDbtInd></TxDtls></NtryDtls>');
    const empty = camt(statementOf([]));
    expect(contentsOf(empty, 'NbOfNtries')).toEqual(['0', '0']);
    expect(contentsOf(empty, 'Sum')).toEqual(['0.00', '0.00']);
    expect(empty).not.toContain('<Ntry>');
  });

  it('a camt.053 statement splits a text after 140 whole characters', () => {
    const splitOf = (description: string) =>
      contentsOf(camt(statementOf([booking('2026-02-03', '-1.00', description)])), 'Ustrd');
    expect(splitOf('😀'.repeat(140))).toEqual(['😀'.repeat(140)]);
    expect(splitOf('😀'.repeat(141))).toEqual(['😀'.repeat(140), '😀']);
  });

  it('the message id is the same for the same export, and another one for another product or time', () => {
    const id = messageIdOf(statementOf(EXAMPLE));
    expect(messageIdOf(statementOf(EXAMPLE))).toEqual(id);
    for (const other of [{ productId: '0010482621' }, { createdAt: '2026-11-21T11:05:01+01:00' }]) {
      expect(messageIdOf(statementOf(EXAMPLE, undefined, other))).not.toEqual(id);
    }
  });

  it.each(['CA30', 'CAPC', 'SI12', 'SI15', 'SI19', 'SI20'])(
    'a camt.053 statement names a card with the code %s by its product',
    (productCode) => {
      const document = camt(statementOf(EXAMPLE, undefined, { productCode }));
      expect(document).toContain(
        '<Acct><Id><Othr><Id>0010482620</Id><SchmeNm><Prtry>PRODUCT</Prtry></SchmeNm></Othr></Id>',
      );
      expect(document).not.toContain('<IBAN>');
    },
  );

  it.each([null, 'AZIM', 'SI11', 'SI21', 'SI1', 'SI120', 'XSI12', 'CA301', 'XCA30'])(
    'a camt.053 statement names an account with the product code %s by its IBAN',
    (productCode) => {
      const document = camt(statementOf(EXAMPLE, undefined, { productCode }));
      expect(contentsOf(document, 'IBAN')).toEqual(['IT89F0999001600000010482620']);
    },
  );

  it.each([
    null,
    '',
    'IT89',
    'I89F0999001600000010482620',
    '1IT89F099900160',
    '(IT89F0999001600000010482620',
    'IT8XF0999001600000010482620',
    'ITX9F0999001600000010482620',
    'IT89F0999001600000010482620?',
    `IT89${'1'.repeat(31)}`,
  ])('a camt.053 statement names an account by its product if the bank gives %j as IBAN', (iban) => {
    const document = camt(statementOf(EXAMPLE, undefined, { iban }));
    expect(document).toContain('<Othr><Id>0010482620</Id>');
    expect(document).not.toContain('<IBAN>');
  });

  it.each(['IT891', `IT89${'1'.repeat(30)}`])('%s is an IBAN for the schema', (iban) => {
    expect(contentsOf(camt(statementOf(EXAMPLE, undefined, { iban })), 'IBAN')).toEqual([iban]);
  });
});
