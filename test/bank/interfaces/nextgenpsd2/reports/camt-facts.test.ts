import { describe, expect, it } from 'vitest';
import { pagesOf } from '../../../../../src/bank/interfaces/nextgenpsd2/readings/transactions.ts';
import { zoneOf } from '../../../../../src/bank/interfaces/nextgenpsd2/readings/zone.ts';
import type { Transaction } from '../../../../../src/bank/ports/bank.ts';
import type { ConsentSource } from '../../../../../src/bank/ports/call.ts';
import { failureOf, type Scripted, scriptedCalls } from '../scripted.ts';

const OWN = 'DE89370400440532013000';
const QUERY = {
  ...{ customerId: 'shop', productId: 'a1', from: undefined, to: undefined, status: undefined },
  transactionId: 'aaaaaaaa-bbbb-4ccc-8ddd-eeeeeeeeeeee',
};
const CONSENT = {
  for: () => Promise.resolve({ consentId: 'c1', reads: ['transactions' as const] }),
  ibanOf: () => OWN,
};

async function read(body: string, accounts: { zone?: string } = {}, consent: ConsentSource = CONSENT) {
  const answer: Scripted = { body, headers: {} };
  const { calls } = scriptedCalls([answer], { accounts: { cards: 'never', ...accounts } }, consent);
  const rows: Transaction[] = [];
  const contradictions: string[] = [];
  for await (const page of pagesOf(calls, QUERY)) {
    rows.push(...(page.booked?.rows ?? []));
    contradictions.push(...(page.contradictions ?? []));
  }
  return { rows, contradictions };
}

const iban = (of: string) => `<Id><IBAN>${of}</IBAN></Id>`;
const other = (of: string) => `<Id><Othr><Id>${of}</Id></Othr></Id>`;
const balance = (code: string, amount: string, day: string, mark = 'CRDT') =>
  `<Bal><Tp><CdOrPrtry><Cd>${code}</Cd></CdOrPrtry></Tp><Amt Ccy="EUR">${amount}</Amt><CdtDbtInd>${mark}</CdtDbtInd><Dt><Dt>${day}</Dt></Dt></Bal>`;
const entry = (more = '', amount = '30.00', day = '<Dt>2026-11-20</Dt>') =>
  `<Ntry><Amt Ccy="EUR">${amount}</Amt><CdtDbtInd>DBIT</CdtDbtInd><Sts><Cd>BOOK</Cd></Sts><BookgDt>${day}</BookgDt>${more}</Ntry>`;
const statement = (content: string, account = iban(OWN)) =>
  `<Stmt><Id>S1</Id><Acct>${account}<Ccy>EUR</Ccy></Acct>${content}</Stmt>`;
const camt = (...statements: string[]) =>
  `<Document xmlns="urn:iso:std:iso:20022:tech:xsd:camt.053.001.08"><BkToCstmrStmt>${statements.join('')}</BkToCstmrStmt></Document>`;
const details = (...all: string[]) =>
  `<NtryDtls>${all.map((each) => `<TxDtls>${each}</TxDtls>`).join('')}</NtryDtls>`;
const to = (name: string) => `<RltdPties><Cdtr><Pty><Nm>${name}</Nm></Pty></Cdtr></RltdPties>`;

