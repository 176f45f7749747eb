import { describe, expect, it } from 'vitest';
import { readCamt } from '../../../../../src/bank/interfaces/nextgenpsd2/reports/camt.ts';

// Where a value of a camt entry may stand twice: in two forms, at the entry and in its payment, in each of several payments. Each
// alone, both, both the other way round.

/** The elements of a path, the lowest with this content. */
const el = (path: string, content: string): string =>
  path.split('/').reduceRight((inside, tag) => `<${tag}>${inside}</${tag.split(' ')[0]}>`, content);
const money = (path: string, amount: string, currency: string) => el(`${path}/Amt Ccy="${currency}"`, amount);
const payments = (...all: string[]) => el('NtryDtls', all.map((each) => el('TxDtls', each)).join(''));

/** The row of an entry of -30.00 EUR with these elements. */
function rowOf(more: string, day = el('BookgDt/Dt', '2026-11-20')): Record<string, unknown> {
  const amount = '<Amt Ccy="EUR">30.00</Amt><CdtDbtInd>DBIT</CdtDbtInd>';
  const entry = el('Ntry', `${amount}<Sts><Cd>BOOK</Cd></Sts>${day}${more}`);
  const statement = el('BkToCstmrStmt/Stmt', `<Id>S</Id>${entry}`);
  const document = `<Document xmlns="urn:iso:std:iso:20022:tech:xsd:camt.053.001.08">${statement}</Document>`;
  const refuse = (what: string) => expect.unreachable(what);
  const [row, ...others] = readCamt(document, () => 'Europe/Rome', refuse).transactions.booked;
  expect(others).toEqual([]);
  return { ...row };
}

const usd = (amount: string) => ({ amount, currency: 'USD' });
const eur = (amount: string) => ({ amount, currency: 'EUR' });
const rate = (exchangeRate: string) => ({ exchangeRate });

describe.each<[field: string, first: string, second: string, one: unknown, two: unknown]>([
  ...(
    [
      ['debtorName', 'RltdPties/Dbtr/Nm', 'RltdPties/Dbtr/Pty/Nm'],
      ['creditorName', 'RltdPties/Cdtr/Nm', 'RltdPties/Cdtr/Pty/Nm'],
      ['debtorAccount', 'RltdPties/DbtrAcct/Id/IBAN', 'RltdPties/DbtrAcct/Id/Othr/Id'],
      ['creditorAccount', 'RltdPties/CdtrAcct/Id/IBAN', 'RltdPties/CdtrAcct/Id/Othr/Id'],
      ['creditorId', 'RltdPties/Cdtr/Id/PrvtId/Othr/Id', 'RltdPties/Cdtr/Pty/Id/PrvtId/Othr/Id'],
      ['ultimateDebtor', 'RltdPties/UltmtDbtr/Nm', 'RltdPties/UltmtDbtr/Pty/Nm'],
      ['ultimateCreditor', 'RltdPties/UltmtCdtr/Nm', 'RltdPties/UltmtCdtr/Pty/Nm'],
      ['purposeCode', 'Purp/Cd', 'Purp/Prtry'],
      ['returnReason', 'RtrInf/Rsn/Cd', 'RtrInf/Rsn/Prtry'],
    ] as const
  ).map(([field, first, second]): [string, string, string, unknown, unknown] => [
    field,
    payments(el(first, 'one')),
    payments(el(second, 'two')),
    'one',
    'two',
  ]),
  [
    'customerReference',
    payments(el('Refs/PmtInfId', 'one')),
    el('NtryDtls/Btch/PmtInfId', 'two'),
    'one',
    'two',
  ],
  [
    'instructedAmount',
    payments(money('AmtDtls/InstdAmt', '1.00', 'USD')),
    money('AmtDtls/InstdAmt', '2.00', 'USD'),
    usd('1.00'),
    usd('2.00'),
  ],
  [
    'transactionFees',
    payments(money('Chrgs/Rcrd', '1.00', 'EUR')),
    money('Chrgs/Rcrd', '2.00', 'EUR'),
    eur('1.00'),
    eur('2.00'),
  ],
  [
    'transactionFees',
    payments(el('Chrgs/TtlChrgsAndTaxAmt Ccy="EUR"', '1.00')),
    payments(money('Chrgs/Rcrd', '2.00', 'EUR')),
    eur('1.00'),
    eur('2.00'),
  ],
  [
    'transactionFees',
    payments(money('Chrgs', '1.00', 'EUR')),
    payments(money('Chrgs/Rcrd', '2.00', 'EUR')),
    eur('1.00'),
    eur('2.00'),
  ],
  [
    'currencyExchange',
    payments(el('AmtDtls/TxAmt/CcyXchg/XchgRate', '1.1')),
    el('AmtDtls/TxAmt/CcyXchg/XchgRate', '1.2'),
    rate('1.1'),
    rate('1.2'),
  ],
  [
    'currencyExchange',
    payments(el('AmtDtls/InstdAmt/CcyXchg/XchgRate', '1.1')),
    payments(el('AmtDtls/TxAmt/CcyXchg/XchgRate', '1.2')),
    rate('1.1'),
    rate('1.2'),
  ],
  [
    'currencyExchange',
    payments(el('AmtDtls/TxAmt/CcyXchg/XchgRate', '1.1')),
    payments(el('AmtDtls/CntrValAmt/CcyXchg/XchgRate', '1.2')),
    rate('1.1'),
    rate('1.2'),
  ],
  [
    'valueDate',
    el('ValDt/Dt', '2026-11-21'),
    el('ValDt/DtTm', '2026-11-22T10:00:00'),
    '2026-11-21',
    '2026-11-22',
  ],
])('%s at %s and at %s', (field, first, second, one, two) => {
  it.each([
    ['neither', [], undefined],
    ['the first', [first], one],
    ['the second', [second], two],
    ['both', [first, second], one],
    ['both, the other way round', [second, first], one],
  ])('%s', (_, places, value) => {
    // Both in the payment are in one payment.
    const one = places.join('').replace('</TxDtls></NtryDtls><NtryDtls><TxDtls>', '');
    expect(rowOf(one)[field]).toEqual(value);
  });
});

