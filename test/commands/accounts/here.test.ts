import { join } from 'node:path';
import { describe, expect, it } from 'vitest';
import type { Accounts, Transaction } from '../../../src/bank/ports/bank.ts';
import { buildProgram } from '../../../src/cli/program.ts';
import { addDays } from '../../../src/domain/calendar.ts';
import { isAccountId } from '../../../src/domain/identifiers.ts';
import { Psd2Error } from '../../../src/errors.ts';
import { transactionOf } from '../../bank/transaction.ts';
import { decimalOf } from '../../domain/bookings.ts';
import { temporaryFolder } from '../../store/temporary-folder.ts';
import { storeConsentFlow } from '../access.ts';
import { account, BankHere, OWN_ACCOUNT, OWN_IBAN } from '../bank-here.ts';
import { differing } from '../named-bank.ts';
import { ANNA, endOf, payerAt, TODAY } from '../payer-here.ts';

// Accounts at a bank in the memory of the test: what other banks do not have, and how a terminal shows it.

const temporary = temporaryFolder();

const transaction = (index: string, more: Partial<Transaction> = {}) =>
  transactionOf({
    ...{ index, bookingDate: TODAY, valueDate: TODAY, amount: decimalOf(1250) },
    ...{ description: `Row ${index}`, details: `Details of row ${index}`, ...more },
  });

/** An operator at a bank whose accounts differ in these parts. */
async function operatorAt(bank = new BankHere(), accounts: Partial<Accounts> = {}) {
  const known = differing(bank.interface, (own) => ({ accounts: { ...own.accounts, ...accounts } }));
  const payer = await payerAt({ interface: known }, temporary);
  /** What a terminal of this width shows. */
  const shown = async (words: string[], stdout: number, env = {}) => {
    const { printed } = await payer.run(words, { format: 'table', stdout, env });
    return printed.replaceAll('TODAY', 'YYYY-MM-DD');
  };
  return { ...payer, shown };
}

describe('psd2 accounts list', () => {
  it('on a terminal has titles, and a narrow one leaves out what matters least', async () => {
    const bank = new BankHere();
    bank.accounts = bank.accounts.map((each) => ({ ...each, productDescription: 'CONTO' }));
    const { shown } = await operatorAt(bank);
    const words = ['accounts', 'list'];
    expect([await shown(words, 100), await shown(words, 56), await shown(words, 46)]).toMatchInlineSnapshot(`
      ["ACCOUNT     IBAN                    CURRENCY  NAME             TYPE
      0000012345  DE02100100109307118603  EUR       Current account  CONTO
      ",
       "ACCOUNT     IBAN                    NAME
      0000012345  DE02100100109307118603  Current account
      ",
       "ACCOUNT     IBAN                    NAME
      0000012345  DE02100100109307118603  Current
                                          account
      "]
    `);
  });

  it('has the state of an account and the code of its kind if the bank says no more, and all that it says as JSON', async () => {
    const bank = new BankHere();
    const more = { status: 'blocked', card: true as const, bban: '0123', maskedPan: '5254**3241' };
    bank.accounts = [
      account('1', null, { productCode: 'CACC', productDescription: 'Giro', name: null, ...more }),
      account('2', OWN_IBAN, { productCode: 'CARD' }),
    ];
    const { run, shown } = await operatorAt(bank);
    const words = ['accounts', 'list'];
    expect((await shown(words, 100)).split('\n').map((line) => line.trimEnd())).toEqual([
      'ACCOUNT  IBAN                    CURRENCY  NAME             TYPE  STATUS',
      '1                                EUR                        Giro  blocked',
      '2        DE02100100109307118603  EUR       Current account  CARD',
      '',
    ]);
    const [first, second] = bank.accounts;
    expect(JSON.parse((await run(words)).printed)).toEqual([first, second]);
    expect(first).toMatchObject(more);
  });

  it('names the consent that is under way if the bank wants one, and else the error of the bank', async () => {
    const bank = new BankHere();
    const { run, open } = await operatorAt(bank);
    const wanted = new Psd2Error('not_logged_in', 'There is no consent', { next: [['consent', 'request']] });
    bank.meets('accounts', wanted, wanted);
    expect(endOf(await run(['accounts', 'list']))).toEqual([
      'exit 4, not_logged_in: There is no consent',
      '$ consent request',
    ]);
    await storeConsentFlow(
      open().context,
      { customerId: ANNA },
      { type: 'requested', resourceId: 'c1', outcomes: [] },
    );
    expect(endOf(await run(['accounts', 'list']))).toEqual([
      'exit 4, not_logged_in of co-1: There is no consent',
      'The consent co-1 is under way: waits for the customer. Ask the bank, or take the customer there:',
      '$ consent resume co-1',
    ]);
  });

  it('says that there are none', async () => {
    const bank = new BankHere();
    bank.accounts = [];
    const { run } = await operatorAt(bank);
    const { printed, said } = await run(['accounts', 'list'], { format: 'table' });
    expect([printed, said]).toEqual(['', 'The customer has no accounts.\n']);
  });
});