describe('a camt entry', () => {
  it('has the reference and the payments of a batch', async () => {
    const payment = (id: string, amount: string) =>
      `<Refs><EndToEndId>${id}</EndToEndId></Refs><Amt Ccy="EUR">${amount}</Amt><CdtDbtInd>DBIT</CdtDbtInd>${to(id)}<RmtInf><Ustrd>R ${id}</Ustrd></RmtInf>`;
    const batch = details(payment('A', '10.00'), payment('B', '20.00')).replace(
      '<NtryDtls>',
      '<NtryDtls><Btch><PmtInfId>P-42</PmtInfId></Btch>',
    );
    const { rows } = await read(camt(statement(entry(batch))));
    const one = (id: string, amount: string) => ({
      ...{ amount, currency: 'EUR', endToEndId: id, counterpartyName: id, remittance: `R ${id}` },
    });
    expect(rows).toMatchObject([
      {
        ...{ amount: '-30.00', customerReference: 'P-42', remittance: 'R A R B', endToEndId: null },
        entryDetails: [one('A', '-10.00'), one('B', '-20.00')],
      },
    ]);
  });

  it.each<[string, string, object]>([
    [
      'why it was returned',
      details(`<RtrInf><Rsn><Cd>AC04</Cd></Rsn><AddtlInf>closed</AddtlInf></RtrInf>`),
      { returnReason: 'AC04 closed' },
    ],
    [
      'words alone for why it was returned',
      details(`${to('Shop')}<RtrInf><AddtlInf>Konto erloschen</AddtlInf></RtrInf>`),
      { returnReason: 'Konto erloschen', counterpartyName: 'Shop' },
    ],
    [
      "the bank's words beside a name",
      `${details(to('Shop'))}<AddtlNtryInf>Sent for 815</AddtlNtryInf>`,
      { description: 'Shop', additionalInformation: 'Sent for 815' },
    ],
    [
      'the reference of its payment',
      details('<Refs><PmtInfId>P-1</PmtInfId></Refs>'),
      { customerReference: 'P-1' },
    ],
    [
      'an id in its payment alone',
      details('<Refs><AcctSvcrRef>T-1</AcctSvcrRef></Refs>'),
      { transactionId: 'T-1' },
    ],
    ['another id in its payment', details('<Refs><TxId>X-1</TxId></Refs>'), { transactionId: 'X-1' }],
    [
      'an id in its payment where the entry says there is none',
      `<AcctSvcrRef>NONREF</AcctSvcrRef>${details('<Refs><AcctSvcrRef>NONREF</AcctSvcrRef><TxId>X-1</TxId></Refs>')}`,
      { transactionId: 'X-1' },
    ],
    [
      'its own id before those of its payment',
      `<AcctSvcrRef>E-1</AcctSvcrRef>${details('<Refs><AcctSvcrRef>T-1</AcctSvcrRef></Refs>')}`,
      { transactionId: 'E-1' },
    ],
    [
      'no id of one of its payments',
      details('<Refs><TxId>X-1</TxId></Refs>', '<Refs><TxId>X-2</TxId></Refs>'),
      { transactionId: null },
    ],
    ['no id that says there is none', '<AcctSvcrRef>NONREF</AcctSvcrRef>', { transactionId: null }],
  ])('has %s', async (_, more, expected) => {
    expect((await read(camt(statement(entry(more))))).rows).toMatchObject([expected]);
  });

  it.each([
    ['>BOOK<', '>Book<', '-30.00'],
    ['>DBIT<', '>Dbit<', '-30.00'],
    ['>DBIT<', '>crdt<', '30.00'],
  ])('has %s also as %s', async (usual, written, amount) => {
    const { rows } = await read(camt(statement(entry().replace(usual, written))));
    expect(rows).toMatchObject([{ amount, status: 'booked' }]);
  });

  it.each([
    ['2026-11-20T00:00:00+02:00', undefined, '2026-11-20'],
    ['2026-11-20T23:30:00-03:00', undefined, '2026-11-20'],
    ['2026-11-19T23:00:00Z', undefined, '2026-11-20'],
    ['2026-11-19T22:00:00Z', undefined, '2026-11-19'],
    ['2026-11-19T22:00:00Z', 'Europe/Helsinki', '2026-11-20'],
    ['2026-11-20T00:30:00Z', 'Atlantic/Azores', '2026-11-19'],
  ])('of %s at a bank in %s is of %s', async (time, zone, day) => {
    const text = camt(statement(entry('', '1.00', `<DtTm>${time}</DtTm>`)));
    expect((await read(text, zone === undefined ? {} : { zone })).rows).toMatchObject([{ bookingDate: day }]);
    const json = JSON.stringify({
      transactions: { booked: [{ bookingDate: time, transactionAmount: { amount: '1', currency: 'EUR' } }] },
    });
    expect((await read(json, zone === undefined ? {} : { zone })).rows).toMatchObject([{ bookingDate: day }]);
  });
});

