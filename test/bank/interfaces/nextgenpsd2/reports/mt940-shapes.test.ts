import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { readMt940 } from '../../../../../src/bank/interfaces/nextgenpsd2/reports/mt940.ts';
import { transactionsAnswerIn } from '../../../../../src/bank/interfaces/nextgenpsd2/wire/accounts.ts';

// The shapes that banks write, as public files of other programs have them.

function fail(what: string): never {
  throw new Error(what);
}

function read(text: string) {
  const { transactions: lists, ...report } = readMt940(text, fail);
  const { transactions } = transactionsAnswerIn('Europe/Rome').parse({ transactions: lists });
  const told = (rows = transactions?.booked) =>
    rows?.map(({ facts, creditor, debtor, transactionAmount, ...row }) => ({
      ...{ ...row, ...facts, amount: transactionAmount.amount },
      ...{
        additionalInformation: facts.additionalInformation ?? null,
        returnReason: facts.returnReason ?? null,
      },
      name: creditor.name ?? debtor.name,
    }));
  return { ...report, rows: told() ?? [], pending: told(transactions?.pending) ?? [] };
}

const statement = (entries: string, more = ':62F:C261130EUR102,\n-') =>
  `:20:STARTUMS\n:25:37040044/0532013000\n:28C:1/1\n:60F:C261101EUR100,\n${entries}\n${more}`;
const entry = (line: string) => statement(`:61:2611211120${line}\n:86:x`);
const TWO = { amount: '2', bookingDate: '2026-11-20', valueDate: '2026-11-21', remittance: 'x' };
const words = (text: string) => statement(`:61:2611211120C2,NTRFNONREF\n:86:${text}`);

describe('a line :61: of MT940', () => {
  it.each<[string, string, object]>([
    ['a blank before the type', entry('C2, NTRFNONREF//B1'), { transactionId: 'B1' }],
    ['a type of two letters and a blank', entry('C2,NOV NONREF'), { proprietaryBankTransactionCode: 'NOV' }],
    ['a type with blanks alone', entry('C2,S   X'), { customerReference: 'X' }],
    ['a type of three letters at the end', entry('C2,NMS'), { proprietaryBankTransactionCode: 'NMS' }],
    ['a type of another letter', entry('C2,MCI0NONREF//B2'), { transactionId: 'B2' }],
    [
      'a reference of 26 characters',
      entry('CR2,NTRF2026-11-20-08.37.18.054696'),
      { customerReference: '2026-11-20-08.37.18.054696' },
    ],
    [
      'a reference with blanks',
      entry('C2,NTRFDO 111//M1'),
      { customerReference: 'DO 111', transactionId: 'M1' },
    ],
    ['no reference of the customer', entry('C2,NTRFNONREF//NONREF'), { transactionId: null }],
    ['an empty reference of the bank', entry('C2,NMSCNONREF//'), { transactionId: null }],
    [
      'a reference that is in :86:',
      statement(':61:2611211120C2,NTRFKREF+//B1\n:86:166?20KREF+K-7?21SVWZ+x'),
      { customerReference: 'K-7', transactionId: 'B1' },
    ],
    ['blanks for the booking day', statement(':61:261121    CD2,NMSCNONREF//\n:86:x'), { bookingDate: null }],
    ['zeros before the amount', entry('C000000000002,00N541NONREF'), { amount: '2.00' }],
    ['an amount without digits before the comma', entry('C,50NTRFNONREF'), { amount: '0.50' }],
    ['a code of funds', entry('CN2,NTRFNONREF'), {}],
    ['a line that completes it', statement(':61:2611211120CR\n2,N062NONREF\n:86:x'), {}],
    [
      'a line that completes the reference',
      statement(':61:2611211120C2,NTRFEREF//00000000001\n005\n/TRCD/00100/\n:86:x'),
      { transactionId: '00000000001005', additionalInformation: '/TRCD/00100/' },
    ],
    [
      'what the bank adds',
      statement(':61:2611211120C2,NTRFNONREF\n911-IPH\n/OCMT/USD3,/\n:86:x'),
      { additionalInformation: '911-IPH', originalAmount: '3', originalCurrency: 'USD' },
    ],
    [
      'several fields :86:',
      statement(':61:2611211120C2,NTRFNONREF\n:86:One\n:86:two'),
      { remittance: 'One two' },
    ],
    [
      'a field :86: after one in the German structure',
      statement(':61:2611211120C2,NTRFNONREF\n:86:166?20Rent?32Max Muster?33mann\n:86:Second'),
      { remittance: 'Rent Second', name: 'Max Muster mann' },
    ],
    [
      'a structure in two fields :86:',
      statement(':61:2611211120C2,NTRFNONREF\n:86:166?20Rent\n:86:?21of May?32Max'),
      { remittance: 'Rent of May', name: 'Max' },
    ],
    [
      'a text outside of SWIFT',
      statement(':61:2611211120C2,NTRFNONREF\n:NS:01y\n:86:x'),
      { additionalInformation: null },
    ],
    ['a tag that is not known', statement(':61:2611211120C2,NTRFNONREF\n:86:x\n:99Z:y'), {}],
  ])('may have %s', (_, text, expected) => {
    expect(read(text).rows).toMatchObject([{ ...TWO, ...expected }]);
  });

  it('is refused with its line if it says no amount', () => {
    expect(() => read(entry('CNTRFNONREF'))).toThrow(
      /^A field :61: has another form than MT940 has, at line 5$/,
    );
  });
});