it.each([
  [el('BookgDt/Dt', '2026-11-20'), '2026-11-20'],
  [el('BookgDt/DtTm', '2026-11-21T10:00:00'), '2026-11-21'],
  [el('BookgDt', '<Dt>2026-11-20</Dt><DtTm>2026-11-21T10:00:00</DtTm>'), '2026-11-20'],
  [el('BookgDt', '<DtTm>2026-11-21T10:00:00</DtTm><Dt>2026-11-20</Dt>'), '2026-11-20'],
])('the booking day of %s is %s', (day, expected) => {
  expect(rowOf('', day).bookingDate).toBe(expected);
});

it.each([
  ['', undefined],
  [el('AddtlNtryInf', 'one'), 'one'],
  [payments(el('AddtlTxInf', 'two')), 'two'],
  [el('AddtlNtryInf', 'one') + payments(el('AddtlTxInf', 'two')), 'one two'],
  [el('AddtlNtryInf', 'one') + payments(el('AddtlTxInf', 'one')), 'one'],
])("the bank's words in %s are %j", (more, words) => {
  expect(rowOf(more).additionalInformation).toBe(words);
});

describe.each<[field: string, path: string]>([
  ['endToEndId', 'Refs/EndToEndId'],
  ['mandateId', 'Refs/MndtId'],
  ['customerReference', 'Refs/PmtInfId'],
  ['creditorName', 'RltdPties/Cdtr/Pty/Nm'],
  ['creditorAccount', 'RltdPties/CdtrAcct/Id/IBAN'],
  ['debtorName', 'RltdPties/Dbtr/Pty/Nm'],
  ['debtorAccount', 'RltdPties/DbtrAcct/Id/IBAN'],
  ['creditorId', 'RltdPties/Cdtr/Pty/Id/PrvtId/Othr/Id'],
  ['ultimateDebtor', 'RltdPties/UltmtDbtr/Pty/Nm'],
  ['ultimateCreditor', 'RltdPties/UltmtCdtr/Pty/Nm'],
  ['purposeCode', 'Purp/Cd'],
  ['additionalInformation', 'AddtlTxInf'],
])('the %s of several payments (%s)', (field, path) => {
  const [one, two, none] = [el(path, 'one'), el(path, 'two'), ''];
  it.each<[string, string[], string | undefined]>([
    ['one', [one], 'one'],
    ['two equal ones', [one, one], 'one'],
    ['two different ones', [one, two], undefined],
    ['two different ones, the other way round', [two, one], undefined],
    ['the first lacks it', [none, one], undefined],
    ['the last lacks it', [one, none], undefined],
    ['three, the last another one', [one, one, two], undefined],
    ['three, the one in the middle another one', [one, two, one], undefined],
  ])('is that of the entry only if all have it: %s', (_, all, value) => {
    const row = rowOf(payments(...all));
    expect(row[field]).toBe(value);
    const each = all.map((payment) => (payment === none ? undefined : payment === one ? 'one' : 'two'));
    const details: unknown = row.entryDetails;
    if (all.length === 1) expect(details).toBeUndefined();
    else expect(details).toMatchObject(each.map((said) => (said === undefined ? {} : { [field]: said })));
    if (Array.isArray(details)) expect(details.map((payment) => payment[field])).toEqual(each);
  });
});