describe('psd2 accounts balance', () => {
  const BALANCE = ['accounts', 'balance', OWN_ACCOUNT];
  const euros = (cents: number) => ({ amount: decimalOf(cents), currency: 'EUR' });
  const OWN = {
    ...{ accountBalance: euros(1000), availableBalance: euros(950), accountAvailability: euros(2000) },
    ...{ accountAvailableCredit: null, asOf: '2026-11-21T12:00:00+01:00' },
  };

  it('has each balance, and what the bank does not give as nothing', async () => {
    const bank = new BankHere();
    bank.balances = OWN;
    const { run } = await operatorAt(bank);
    const { printed } = await run(BALANCE, { format: 'table' });
    expect(printed.split('\n')).toEqual([
      ...[`Account\t${OWN_ACCOUNT}`, 'Account balance\t10.00 EUR', 'Available balance\t9.50 EUR'],
      ...['Availability\t20.00 EUR', 'Available credit\t', 'As of\t2026-11-21T12:00:00+01:00', ''],
    ]);
    expect((await run(BALANCE)).data).toEqual({ accountId: OWN_ACCOUNT, productId: OWN_ACCOUNT, ...OWN });
    const [titles] = (await run(BALANCE, { format: 'csv' })).printed.split('\n');
    expect(titles).toMatch(/^accountId,productId,accountBalance.amount,accountBalance.currency,/);
  });

  it.each<[object | undefined, string | undefined]>([
    [undefined, undefined],
    [{}, undefined],
    [{ accountBalance: false, availableBalance: false }, undefined],
    [{ accountBalance: true }, 'account balance'],
    [{ accountBalance: false, availableBalance: true }, 'available balance'],
    [{ accountBalance: true, availableBalance: true }, 'account balance, available balance'],
  ])('says of which balances a credit line is a part: of %j', async (creditLimitIncluded, line) => {
    const bank = new BankHere();
    bank.balances = { ...OWN, ...(creditLimitIncluded && { creditLimitIncluded }) };
    const { run } = await operatorAt(bank);
    const { printed } = await run(BALANCE, { format: 'table' });
    expect(/^With a credit line\t(.*)$/m.exec(printed)?.[1]).toBe(line);
    expect((await run(BALANCE)).data.creditLimitIncluded).toEqual(creditLimitIncluded);
  });

  it('has the balances that the bank names, with their times or days', async () => {
    const bank = new BankHere();
    bank.balances = {
      ...{ accountAvailableCredit: euros(1000), asOf: '2026-11-21' },
      balances: [
        { type: 'closingBooked', ...euros(1000), date: null, at: null },
        { type: 'expected', ...euros(1000), date: TODAY, at: null },
        { type: 'interimAvailable', ...euros(1000), date: TODAY, at: '2026-11-21T12:00:00Z' },
      ],
    };
    const { run } = await operatorAt(bank);
    const { printed } = await run(BALANCE, { format: 'table' });
    // Of two equal amounts, a person reads one.
    expect(printed).not.toContain('Availability');
    expect(printed.split('\n').slice(3)).toEqual([
      ...['Available credit\t10.00 EUR', 'As of\t2026-11-21', 'closingBooked\t10.00 EUR'],
      ...['expected\t10.00 EUR  TODAY', 'interimAvailable\t10.00 EUR  2026-11-21T12:00:00Z', ''],
    ]);
  });
});

