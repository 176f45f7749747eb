import { describe, expect, it } from 'vitest';
import type { Booking } from '../../src/domain/account-history.ts';
import { writeCamt053Statement } from '../../src/statements/camt053.ts';
import type { Statement } from '../../src/statements/statement.ts';
import { amountOf, booking, decimalOf } from '../domain/bookings.ts';
import { balancesOf, EXAMPLE, statementOf, TOLD } from './statements.ts';

const camt = (statement: Statement) => writeCamt053Statement(statement, balancesOf(statement));

/** A statement with one entry that the bank told this of. */
const entryOf = (told: Partial<Booking>) =>
  camt(statementOf([{ ...booking('2026-02-03', '-1.00', 'x'), ...told }]));

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

  it('an entry has the other side, the references, the codes, the original amount and the fee', () => {
    const [entry] = contentsOf(camt(statementOf([TOLD])), 'Ntry');
    expect(entry?.replace(/^.*<\/AcctSvcrRef>\n/s, '')).toBe(`\
<BkTxCd><Domn><Cd>PMNT</Cd><Fmly><Cd>CCRD</Cd><SubFmlyCd>POSD</SubFmlyCd></Fmly></Domn><Prtry><Cd>CCRD</Cd></Prtry></BkTxCd>
<NtryDtls><TxDtls><Refs><AcctSvcrRef>d4</AcctSvcrRef><EndToEndId>E2E-77</EndToEndId><MndtId>M-1</MndtId></Refs>\
<Amt Ccy="EUR">92.40</Amt><CdtDbtInd>DBIT</CdtDbtInd>\
<AmtDtls><InstdAmt><Amt Ccy="USD">100.00</Amt><CcyXchg><SrcCcy>USD</SrcCcy><TrgtCcy>EUR</TrgtCcy><XchgRate>0.92</XchgRate></CcyXchg></InstdAmt></AmtDtls>\
<Chrgs><Rcrd><Amt Ccy="EUR">0.40</Amt></Rcrd></Chrgs>\
<RltdPties><UltmtDbtr><Pty><Nm>Anna Muster</Nm></Pty></UltmtDbtr>\
<Cdtr><Pty><Nm>Musterladen</Nm><Id><PrvtId><Othr><Id>DE98ZZZ09999999999</Id><SchmeNm><Prtry>SEPA</Prtry></SchmeNm></Othr></PrvtId></Id></Pty></Cdtr>\
<CdtrAcct><Id><IBAN>DE02100100109307118603</IBAN></Id></CdtrAcct>\
<UltmtCdtr><Pty><Nm>Musterladen Nord</Nm></Pty></UltmtCdtr></RltdPties>\
<Purp><Cd>GDDS</Cd></Purp>\
<RmtInf><Ustrd>Rechnung 1</Ustrd><Strd><CdtrRefInf><Tp><CdOrPrtry><Cd>SCOR</Cd></CdOrPrtry></Tp><Ref>RF18539007547034</Ref></CdtrRefInf></Strd></RmtInf></TxDtls></NtryDtls>
<AddtlNtryInf>Musterladen Rechnung 1</AddtlNtryInf>`);
  });

  const counterpartyIban = 'DE02100100109307118603';
  const FROM_MAX = { amount: decimalOf(100), counterpartyName: 'Max', counterpartyIban };
  const MAX = `<RltdPties><Dbtr><Pty><Nm>Max</Nm></Pty></Dbtr><DbtrAcct><Id><IBAN>${counterpartyIban}</IBAN></Id></DbtrAcct></RltdPties>`;
  const NUMBER = '<RltdPties><CdtrAcct><Id><Othr><Id>123 456</Id></Othr></Id></CdtrAcct></RltdPties>';
  const BELGIAN =
    '<RmtInf><Ustrd>x</Ustrd><Strd><CdtrRefInf><Ref>+++012/3456/78901+++</Ref></CdtrRefInf></Strd></RmtInf>';
  const LONG = `<Strd><AddtlRmtInf>${'r'.repeat(36)}</AddtlRmtInf></Strd>`;
  const RATE =
    '<AmtDtls><TxAmt><Amt Ccy="EUR">1.00</Amt><CcyXchg><SrcCcy>USD</SrcCcy><TrgtCcy>EUR</TrgtCcy><XchgRate>0.92</XchgRate></CcyXchg></TxAmt></AmtDtls>';
  const FEE = '<Chrgs><Rcrd><Amt Ccy="EUR">0.40</Amt></Rcrd></Chrgs>';
  const MOST_DIGITS = `${'9'.repeat(13)}.00001`;
  const MOST = `<AmtDtls><InstdAmt><Amt Ccy="USD">${MOST_DIGITS}</Amt></InstdAmt></AmtDtls>`;
  const ISO =
    '<BkTxCd><Domn><Cd>PMNT</Cd><Fmly><Cd>CCRD</Cd><SubFmlyCd>POSD</SubFmlyCd></Fmly></Domn></BkTxCd>';
  const ONCE = '<RmtInf><Ustrd>x</Ustrd><Strd><CdtrRefInf><Ref>R1</Ref></CdtrRefInf></Strd></RmtInf>';
  const MAX_ONCE = '<RmtInf><Ustrd>y</Ustrd></RmtInf>';
  const TO_IBAN = `<CdtrAcct><Id><IBAN>${counterpartyIban}</IBAN></Id></CdtrAcct>`;
  const BOTH = '<EndToEndId>E</EndToEndId><TxId>T</TxId>';
  it.each<[string, Partial<Booking>, string]>([
    ['what comes in is paid by the other side', FROM_MAX, MAX],
    ['an account without an IBAN', { counterpartyAccount: '123 456' }, NUMBER],
    ['a reference with its own name for it', { remittanceStructured: '+++012/3456/78901+++' }, BELGIAN],
    ['more than one reference', { remittanceStructured: 'r'.repeat(36) }, LONG],
    ['a rate without the original amount', { originalCurrency: 'USD', exchangeRate: decimalOf(92) }, RATE],
    ["the bank's own purpose", { purposeCode: 'rent of may' }, '<Purp><Prtry>rent of may</Prtry></Purp>'],
    ["a fee in the account's currency", { feeAmount: decimalOf(-40) }, FEE],
    [
      'a fee in another currency',
      { feeAmount: decimalOf(40), feeCurrency: 'USD' },
      FEE.replace('EUR', 'USD'),
    ],
    ['as many digits as fit', { originalAmount: amountOf(MOST_DIGITS), originalCurrency: 'USD' }, MOST],
    ['the code of ISO 20022 alone', { bankTransactionCode: 'PMNT-CCRD-POSD' }, ISO],
    [
      'the same code at both places once',
      { bankTransactionCode: 'PMNT-CCRD-POSD', code: 'PMNT-CCRD-POSD' },
      ISO,
    ],
    ["the bank's own code alone", { code: '43' }, '<BkTxCd><Prtry><Cd>43</Cd></Prtry></BkTxCd>'],
    ['a reference that a text repeats, once', { remittanceStructured: 'R1', details: 'R1' }, ONCE],
    [
      'a name that a text repeats, once',
      { counterpartyName: 'Max', description: 'Max', details: 'y' },
      MAX_ONCE,
    ],
    ['an IBAN before another number', { counterpartyIban, counterpartyAccount: '123' }, TO_IBAN],
    ['the longest reference', { remittanceStructured: 'r'.repeat(35) }, `<Ref>${'r'.repeat(35)}</Ref>`],
    ['another reference beside that of the payer', { endToEndId: 'E', transferReference: 'T' }, BOTH],
  ])('an entry says %s', (_, told, written) => {
    expect(entryOf(told)).toContain(written);
  });

  it.each<Partial<Booking>>([
    { originalAmount: amountOf('1.000001'), originalCurrency: 'USD' },
    { originalAmount: amountOf('1.00') },
    { originalAmount: amountOf('1.00'), originalCurrency: 'usd' },
    { exchangeRate: amountOf('1.00') },
    { exchangeRate: amountOf('123456789012'), originalCurrency: 'USD' },
    { feeAmount: amountOf(`1${'0'.repeat(18)}`) },
    { feeAmount: amountOf('1.00'), feeCurrency: 'usd' },
  ])('an entry leaves out what the schema has no room for: %j', (told) => {
    expect(entryOf(told)).not.toMatch(/<AmtDtls>|<Chrgs>/);
  });

  const [one, two, three] = [
    { amount: amountOf('-1.00') },
    { amount: amountOf('-2.00') },
    { amount: amountOf('-3.00') },
  ];
  const paid = (amount: string, currency = 'EUR') =>
    `<Amt Ccy="${currency}">${amount}</Amt><CdtDbtInd>DBIT</CdtDbtInd>`;
  it.each<[string, Booking['entryDetails'], (string | undefined)[]]>([
    ['no payment', [], [paid('6.00')]],
    ['one', [{ amount: amountOf('-6.00') }], [paid('6.00')]],
    ['two equal ones', [three, three], [paid('3.00'), paid('3.00')]],
    ['three', [one, two, three], [paid('1.00'), paid('2.00'), paid('3.00')]],
    ['one without its amount, the first', [{}, three], [undefined, paid('3.00')]],
    ['one without its amount, the last', [three, {}], [paid('3.00'), undefined]],
    ['none with its amount', [{}, {}], [undefined, undefined]],
    ['one alone without its amount', [{}], [paid('6.00')]],
    [
      'one in another currency',
      [three, { amount: amountOf('-3.24'), currency: 'USD' }],
      [paid('3.00'), paid('3.24', 'USD')],
    ],
  ])('an entry with %s in it', (_, entryDetails, amounts) => {
    const entry = { ...booking('2026-02-03', '-6.00', 'x'), entryDetails };
    const payments = contentsOf(camt(statementOf([entry])), 'TxDtls');
    expect(payments.map((each) => /<Amt .*?<\/CdtDbtInd>/.exec(each)?.[0])).toEqual(amounts);
  });

  const RATE_ALONE = { exchangeRate: amountOf('1.1'), originalCurrency: 'USD' };
  it('the payments of a batch without amounts have their names and references', () => {
    const entryDetails = [
      { counterpartyName: 'One', endToEndId: 'E-1' },
      { counterpartyName: 'Two', endToEndId: 'E-2', remittance: 'Rent', ...RATE_ALONE },
    ];
    const [one, two] = contentsOf(
      camt(statementOf([{ ...booking('2026-02-03', '-6.00', 'x'), entryDetails }])),
      'TxDtls',
    );
    expect(one).toContain('<EndToEndId>E-1</EndToEndId></Refs><RltdPties><Cdtr><Pty><Nm>One</Nm>');
    expect(two).not.toContain('<AmtDtls>');
    expect(two).toMatch(/<EndToEndId>E-2<.*<Cdtr><Pty><Nm>Two<.*<Ustrd>Rent</);
  });

  it.each([1, 2, 3])('each of %i payments in an entry has its own facts, and none of another', (count) => {
    const all = [...Array(count).keys()].map((nth) => nth + 1);
    const entryDetails = all.map((nth) => ({
      ...{ amount: amountOf(`-${nth}.00`), counterpartyName: `Payee ${nth}`, endToEndId: `E-${nth}` },
      ...{ remittance: `Rent ${nth}`, mandateId: `M-${nth}`, counterpartyAccount: `A-${nth}` },
      // The last one is of another order.
      ...(nth === count && { customerReference: `P-${nth}` }),
    }));
    const entry = {
      ...booking('2026-02-03', '-6.00', 'Nobody', 'Nothing'),
      ...{ counterpartyName: 'Nobody', endToEndId: 'E-0', mandateId: 'M-0', transferReference: 'T-0' },
      ...{ remittanceStructured: 'R-0', customerReference: 'P-0', entryDetails },
    };
    const payments = contentsOf(camt(statementOf([entry])), 'TxDtls');
    expect(payments.map((each) => each.replace(/^.*?<\/AcctSvcrRef>/, ''))).toEqual(
      all.map((nth) =>
        [
          `<PmtInfId>P-${nth === count ? nth : 0}</PmtInfId><EndToEndId>E-${nth}</EndToEndId>`,
          `<MndtId>M-${nth}</MndtId></Refs>${paid(`${nth}.00`)}`,
          `<RltdPties><Cdtr><Pty><Nm>Payee ${nth}</Nm></Pty></Cdtr>`,
          `<CdtrAcct><Id><Othr><Id>A-${nth}</Id></Othr></Id></CdtrAcct></RltdPties>`,
          `<RmtInf><Ustrd>Rent ${nth}</Ustrd></RmtInf>`,
        ].join(''),
      ),
    );
  });

  it.each([
    [[], ['0', '0'], ['0.00', '0.00']],
    [['1.00'], ['1', '0'], ['1.00', '0.00']],
    [['-1.00'], ['0', '1'], ['0.00', '1.00']],
    [
      ['2.00', '-1.00', '2.00', '-4.00', '8.00'],
      ['3', '2'],
      ['12.00', '5.00'],
    ],
  ])('a camt.053 statement sums up %j', (amounts, counts, sums) => {
    const document = camt(statementOf(amounts.map((amount) => booking('2026-02-03', amount, 'x'))));
    expect(contentsOf(document, 'NbOfNtries')).toEqual(counts);
    expect(contentsOf(document, 'Sum')).toEqual(sums);
  });

  it.each([
    [true, '<CdtLine><Incl>true</Incl></CdtLine>'],
    [false, '<CdtLine><Incl>false</Incl></CdtLine>'],
    [null, ''],
  ])(
    'both balances of a camt.053 statement say whether a credit line is in them: %j',
    (creditLimitIncluded, line) => {
      const balances = contentsOf(camt({ ...statementOf(EXAMPLE), creditLimitIncluded }), 'Bal');
      expect(
        balances.map((each) => each.startsWith(`<Tp>`) && each.split('</Tp>')[1]?.startsWith(`${line}<Amt`)),
      ).toEqual([true, true]);
    },
  );

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
    expect(camt(statementOf([]))).not.toContain('<Ntry>');
    expect(unnamed).toContain('<Ntry>');
  });

  it.each<[Partial<Booking>, string]>([
    [{ description: 'Fee', details: 'May', additionalInformation: 'Card' }, 'Fee May Card'],
    [{ description: 'Fee', details: 'Fee' }, 'Fee'],
    [{ description: 'Fee', details: 'May', additionalInformation: 'Fee' }, 'Fee May'],
    [{ description: 'Fee', details: 'May', additionalInformation: 'May' }, 'Fee May'],
    [{ description: 'Fee', details: 'Fee', additionalInformation: 'Fee' }, 'Fee'],
  ])('the texts of an entry stand in it once each: %j', (told, text) => {
    expect(contentsOf(entryOf(told), 'AddtlNtryInf')).toEqual([text]);
  });

  it.each<[Partial<Booking>, string[]]>([
    [{ description: 'Fee', details: 'May' }, ['Fee', 'May']],
    [{ description: 'Fee', details: 'Fee' }, ['Fee']],
  ])('the texts of a transaction stand in it once each: %j', (told, texts) => {
    expect(contentsOf(entryOf(told), 'Ustrd')).toEqual(texts);
  });

  it('a camt.053 statement splits a text after 140 whole characters', () => {
    const splitOf = (description: string) =>
      contentsOf(camt(statementOf([booking('2026-02-03', '-1.00', description)])), 'Ustrd');
    expect(splitOf('😀'.repeat(140))).toEqual(['😀'.repeat(140)]);
    expect(splitOf('😀'.repeat(141))).toEqual(['😀'.repeat(140), '😀']);
  });

  it('a camt.053 statement cuts a text at the length that its message allows', () => {
    const long = booking('2026-02-03', '-1.00', 'x'.repeat(1_500), '');
    const document = camt(statementOf([{ ...long, transferReference: 'r'.repeat(36) }]));
    expect(contentsOf(document, 'AddtlNtryInf')).toEqual(['x'.repeat(500)]);
    expect(contentsOf(document, 'Ustrd')).toEqual(Array(10).fill('x'.repeat(140)));
    expect(contentsOf(document, 'TxId')).toEqual(['r'.repeat(35)]);
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
    ...[null, '', 'IT89', 'I89F0999001600000010482620', '1IT89F099900160', '(IT89F0999001600000010482620'],
    ...['IT8XF0999001600000010482620', 'ITX9F0999001600000010482620', 'IT89F0999001600000010482620?'],
    `IT89${'1'.repeat(31)}`,
  ])('a camt.053 statement names an account by its product if the bank gives %j as IBAN', (iban) => {
    const document = camt(statementOf(EXAMPLE, undefined, { iban }));
    expect(document).toContain('<Othr><Id>0010482620</Id>');
    expect(document).not.toContain('<IBAN>');
  });

  it.each(['IT891', `IT89${'1'.repeat(30)}`, 'it89 F099 9001'])('%s is an IBAN for the schema', (iban) => {
    const written = iban.toUpperCase().replaceAll(' ', '');
    expect(contentsOf(camt(statementOf(EXAMPLE, undefined, { iban })), 'IBAN')).toEqual([written]);
  });
});
