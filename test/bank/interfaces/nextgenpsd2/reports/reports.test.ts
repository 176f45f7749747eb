import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import type { BankFile } from '../../../../../src/bank/interfaces/nextgenpsd2/description/schema.ts';
import { pagesOf } from '../../../../../src/bank/interfaces/nextgenpsd2/readings/transactions.ts';
import type { Transaction } from '../../../../../src/bank/ports/bank.ts';
import type { ConsentSource } from '../../../../../src/bank/ports/call.ts';
import { failureOf, refused, type Scripted, said, scriptedCalls } from '../scripted.ts';
import { asCamt, asJson, asMt940, type Booking, OWN } from './account-reports.ts';

const QUERY = {
  ...{ customerId: 'shop', productId: 'a1', from: undefined, to: undefined, status: undefined },
  transactionId: 'aaaaaaaa-bbbb-4ccc-8ddd-eeeeeeeeeeee',
};
const CONSENT: ConsentSource = {
  for: () => Promise.resolve({ consentId: 'c1', reads: ['transactions'] }),
  ibanOf: () => OWN,
};
const NO_FORMAT = refused('REQUESTED_FORMATS_INVALID', 406);

async function read(
  answers: readonly Scripted[],
  file: Omit<BankFile, 'interface'> = { accounts: { cards: 'never' } },
  consents = CONSENT,
) {
  const { calls, sent } = scriptedCalls(answers, file, consents);
  const rows: Transaction[] = [];
  for await (const { booked, pending } of pagesOf(calls, QUERY))
    rows.push(...(booked?.rows ?? []), ...(pending?.rows ?? []));
  return { rows, asked: sent.map(({ path, headers }) => [path.replace(/\?.*/, ''), headers?.accept]) };
}

const rowsOf = async (body: string | Buffer, headers = {}) => (await read([{ body, headers }])).rows;

const words = (most: number) =>
  fc
    .array(fc.constantFrom('Abschlag', 'Oktober', '4711', 'Köln', 'R-1', 'x', 'Straße', 'A&B', '<2>'), {
      minLength: 1,
      maxLength: 30,
    })
    .map((all) => all.join(' ').slice(0, most).trim());
const maybe = <T>(value: fc.Arbitrary<T>) => fc.option(value, { nil: null });
const dayOf = (offset: number) =>
  new Date(Date.UTC(2026, 10, 1) + offset * 86_400_000).toISOString().slice(0, 10);
const day = fc.integer({ min: -80, max: 80 }).map(dayOf);
const amount = fc
  .tuple(fc.boolean(), fc.integer({ min: 1, max: 99_999_999 }))
  .map(
    ([isDebit, cents]) =>
      `${isDebit ? '-' : ''}${Math.floor(cents / 100)}.${String(cents % 100).padStart(2, '0')}`,
  );
const booking: fc.Arbitrary<Booking> = fc.record({
  ...{ amount, bookingDay: day, valueDay: day, isPending: fc.boolean() },
  id: maybe(fc.stringMatching(/^[A-Z0-9]{1,16}$/)),
  reference: maybe(fc.stringMatching(/^[A-Z0-9]{1,16}$/)),
  endToEndId: maybe(fc.stringMatching(/^[A-Z0-9-]{1,35}$/)),
  mandateId: maybe(fc.stringMatching(/^[A-Z0-9-]{1,35}$/)),
  name: maybe(words(54)),
  iban: maybe(fc.constantFrom('DE02100100109307118603', 'DE02120300000000202051')),
  remittance: fc.oneof(fc.constant(''), words(140)),
  text: maybe(fc.constantFrom('SEPA-GUTSCHRIFT', 'LASTSCHRIFT')),
  code: fc.constantFrom('166', '105', '177'),
  isoCode: maybe(fc.constantFrom('PMNT-ICDT-ESCT', 'PMNT-RDDT-ESDD')),
  purpose: maybe(fc.constantFrom('SALA', 'RINP')),
});

describe('an account reads the same in each format', () => {
  it('with what the format has', async () => {
    await fc.assert(
      fc.asyncProperty(fc.array(booking, { maxLength: 6 }), async (bookings) => {
        const expected = await rowsOf(asJson(bookings));
        expect(expected).toHaveLength(bookings.length);
        for (const [version, prefix] of Object.entries({ '02': 'ns2', '08': '', '13': '' }))
          for (const kind of ['052', '053'] as const)
            expect(await rowsOf(asCamt(bookings, kind, version, prefix))).toEqual(expected);
        const lacks = { entryReference: null, bankTransactionCode: null };
        expect(await rowsOf(asMt940(bookings))).toEqual(expected.map((row) => ({ ...row, ...lacks })));
      }),
      { numRuns: 100 },
    );
  });
});