describe('the amount of one of several payments', () => {
  const [own, inOther] = [
    (path: string, amount: string) => money(path, amount, 'EUR'),
    (path: string, amount: string) => money(path, amount, 'USD'),
  ];
  const alone = (amount: string, currency: string) => `<Amt Ccy="${currency}">${amount}</Amt>`;
  it.each<[string, string, string | undefined]>([
    ['nowhere', '', undefined],
    ['its own', alone('1.00', 'EUR'), '-1.00'],
    ['its own in another currency', alone('1.00', 'USD'), undefined],
    ['of the transaction', own('AmtDtls/TxAmt', '2.00'), '-2.00'],
    ['that was instructed', own('AmtDtls/InstdAmt', '3.00'), '-3.00'],
    ['that was instructed in another currency', inOther('AmtDtls/InstdAmt', '3.00'), undefined],
    ['its own before the others', alone('1.00', 'EUR') + own('AmtDtls/TxAmt', '2.00'), '-1.00'],
    [
      'of the transaction before the instructed one',
      el('AmtDtls', own('InstdAmt', '3.00') + own('TxAmt', '2.00')),
      '-2.00',
    ],
    [
      "in the account's currency, wherever that is",
      alone('1.00', 'USD') + el('AmtDtls', inOther('InstdAmt', '3.00') + own('TxAmt', '2.00')),
      '-2.00',
    ],
    ['that came in', `${alone('1.00', 'EUR')}<CdtDbtInd>CRDT</CdtDbtInd>`, '1.00'],
    ['that went out', `${alone('1.00', 'EUR')}<CdtDbtInd>DBIT</CdtDbtInd>`, '-1.00'],
  ])('%s', (_, payment, amount) => {
    const of = (at: number, all: string[]) => {
      const details: unknown = rowOf(payments(...all)).entryDetails;
      return Array.isArray(details) ? details[at]?.transactionAmount : expect.unreachable();
    };
    const expected = amount === undefined ? undefined : eur(amount);
    const other = alone('9.00', 'EUR');
    expect(of(0, [payment, other])).toEqual(expected);
    expect(of(2, [other, other, payment])).toEqual(expected);
    expect(of(1, [payment, other])).toEqual(eur('-9.00'));
  });
});