describe('a field :86: of MT940', () => {
  const full = (text: string) => text.padEnd(27, 'x');
  it.each<[string, string, object]>([
    [
      'two words in one part',
      '166?00SEPA-GUTSCHRIFT?109075/611?20EREF+NOTPROVIDED SVWZ+VERTR?21\n:KO:NR:4711 APRIL 2026?32Max',
      { endToEndId: 'NOTPROVIDED', remittance: 'VERTR:KO:NR:4711 APRIL 2026' },
    ],
    [
      'a word that two parts share',
      `166?20EREF+A1.200080779.400143254?21.4961336 KREF+SEPA-DA202006?2201221740-34972000-P1 MR\nEF+2?230852HW2723821 SVWZ+Rest`,
      {
        endToEndId: 'A1.200080779.400143254.4961336',
        customerReference: 'SEPA-DA20200601221740-34972000-P1',
        mandateId: '20852HW2723821',
        remittance: 'Rest',
      },
    ],
    [
      'a word after a full part',
      `166?20${full('EREF+E')}?21SVWZ+Rent`,
      { endToEndId: full('EREF+E').slice(5), remittance: 'Rent' },
    ],
    [
      'an id, and text without a word',
      '166?20EREF+E-1?21Rechnung 4711 vom?22 13. November 2026',
      { endToEndId: 'E-1', remittance: 'Rechnung 4711 vom 13. November 2026' },
    ],
    [
      'an id of one part and text',
      `166?20EREF+${'I'.repeat(20)} and a text that follows it`,
      { endToEndId: `${'I'.repeat(20)} and a text`, remittance: 'that follows it' },
    ],
    ['text beside its word', '166?20Shop?21SVWZ+Rent', { remittance: 'Shop Rent' }],
    ['parts with blanks at both ends', '166?20SVWZ+One ?21 two', { remittance: 'One two' }],
    [
      'other words',
      '109?20SVWZ+x?21ABWA+A B?22ABWE+C?23CRED+D?24OAMT+11,85?25COAM+0,50?26IBAN+DE02100100109307118603',
      {
        ultimateDebtor: 'A B',
        ultimateCreditor: 'C',
        creditorId: 'D',
        originalAmount: '11.85',
        feeAmount: '0.50',
      },
    ],
    [
      'amounts with their currencies',
      '166?20OAMT+USD 3,00?21COAM+EUR0,50?22SVWZ+x',
      { originalAmount: '3.00', originalCurrency: 'USD', feeAmount: '0.50', feeCurrency: 'EUR' },
    ],
    [
      'a currency after an amount',
      '166?20OAMT+3,00 USD',
      { originalAmount: '3.00', originalCurrency: 'USD' },
    ],
    [
      'amounts that are none',
      '166?00SEPA?20OAMT+some?21COAM+0.x',
      { additionalInformation: 'SEPA OAMT+some COAM+0.x' },
    ],
    [
      'words without a field of their own',
      '166?00SEPA?20DEBT+DE98ZZZ09?21RREF+R1?22ORDP+O?23BENM+B?24SVWZ+x',
      { additionalInformation: 'SEPA DEBT+DE98ZZZ09 RREF+R1 ORDP+O BENM+B', remittance: 'x' },
    ],
    [
      'a word after an id of 35 characters',
      `166?20EREF+${'1'.repeat(22)}?21${'2'.repeat(13)}SVWZ+Rent of?22May`,
      { endToEndId: '1'.repeat(22) + '2'.repeat(13), remittance: 'Rent of May' },
    ],
    [
      'text in the part after an id',
      '166?20EREF+E-1?21Rent of May?22MREF+M-1?23of',
      { endToEndId: 'E-1', mandateId: 'M-1', remittance: 'Rent of May of' },
    ],
    [
      'the reason of a return',
      '109?00RETOURE?20SVWZ+x?34914',
      { returnReason: '914', additionalInformation: 'RETOURE' },
    ],
    ['no reason of a payment', '166?20SVWZ+x?34997', { returnReason: null }],
    [
      'a line that breaks a time',
      '106?20/PL 12-09-2026T16\n:26:37 Fo?21lge',
      { remittance: '/PL 12-09-2026T16:26:37 Fo lge' },
    ],
    ['full lines of a plain text', `${'a'.repeat(65)}\nb`, { remittance: `${'a'.repeat(65)}b` }],
    ['a line that is a dash', 'MARF/MND\n-\nEV01', { remittance: 'MARF/MND - EV01' }],
  ])('may have %s', (_, text, expected) => {
    expect(read(words(text)).rows).toMatchObject([{ amount: '2', ...expected }]);
  });

  it('may have ids that say there is none', () => {
    const { rows } = read(words('166?20EREF+NONREF?21KREF+NONREF?22MREF+NONREF?23CRED+NONREF?24SVWZ+x'));
    expect(rows).toMatchObject([{ endToEndId: null, remittance: 'x' }]);
    for (const name of ['mandateId', 'creditorId', 'customerReference'])
      expect(rows[0]).not.toHaveProperty(name);
  });

  it('may be broken after the colon of its tag', () => {
    const { rows } = read(statement(':61:2611211120C2,NTRFNONREF\n:\n86:166?20SVWZ+Rent?32Shop'));
    expect(rows).toMatchObject([{ remittance: 'Rent', name: 'Shop' }]);
  });
});