const ONE: Booking = {
  ...{ amount: '-12.50', bookingDay: '2026-11-20', valueDay: '2026-11-21', isPending: false },
  ...{ id: 'A1', reference: 'N1', endToEndId: 'E1', mandateId: null, name: 'Stadtwerke', iban: null },
  ...{ remittance: 'Abschlag', text: null, code: '166', isoCode: null, purpose: null },
};
const CAMT = asCamt([ONE], '053', '08');
const MT940 = asMt940([ONE]);
const changedIn = (report: string) => (from: string | RegExp, to: string) => {
  expect(report).toMatch(from);
  return report.replace(from, to);
};
const changed = changedIn(CAMT);
const changed940 = changedIn(MT940);
const latin1 = (report: string) => Buffer.from(report, 'latin1');
const pageIn = (isLast: boolean) => `<StmtPgntn><LastPgInd>${isLast}</LastPgInd></StmtPgntn><Acct>`;

describe('camt', () => {
  const details = (name: string) =>
    `<TxDtls><Refs><EndToEndId>${name}</EndToEndId></Refs><RltdPties><Cdtr><Pty><Nm>Firma</Nm></Pty></Cdtr></RltdPties><RmtInf><Ustrd>${name}</Ustrd></RmtInf></TxDtls>`;

  const MANY = changed(/<TxDtls>.*<\/TxDtls>/s, details('1') + details('2'));
  const SHARED = { amount: '-12.50', endToEndId: null, counterpartyName: 'Firma', remittance: '1 2' };
  const LACKING = { amount: '-12.50', counterpartyName: null, remittance: null };
  const at = (time: string) => changed('<Dt>2026-11-20</Dt>', `<DtTm>2026-11-20T${time}</DtTm>`);
  const returned = (before: string, says: string) =>
    changed('DBIT', 'CRDT').replace(before, `${says}${before}`);
  const MARK = '<RvslInd>true</RvslInd>';
  const REASON = '<RtrInf><Rsn><Cd>AC04</Cd></Rsn></RtrInf>';
  const RETURNED = { amount: '12.50', counterpartyName: 'Stadtwerke' };
  const RF = 'RF18539007547034';
  const REFERENCE = `<Strd><CdtrRefInf><Ref>${RF}</Ref></CdtrRefInf></Strd>`;
  const USD =
    '<AmtDtls><InstdAmt><Amt Ccy="USD">14.00</Amt><CcyXchg><XchgRate>1.12</XchgRate></CcyXchg></InstdAmt></AmtDtls>';
  const CHARGES = '<Chrgs><Rcrd><Amt Ccy="EUR">0.50</Amt></Rcrd></Chrgs>';
  const DOLLARS = { originalAmount: '14.00', originalCurrency: 'USD', exchangeRate: '1.12' };
  const NUMBER = '</Pty></Cdtr><CdtrAcct><Id><Othr><Id>1234567</Id></Othr></Id></CdtrAcct>';
  const NUMBERED = { counterpartyAccount: '1234567', counterpartyIban: null };
  const KOELN = latin1(changed('Stadtwerke', 'Köln').replace('UTF-8', 'ISO-8859-1'));
  const CDATA = `\uFEFF${changed('Abschlag', '<![CDATA[A<B]]> &amp; &#67;')}`;

  it.each<[string, string | Buffer, object]>([
    ['a time in another zone is the day at the bank', at('23:30:00Z'), { bookingDate: '2026-11-21' }],
    ['a time without a zone is the day that stands there', at('23:30:00'), { bookingDate: '2026-11-20' }],
    ['an entry of many payments is one row with what they share', MANY, SHARED],
    ['an entry without details', changed(/<NtryDtls>.*<\/NtryDtls>/s, ''), LACKING],
    ['of what is returned, the other side is who was paid', returned('<BookgDt>', MARK), RETURNED],
    ['a return by its reason', returned('<RmtInf>', REASON), RETURNED],
    ['a reference of the payee', changed(/<Ustrd>.*<\/Ustrd>/, REFERENCE), { remittance: RF }],
    ['another currency', changed('<NtryDtls>', `${USD}<NtryDtls>`), DOLLARS],
    ['charges', changed('<NtryDtls>', `${CHARGES}<NtryDtls>`), { feeAmount: '0.50' }],
    ['Latin-1 that the XML declares', KOELN, { counterpartyName: 'Köln' }],
    ['text in CDATA, entities of XML and a byte order mark', CDATA, { remittance: 'A<B & C' }],
    ['an account that is not an IBAN', changed('</Pty>\n</Cdtr>', NUMBER), NUMBERED],
  ])('%s', async (_, body, expected) => {
    expect(await rowsOf(body)).toMatchObject([expected]);
  });

  it('pages of a statement in one file are whole, and so are those that are asked for by number', async () => {
    const first = changed('<Acct>', pageIn(false));
    const last = first.replace(/(.*)<Acct>/s, `$1${pageIn(true)}`);
    expect(await rowsOf(last)).toHaveLength(1);
    const file = { accounts: { cards: 'never', paging: 'page-index' } } as const;
    const empty = { body: asCamt([], '053', '08') };
    expect((await read([{ body: first }, empty], file)).rows).toHaveLength(1);
  });

  it('says the direction also at a bank whose JSON does not', async () => {
    const body = changed('DBIT', 'CRDT').replace(/<NtryDtls>.*<\/NtryDtls>/s, '');
    const file = { accounts: { cards: 'never', amounts: 'unsigned' } } as const;
    expect((await read([{ body }], file)).rows).toMatchObject([{ amount: '12.50' }]);
  });

  it('what is only information is no row', async () => {
    expect(await rowsOf(changed('<Cd>BOOK</Cd>', '<Cd>INFO</Cd>'))).toEqual([]);
  });
});