describe('psd2 accounts transactions', () => {
  const LIST = ['accounts', 'transactions', OWN_ACCOUNT];

  it('has a line for each, and on a terminal titles; a narrow one leaves out what matters least', async () => {
    const bank = new BankHere();
    const pending = { amount: decimalOf(-5), status: 'pending', bookingDate: null } as const;
    bank.booked = [transaction('1'), transaction('2', pending)];
    const { run, shown } = await operatorAt(bank);
    expect((await run(LIST, { format: 'table' })).printed).toBe(
      'TODAY\tTODAY\t12.50\tEUR\tRow 1\tDetails of row 1\npending\tTODAY\t-0.05\tEUR\tRow 2\tDetails of row 2\n',
    );
    expect([await shown(LIST, 110), await shown(LIST, 60), await shown(LIST, 44)]).toMatchInlineSnapshot(`
      ["BOOKED      VALUE       AMOUNT       DESCRIPTION  DETAILS
      YYYY-MM-DD  YYYY-MM-DD  +12.50  EUR  Row 1        Details of row 1
      pending     YYYY-MM-DD   -0.05  EUR  Row 2        Details of row 2
      ",
       "BOOKED      AMOUNT       DESCRIPTION  DETAILS
      YYYY-MM-DD  +12.50  EUR  Row 1        Details of row 1
      pending      -0.05  EUR  Row 2        Details of row 2
      ",
       "BOOKED      AMOUNT       DESCRIPTION
      YYYY-MM-DD  +12.50  EUR  Row 1
      pending      -0.05  EUR  Row 2
      "]
    `);
  });

  it('warns if the bank has no list of what is pending, and it was asked for', async () => {
    const { run } = await operatorAt(new BankHere(), { lacksPending: true });
    const none = 'There are no transactions.\n';
    expect((await run([...LIST, '--pending'], { format: 'table' })).said).toBe(
      `This bank gives booked transactions only, so psd2 knows of no pending ones.\n${none}`,
    );
    expect((await run(LIST, { format: 'table' })).said).toBe(none);
    const { run: other } = await operatorAt();
    expect((await other([...LIST, '--pending'], { format: 'table' })).said).toBe(none);
  });

  it('says how many have a booking day that cannot be read', async () => {
    const { run } = await operatorAt(new BankHere(), {
      async *pages() {
        const lost = transaction('1', { bookingDate: null });
        yield { booked: { rows: [lost], total: null, hasMore: false }, unreadDays: 1 };
      },
    });
    const ran = await run([...LIST, '--booked']);
    expect(JSON.parse(ran.printed)).toMatchObject([{ bookingDate: null, valueDate: 'TODAY' }]);
    expect(ran.failure).toMatchObject({
      code: 'needs_attention',
      message: expect.stringContaining('(bookingDate) cannot be read: 1 transaction has'),
    });
  });

  it('that are booked for a day to come say so', async () => {
    const bank = new BankHere();
    const tomorrow = addDays(TODAY, 1);
    bank.booked = [
      transaction('1'),
      transaction('2', { bookingDate: tomorrow }),
      transaction('3', { bookingDate: null, valueDate: tomorrow, status: 'pending' }),
    ];
    const { run } = await operatorAt(bank);
    const rows: unknown[] = JSON.parse((await run(LIST)).printed);
    expect(rows).toMatchObject([
      { index: '1' },
      { index: '2', future: true, description: 'Row 2' },
      { index: '3' },
    ]);
    expect(rows.map((row) => Object(row).future)).toEqual([undefined, true, undefined]);
  });

  it('of a bank that identifies them have more fields', async () => {
    const bank = new BankHere();
    bank.booked = [transaction('1', { transactionId: 't-1', endToEndId: 'e-1' })];
    const plain = await operatorAt(bank);
    const { run } = await operatorAt(bank, { identifiesRows: true });
    const [titles] = (await run(LIST, { format: 'csv' })).printed.split('\n');
    expect(titles).toContain('feeCharge,transactionId,entryReference,endToEndId,counterpartyName');
    const [before] = (await plain.run(LIST, { format: 'csv' })).printed.split('\n');
    expect(before).toMatch(/feeCharge,future$/);
  });

  it.each(['json', 'ndjson', 'table'] as const)('as %s, no page behind the limit is read', async (format) => {
    const read: string[] = [];
    const pages: Accounts['pages'] = async function* () {
      for (const page of ['a', 'b', 'c']) {
        read.push(page);
        const rows = [transaction(`${page}1`), transaction(`${page}2`)];
        yield { booked: { rows, total: 6, hasMore: page !== 'c' } };
      }
    };
    const { run } = await operatorAt(new BankHere(), { pages });
    for (const [limit, expected] of Object.entries({ 1: 'a', 2: 'a', 3: 'ab', 4: 'ab', 6: 'abc' })) {
      read.length = 0;
      const { printed } = await run([...LIST, '--limit', limit], { format });
      expect(read.join(''), limit).toBe(expected);
      const rows = ['a1', 'a2', 'b1', 'b2', 'c1', 'c2'].slice(0, Number(limit));
      expect(printed.match(/(?<=Details of row )\w+/g)).toEqual(rows);
      const lines = printed.trimEnd().split('\n');
      expect(format === 'json' ? JSON.parse(printed) : lines).toHaveLength(rows.length);
      if (format === 'ndjson') for (const line of lines) expect(JSON.parse(line)).toBeTypeOf('object');
    }
  });

  it.each(['json', 'ndjson'] as const)(
    'as %s, rows of other days do not count for the limit',
    async (format) => {
      const pages: Accounts['pages'] = async function* () {
        const old = (index: string) => transaction(index, { bookingDate: addDays(TODAY, -9) });
        for (const [nth, rows] of [
          [old('a1'), transaction('a2')],
          [old('b1'), transaction('b2')],
        ].entries())
          yield { booked: { rows, total: 4, hasMore: nth === 0 } };
      };
      const { run } = await operatorAt(new BankHere(), { pages });
      const { printed } = await run([...LIST, '--from', TODAY, '--limit', '2'], { format });
      expect(printed.match(/(?<=Details of row )\w+/g)).toEqual(['a2', 'b2']);
    },
  );

  it('--export is refused where the bank has no documents, and only there', async () => {
    const { run } = await operatorAt(new BankHere({ lacks: ['documents'] }));
    expect(endOf(await run([...LIST, '--export', 'pdf', '--file', 'x']))).toEqual([
      'exit 2, usage: The interface of this bank, here, has no documents',
    ]);
    expect((await run(LIST)).failure).toBeNull();
  });
});