const FINNISH = 'FI2112345600000785';
const IRISH = 'IE29AIBK93115212345678';
it.each([
  ['fi21 1234 5600 0007 85', '2026-11-19T22:30:00Z', {}, '2026-11-20'],
  ['RO49AAAA1B31007593840000', '2026-11-19T22:30:00Z', {}, '2026-11-20'],
  ['PT50000201231234567890154', '2026-11-19T23:30:00Z', {}, '2026-11-19'],
  ['GB29NWBK60161331926819', '2026-11-19T23:30:00Z', {}, '2026-11-19'],
  [OWN, '2026-11-19T22:30:00Z', {}, '2026-11-19'],
  [FINNISH, '2026-11-19T22:30:00Z', { zone: 'Europe/Rome' }, '2026-11-19'],
])(
  'of an account %s the time %s at a bank with %j is of %s, whoever names the account',
  async (of, time, zone, day) => {
    const account = of.replaceAll(' ', '').toUpperCase();
    const amount = { amount: '1', currency: 'EUR' };
    const json = { transactions: { booked: [{ bookingDate: time, transactionAmount: amount }] } };
    const inXml = (id: string) => camt(statement(entry('', '1.00', `<DtTm>${time}</DtTm>`), id));
    const knows: ConsentSource = { for: CONSENT.for, ibanOf: () => account };
    // An account without an IBAN in the list.
    const doesNot: ConsentSource = { for: CONSENT.for, ibanOf: () => null };
    for (const [body, consent] of [
      [JSON.stringify(json), knows],
      [JSON.stringify({ ...json, account: { iban: of } }), doesNot],
      [inXml(''), knows],
      [inXml(iban(account)), doesNot],
    ] as const)
      expect((await read(body, zone, consent)).rows).toMatchObject([{ bookingDate: day }]);
  },
);

it.each([
  [{}, [], 'Europe/Rome'],
  [{}, ['RO', 'RO'], 'Europe/Bucharest'],
  [{}, ['RO', 'DE'], 'Europe/Rome'],
  [{}, ['DE'], 'Europe/Rome'],
  [{ zone: 'Europe/Riga' }, ['RO'], 'Europe/Riga'],
  [{ zone: 'Europe/Riga' }, ['RO'], 'Europe/Riga', FINNISH],
  [{}, ['RO', 'DE'], 'Europe/Dublin', IRISH],
  [{}, ['RO'], 'Europe/Rome', OWN],
])(
  'the zone of a bank %j in the countries %j is %s for the account %s',
  (accounts, countries, zone, own?: string) => {
    const { calls } = scriptedCalls([], {
      accounts,
      banks: countries.map((country) => ({ name: 'Bank', country })),
    });
    expect(zoneOf(calls.description, own)).toBe(zone);
  },
);

describe('whose a camt statement is', () => {
  it.each([
    ['its IBAN as another number', other('DE89 3704 0044 0532 0130 00')],
    ['its number', other('0532013000')],
    ['its number without zeros', other('532013000')],
    ['its number with the bank code', other('37040044532013000')],
    ['its number after letters', other('EUR0532013000')],
    ['its number without a sub-account', other('5320130')],
    ["a number of the bank's own", other('KONTO-1')],
  ])('is clear from %s', async (_, account) => {
    expect((await read(camt(statement(entry(), account)))).rows).toHaveLength(1);
  });

  it.each([
    [
      'another IBAN as another number',
      [other('DE02100100109307118603')],
      /about the account DE02100100109307118603/,
    ],
    ...[
      ...['0999999999', 'EUR0999999999', 'CPTE-0999999999', '99999999', '370400440999999999'],
      // Only the end of the account's number, or of its BBAN.
      ...['00', '3000', '2013000', '013000', '440532013'],
    ].map((number): [string, string[], RegExp] => [
      `the number ${number}`,
      [other(number)],
      new RegExp(`about the account ${number},`),
    ]),
    ['two numbers', [other('0532013000'), other('0999999999')], /several accounts/],
    ['two currencies', [iban(OWN), `${iban(OWN)}<Ccy>USD</Ccy>`], /several accounts/],
  ])('with %s is refused', async (_, accounts, what) => {
    const text = camt(...accounts.map((account) => statement(entry(), account)));
    expect(await failureOf(read(text))).toMatchObject({
      code: 'bank_answer',
      message: expect.stringMatching(what),
    });
  });
});