describe('MT940', () => {
  const lines = (entry: string, information: string) =>
    `:20:X\r\n:25:37040044/0532013000\r\n:28C:1\r\n:60F:C261101EUR1,\r\n${entry}\r\n:86:${information}\r\n:62F:C261130EUR1,\r\n-`;
  const credit = (valueAndBooking: string) => lines(`:61:${valueAndBooking}C1,NTRFNONREF`, 'x');
  const days = (bookingDate: string, valueDate: string) => ({ bookingDate, valueDate });
  const plain = ':61:2611211120D12,5NTRFNONREF//B1';
  const PLAIN = {
    ...{ amount: '-12.5', remittance: 'Abschlag Oktober Kunde 7', transactionId: 'B1', code: 'NTRF' },
    ...{ ...days('2026-11-20', '2026-11-21'), counterpartyName: null, endToEndId: null },
  };
  const fields = '105?00LASTSCHRIFT?20Abschlag?21Oktober?30COBADEFF?311234567?32Stadt?33werke';
  const FIELDS = {
    ...{ remittance: 'Abschlag Oktober', counterpartyAccount: '1234567', counterpartyName: 'Stadt werke' },
    code: '105',
  };
  const OTHER_CURRENCY = { originalAmount: '14', originalCurrency: 'USD', feeAmount: '0.50' };
  const inBlocks = `{1:F01X}{2:I940X}{4:\n${lines(plain, 'Köln')}}`;
  const withCurrency = MT940.replaceAll(`:25:${OWN}`, `:25P:${OWN}EUR\r\nCOBADEFFXXX`);

  it.each<[string, string | Buffer, object]>([
    ['a plain text', lines(plain, 'Abschlag Oktober\r\nKunde 7'), PLAIN],
    ['a structured text without SEPA', lines(plain, fields), FIELDS],
    ['a reversed credit', lines(':61:261121RC1,NRTINONREF', 'x'), { amount: '-1', bookingDate: null }],
    ['its IBAN with the currency', withCurrency, { amount: '-12.50' }],
    ...[
      '37040044/532013000',
      '37040044/0532013000EUR',
      '37040044532013000',
      '0532013000',
      '100/5320130',
      'KONTO-1',
    ].map((own): [string, string, object] => [
      `${own}, which is no other account`,
      lines(plain, 'x').replace(/:25:.*/, `:25:${own}`),
      { amount: '-12.5' },
    ]),
    ['a reversed debit', lines(':61:261121RD1,NRTINONREF', 'x'), { amount: '1' }],
    ['days on both sides of a new year', credit('2701021230'), days('2026-12-30', '2027-01-02')],
    ['a day that only German banks have', credit('2702300301'), days('2027-03-01', '2027-02-28')],
    ['another currency and charges', lines(`${plain}\r\n/OCMT/USD14,//CHGS/EUR0,50/`, 'x'), OTHER_CURRENCY],
    ['no text', lines(plain, 'x').replace(/:86:x\r\n/, ''), { amount: '-12.5', remittance: null }],
    ['in Latin-1, in the blocks of a message', latin1(inBlocks), { remittance: 'Köln' }],
  ])('%s', async (_, body, expected) => {
    expect(await rowsOf(body, { 'content-type': 'text/plain' })).toMatchObject([expected]);
  });
});