describe('what frames a message of MT940', () => {
  const plain = entry('C2,NTRFNONREF');
  it.each<[string, string]>([
    ['lines before it', `ABNANL2A\n940\nABNANL2A\n${plain}`],
    [
      'lines between messages',
      `${plain}\nABNANL2A\n940\n${plain.replaceAll('100,', '102,').replace('102,\n-', '104,\n-')}`,
    ],
    [':940:', `:940:\n${plain}`],
    ['blocks', `{1:F01X}{2:I940X}{4:\n${plain}}{5:}`],
    ['a brace alone', `{4:\n${plain}\n}`],
    ['the characters 01 and 03', `\u0001${plain}\n\u0003`],
  ])('may be %s', (_, text) => {
    const { rows, contradictions } = read(text);
    for (const row of rows) expect(row).toMatchObject(TWO);
    expect([rows.length, contradictions]).toEqual([text.split(':61:').length - 1, []]);
  });

  it.each<[string, string, RegExp]>([
    [
      'rows before the first message',
      `:61:261121C1,NTRFX\n${plain}`,
      /^A field :61: stands before the first :20:, at line 1$/,
    ],
    [
      'text between fields',
      plain.replace(':62F', '-}\nlost\n:62F'),
      /^The text is not part of a field, at line 8$/,
    ],
    [
      'two accounts in a message',
      plain.replace(':28C:', ':25:1\n:28C:'),
      /^The statement names two accounts, at line 3$/,
    ],
    [
      'two currencies of an account',
      `${plain}\n${plain.replaceAll('EUR', 'USD')}`,
      /^The file has statements of several accounts$/,
    ],
    [
      'an opening balance without an amount',
      plain.replace('EUR100', 'EURx'),
      /^The opening balance has no currency, or no amount, at line 4$/,
    ],
    [
      'no end',
      statement(':61:261121C2,NTRFX', ''),
      /^The statement has no closing balance, so its end is missing/,
    ],
  ])('is not %s', (_, text, what) => {
    expect(() => read(text)).toThrow(what);
  });
});

describe('a report in MT942', () => {
  const interim = (fields: string) =>
    `:20:0\n:25:1\n:28C:0\n${fields}\n:61:2611211120D10,99NMSCNONREF\n:86:x\n-`;
  it.each([
    ['that begins with a balance', ':60F:C261118EUR313,52\n:34F:EURD10,99\n:13D:2611212210+0000'],
    ['with a limit alone', ':34F:EUR0'],
    ['with a time alone', ':60F:C261118EUR313,52\n:13D:2611212210+0000'],
  ])('%s is pending, and needs no end', (_, fields) => {
    expect(read(interim(fields))).toMatchObject({
      rows: [],
      pending: [{ amount: '-10.99' }],
      contradictions: [],
    });
  });

  it('with a closing balance is a statement', () => {
    const text = statement(':13D:2611212210+0000\n:61:2611211120C2,NTRFX\n:86:x');
    expect(read(text)).toMatchObject({ rows: [{ amount: '2' }], pending: [] });
  });
});