describe('the marks of a camt entry', () => {
  const statusOf = async (written: string) => {
    const { calls } = scriptedCalls(
      [{ body: camt(statement(entry().replace(/<Sts>.*<\/Sts>/, `<Sts>${written}</Sts>`))), headers: {} }],
      { accounts: { cards: 'never' } },
      CONSENT,
    );
    const lists: string[] = [];
    for await (const { booked, pending } of pagesOf(calls, QUERY))
      lists.push(...(booked?.rows ?? []).map(() => 'booked'), ...(pending?.rows ?? []).map(() => 'pending'));
    return lists;
  };

  it.each([
    ['BOOK', ['booked']],
    ['PDNG', ['pending']],
    ['FUTR', ['pending']],
    ['INFO', []],
    ['futr', ['pending']],
  ])('say by %s where it stands: %j', async (status, lists) => {
    for (const written of [status, `<Cd>${status}</Cd>`, `<Prtry>${status}</Prtry>`])
      expect(await statusOf(written)).toEqual(lists);
  });

  it.each(['RJCT', ''])('say nothing that psd2 knows by %j', async (status) => {
    expect(await failureOf(statusOf(status))).toMatchObject({
      code: 'bank_answer',
      message: expect.stringContaining(`psd2 does not know the status ${JSON.stringify(status)} of an entry`),
    });
  });

  it.each([
    ['true', 'Payer'],
    ['1', 'Payer'],
    ['TRUE', 'Payer'],
    ['false', 'Payee'],
    ['0', 'Payee'],
  ])('say by RvslInd %s who is the other side: %s', async (mark, name) => {
    const sides = ['Dbtr', 'Cdtr'].map(
      (side, at) => `<${side}><Pty><Nm>${['Payer', 'Payee'][at]}</Nm></Pty></${side}>`,
    );
    const both = details(`<RltdPties>${sides.join('')}</RltdPties>`);
    const { rows } = await read(camt(statement(entry(`<RvslInd>${mark}</RvslInd>${both}`))));
    expect(rows).toMatchObject([{ amount: '-30.00', counterpartyName: name }]);
  });
});