describe('a report that cannot be read', () => {
  const MORE =
    /^The bank's account report of a1 says that more pages follow, and the bank gives no way to them$/;
  const of = (account: string) => asMt940([]).replaceAll(OWN, account);
  const OTHER = 'DE02100100109307118603';
  const FRENCH = 'FR1420041010050500013M02606';
  const BEHIND_BIC = 'BNPAFRPPXXX/fr14 2004 1010 0505 0001 3M02 606 EUR';
  const OTHER_NUMBER = '37040044/532013001';
  const ABOUT_OTHER = /about the account 37040044\/532013001,/;
  const TWO = asCamt([ONE, ONE], '053', '02');
  const ENDLESS = `:86:${'x\n'.repeat(200)}`;
  const SEVERAL = [OWN, '37040044/532013000', '37040044/1'].map(of).join('\n');
  const lastOf = (from: string, to: string) => MT940.replace(/-\r\n:20:.*/s, '').replace(from, to);
  const twice = (name: string) => CAMT.replace(new RegExp(`<${name}\\b.*?</${name}>`, 's'), '$&$&');
  const entities = '<!DOCTYPE d [<!ENTITY a "b">]>';
  it.each<[string, string | Buffer, RegExp]>([
    ['cut', CAMT.slice(0, -40), /not well-formed.*line \d+, column \d+$/],
    ['with a DOCTYPE', changed('<Document', `${entities}<Document`), /has a DOCTYPE, at line 2/],
    ['with an entity', changed('Stadtwerke', '&a;'), /not well-formed.*line \d+/],
    ['with another closing tag', changed('</Amt>', '</a>'), /not well-formed: unexpected close tag, at line/],
    [
      'in another version of XML',
      changed('version="1.0"', 'version="2.0"'),
      /not well-formed: version number must match \/\^1\\\.\[0-9\]\+\$\/, at line/,
    ],
    [
      'nested',
      changed('<NtryDtls>', `${'<a>'.repeat(100)}<NtryDtls>`),
      /The XML has more than 64 elements in one another, at line \d+, column \d+$/,
    ],
    ...['', 'EU', 'EURO', 'eur', 'E1R', ' EUR'].map((currency): [string, string, RegExp] => [
      `with the currency ${JSON.stringify(currency)}`,
      changed('"EUR"', `"${currency}"`),
      new RegExp(`\\. An entry has the currency "${currency}", at line \\d+, column \\d+$`),
    ]),
    ['with a long text', changed('Stadtwerke', 'x'.repeat(400_000)), /text, a tag or comments of more than/],
    ['of another version', changed('001.08', '001.14'), /camt.053.001.14.*versions 02 to 13/],
    ['of another kind', changed('camt.053', 'camt.054'), /camt.054/],
    ['of several accounts', TWO.replace(OWN, OTHER), /several accounts, at line \d+/],
    ['without a direction', changed('DBIT', 'X'), /neither CRDT nor DBIT.*line \d+/],
    ['with two amounts', twice('Amt'), /entry has more than one Amt, at line \d+, column \d+$/],
    ['with two currencies', changed('<Amt', '<Amt Ccy="USD"> </Amt><Amt'), /more than one Amt, at line \d+/],
    ['with two directions', twice('CdtDbtInd'), /more than one CdtDbtInd, at line \d+/],
    ['with two states', twice('Sts'), /more than one Sts, at line \d+/],
    [
      'with two flags of a reversal',
      changed('<Amt', '<RvslInd>false</RvslInd><RvslInd>true</RvslInd><Amt'),
      /RvslInd, at/,
    ],
    ['with two days', twice('BookgDt'), /more than one BookgDt, at line \d+/],
    ['with an amount that is none', changed('12.50', '1e3'), /amount "1e3".*line \d+/],
    ['with a sign in the amount', changed('12.50', '-12.50'), /amount "-12.50"/],
    ['with a day that is none', changed('2026-11-20', '2026-13-20'), /"2026-13-20" is not a day, at line/],
    ['with an unknown status', changed('BOOK', 'WHAT'), /status "WHAT".*line \d+/],
    ['in no charset that it declares', latin1(changed('Stadtwerke', 'Köln')), /not UTF-8|not in the charset/],
    ['MT940 with a broken entry', MT940.replace(':61:26', ':61:XX'), /:61: has another form.*at line 5$/],
    ['MT940 with a day that is none', changed940(':2611', ':2613'), /2026-13-21 is not a day, at line 5/],
    ['MT940 that is cut', MT940.replace(/:62F:.*/s, ''), /no closing balance.*at line \d+$/],
    ['MT940 that is cut before another', MT940.replace(/:62F:.*/, ''), /no closing balance.*at line \d+$/],
    ['MT940 that goes on', lastOf(':62F:', ':62M:'), MORE],
    ['whose statement goes on', changed('<Acct>', pageIn(false)), MORE],
    ['that goes on', changed('</GrpHdr>', '<MsgPgntn><LastPgInd>0</LastPgInd></MsgPgntn></GrpHdr>'), MORE],
    ['MT940 without a currency', MT940.replace(/:60F:.*/, ''), /currency of the account is missing, at line/],
    ['MT940 with lines without end', changed940(':86:', ENDLESS), /more than 100 lines, at line/],
    ['MT940 of several accounts', changed940(OWN, OTHER), /several accounts/],
    ['MT940 of several accounts, one with its IBAN', SEVERAL, /several accounts/],
    ['of another account than asked', of(FRENCH), /about the account FR14/],
    ['of another account, behind a BIC', of(BEHIND_BIC), /about the account FR1420041010050500013M02606,/],
    ...['37040044/532013001', '37040045/0532013000', '37040044532013001', '370400440532013001EUR'].map(
      (other): [string, string, RegExp] => [
        `of another account, by its number ${other}`,
        of(other),
        new RegExp(`about the account ${other}, not about a1 \\(${OWN}\\)`),
      ],
    ),
    ['of one account, and of another by its number', changed940(OWN, OTHER_NUMBER), ABOUT_OTHER],
    ['a page of a gateway', '<?xml version="1.0"?><html><body>Bad Gateway</body></html>', /not JSON/],
  ])('%s', async (_, body, message) => {
    const failure = await failureOf(read([{ body, headers: { 'content-type': 'text/plain' } }], undefined));
    expect(failure).toMatchObject({ code: 'bank_answer', message: expect.stringMatching(message) });
    if (message === MORE)
      expect(failure).toMatchObject({
        ...{ hint: 'Narrow the range with --from and --to.', transactionId: QUERY.transactionId },
      });
  });
});