describe('psd2 accounts transactions --chart', () => {
  const CHART = ['accounts', 'transactions', OWN_ACCOUNT, '--chart'];
  const drawn = async (columns: number, env: Record<string, string> = {}) => {
    const bank = new BankHere();
    bank.booked = [transaction('1')];
    bank.balances = { accountBalance: { amount: decimalOf(10_000), currency: 'EUR' } };
    const { shown } = await operatorAt(bank);
    return shown([...CHART, '--from', TODAY], columns, env);
  };
  const hasBlocks = (text: string) => /[^\n -~]/.test(text);
  const width = (text: string) => Math.max(...text.split('\n').map((line) => line.length));

  it.each<[Record<string, string>, boolean]>([
    [{ LANG: 'it_IT.UTF-8' }, true],
    [{ LANG: 'it_IT.utf8' }, true],
    [{ LC_CTYPE: 'C.UTF-8', LANG: 'C' }, true],
    [{ LC_ALL: 'C.UTF-8', LC_CTYPE: 'C', LANG: 'C' }, true],
    [{ LC_ALL: 'C', LC_CTYPE: 'C.UTF-8', LANG: 'C.UTF-8' }, false],
    [{ LC_CTYPE: 'C', LANG: 'C.UTF-8' }, false],
    [{ LANG: 'C' }, false],
    [{}, false],
  ])('with %j a terminal gets blocks: %s', async (env, blocks) => {
    expect(hasBlocks(await drawn(100, env))).toBe(blocks);
  });

  it.each([true, false, undefined])(
    'says whether a credit line is in the balances: the bank says %s',
    async (included) => {
      const bank = new BankHere();
      bank.booked = [transaction('1')];
      bank.balances = {
        accountBalance: { amount: decimalOf(10_000), currency: 'EUR' },
        ...(included !== undefined && { creditLimitIncluded: { accountBalance: included } }),
      };
      const { run } = await operatorAt(bank);
      const { said } = await run([...CHART, '--from', TODAY], { format: 'table' });
      expect(/credit line/.test(said)).toBe(included === true);
      const { printed } = await run([...CHART, '--from', TODAY], { format: 'json' });
      expect(JSON.parse(printed).creditLimitIncluded).toBe(included ?? null);
    },
  );

  it('without a balance says nothing of a credit line, and has no balances', async () => {
    const bank = new BankHere();
    bank.booked = [transaction('1')];
    bank.balances = { creditLimitIncluded: { accountBalance: true } };
    const { run } = await operatorAt(bank);
    const words = [...CHART, '--from', TODAY];
    expect((await run(words, { format: 'table' })).said).not.toMatch(/credit line/);
    expect((await run(words)).data).toMatchObject({
      ...{ opening: null, closing: null, balances: [], noBalance: null, complete: true, certainFrom: null },
      months: [{ in: '12.50', out: '0.00', net: '12.50' }],
    });
  });

  it('says from when on it is certain, if the bank may have cut the list', async () => {
    const rows = Array.from({ length: 50 }, (_, index) =>
      transaction(`${index}`, { transactionId: `t${index}` }),
    );
    const { run } = await operatorAt(new BankHere(), {
      identifiesRows: true,
      async *pages() {
        yield { booked: { rows, total: null, hasMore: false } };
      },
    });
    const { data, failure } = await run([...CHART, '--from', addDays(TODAY, -5)]);
    const certainFrom = addDays(TODAY, 1);
    expect(data).toMatchObject({ complete: false, certainFrom });
    expect(failure).toMatchObject({ code: 'needs_attention', message: expect.stringContaining(certainFrom) });
  });

  it.each([
    ['newer', [5, 4], null],
    ['older', [4, 5], -4],
  ])('is not complete if the bank refuses a page with %s rows', async (_, days, from) => {
    const { run } = await operatorAt(new BankHere(), {
      async *pages() {
        const rows = days.map((ago) => transaction(`${ago}`, { bookingDate: addDays(TODAY, -ago) }));
        yield { booked: { rows, total: null, hasMore: true } };
        throw new Psd2Error('bank_refused', 'No more', { refusal: 'other', isBanks: true, httpStatus: 403 });
      },
    });
    const { data, failure } = await run([...CHART, '--from', addDays(TODAY, -9)]);
    const certainFrom = from === null ? null : expect.any(String);
    expect(data).toMatchObject({ complete: false, certainFrom });
    expect(failure?.code).toBe('needs_attention');
  });

  it('is as wide as the terminal, at most 120', async () => {
    const [narrow, wide, widest] = [await drawn(60), await drawn(120), await drawn(200)];
    expect([width(narrow) <= 60, width(wide) > 100, widest === wide]).toEqual([true, true, true]);
  });
});