describe('the balances of a camt statement', () => {
  const [opening, closing] = [
    balance('OPBD', '100.00', '2026-11-19'),
    balance('CLBD', '70.00', '2026-11-20'),
  ];
  const later = (from: string, to: string) =>
    balance('OPBD', from, '2026-11-20') + balance('CLBD', to, '2026-11-21');
  const sums = (net: string) => `<TxsSummry><TtlNtries>${net}</TtlNtries></TxsSummry>`;
  const pending = () => entry().replace('BOOK', 'PDNG');
  const page = (number: number, isLast: boolean) =>
    `<StmtPgntn><PgNb>${number}</PgNb><LastPgInd>${isLast}</LastPgInd></StmtPgntn>`;

  it.each<[string, string, string[]]>([
    ['that its rows lead to', camt(statement(opening + closing + entry())), []],
    [
      'that they do not',
      camt(statement(opening + closing + entry('<RvslInd>true</RvslInd>', '20.00'))),
      ['The statement S1 has the balances 100.00 and 70.00 EUR, and its rows lead to 80.00'],
    ],
    [
      'of several days',
      camt(
        statement(
          closing +
            opening +
            balance('CLBD', '90.00', '2026-11-19') +
            balance('OPBD', '90.00', '2026-11-20') +
            entry(),
        ),
      ),
      [],
    ],
    [
      'with words in small letters',
      camt(
        statement(
          balance('opbd', '100.00', '2026-11-19', 'dbit') +
            balance('clbd', '70.00', '2026-11-20', 'crdt') +
            entry(),
        ),
      ),
      ['The statement S1 has the balances -100.00 and 70.00 EUR, and its rows lead to -130.00'],
    ],
    [
      'that were closed before',
      camt(
        statement(
          balance('PRCD', '40.00', '2026-11-19', 'DBIT') +
            balance('CLBD', '70.00', '2026-11-20', 'DBIT') +
            entry(),
        ),
      ),
      [],
    ],
    [
      'on two pages',
      camt(
        statement(page(1, false) + opening + entry('', '10.00')),
        statement(page(2, true) + closing + entry('', '20.00')),
      ),
      [],
    ],
    ['on its last page alone', camt(statement(page(2, true) + opening + closing + entry('', '20.00'))), []],
    [
      'on a last page alone, after another statement',
      camt(
        statement(opening + closing + entry()),
        statement(page(2, true) + balance('CLBD', '20.00', '2026-11-21') + entry('', '5.00')),
      ),
      [],
    ],
    [
      'on two pages, after another statement',
      camt(
        statement(opening + closing + entry()),
        statement(page(1, false) + balance('OPBD', '70.00', '2026-11-21') + entry('', '15.00')),
        statement(page(2, true) + balance('CLBD', '20.00', '2026-11-21') + entry('', '5.00')),
      ),
      ['The statement S1 has the balances 70.00 and 20.00 EUR, and its rows lead to 50.00'],
    ],
    [
      'on one page, after the first page of another statement',
      camt(
        statement(page(1, false) + balance('OPBD', '5.00', '2026-11-18')),
        statement(opening + closing + entry('', '20.00')),
        statement(page(1, true) + later('70.00', '50.00') + entry('', '20.00')),
      ),
      ['The statement S1 has the balances 100.00 and 70.00 EUR, and its rows lead to 80.00'],
    ],
    ['that cannot be read', camt(statement(opening + balance('CLBD', 'x', '2026-11-20') + entry())), []],
    [
      'in its sums',
      camt(
        statement(
          `<TxsSummry><TtlDbtNtries><NbOfNtries>2</NbOfNtries><Sum>30</Sum></TtlDbtNtries></TxsSummry>${entry()}`,
        ),
      ),
      ['The statement S1 counts 2 for money out, and has 1'],
    ],
    ...[
      '<TtlNetNtryAmt>20.00</TtlNetNtryAmt><CdtDbtInd>DBIT</CdtDbtInd>',
      '<TtlNetNtry><Amt>20.00</Amt><CdtDbtInd>DBIT</CdtDbtInd></TtlNetNtry>',
    ].map((net): [string, string, string[]] => [
      `in its net sum ${net}`,
      camt(statement(sums(net) + entry())),
      ['The statement S1 has the net sum -20.00, and its rows have -30.00'],
    ]),
    [
      'in the direction of its net sum',
      camt(statement(sums('<TtlNetNtryAmt>30.00</TtlNetNtryAmt><CdtDbtInd>CRDT</CdtDbtInd>') + entry())),
      ['The statement S1 has the net sum 30.00, and its rows have -30.00'],
    ],
    [
      'that its net sums fit',
      camt(
        statement(sums('<TtlNetNtryAmt>30.00</TtlNetNtryAmt><CdtDbtInd>DBIT</CdtDbtInd>') + entry()),
        statement(sums('<TtlNetNtryAmt>30.00</TtlNetNtryAmt>') + entry()),
        statement(
          sums('<TtlNetNtry><Amt>60</Amt><CdtDbtInd>DBIT</CdtDbtInd></TtlNetNtry>') + entry() + pending(),
        ),
      ),
      [],
    ],
    [
      'of the statement before',
      camt(
        statement(`<ElctrncSeqNb>7</ElctrncSeqNb>${opening}${closing}${entry()}`),
        statement(`<ElctrncSeqNb>8</ElctrncSeqNb>${later('80.00', '50.00')}${entry()}`),
      ),
      ['The statement S1 begins with 80.00 EUR, and the one before ends with 70.00'],
    ],
    [
      'of the statement before, which has none',
      camt(
        statement(`<ElctrncSeqNb>7</ElctrncSeqNb>${opening}${closing}${entry()}`),
        statement(`<ElctrncSeqNb>8</ElctrncSeqNb>${entry()}`),
        statement(`<ElctrncSeqNb>9</ElctrncSeqNb>${later('50.00', '20.00')}${entry()}`),
      ),
      [],
    ],
    ...['CLAV', 'ITBD', 'ITAV', 'FWAV', 'INFO', 'XPCD'].map((code): [string, string, string[]] => [
      `of other kinds: ${code}`,
      camt(statement(opening + balance(code, '5.00', '2026-11-22') + closing + entry())),
      [],
    ]),
    ...['OPAV', 'ITBD', 'ITAV', 'INFO'].map((code): [string, string, string[]] => [
      `of other kinds at the beginning: ${code}`,
      camt(statement(balance(code, '5.00', '2026-11-18') + opening + closing + entry())),
      [],
    ]),
    [
      'of another statement',
      camt(
        statement(`<ElctrncSeqNb>7</ElctrncSeqNb>${opening}${closing}${entry()}`),
        statement(`<ElctrncSeqNb>9</ElctrncSeqNb>${later('80.00', '50.00')}${entry()}`),
        statement(`<ElctrncSeqNb>10</ElctrncSeqNb>${later('50.00', '20.00')}${entry()}`),
      ),
      [],
    ],
  ])('%s', async (_, text, sentences) => {
    expect((await read(text)).contradictions).toEqual(sentences);
  });
});