describe('which format the bank is asked for', () => {
  const path = '/v1/accounts/a1/transactions';
  const ROWS = { body: CAMT };
  const TEXT = { body: MT940 };

  it.each<[string, Scripted[], (string | undefined)[], Parameters<typeof read>[1]?]>([
    ['JSON first', [{ body: asJson([ONE]) }], [undefined]],
    ['then XML', [NO_FORMAT, ROWS], [undefined, 'application/xml']],
    ['then text', [NO_FORMAT, NO_FORMAT, TEXT], [undefined, 'application/xml', 'text/plain']],
    ['only what the bank file says', [TEXT], ['text/plain'], { accounts: { reports: ['mt940', 'camt'] } }],
    ['another format than asked for', [ROWS], [undefined]],
  ])('%s', async (_, answers, accepts, file) => {
    const { rows, asked } = await read(answers, file);
    expect(rows).toMatchObject([{ amount: '-12.50', counterpartyName: 'Stadtwerke' }]);
    expect(asked).toEqual(accepts.map((accept) => [path, accept]));
  });

  it('the one that the bank took before, and notes another', async () => {
    const took: string[] = [];
    const consents: ConsentSource = {
      ...CONSENT,
      reportOf: () => 'mt940',
      took: async (_consent, report) => void took.push(report),
    };
    expect((await read([TEXT], undefined, consents)).asked).toEqual([[path, 'text/plain']]);
    expect(took).toEqual([]);
    await read([NO_FORMAT, { body: asJson([ONE]) }], undefined, consents);
    expect(took).toEqual(['json']);
  });

  it('a document behind a link, once', async () => {
    const links = { account: { iban: OWN }, _links: { download: { href: `${path}/download/1` } } };
    const { rows, asked } = await read([said(links), ROWS]);
    expect(rows).toHaveLength(1);
    expect(asked.map(([at]) => at)).toEqual([path, `${path}/download/1`]);
    expect(await failureOf(read([said(links), said(links)]))).toMatchObject({ code: 'bank_answer' });
  });

  it('no other: then the refusal is the error', async () => {
    expect(await failureOf(read([NO_FORMAT, NO_FORMAT, NO_FORMAT]))).toMatchObject({ httpStatus: 406 });
  });
});