describe('a document of an account', () => {
  const FOREIGN = { index: '2', currency: 'USD' } as const;
  async function saved(words: string[], balances: object) {
    const bank = new BankHere();
    bank.booked = [transaction('1'), transaction('2', FOREIGN)];
    bank.balances = balances;
    const { run } = await operatorAt(bank);
    const file = join(temporary, 'document');
    return run(['accounts', words[0] ?? '', OWN_ACCOUNT, '--file', file, ...words.slice(1)]);
  }
  const BALANCE = { accountBalance: { amount: decimalOf(10_000), currency: 'EUR' } };

  it.each([
    ['csv', 2],
    ['camt053', 2],
    ['ofx', 1],
  ])('of the format %s says that it has %i rows, in two currencies or one', async (format, rows) => {
    const { said } = await saved(['export', '--format', format], BALANCE);
    expect(said).toContain(`\n${rows} booked transactions from TODAY to TODAY\n`);
  });

  it('that shows balances is not whole without them, and one that has none is', async () => {
    const unknown = { ...BALANCE, bookedDay: null };
    const why = 'the bank does not say to which day its balance belongs';
    expect((await saved(['report'], unknown)).failure).toMatchObject({
      code: 'needs_attention',
      message: `The balances of ${OWN_ACCOUNT} are not known: ${why}`,
    });
    expect((await saved(['export', '--format', 'csv'], unknown)).failure).toBeNull();
    expect((await saved(['report'], BALANCE)).failure).toBeNull();
  });
});

it('an account whose IBAN the operator gives is looked up, and one whose id they give is not', async () => {
  const bank = new BankHere();
  const readAccountId = (text: string) => (isAccountId(text) ? text : expect.unreachable(text));
  Object.assign(bank.interface, { readAccountId });
  const { run } = await operatorAt(bank);
  for (const named of [OWN_IBAN, OWN_ACCOUNT, 'a-1', `x${OWN_IBAN}`, 'DE1A345678901234'])
    expect((await run(['accounts', 'balance', named])).failure).toBeNull();
  expect(bank.calls).toEqual([
    ...[`accounts ${ANNA}`, `balance ${OWN_ACCOUNT}`, `balance ${OWN_ACCOUNT}`, 'balance a-1'],
    ...[`balance x${OWN_IBAN}`, 'balance DE1A345678901234'],
  ]);
});

it.each([
  ['accounts list', 'inquiry'],
  ['accounts show 0000012345', 'inquiry'],
  ['accounts balance 0000012345', 'inquiry'],
  ['accounts transactions 0000012345', 'inquiry'],
  ['products list', 'inquiry'],
  ['api GET /x', 'inquiry'],
  // These print what psd2 makes of several answers, or of none.
  ['accounts export 0000012345 --format csv --file x', undefined],
  ['accounts report 0000012345 --file x', undefined],
  ['consent list', undefined],
  ['sync --out x', undefined],
  ['sync status', undefined],
])('psd2 %s has the kind %s: only an inquiry takes --raw', async (line, kind) => {
  const kinds: unknown[] = [];
  const words = line.split(' ');
  const program = await buildProgram('0.0.0', {
    words,
    runInstead: async (_command, itsKind) => void kinds.push(itsKind),
  });
  await program.parseAsync(words, { from: 'user' });
  expect(kinds).toEqual([kind]);
});