describe('the balances of a statement', () => {
  it('are said if its rows do not lead to them', () => {
    expect(read(entry('C3,NTRFX')).contradictions).toEqual([
      'The statement up to line 7 has the balances 100.00 and 102.00 EUR, and its rows lead to 103.00',
    ]);
  });

  it('have the currency of the opening one', () => {
    const text = entry('C2,NTRFX').replace(':62F:C261130EUR102', ':62M:C261130102');
    expect(read(text)).toMatchObject({ isPart: true, contradictions: [] });
  });
});

describe('statements of one file', () => {
  const part = (number: string, opening: string, row: string, closing: string) =>
    `:20:X\n:25:37040044/0532013000\n:28C:${number}\n:60${opening}\n:61:2611211120${row}NTRFX\n:62${closing}\n-\n`;
  const INTERIM = ':20:0\n:25:37040044/0532013000\n:13D:2611212210+0000\n:34F:EUR0\n-\n';
  const first = (number: string, tag = 'F') =>
    part(number, 'F:C261101EUR100,', 'C2,', `${tag}:C261102EUR102,`);
  const gap = (line: number, to = '102.00') =>
    `The statement up to line ${line} begins with 112.00 EUR, and the one before ends with ${to}`;
  const next = (number: string, tag = 'F') =>
    part(number, `${tag}:C261102EUR112,`, 'D1,', 'F:C261103EUR111,');

  it.each<[string, string, string[]]>([
    ['parts without the rows between them', first('7/1', 'M') + next('7/2', 'M'), [gap(13)]],
    ['parts that all are opened as the first', first('1', 'M') + next('1'), [gap(13)]],
    ['a part whose part before is missing', first('7/1') + next('8/2', 'M'), [gap(13)]],
    ['parts around an interim report', first('7/1', 'M') + INTERIM + next('7/2', 'M'), [gap(18)]],
    ['numbers that follow each other', first('7/1') + next('8/1'), [gap(13)]],
    ['numbers with zeros', first('00009/001') + next('00010/001'), [gap(13)]],
    ['numbers that do not', first('7/1') + next('9/1'), []],
    ['equal numbers', first('7/1') + next('7/1'), []],
    ['no numbers', first('') + next(''), []],
    [
      'parts that lead to each other',
      first('7/1', 'M') + part('7/2', 'M:C261102EUR102,', 'D1,', 'F:C261103EUR101,'),
      [],
    ],
    [
      'numbers that lead to each other',
      first('7') + part('8', 'F:C261102EUR102,', 'D1,', 'F:C261103EUR101,'),
      [],
    ],
  ])('are compared: %s', (_, text, sentences) => {
    expect(read(text).contradictions).toEqual(sentences);
  });
});

describe('several messages', () => {
  const message = (id: string, fields: string, closing: string) =>
    `:20:${id}\n:25:37040044/0532013000\n:28C:1\n${fields}\n:61:2611211120C2,NTRFNONREF//${id}\n:86:${id}\n${closing}-`;
  const OPENING = ':60F:C261101EUR100,';
  const ALL = [
    message('booked', OPENING, ':62F:C261130EUR102,\n'),
    message('part', ':60M:C261130EUR102,', ':62M:C261130EUR104,\n'),
    message('wrong', OPENING, ':62F:C261130EUR109,\n'),
    message('limit', ':34F:EURD10,99', ''),
    message('time', `${OPENING}\n:13D:2611212210+0000`, ''),
  ];

  it('in any order have the rows of each: none takes anything of the one before', () => {
    fc.assert(
      fc.property(fc.shuffledSubarray(ALL, { minLength: 1 }), (messages) => {
        const ids = messages.map((each) => /^:20:(\w+)/.exec(each)?.[1] ?? '');
        const { rows, pending, contradictions, isPart } = read(messages.join('\n'));
        const isInterim = (id: string) => id === 'limit' || id === 'time';
        expect(rows.map(({ remittance }) => remittance)).toEqual(ids.filter((id) => !isInterim(id)));
        expect(pending.map(({ remittance }) => remittance)).toEqual(ids.filter(isInterim));
        expect(rows.map(({ transactionId }) => transactionId)).toEqual(ids.filter((id) => !isInterim(id)));
        const statements = ids.filter((id) => !isInterim(id));
        // None of the others begins where the part ends, and the part does not begin where the wrong one ends.
        const gaps = statements.filter(
          (id, index) =>
            statements[index - 1] === 'part' || (id === 'part' && statements[index - 1] === 'wrong'),
        );
        expect(contradictions).toHaveLength(gaps.length + (ids.includes('wrong') ? 1 : 0));
        expect(isPart).toBe(ids.findLast((id) => !isInterim(id)) === 'part');
      }),
    );
  });
});
