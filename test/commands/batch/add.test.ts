import { execFileSync } from 'node:child_process';
import { writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { expect, it } from 'vitest';
import type { Surroundings } from '../../../src/commands/context.ts';
import { parseProductId } from '../../../src/domain/identifiers.ts';
import { Psd2Error } from '../../../src/errors.ts';
import { storeConsent, storeConsentFlow } from '../access.ts';
import { BankHere, OWN_ACCOUNT } from '../bank-here.ts';
import { ANNA, endOf, payerAt, TODAY } from '../payer-here.ts';
import { IBAN, storeOf, useBatches } from './with-batch.ts';

// What psd2 batch check and psd2 batch add say of a file, and what is stored of it.

const { payeeCheck, temporary, withFile, withPayees } = useBatches();
const PATH = join(temporary, 'payments.csv');
const LINES = `name,iban,amount,from\nAda,${IBAN},1.10,${OWN_ACCOUNT}\nBea,${IBAN},2,${OWN_ACCOUNT}\n`;

/** An operator with a file of payments. */
async function withText(text: string) {
  const payer = await payerAt(new BankHere(), temporary);
  writeFileSync(PATH, text);
  const add = (more: string[] = [], how = {}) => payer.run(['batch', 'add', PATH, ...more], how);
  const check = (more: string[] = [], how = {}) => payer.run(['batch', 'check', PATH, ...more], how);
  return { payer, add, check };
}

it('a file without errors is checked and added, and psd2 says what to do next', async () => {
  const { payer, add, check } = await withText(LINES);
  const checked = await check();
  expect([endOf(checked), { ...checked.data, file: 'FILE' }]).toMatchInlineSnapshot(`
    [["done"],
     { count: 2, errors: 0, file: "FILE", format: "csv", lines: 2, messageId: null, ok: true,
       payees: null, problems: [], scas: 2, sha256: "batch-1",
       totals: [{ amount: "3.10", batchBooking: null, count: 2, currency: "EUR", customer: null,
          executionDate: null, from: "0000012345", instant: false, scas: 2 }],
       warnings: 0 }]
  `);
  const added = await add([], { env: { PSD2_APPROVALS: '1' } });
  expect([added.said, endOf(added)]).toEqual([
    'Stored. One other person must approve it before it can be paid.\n',
    ['done'],
  ]);
  expect([endOf(await add()), endOf(await payer.run(['batch', 'list'])).length]).toMatchInlineSnapshot(`
    [["exit 2, usage: The batch batch-1 has the same content",
      "psd2 has stored nothing. If you want to pay all of it once more, add --again. See the batch with:",
      "$ batch show batch-1"],
     1]
  `);
  const again = await add(['--again']);
  expect([again.said, again.data.batch]).toEqual(['Stored. It can be paid now.\n', 'batch-2']);
});

it('with errors, psd2 names the first three, and stores nothing', async () => {
  const wrong = `name,iban,amount,from\nAda,${IBAN},-1,${OWN_ACCOUNT}\nBea,DE00,2,${OWN_ACCOUNT}\nCleo,${IBAN},x,${OWN_ACCOUNT}\nDora,${IBAN},0,${OWN_ACCOUNT}\n`;
  const { payer, add, check } = await withText(wrong);
  const failed = await add();
  expect(endOf(failed).map((text) => text.replaceAll(PATH, 'FILE'))).toMatchInlineSnapshot(`
    ["exit 2, usage: The file FILE has 4 errors. line 2: The amount "-1" is negative. line 3: The IBAN "DE00" has 4 characters, which is not the length of an IBAN of DE. line 4: The amount "x" is not a decimal number",
     "psd2 has stored nothing. See all of them with:", "$ batch check FILE"]
  `);
  expect((await payer.run(['batch', 'list'])).data).toEqual([]);
  const checked = await check();
  expect(endOf(checked).map((text) => text.replaceAll(PATH, 'FILE'))).toMatchInlineSnapshot(`
    ["exit 2, usage: The file FILE has 4 errors",
     "psd2 has stored and sent nothing. Correct the file and check it again."]
  `);
  const { ok, sha256, lines, errors, problems } = checked.data;
  expect({ ok, sha256, lines, errors, problems }).toMatchInlineSnapshot(`
    { errors: 4, lines: 0, ok: false,
      problems: [{ fileLine: 2, line: 1, message: "The amount "-1" is negative", place: "line 2",
         severity: "error" },
       { fileLine: 3, line: 2,
         message: "The IBAN "DE00" has 4 characters, which is not the length of an IBAN of DE",
         place: "line 3", severity: "error" },
       { fileLine: 4, line: 3, message: "The amount "x" is not a decimal number", place: "line 4",
         severity: "error" },
       { fileLine: 5, line: 4, message: "The amount "0" is zero", place: "line 5", severity: "error" }],
      sha256: null }
  `);
  const one = await withText(LINES.replace('1.10', '-1'));
  expect(endOf(await one.add())[0]?.replaceAll(PATH, 'FILE')).toMatchInlineSnapshot(
    `"exit 2, usage: The file FILE has 1 error. line 2: The amount "-1" is negative"`,
  );
});

it('a payment without an account to debit needs --from, and the file counts more than the options', async () => {
  const { payer, add } = await withText(
    `name,iban,amount,from,customer,date\nAda,${IBAN},1,,,\nBea,${IBAN},2,0000099999,2073915,2099-03-02\n`,
  );
  expect(endOf(await add())).toEqual([
    'exit 2, usage: line 2 names no account to debit',
    'Add --from <account>.',
  ]);
  const options = [
    ...['--from', OWN_ACCOUNT, '--date', '2099-03-01', '--note', 'Mine'],
    ...['--instant', '--payee-verified'],
  ];
  const added = await add(options, { globals: { customer: ANNA } });
  expect([endOf(added), added.data.note, added.data.customers]).toEqual([
    ['done'],
    'Mine',
    [ANNA, '2073915'],
  ]);
  const { batches, read } = await storeOf(payer);
  const lines = await batches.lines(await read());
  expect(
    lines.map(({ from, customer, executionDate, instant, payeeVerified }) => [
      ...[from, customer, executionDate, instant, payeeVerified],
    ]),
  ).toEqual([
    [OWN_ACCOUNT, ANNA, '2099-03-01', true, true],
    ['0000099999', '2073915', '2099-03-02', true, true],
  ]);
});

it('an account by its IBAN and a way of booking in the file count more than those of the options', async () => {
  const other = 'DE75512108001245126199';
  const { payer, add } = await withText(
    `name,iban,amount,from\nAda,${IBAN},1,${other}\nBea,${IBAN},2,\nCleo,${IBAN},3,0000099999\n`,
  );
  const added = await add(['--from', OWN_ACCOUNT, '--batch-booking', 'no']);
  expect(endOf(added)).toEqual(['done']);
  const stored = async () => {
    const { batches, read } = await storeOf(payer);
    return batches.lines(await read());
  };
  expect((await stored()).map(({ from, fromIban, batchBooking }) => [from, fromIban, batchBooking])).toEqual([
    [null, other, false],
    [OWN_ACCOUNT, null, false],
    ['0000099999', null, false],
  ]);
  const booked = PAIN_001.replace('</PmtMtd>', '</PmtMtd><BtchBookg>true</BtchBookg>');
  for (const [text, expected] of [
    [booked, true],
    [PAIN_001, false],
  ] as const) {
    writeFileSync(PATH, text);
    const again = await payer.run(['batch', 'check', PATH, '--batch-booking', 'no', '--again']);
    expect([again.failure, JSON.parse(again.printed).totals[0].batchBooking]).toEqual([null, expected]);
  }
});

it('what an option asks for and the bank does not take is an error without a place', async () => {
  const { payer } = await withText(LINES);
  const at = new BankHere();
  Object.assign(at.interface, {
    refusePayment: ({ executionDate }: { executionDate: string | null }) => {
      if (executionDate !== null) throw new Psd2Error('invalid_date', 'This bank takes no day');
    },
  });
  const ran = await payer.run(['batch', 'add', PATH, '--date', TODAY], { at });
  expect(endOf(ran)[0]?.replaceAll(PATH, 'FILE')).toBe(
    'exit 2, usage: The file FILE has 1 error. This bank takes no day. Without a date, psd2 pays as soon as possible',
  );
});

it.each([
  ['R-1', 'R-2', '2 of 2 payments have references of their own. '],
  ['', 'R-2', '1 of 2 payments has a reference of its own. '],
  ['', '', ''],
])('of a batch that is added again with the references %j and %j psd2 says: %s', async (one, two, says) => {
  const text = `name,iban,amount,from,reference\nAda,${IBAN},1,${OWN_ACCOUNT},${one}\nBea,${IBAN},2,${OWN_ACCOUNT},${two}\n`;
  const { add } = await withText(text);
  expect((await add()).said).toBe('Stored. It can be paid now.\n');
  const more =
    'psd2 pays a reference once, in this batch or in the one before. To pay both, give them other references\n';
  expect((await add(['--again'])).said).toBe(`${says && says + more}Stored. It can be paid now.\n`);
});

it('a person sees that psd2 checks the payees of what it adds', async () => {
  const { add } = await withText(LINES);
  const texts: unknown[] = [];
  const changes = ({ terminal }: Surroundings): Partial<Surroundings> => ({
    terminal: {
      ...terminal,
      whileWaiting: (text, work) => {
        texts.push(text);
        return work;
      },
    },
  });
  expect((await add([], { env: payeeCheck({}), changes })).failure).toBeNull();
  expect(texts).toEqual(['Checking 2 payees']);
});

it('psd2 warns of an instant payment whose payee nobody checks, and not if somebody does', async () => {
  const { check, add } = await withText(LINES);
  const problems = async (more: string[], env: Record<string, string> = {}) =>
    (await check(more, { env })).data.warnings;
  expect(await problems([])).toBe(0);
  const instant = await add(['--instant']);
  expect(instant.said).toMatchInlineSnapshot(`
    "line 2: An instant payment needs a verified payee: set PSD2_PAYEE_CHECK, or give payee-verified
    line 3: An instant payment needs a verified payee: set PSD2_PAYEE_CHECK, or give payee-verified
    Stored. It can be paid now.
    "
  `);
  expect((await add(['--instant', '--payee-verified', '--again'])).said).toBe(
    'Stored. It can be paid now.\n',
  );
  const env = payeeCheck({});
  expect((await add(['--instant', '--again'], { env })).said).toBe(
    'Payees: 2 match, 0 close, 0 none, 0 unavailable.\nStored. It can be paid now.\n',
  );
});

it('an account that the customer has given no consent for is an error, and one of nobody known is not', async () => {
  const { payer, check } = await withText(LINES.replace(`1.10,${OWN_ACCOUNT}`, '1.10,0000099999'));
  expect((await check()).data.errors).toBe(0);
  await storeConsent(payer.open().context, ANNA, [
    { name: 'ACCOUNT_INFO', products: [parseProductId(OWN_ACCOUNT)] },
    { name: 'PAYMENTS', products: [parseProductId('0000088888')] },
  ]);
  expect((await check()).data.problems).toMatchInlineSnapshot(`
    [{ fileLine: 2, line: 1,
       message: "The account 0000099999 is not one that customer 1048262 has given a consent for",
       place: "line 2", severity: "error" }]
  `);
  expect((await check([], { globals: { customer: '2073915' } })).data.errors).toBe(0);
  // An account that a line names by its IBAN is compared with no consent.
  writeFileSync(PATH, LINES.replaceAll(OWN_ACCOUNT, 'IT60X0542811101000000123456'));
  expect((await check()).data.errors).toBe(0);
});

it('the same payment in the last 30 days is a warning, and a reference that is taken is an error', async () => {
  const { payer, check, add } = await withText(
    `name,iban,amount,reference,from\nAda,${IBAN},5.00,Inv 7,${OWN_ACCOUNT}\nAda,${IBAN},6,,${OWN_ACCOUNT}\n`,
  );
  const transfer = (amount: string, ...more: string[]) =>
    payer.run([
      ...['transfer', 'create', '--from', OWN_ACCOUNT, '--to', IBAN, '--name', 'Ada', '--amount', amount],
      ...more,
    ]);
  await transfer('5', '--reference', 'INV  7');
  await transfer('6');
  await payer.run(['transfer', 'list']);
  expect((await check()).data.problems).toMatchInlineSnapshot(`
    [{ fileLine: 2, line: 1,
       message: "The transfer tr-1 already has the reference "Inv 7", and psd2 pays a reference once. If you mean another payment, give it another reference",
       place: "line 2", severity: "error" },
     { fileLine: 3, line: 2,
       message: "The transfer tr-2 of the last 30 days paid the same amount to the same payee",
       place: "line 3", severity: "warning" }]
  `);
  expect(endOf(await add())[0]).toMatch(/ has 1 error\. line 2: The transfer tr-1 [^.]*\. [^.]*$/);
  const soon = new Date(Date.parse(TODAY) + 31 * 86_400_000).toISOString();
  expect((await check([], { now: soon })).data.warnings).toBe(0);
});

it('psd2 batch check --payees needs a payee check', async () => {
  const { check } = await withText(LINES);
  expect(endOf(await check(['--payees']))).toEqual([
    'exit 2, usage: --payees needs a payee check',
    'Set PSD2_PAYEE_CHECK to the command that checks a name and an IBAN.',
  ]);
});

it('the payee check of all payments counts the results, and names what a person must look at', async () => {
  const { check } = await withText(
    `name,iban,amount,payee-verified\nAda,${IBAN},1,\nBea,${IBAN},2,\nCleo,${IBAN},3,yes\nDora,${IBAN},4,yes\nEve,${IBAN},5,\nFay,${IBAN},6,\n`,
  );
  const results = { Ada: 'close', Bea: 'none', Cleo: 'close', Dora: 'none', Fay: 'unavailable' };
  const env = payeeCheck(results);
  const { data, said, failure } = await check(['--payees'], { env });
  expect([data.payees, data.problems, said]).toMatchInlineSnapshot(`
    [{ close: 2, match: 1, none: 2, unavailable: 1 },
     [{ fileLine: 2, line: 1,
        message: "The payee check of Ada says: close match, the account is held by Other",
        place: "line 2", severity: "warning" },
      { fileLine: 3, line: 2,
        message: "The payee check of Bea says: no match, the account is held by Other", place: "line 3",
        severity: "error" },
      { fileLine: 5, line: 4,
        message: "The payee check of Dora says: no match, the account is held by Other",
        place: "line 5", severity: "error" },
      { fileLine: 7, line: 6,
        message: "The payee check of Fay says: not possible, the account is held by Other",
        place: "line 7", severity: "warning" }],
     ""]
  `);
  expect(failure?.message).toMatch(/ has 2 errors$/);
  const table = await check(['--payees'], { env, format: 'table' });
  expect([table.printed, table.said]).toMatchInlineSnapshot(`
    ["warning	1	line 2	The payee check of Ada says: close match, the account is held by Other
    error	2	line 3	The payee check of Bea says: no match, the account is held by Other
    error	4	line 5	The payee check of Dora says: no match, the account is held by Other
    warning	6	line 7	The payee check of Fay says: not possible, the account is held by Other

    		when it is paid	transfer	6	21.00 EUR	6
    ",
     "6 payments, 6 authorisations by the customer, 2 errors, 2 warnings. Payees: 1 match, 2 close, 2 none, 1 unavailable.
    "]
  `);
});

it('the results of the payee check are those of the lines in their order, whichever check ends first', async () => {
  const pipe = join(temporary, 'ends-first');
  execFileSync('mkfifo', [pipe]);
  const script = join(temporary, 'slow-check.sh');
  // The check of the first payee ends after that of the second one.
  const slow = `*Ada*) cat '${pipe}' >&2; echo '{"result":"close"}';;`;
  const quick = `*) echo '{"result":"match"}'; : > '${pipe}';;`;
  writeFileSync(script, `case "$(cat)" in\n${slow}\n${quick}\nesac\n`);
  const { payer } = await withPayees({}, ['Ada', 'Bea']);
  const again = ['batch', 'add', join(temporary, 'payments.csv'), '--from', OWN_ACCOUNT, '--again'];
  await payer.run(again, { env: { PSD2_PAYEE_CHECK: `sh '${script}'` } });
  const { payees: results } = await (await storeOf(payer)).read();
  expect(results.map(({ line, result }) => `${line} ${result}`)).toEqual(['1 close', '2 match']);
});

it('psd2 says each warning of a file, at most twenty, and no error twice', async () => {
  const rows = Array.from({ length: 22 }, (_, n) => `Ada ${n},${IBAN},1,${OWN_ACCOUNT}\n`);
  const many = await withText(`name,iban,amount,from\nBea,${IBAN},-1,${OWN_ACCOUNT}\n${rows.join('')}`);
  const failed = await many.add();
  const warnings = failed.said.trimEnd().split('\n');
  expect([warnings.length, warnings.filter((line) => line.includes('negative')).length]).toEqual([20, 0]);
  expect(warnings[0]).toMatch(/^line 4: /);
  expect(endOf(failed)[0]).toContain('has 1 error. line 2: The amount "-1" is negative');
});

it('an error in a file counts more than the same payments in a stored batch, and what is stored is named only if all is the same', async () => {
  const text = `name,iban,amount,from,reference\nAda,${IBAN},1,${OWN_ACCOUNT},R-1\n`;
  const { payer, add } = await withText(text);
  expect((await add()).said).toBe('Stored. It can be paid now.\n');
  await payer.run(['batch', 'run', 'batch-1']);
  writeFileSync(PATH, `${text}Bea,${IBAN},-1,${OWN_ACCOUNT},R-2\n`);
  expect(endOf(await add())[0]).toContain(
    'has 2 errors. line 2: The transfer tr-1 already has the reference "R-1"',
  );
  // Another payment with a reference that is paid is no stored batch.
  writeFileSync(PATH, text.replace('Ada', 'Eve'));
  expect(endOf(await add())[0]).toContain('has 1 error. line 2: The transfer tr-1 already has');
  writeFileSync(PATH, text);
  expect(endOf(await add(['--again']))[0]).toContain('has 1 error. line 2: The transfer tr-1 already has');
  expect(endOf(await add())[0]).toContain('The batch batch-1 has the same content');
});

it('only a confirmed consent with accounts says which accounts a customer has, and none at a bank that does not name customers', async () => {
  const { payer, check } = await withText(LINES);
  const { context } = payer.open();
  await storeConsent(context, ANNA, [{ name: 'ACCOUNT_INFO', products: [] }]);
  expect((await check()).data.errors).toBe(0);
  const categories = [{ name: 'PAYMENTS' as const, products: [parseProductId('0000088888')] }];
  const outcomes = [{ name: 'PAYMENTS', outcome: true }];
  const requested = { type: 'requested', resourceId: 'FLOW', outcomes } as const;
  await storeConsentFlow(context, { customerId: ANNA, categories }, requested);
  expect((await check()).data.errors).toBe(0);
  await storeConsent(context, ANNA, categories);
  expect((await check()).data.errors).toBe(1);
  const elsewhere = new BankHere();
  Object.assign(elsewhere.interface, { customers: 'named by the operator' });
  expect((await check([], { at: elsewhere })).data.errors).toBe(0);
});

it.each([
  ['--from', ''],
  ['--from', ' '],
  ['--date', ''],
  ['--date', '2026-02-30'],
  ['--date', '2026-02-28'],
  ['--note', ''],
])('psd2 batch add with %s %j stores nothing', async (option, value) => {
  const { payer, add } = await withText(LINES);
  expect((await add([option, value])).failure?.code).toMatch(/^(usage|invalid_)/);
  expect((await payer.run(['batch', 'list'])).data).toEqual([]);
});

// What a file orders is the same whatever it is called, and whoever pays it however: psd2 pays it once, unless it is meant.

const HEADING = 'name,iban,amount,description\n';
const ADA = `Ada Lovelace,${IBAN},1.10,March\n`;
const BEA = `Bea,${IBAN},2,\n`;
const FROM = ['--from', OWN_ACCOUNT];

const entry = (name: string, amount: string, text: string) =>
  `<CdtTrfTxInf><PmtId><EndToEndId>NOTPROVIDED</EndToEndId></PmtId><Amt><InstdAmt Ccy="EUR">${amount}</InstdAmt></Amt><Cdtr><Nm>${name}</Nm></Cdtr><CdtrAcct><Id><IBAN>${IBAN}</IBAN></Id></CdtrAcct>${text}</CdtTrfTxInf>`;
const PAIN_001 = `<Document xmlns="urn:iso:std:iso:20022:tech:xsd:pain.001.001.03"><CstmrCdtTrfInitn><GrpHdr><MsgId>M-1</MsgId><CreDtTm>2026-11-26T10:00:00</CreDtTm><NbOfTxs>2</NbOfTxs><CtrlSum>3.10</CtrlSum><InitgPty><Nm>X</Nm></InitgPty></GrpHdr><PmtInf><PmtInfId>P-1</PmtInfId><PmtMtd>TRF</PmtMtd><ReqdExctnDt>${TODAY}</ReqdExctnDt><Dbtr><Nm>X</Nm></Dbtr><DbtrAcct><Id><IBAN>IT60X0542811101000000123456</IBAN></Id></DbtrAcct><DbtrAgt><FinInstnId/></DbtrAgt>${entry('Ada Lovelace', '1.10', '<RmtInf><Ustrd>March</Ustrd></RmtInf>')}${entry('Bea', '2.00', '')}</PmtInf></CstmrCdtTrfInitn></Document>`;

const SAME: [string, string, string[], string?][] = [
  ['is the same', HEADING + ADA + BEA, FROM],
  ['is paid from an account by its IBAN', HEADING + ADA + BEA, ['--from', 'IT60X0542811101000000123456']],
  ['has the day on which it is paid anyway', HEADING + ADA + BEA, [...FROM, '--date', TODAY]],
  ['names the customer who pays anyway', HEADING + ADA + BEA, FROM, ANNA],
  ['is instant', HEADING + ADA + BEA, [...FROM, '--instant', '--payee-verified']],
  [
    'has names and texts in other case, with other blanks',
    `${HEADING}ADA  lovelace,${IBAN},1.1,MARCH\n${BEA}`,
    FROM,
  ],
  [
    'has another sequence, columns and spellings',
    `amount;iban;name;description\n2.00;${IBAN};Bea;\n1.10;DE89 3704 0044 0532 0130 00;Ada Lovelace;March\n`,
    FROM,
  ],
  ['is pain.001', PAIN_001, []],
];

it.each(SAME.flatMap((each) => [false, true].map((isPaid) => ({ each, isPaid }))))(
  'a file that $each.0 needs --again; the first is paid: $isPaid',
  async ({ each: [, text, options, customer], isPaid }) => {
    const { payer } = await withFile({}, HEADING + ADA + BEA, FROM);
    if (isPaid) expect((await payer.run(['batch', 'run', 'batch-1'])).failure).toBeNull();
    writeFileSync(PATH, text);
    const how = customer === undefined ? {} : { globals: { customer } };
    const again = (verb: string, more: string[] = []) =>
      payer.run(['batch', verb, PATH, ...options, ...more], how);
    expect(endOf(await again('add'))[0]).toBe('exit 2, usage: The batch batch-1 has the same content');
    expect((await again('check')).data.problems).toMatchObject([
      { line: null, message: expect.stringMatching(/^The batch batch-1 has the same content\. .*--again$/) },
    ]);
    expect((await again('check', ['--again'])).failure).toBeNull();
    expect((await again('add', ['--again'])).failure).toBeNull();
  },
);

it.each([
  ['another amount', `Ada Lovelace,${IBAN},1.11,March\n`],
  ['another text', `Ada Lovelace,${IBAN},1.10,April\n`],
  ['another payee', `Bob,${IBAN},1.10,March\n`],
])('a payment with %s is another one', async (_what, line) => {
  const { payer } = await withFile({}, HEADING + ADA, FROM);
  writeFileSync(PATH, HEADING + line);
  expect((await payer.run(['batch', 'add', PATH, ...FROM])).failure).toBeNull();
});

it('a payment that another batch has needs --again until that is surely not paid, or was paid long ago', async () => {
  const { payer } = await withFile({}, HEADING + ADA, FROM);
  const add = (text: string, more: string[] = [], how = {}) => {
    writeFileSync(PATH, text);
    return payer.run(['batch', 'add', PATH, ...FROM, ...more], how);
  };
  const both = HEADING + BEA + ADA;
  expect(endOf(await add(both))[0]).toContain(
    'has 1 error. line 3: Payment 1 of the batch batch-1 pays the same payee the same amount for the same text',
  );
  await payer.run(['batch', 'cancel', 'batch-1'], { yes: true });
  // Also a file that orders just what was cancelled.
  expect((await add(HEADING + ADA)).failure).toBeNull();
  expect(endOf(await add(HEADING + ADA))[0]).toContain('has the same content');
  expect((await payer.run(['batch', 'run', 'batch-2'])).failure).toBeNull();
  expect(endOf(await add(both))[0]).toContain('Payment 1 of the batch batch-2');
  const later = { now: new Date(Date.now() + 40 * 86_400_000).toISOString() };
  expect((await add(both, [], later)).failure).toBeNull();
  expect(endOf(await add(HEADING + ADA, [], later))[0]).toContain('has the same content');
});
