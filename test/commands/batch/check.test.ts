import { readdirSync, utimesSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { describe, expect, test } from 'vitest';
import { check } from '../../../src/commands/batch/check.ts';
import { shortPlace } from '../../../src/commands/batch/place.ts';
import { document, information, transaction } from '../../batch-file/reading.ts';
import { temporaryFolder } from '../../store/temporary-folder.ts';
import { storeTransfer } from '../access.ts';
import { type How, openCommand, runIn, useFolder } from '../command.ts';
import { bankWhere } from '../named-bank.ts';
import type { Json } from '../payer-here.ts';

const temporary = temporaryFolder();
const NOW = '2026-11-23T10:00:00.000Z';
const IBAN = 'DE89370400440532013000';
const shape = check.prints?.shape;

const folder = useFolder(temporary);
let written = 0;

/** Writes a file of payments. @returns its path */
function write(text: string): string {
  written += 1;
  const path = join(temporary, `payments-${written}.csv`);
  writeFileSync(path, text);
  return path;
}

/** Runs `psd2 batch check` on a file. @returns what it printed, and the error that it ended with */
async function checked(text: string, options: { words?: string[]; path?: string } & How = {}) {
  const { words = [], format = 'json', path = write(text), ...how } = options;
  const command = openCommand(folder, NOW, { ...how, format });
  const error = await runIn(command.context, 'batch', 'check', path, ...words).then(
    () => null,
    (thrown: Error) => thrown,
  );
  const printed = command.printed();
  const data = format === 'json' && printed !== '' ? JSON.parse(printed) : null;
  if (data) expect(shape?.is(data)).toBe(true);
  return { error, data, printed, said: command.said() };
}

/** Checks a file at a bank with these fields of a bank file. */
async function checkedAt(payments: object, text: string) {
  const bank = join(temporary, 'bank.json');
  writeFileSync(bank, JSON.stringify({ interface: 'nextgenpsd2', payments }), { mode: 0o600 });
  return (await checked(text, { env: { PSD2_BANK: bank } })).data;
}
/** A transaction to this payee, with parts of their address besides the town and the country. */
const paidTo = (name: string, parts: string, more: Parameters<typeof transaction>[0] = {}) => {
  const address = `<PstlAdr>${parts}<TwnNm>Berlin</TwnNm><Ctry>DE</Ctry></PstlAdr>`;
  const account = `<CdtrAcct><Id><IBAN>${IBAN}</IBAN></Id></CdtrAcct>`;
  return transaction({ payee: `<Cdtr><Nm>${name}</Nm>${address}</Cdtr>${account}`, ...more });
};

/** Stores a transfer that is not over. @returns its local id */
const storeUnfinished = (reference: string) =>
  storeTransfer(
    openCommand(folder, NOW).context,
    { instant: false, type: null, reference },
    { type: 'verify-sent', requestId: 'r', digest: null },
  );

describe('psd2 batch check', () => {
  const WANTED =
    'error This bank wants to know whether it books a bulk payment as one sum: add --batch-booking yes or no (the same for 1 other payment)';
  const THE_BANKS_OWN =
    'warning This bank decides itself whether it books one sum or each payment (the same for 1 other payment)';
  test.each([
    [null, 'yes', THE_BANKS_OWN],
    [null, 'no', null],
    ['optional', 'yes', null],
    ['optional', undefined, null],
    ['required', undefined, WANTED],
    ['required', 'no', null],
    ['never', 'yes', THE_BANKS_OWN],
    ['never', 'no', THE_BANKS_OWN],
  ] as const)('where batchBooking is %s, --batch-booking %s: %s', async (batchBooking, word, expected) => {
    const bulk = batchBooking && { maxEntries: null, takes: () => true, batchBooking };
    const { data } = await checked(`${HEAD}\nAda,${IBAN},1\nBea,${IBAN},2\n`, {
      words: word === undefined ? [] : ['--batch-booking', word],
      find: bankWhere(bulk ? { bulk } : {}),
    });
    const said = data.problems.map(({ severity, message }: Json) => `${severity} ${message}`);
    expect([said, data.totals[0].batchBooking]).toEqual([
      expected === null ? [] : [expected],
      word === undefined ? null : word === 'yes',
    ]);
  });

  test('refuses an amount above the limit of the profile', async () => {
    const { data } = await checked(`name,iban,amount\nAda,${IBAN},100.00\nBob,${IBAN},100.01\n`, {
      env: { PSD2_MAX_AMOUNT: '100.00' },
    });
    const message = expect.stringMatching(/more than the 100\.00 EUR/);
    expect(data.problems).toEqual([expect.objectContaining({ severity: 'error', line: 2, message })]);
  });

  test('refuses the parts of an address that the bank does not take, and no element that is empty', async () => {
    const text = document([
      information([
        paidTo('Ada', ''),
        paidTo('Ada', '<StrtNm/><BldgNb> </BldgNb><PstCd></PstCd>'),
        ...['<StrtNm>Allee</StrtNm>', '<BldgNb>7</BldgNb>', '<PstCd>10115</PstCd>'].map((parts) =>
          paidTo('Ada', parts),
        ),
      ]),
    ]);
    const untaken = async (...allowed: string[]) =>
      (await checkedAt({ allowed, futureDays: 60 }, text)).problems
        .filter(({ message }: Json) => `${message}`.includes('creditorAddress'))
        .map(({ line, message }: Json) => `${line}: ${message}`);
    expect(await untaken('creditorAddress.townName', 'creditorAddress.country')).toEqual([
      '3: This bank does not take creditorAddress.streetName in a payment',
      '4: This bank does not take creditorAddress.buildingNumber in a payment',
      '5: This bank does not take creditorAddress.postCode in a payment',
    ]);
    expect(await untaken('creditorAddress.townName')).toContain(
      '1: This bank does not take creditorAddress.country in a payment',
    );
  });

  const DAYS = `Ada,${IBAN},1,\nBob,${IBAN},2,2026-11-23\nEve,${IBAN},3,2026-12-01\n`;
  const INSTANT_ONLY = { products: { payments: ['instant-sepa-credit-transfers'] } };
  const NO_TEXTS = { allowed: ['endToEndIdentification'] };
  const [ADA, TEXTS] = [`Ada,${IBAN},1,\n`, `Ada,${IBAN},1,Rent\nBob,${IBAN},2,\n`];
  const AT_ONCE = '. Without a date, psd2 pays as soon as possible';
  const NO_DATE = `3: This bank takes no execution date, so 2026-12-01 is not possible${AT_ONCE}`;
  const UNTAKEN = '1: This bank does not take remittanceInformationUnstructured in a payment';
  const NO_PRODUCT = '1: The bank file has no product in payments.products.payments';
  test.each<[string, object, string, string[]]>([
    ['date', { futureDays: 0 }, DAYS, [NO_DATE]],
    ['date', { futureDays: 3 }, DAYS, [`3: This bank takes no execution date after 2026-11-26${AT_ONCE}`]],
    ['date', { futureDays: 8 }, DAYS, []],
    ['date', { address: 'required' }, ADA, ["1: This bank wants the payee's address"]],
    ['description', NO_TEXTS, TEXTS, [UNTAKEN]],
    ['date', INSTANT_ONLY, ADA, [NO_PRODUCT]],
  ])('refuses a %s that the bank file does not have: %j', async (column, payments, lines, problems) => {
    const { problems: found } = await checkedAt(payments, `name,iban,amount,${column}\n${lines}`);
    expect(found.map(({ line, message }: Json) => `${line}: ${message}`)).toEqual(problems);
  });

  /** A pain.001 of two groups, whose payments have amounts of their own. */
  const GROUPS = document([
    information([1, 2].map((n) => transaction({ amount: `<InstdAmt Ccy="EUR">${n}.00</InstdAmt>` }))),
    information([transaction({ amount: '<InstdAmt Ccy="EUR">3.00</InstdAmt>' })], {
      ReqdExctnDt: '\n<ReqdExctnDt><Dt>2026-12-02</Dt></ReqdExctnDt>',
      PmtMtd: '<PmtMtd>TRF</PmtMtd>\n<PmtTpInf><InstrPrty>HIGH</InstrPrty></PmtTpInf>',
    }),
  ]).replace(/E-1/g, 'NOTPROVIDED');
  const ROWS = `Ada,${IBAN},1,2026-12-01\nBob,${IBAN},2,2026-12-01\nEve,${IBAN},3,2026-12-01\n`;
  const NO_DAY = 'This bank takes no execution date, so 2026-12-01 is not possible';
  const GROUP = '/Document/CstmrCdtTrfInitn/PmtInf';
  test.each<[string, string, string[], unknown[][]]>([
    [
      'of a group is said once, at the element that says it',
      GROUPS,
      [],
      [
        [null, 4, `${GROUP}[1]/ReqdExctnDt`, `${NO_DAY}. The day 1999-01-01 means as soon as possible`],
        [null, 6, `${GROUP}[2]/PmtTpInf`, "This bank's interface has no urgent execution"],
      ],
    ],
    [
      'of rows is said at the first one, with how many others have it',
      `name,iban,amount,date\n${ROWS}`,
      [],
      [[1, 2, 'line 2', `${NO_DAY}${AT_ONCE} (the same for 2 other payments)`]],
    ],
    [
      'of an option is said once, without a place',
      `name,iban,amount\n${ROWS.replaceAll(',2026-12-01', '')}`,
      ['--date', '2026-12-01'],
      [[null, null, '', `${NO_DAY}${AT_ONCE}`]],
    ],
  ])('a rule %s', async (_what, text, words, expected) => {
    const bank = join(temporary, 'bank.json');
    writeFileSync(bank, JSON.stringify({ interface: 'nextgenpsd2' }), { mode: 0o600 });
    const { data } = await checked(text, { words, env: { PSD2_BANK: bank } });
    expect(
      data.problems.map(({ line, fileLine, place, message }: Json) => [line, fileLine, place, message]),
    ).toEqual(expected);
    expect(data.errors).toBe(expected.length);
  });

  const CHOOSES = 'At this bank the customer chooses the account to debit, and a payment names none';
  const [OF_ADA, OF_BEA] = [`Ada,${IBAN},1`, `Bea,${IBAN},2`];
  const TWO_ROWS = `name,iban,amount,from\n${OF_ADA},0000012345\n${OF_BEA},0000012345\n`;
  test.each<[string, string, string[], unknown[][]]>([
    [
      'of two groups',
      GROUPS,
      [],
      [1, 2].map((n) => [null, expect.any(Number), `${GROUP}[${n}]/DbtrAcct`, CHOOSES]),
    ],
    ['of rows', TWO_ROWS, [], [[1, 2, 'line 2', `${CHOOSES} (the same for 1 other payment)`]]],
    [
      'of a row, by its IBAN',
      `name,iban,amount,from\n${OF_ADA},\n${OF_BEA},${IBAN}\n`,
      [],
      [[2, 3, 'line 3', CHOOSES]],
    ],
    ['of an option', `name,iban,amount\n${OF_ADA}\n`, ['--from', '0000012345'], [[null, null, '', CHOOSES]]],
    [
      'of an option, by its IBAN',
      `name,iban,amount\n${OF_ADA}\n`,
      ['--from', IBAN],
      [[null, null, '', CHOOSES]],
    ],
    ['that nobody names', `name,iban,amount\n${OF_ADA}\n`, [], []],
  ])('where a payment names no account to debit, one %s is refused', async (_what, text, words, expected) => {
    const find = (debtorAccount: 'never' | 'optional') => ({ find: bankWhere({ debtorAccount }) });
    const { data } = await checked(text, { words, ...find('never') });
    const ofAccount = data.problems.filter(({ message }: Json) => `${message}`.startsWith(CHOOSES));
    expect(
      ofAccount.map(({ line, fileLine, place, message }: Json) => [line, fileLine, place, message]),
    ).toEqual(expected);
    const other = (await checked(text, { words, ...find('optional') })).data;
    expect(other.problems.filter(({ message }: Json) => `${message}`.startsWith(CHOOSES))).toEqual([]);
  });

  const ROOT = '/Document/CstmrCdtTrfInitn';
  const PAYMENT = `${ROOT}/PmtInf[12]/CdtTrfTxInf[34]`;
  test.each([
    ['line 7', 7, 'line 7'],
    ['', null, ''],
    [`${PAYMENT}/Cdtr/Nm`, null, `${PAYMENT}/Cdtr/Nm`],
    [ROOT, 3, 'line 3'],
    [`${ROOT}/GrpHdr/NbOfTxs`, 4, 'line 4 GrpHdr/NbOfTxs'],
    [`${ROOT}/PmtInf[12]/DbtrAcct`, 5, 'line 5 PmtInf[12]/DbtrAcct'],
    [PAYMENT, 6, 'line 6'],
    [`${PAYMENT}/Cdtr/Nm`, 7, 'line 7 Cdtr/Nm'],
    [`${PAYMENT}/CdtrAcct/Id/IBAN`, 8, 'line 8 CdtrAcct/Id/IBAN'],
    [`${PAYMENT}/RmtInf/Strd/CdtrRefInf/Ref`, 9, 'line 9 Strd/CdtrRefInf/Ref'],
    [`${ROOT}/PmtInf[12]/CdtTrfTxInf/Cdtr`, 10, 'line 10 PmtInf[12]/CdtTrfTxInf/Cdtr'],
  ])('names the place %s in line %s for people: %s', (place, fileLine, short) => {
    expect(shortPlace({ place, fileLine })).toBe(short);
  });

  test('at a terminal of 80 columns names the line of the file, and leaves room for what is wrong', async () => {
    const { printed } = await checked(
      document([
        information(
          [
            transaction({
              payee: `<Cdtr><Nm>Müller</Nm></Cdtr>\n<CdtrAcct><Id><IBAN>${IBAN}</IBAN></Id></CdtrAcct>`,
            }),
          ],
          { DbtrAcct: '<DbtrAcct><Id><Othr><Id>12</Id></Othr></Id></DbtrAcct>' },
        ),
      ]),
      { format: 'table', columns: 80 },
    );
    expect(printed.split('\n').slice(0, 7)).toMatchInlineSnapshot(`
      ["PROBLEM  PAYMENT  PLACE                      WHAT",
       "error             line 4 PmtInf[1]/DbtrAcct  The account id "12" has 2",
       "                                             characters instead of 10",
       "error    1        line 4 Cdtr/Nm             The name contains the character "ü"",
       "                                             at position 2, which SEPA does not",
       "                                             allow. Add --transliterate to pay",
       "                                             it as "Mueller""]
    `);
  });

  test('of a file that is not there is refused', async () => {
    const { error } = await checked('', { path: join(temporary, 'missing.csv') });
    expect(error).toMatchObject({
      code: 'usage',
      message: expect.stringMatching(/cannot read .*missing\.csv": it does not exist$/),
    });
    expect((await checked('', { path: temporary })).error?.message).toMatch(/a folder has that name$/);
  });

  test('reads standard input with -', async () => {
    const { context, printed } = openCommand(folder, NOW);
    const readStdin = async () => `name,iban,amount\nAda,${IBAN},1\n`;
    await runIn({ ...context, readStdin }, 'batch', 'check', '-');
    expect(JSON.parse(printed())).toMatchObject({ ok: true, file: '-', lines: 1 });
  });

  const HEAD = 'name,iban,amount';
  /** Bad lines and a good one. */
  const wrong = (count: number) => `${HEAD}\n${`Ada,${IBAN},-1\n`.repeat(count)}Bob,${IBAN},1\n`;

  test('says only what it counted if a file has no problems, and names each number in the singular and the plural', async () => {
    const good = await checked(`${HEAD}\nAda,${IBAN},1\n`, { format: 'table' });
    expect([good.printed, good.said, good.error]).toEqual([
      '\t\twhen it is paid\ttransfer\t1\t1.00 EUR\t1\n',
      '1 payment, 1 authorisation by the customer, 0 errors, 0 warnings.\n',
      null,
    ]);
    const warned = await checked(`${HEAD}\nAda,${IBAN},1\n`, {
      ...{ words: ['--batch-booking', 'yes'], format: 'table', find: bankWhere({}) },
    });
    expect(warned.said).toBe('1 payment, 1 authorisation by the customer, 0 errors, 1 warning.\n');
    const path = write(`${HEAD}\nAda,${IBAN},-1\nAda,${IBAN},-1\n`);
    const bad = await checked('', { path, format: 'table' });
    expect([bad.said, bad.error?.message]).toEqual([
      '0 payments, 0 authorisations by the customer, 2 errors, 0 warnings.\n',
      `The file ${path} has 2 errors`,
    ]);
    expect(bad.error).toMatchObject({
      hint: 'psd2 has stored and sent nothing. Correct the file and check it again.',
    });
    expect(bad.printed.split('\n').filter((line) => line !== '')).toHaveLength(2);
  });

  test('draws problems and totals on a terminal', async () => {
    const { printed } = await checked(
      `${HEAD},customer,from,date
Ada,${IBAN},12.50,1000001,0000012345,2026-12-01
Bob,${IBAN},1,1000001,0000012345,
Bob,${IBAN},-1,1000001,0000012345,
`,
      { format: 'table', columns: 120 },
    );
    expect(printed.split('\n')).toEqual([
      'PROBLEM  PAYMENT  PLACE   WHAT',
      'error    3        line 4  The amount "-1" is negative',
      '',
      'CUSTOMER  FROM        DAY              PRODUCT   PAYMENTS     AMOUNT  SCAS',
      '1000001   0000012345  2026-12-01       transfer         1  12.50 EUR     1',
      '1000001   0000012345  when it is paid  transfer         1   1.00 EUR     1',
      '',
    ]);
  });

  test.each([
    [[], 'transfer'],
    [['--instant', '--payee-verified'], 'instant'],
  ])('with %j says that the product is: %s', async (words, product) => {
    const { printed } = await checked(`${HEAD}\nAda,${IBAN},1\n`, { words, format: 'table' });
    expect(printed).toBe(`\t\twhen it is paid\t${product}\t1\t1.00 EUR\t1\n`);
  });

  test('shows the first 10 000 problems, and counts the rest', async () => {
    const { said, printed, error } = await checked(wrong(10_001), { format: 'table' });
    expect(said).toBe(
      '1 payment, 1 authorisation by the customer, 10001 errors, 0 warnings.\nThese are the first 10000 problems.\n',
    );
    expect(printed.split('\n').filter((line) => line.startsWith('error'))).toHaveLength(10_000);
    expect(error?.message).toMatch(/has 10001 errors$/);
    const exactly = await checked(wrong(10_000), { format: 'table' });
    expect(exactly.said).toBe('1 payment, 1 authorisation by the customer, 10000 errors, 0 warnings.\n');
    const twice = `Ada,${IBAN},1\n`.repeat(10_002);
    expect((await checked(`${HEAD}\n${twice}`, { format: 'table' })).said).toMatch(
      / 0 errors, 1000\d warnings\.\nThese are the first 10000 problems\.\n$/,
    );
  });

  test('knows the id of a message in pain.001, and no id in CSV; a file of another kind is refused', async () => {
    const xml = await checked(document([information([transaction()])]));
    expect(xml.data).toMatchObject({ format: 'pain.001.001.09', messageId: expect.stringMatching(/./) });
    const csv = { ok: false, format: 'csv', messageId: null, sha256: null };
    expect((await checked(wrong(1))).data).toMatchObject(csv);
    const other = await checked('{}');
    expect([other.data, other.error]).toMatchObject([null, { code: 'usage' }]);
  });

  test('counts the SCAs of a bank that takes bulk payments', async () => {
    const scasAt = async (bulk: object, products: string[]) => {
      const instrument = '<PmtTpInf><LclInstrm><Cd>INST</Cd></LclInstrm></PmtTpInf>';
      const paid = (count: number) =>
        Array.from({ length: count }, (_, n) =>
          transaction({ amount: `<InstdAmt Ccy="EUR">${count}.${n}1</InstdAmt>` }),
        );
      const instant = { PmtInfId: '<PmtInfId>P-2</PmtInfId>', PmtMtd: `<PmtMtd>TRF</PmtMtd>${instrument}` };
      const text = document([information(paid(3)), information(paid(2), instant)]);
      const data = await checkedAt({ products: { 'bulk-payments': products }, bulk }, text);
      return [data.scas, ...data.totals.map(({ scas, instant }: Json) => [instant, scas])];
    };
    const slow = ['sepa-credit-transfers'];
    expect(await scasAt({}, slow)).toEqual([3, [false, 1], [true, 2]]);
    expect(await scasAt({ maxEntries: 2 }, slow)).toEqual([4, [false, 2], [true, 2]]);
    expect(await scasAt({ maxEntries: 3 }, slow)).toEqual([3, [false, 1], [true, 2]]);
    expect(await scasAt({}, ['instant-sepa-credit-transfers'])).toEqual([4, [false, 3], [true, 1]]);
    expect(await scasAt({}, [])).toEqual([5, [false, 3], [true, 2]]);
  });

  test('has no hash of the content if only an earlier payment is in its way', async () => {
    await storeUnfinished('Inv 7');
    const { data } = await checked(`${HEAD},reference\nAda,${IBAN},1,Inv 7\n`);
    expect([data.sha256, data.lines]).toEqual([null, 1]);
    const other = await checked(`${HEAD},reference\nAda,${IBAN},1,Inv 8\n`);
    expect(other.data.sha256).toMatch(/^[0-9a-f]{64}$/);
  });

  test('warns of a transfer that it cannot read, and compares the file with the others', async () => {
    const damaged = await storeUnfinished('Inv 7');
    const other = await storeUnfinished('Inv 8');
    const flows = folder.flows('env');
    const file = readdirSync(flows).find((name) => name.startsWith(damaged)) ?? '';
    writeFileSync(join(flows, file), 'no journal');
    const { data, said } = await checked(`${HEAD},reference\nAda,${IBAN},1,Inv 7\nAda,${IBAN},2,Inv 8\n`);
    expect(data.problems).toMatchObject([{ line: 2, message: expect.stringContaining(other) }]);
    expect(said).toContain(damaged);
    expect(said).toMatch(/\. psd2 cannot compare it with the file\n$/);
  });

  test('of a profile that is damaged says so, and one that is not there counts as none', async () => {
    const text = `${HEAD}\nAda,${IBAN},1\n`;
    const globals = { profile: 'bank' };
    const env = { PSD2_BASE_URL: '' };
    await openCommand(folder, NOW, { env }).context.profiles.write('bank', {
      baseUrl: 'https://bank.example/',
      maxAmount: '0.50',
    });
    expect((await checked(text, { env, globals })).error).not.toBeNull();
    expect((await checked(text, { env, globals: { profile: 'none' } })).error).toBeNull();
    writeFileSync(folder.profile('bank'), '{', { mode: 0o600 });
    const { error, printed } = await checked(text, { env, globals });
    expect([error, printed]).toEqual([expect.objectContaining({ code: 'config' }), '']);
  });

  test.each([
    ['its size alone', () => `appendFileSync(p, "Bob,"); utimesSync(p, s.atime, s.mtime)`],
    ['its time alone', () => `utimesSync(p, s.atime, new Date(0))`],
  ])('a file of which another program changes %s is refused with what to do', async (_, change) => {
    const path = write(`${HEAD}\n${`Ada,${IBAN},1\n`.repeat(20)}`);
    utimesSync(path, new Date(NOW), new Date(NOW));
    const program = `const {statSync,appendFileSync,utimesSync} = require("fs"); const p = ${JSON.stringify(path)}; const s = statSync(p); ${change()}; console.log(JSON.stringify({result:"match"}))`;
    const env = { PSD2_PAYEE_CHECK: `'${process.execPath}' -e '${program}'` };
    const { error } = await checked('', { path, env, words: ['--payees'] });
    expect(error).toMatchObject({
      message: `The file ${path} has changed while psd2 read it`,
      hint: 'psd2 has stored nothing. Run this again once the file is complete.',
    });
  });

  test('a fault of psd2 where the bank is asked is no problem of the file', async () => {
    const fault = new TypeError('a fault of psd2');
    const find = bankWhere({
      refusePayment: () => {
        throw fault;
      },
    });
    expect((await checked(`${HEAD}\nAda,${IBAN},1\n`, { find })).error).toBe(fault);
  });

  test('warns of an address only where the bank takes none, and of its lines everywhere', async () => {
    const paid = (name: string, more: string) =>
      paidTo(name, more, {
        id: `<EndToEndId>${name}</EndToEndId>`,
        amount: `<InstdAmt Ccy="EUR">${name.length}.${name.charCodeAt(0)}</InstdAmt>`,
      });
    const text = document([information([paid('Ada', ''), paid('Bea', '<AdrLine>Allee 7</AdrLine>')])]);
    const warnings = ({ problems }: { problems: Json[] }) =>
      problems.map(({ line, place, message }) => [line, `${place}`.split('/Cdtr/')[1], message]);
    const lines = [2, 'PstlAdr/AdrLine', 'psd2 pays without this part of the address'];
    const whole = "psd2 pays without the payee's address";
    expect(warnings((await checked(text)).data)).toEqual([
      ...[[1, 'PstlAdr', whole], lines, [2, 'PstlAdr', whole]],
    ]);
    expect(warnings(await checkedAt({ futureDays: 60 }, text))).toEqual([lines]);
  });
});