it.each([
  ['', undefined, undefined],
  [payments(el('RmtInf/Ustrd', 'a')), ['a'], undefined],
  [payments(el('RmtInf', '<Ustrd>a</Ustrd><Ustrd>a</Ustrd>')), ['a'], undefined],
  [payments(el('RmtInf', '<Ustrd>a</Ustrd><Ustrd>b</Ustrd><Ustrd>c</Ustrd>')), ['a', 'b', 'c'], undefined],
  [payments(...['a', 'b', 'a'].map((text) => el('RmtInf/Ustrd', text))), ['a', 'b'], undefined],
  [payments(el('RmtInf/Strd/CdtrRefInf/Ref', 'R')), undefined, ['R']],
  [payments(el('RmtInf/Strd/AddtlRmtInf', 'M')), undefined, ['M']],
  [
    payments(el('RmtInf/Strd', el('AddtlRmtInf', 'M') + el('CdtrRefInf/Ref', 'R') + el('AddtlRmtInf', 'N'))),
    undefined,
    ['R', 'M', 'N'],
  ],
  [
    payments(
      el('RmtInf', el('Ustrd', 'a') + el('Strd/CdtrRefInf/Ref', 'R') + el('Strd/CdtrRefInf/Ref', 'S')),
    ),
    ['a'],
    ['R', 'S'],
  ],
])('the remittance of %s', (more, unstructured, structured) => {
  const row = rowOf(more);
  expect(row.remittanceInformationUnstructuredArray).toEqual(unstructured);
  expect(row.remittanceInformationStructuredArray).toEqual(structured);
});

it.each(['BkTxCd/Sts', 'NtryDtls/TxDtls/Sts', 'NtryDtls/TxDtls/RltdPties/Dbtr/Sts'])(
  'what stands at %s is not the status of the entry',
  (path) => {
    expect(rowOf(el(path, 'PDNG'))).toEqual(rowOf(path.includes('TxDtls') ? payments('') : ''));
  },
);

describe('an entry in several currencies', () => {
  const NOTHING = { instructedAmount: undefined, currencyExchange: undefined, transactionFees: undefined };
  const moneyIn = ({ instructedAmount, currencyExchange, transactionFees }: Record<string, unknown>) => ({
    ...{ instructedAmount, currencyExchange, transactionFees },
  });
  it.each<[string, string, object]>([
    ['none', '', NOTHING],
    ['its own', money('AmtDtls/InstdAmt', '1.00', 'EUR'), NOTHING],
    ['another one', money('AmtDtls/InstdAmt', '1.00', 'USD'), { ...NOTHING, instructedAmount: usd('1.00') }],
    ['no currency', el('AmtDtls/InstdAmt/Amt', '1.00'), NOTHING],
    [
      'a rate alone',
      el('AmtDtls/InstdAmt/CcyXchg/XchgRate', '1.1'),
      { ...NOTHING, currencyExchange: rate('1.1') },
    ],
    ['charges alone', money('Chrgs/Rcrd', '1.00', 'USD'), { ...NOTHING, transactionFees: usd('1.00') }],
    [
      'two charges, of which the first counts',
      money('Chrgs/Rcrd', '1.00', 'USD') + money('Chrgs/Rcrd', '2.00', 'USD'),
      { ...NOTHING, transactionFees: usd('1.00') },
    ],
  ])('with %s', (_, more, expected) => {
    expect(moneyIn(rowOf(more))).toEqual(expected);
    // In its one payment, too. Each of several has its own, and the entry has none of them.
    expect(moneyIn(rowOf(payments(more)))).toEqual(expected);
    const { entryDetails: details, ...entry } = rowOf(payments(more, ''));
    expect(moneyIn(entry)).toEqual(NOTHING);
    expect(Array.isArray(details) && details.map(moneyIn)).toEqual([expected, NOTHING]);
  });
});

it.each([
  ['PMNT', 'ICDT', 'ESCT', 'PMNT-ICDT-ESCT'],
  ['PMNT', 'ICDT', '', undefined],
  ['PMNT', '', 'ESCT', undefined],
  ['', 'ICDT', 'ESCT', undefined],
])('the code of %j, %j and %j is %s', (domain, family, sub, code) => {
  const of = (name: string, content: string) => (content === '' ? '' : el(name, content));
  const inside = of('Cd', domain) + el('Fmly', of('Cd', family) + of('SubFmlyCd', sub));
  expect(rowOf(el('BkTxCd/Domn', inside)).bankTransactionCode).toBe(code);
});
