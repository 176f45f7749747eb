import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { expect, it } from 'vitest';
import { addDays } from '../../../src/domain/calendar.ts';
import type { TransferEvent } from '../../../src/domain/transfer.ts';
import { Psd2Error } from '../../../src/errors.ts';
import { document, information, transaction } from '../../batch-file/reading.ts';
import { initiationOf, OWN_ACCOUNT } from '../bank-here.ts';
import { endOf, NOW, TODAY } from '../payer-here.ts';
import { beginLine, IBAN, LINKED, RUN, refused, storeOf, useBatches } from './with-batch.ts';

// What a batch looks like afterwards: report, show, status and cancel.

const { payeeCheck, payees, temporary, withFile, withPayees } = useBatches();
const WIDE = { format: 'table', stdout: 250 } as const;

/** A batch with a paid, a refused, an unknown, a cancelled and a waiting line. */
async function mixed() {
  const { bank, payer } = await payees({}, '+Ada', 'Bea', 'Cleo', 'Dora', 'Eve');
  await payer.run([...RUN, '--only', '1']);
  bank.meets('verify', refused());
  await payer.run([...RUN, '--only', '2']);
  bank.next = { becomes: null };
  bank.meets('execute', 'lost');
  await payer.run([...RUN, '--only', '3']);
  const { change } = await storeOf(payer);
  await change({ type: 'lines-cancelled', lines: [4], by: 'ada', user: 'ada', machine: 'm' });
  const report = async (...words: string[]) => {
    const bytes: string[] = [];
    const changes = () => ({
      printBytes: (text: Uint8Array) => void bytes.push(Buffer.from(text).toString()),
    });
    const ran = await payer.run(['batch', 'report', 'batch-1', ...words], { changes });
    return { ...ran, bytes: bytes.join('') };
  };
  const plain = (text: string) =>
    text
      .replaceAll(NOW, 'NOW')
      .replaceAll(TODAY, 'TODAY')
      .replaceAll(/\b[0-9a-f]{64}\b/g, 'BATCH')
      .replaceAll(/\btr-[0-9a-z]{14}\b/g, 'FLOW');
  return { bank, payer, report, plain };
}

it('a report has each line with its state, reason and times, in every format', async () => {
  const { payer, report, plain } = await mixed();
  const rows = (await report()).data;
  expect(rows[0]).toMatchInlineSnapshot(`
    { amount: "10.00", bankReasons: [], batch: "batch-1", currency: "EUR", description: "",
      endToEndId: "R-1", executionDate: "TODAY", flow: "tr-1", from: "0000012345",
      iban: "DE89370400440532013000", line: 1, name: "+Ada", paidAt: "NOW", payeeCheck: null,
      reason: null, reference: "R-1", refusedCall: null, remittanceStructured: null, state: "executed" }
  `);
  const reason = 'The bank has not said whether it was paid';
  expect(rows[2]).toMatchObject({ line: 3, flow: 'tr-3', state: 'unknown', reason, paidAt: null });
  expect(plain((await report('--format', 'csv')).bytes)).toMatchInlineSnapshot(`
    "line,batch,reference,flow,state,from,name,iban,amount,currency,description,executionDate,endToEndId,payeeCheck,payeeName,reason,paidAt,reasonCode,remittanceStructured,refusedCall
    1,BATCH,R-1,FLOW,executed,0000012345,'+Ada,DE89370400440532013000,10.00,EUR,,TODAY,R-1,,,,NOW,,,
    2,BATCH,R-2,FLOW,failed,0000012345,Bea,DE89370400440532013000,11.00,EUR,,TODAY,R-2,,,Not this one,,,,
    3,BATCH,R-3,FLOW,unknown,0000012345,Cleo,DE89370400440532013000,12.00,EUR,,TODAY,R-3,,,The bank has not said whether it was paid,,,,
    4,BATCH,R-4,,cancelled,0000012345,Dora,DE89370400440532013000,13.00,EUR,,,R-4,,,,,,,
    5,BATCH,R-5,,waiting,0000012345,Eve,DE89370400440532013000,14.00,EUR,,,R-5,,,,,,,
    "
  `);
  expect(JSON.parse((await report('--format', 'json')).bytes)).toHaveLength(5);
  const path = join(temporary, 'report.xml');
  const saved = await report('--format', 'pain002', '--file', path);
  expect([endOf(saved), saved.bytes]).toEqual([['done'], '']);
  const xml = readFileSync(path, 'utf8');
  const { batch } = await storeOf(payer);
  expect(xml).toContain(`<OrgnlMsgId>${batch.slice(0, 35)}</OrgnlMsgId>`);
  expect(xml).toMatch(/<MsgId>R-[0-9a-f-]{33}<\/MsgId>/);
  expect(xml).toContain(`<CreDtTm>${NOW}</CreDtTm>`);
  expect(endOf(await report('--format', 'csv', '--file', ''))).toMatchInlineSnapshot(
    `["exit 2, usage: The file for the document is missing", "Add --file <path>."]`,
  );
  const table = await payer.run(['batch', 'report', 'batch-1'], { format: 'table' });
  const shown = await payer.run(['batch', 'show', 'batch-1'], { format: 'table' });
  expect(shown.printed.endsWith(`\t\n${table.printed}`)).toBe(true);
  expect(table.printed).toMatchInlineSnapshot(`
    "1	executed	10.00 EUR	+Ada	DE89370400440532013000		tr-1		R-1	
    2	failed	11.00 EUR	Bea	DE89370400440532013000		tr-2	Not this one	R-2	
    3	unknown	12.00 EUR	Cleo	DE89370400440532013000		tr-3	The bank has not said whether it was paid	R-3	
    4	cancelled	13.00 EUR	Dora	DE89370400440532013000				R-4	
    5	waiting	14.00 EUR	Eve	DE89370400440532013000				R-5	
    "
  `);
});

it('pain.002 names the message that the file was, and the time of the report', async () => {
  const paying = transaction({
    payee: `<Cdtr><Nm>Ada</Nm></Cdtr><CdtrAcct><Id><IBAN>${IBAN}</IBAN></Id></CdtrAcct>`,
  });
  const day = { ReqdExctnDt: `<ReqdExctnDt><Dt>${TODAY}</Dt></ReqdExctnDt>` };
  const { payer } = await withFile({}, document([information([paying], day)]), ['--from', OWN_ACCOUNT]);
  const path = join(temporary, 'later.xml');
  const words = ['batch', 'report', 'batch-1', '--format', 'pain002', '--file', path];
  expect(endOf(await payer.run(words, { now: '2030-01-02T12:00:00.000Z' }))).toEqual(['done']);
  const xml = readFileSync(path, 'utf8');
  expect(xml).toContain('<OrgnlMsgId>M-1</OrgnlMsgId>');
  expect(xml).toContain('<CreDtTm>2030-01-02T12:00:00.000Z</CreDtTm>');
});

it.each([
  [3, 'ordered', '0 of 1 paid, 1 accepted.'],
  [0, 'executed', '1 of 1 paid (1.50 EUR).'],
])('at a bank with execute, a payment for a day in %d days is %s: %s', async (days, state, told) => {
  const day = addDays(TODAY, days);
  const { payer } = await withFile({}, `name,iban,amount,date\nAda,${IBAN},1.5,${day}\n`, [
    '--from',
    OWN_ACCOUNT,
  ]);
  const ran = await payer.run(RUN, { format: 'table' });
  expect([ran.failure, ran.said]).toEqual([null, expect.stringContaining(`\n${told}\n`)]);
  const isLater = state === 'ordered';
  const { data } = await payer.run(['batch', 'report', 'batch-1']);
  expect(data).toMatchObject([
    { state, paidAt: isLater ? null : 'NOW', reason: isLater ? `The bank has accepted it for ${day}` : null },
  ]);
  expect((await payer.run(['batch', 'show', 'batch-1'])).data).toMatchObject({
    state: 'done',
    counts: { [state]: 1 },
  });
  const open = async (at: string) =>
    (await payer.run(['batch', 'status', 'batch-1'], { now: at })).data.length;
  expect([await open(NOW), await open(`${addDays(TODAY, 4)}T10:00:00.000Z`)]).toEqual([isLater ? 1 : 0, 0]);
});

it('what the bank refused is said in its words, and its call apart, in every format', async () => {
  const { bank, payer } = await payees({}, 'Ada', 'Bea', 'Cleo');
  const words = 'The available balance does not cover the transfer';
  const call = 'POST /private/customers/1048262/products/0010482620/moneyTransfer/verify';
  const refusal = { refusal: 'content', isBanks: true } as const;
  for (const said of [words, words, 'The account is closed'])
    bank.meets(
      'verify',
      new Psd2Error('bank_refused', `The bank refused ${call} (HTTP 417): ${said}`, refusal),
    );
  const ran = await payer.run(RUN, WIDE);
  expect(ran.said).toContain(`2 payments failed: ${words}.\n`);
  expect(ran.printed.match(/The \S+ \S+/g)).toEqual(['The account is']);
  const refusedCall = `${call} (HTTP 417)`;
  expect((await payer.run(['batch', 'report', 'batch-1'])).data).toMatchObject([
    { reason: words, refusedCall },
    { reason: words, refusedCall },
    { reason: 'The account is closed', refusedCall },
  ]);
});

it('the status has the lines whose end nobody knows, and says so if there is none', async () => {
  const { bank, payer } = await mixed();
  const { data } = await payer.run(['batch', 'status', 'batch-1']);
  expect(JSON.stringify(data, ['line', 'state', 'reason'])).toBe(
    '[{"line":3,"state":"unknown","reason":"The bank has not said whether it was paid"},{"line":5,"state":"waiting","reason":null}]',
  );
  bank.next = {};
  bank.payment('pay-2').became = 'executed';
  await payer.run(RUN);
  const all = await payer.run(['batch', 'status', 'batch-1'], { format: 'table' });
  expect([all.printed, all.said]).toEqual(['', 'Every payment has ended.\n']);
});

it.each([
  ['the day before', '2030-01-01T12:00:00.000Z', 1],
  ['the last minute of its day at the bank', '2030-01-02T22:59:00.000Z', 1],
  ['the first minute of the next day', '2030-01-02T23:00:00.000Z', 0],
])('the status has a payment that the bank took for a later day, on %s: %s', async (_, now, lines) => {
  const text = `name,iban,amount,reference,date\nAda,${IBAN},10,R-1,2030-01-02\n`;
  const { bank, payer } = await withFile({}, text, ['--from', OWN_ACCOUNT]);
  bank.next = { becomes: 'ordered' };
  await payer.run(RUN);
  const { printed } = await payer.run(['batch', 'status', 'batch-1'], { now });
  expect(JSON.parse(printed)).toHaveLength(lines);
});

it('psd2 shows a batch as a table, above those of its payments, and as JSON without them', async () => {
  const { payer } = await mixed();
  const { printed } = await payer.run(['batch', 'show', 'batch-1'], { format: 'table' });
  expect(printed.replace(/^1\t[\s\S]*/m, '')).toMatchInlineSnapshot(`
    "Batch	batch-1
    State	running
    Note	
    Payments	5
    Total	60.00 EUR from 0000012345
    Lines	1 executed, 1 failed, 1 unknown, 1 cancelled, 1 waiting
    Added by	ada
    Added	NOW
    Approvals	0 of 0
    Rejected by	
    Retry of	
    "
  `);
  expect((await payer.run(['batch', 'show', 'batch-1'])).data).toMatchInlineSnapshot(`
    { addedAt: "NOW", addedBy: "ada", approvals: [], approvalsNeeded: 0, batch: "batch-1",
      counts: { cancelled: 1, executed: 1, failed: 1, unknown: 1, waiting: 1 }, customers: [], lines: 5,
      note: null, rejection: null, retryOf: null, sha256: "batch-1", state: "running",
      totals: [{ amount: "60.00", count: 5, currency: "EUR", from: "0000012345" }] }
  `);
  const list = await payer.run(['batch', 'list'], { format: 'table' });
  expect(list.printed).toMatchInlineSnapshot(`
    "short batch-1	running	5	60.00 EUR from 0000012345	1 executed, 1 failed, 1 unknown, 1 cancelled, 1 waiting	NOW	ada		
    "
  `);
});

it('if the journal of a transfer cannot be read, nobody knows whether its line was paid', async () => {
  const { payer } = await payees({}, 'Ada', 'Bea');
  const { change } = await storeOf(payer);
  await change({ type: 'line-begun', line: 1, flow: 'tr-0mwuiwxs0iiiii' });
  const { data } = await payer.run(['batch', 'report', 'batch-1']);
  const reason = 'No flow of this profile matches "tr-1"';
  expect(data[0]).toMatchObject({ flow: 'tr-1', state: 'unknown', reason, name: 'Ada', paidAt: null });
  const { state, counts } = (await payer.run(['batch', 'show', 'batch-1'])).data;
  expect({ state, counts }).toEqual({ state: 'running', counts: { unknown: 1, waiting: 1 } });
});

it('psd2 asks before it cancels a batch', async () => {
  const { payer } = await payees({}, 'Ada', 'Bea');
  const words = ['batch', 'cancel', 'batch-1'];
  const no = await payer.run(words, { answers: [false] });
  expect([no.asked, endOf(no), endOf(await payer.run(words, { yes: false }))]).toMatchInlineSnapshot(`
    [["Cancel all payments of batch-1 for which nothing was sent, its bulk payments and its signing baskets?"],
     ["exit 2, cancelled: psd2 has cancelled nothing"],
     ["exit 2, confirmation_needed: Cancelling a batch needs a confirmation, and psd2 cannot ask without a terminal",
      "Add --yes to confirm in advance. psd2 has cancelled nothing."]]
  `);
  expect((await payer.run(words, { answers: [true] })).data.state).toBe('cancelled');
});

it('psd2 cancels what nothing was sent for, also if its transfer ended before, and names the rest', async () => {
  const ends: unknown[] = [];
  type Store = Awaited<ReturnType<typeof storeOf>>;
  const initiation = initiationOf('payments', 'x', { address: 'https://tpp.example/callback', state: 's' });
  const joined = { type: 'bulk-joined', bulk: 'op-0mwuiwxs0iiiii' } as const;
  const sent = (store: Store, line: number, ...more: TransferEvent[]) =>
    beginLine(store, line, {
      initiation,
      events: [{ type: 'accepted' }, { type: 'verify-sent', requestId: 'r', digest: null }, ...more],
    });
  const allSent = async (store: Store, ...lines: number[]) => {
    for (const line of lines) await sent(store, line);
  };
  const cases: [string, (store: Store) => Promise<unknown>][] = [
    ['a transfer that ended before', (store) => beginLine(store, 1, { events: [{ type: 'cancelled' }] })],
    ['one payment', (store) => allSent(store, 1)],
    ['two payments', (store) => allSent(store, 1, 2)],
    ['all payments', (store) => allSent(store, 1, 2, 3)],
    [
      'a bulk payment',
      async (store) => {
        for (const line of [1, 2])
          await beginLine(store, line, { events: [joined, { type: 'sca-started' }] });
      },
    ],
    [
      'a basket and a bulk payment',
      async (store) => {
        await sent(store, 1, joined);
        await beginLine(store, 2, { events: [joined, { type: 'sca-started' }] });
      },
    ],
  ];
  for (const [what, prepare] of cases) {
    const { payer } = await payees(LINKED, 'Ada', 'Bea', 'Cleo');
    await prepare(await storeOf(payer));
    const ran = await payer.run(['batch', 'cancel', 'batch-1']);
    ends.push([what, ...endOf(ran), ran.data.counts, ran.data.state]);
  }
  expect(ends).toMatchInlineSnapshot(`
    [["a transfer that ended before", "done", { cancelled: 3 }, "cancelled"],
     ["one payment", "exit 2, usage: One payment has begun and has not ended: line 1 is executing",
      "2 payments are cancelled. As long as nothing irreversible was sent:", "$ transfer cancel tr-1",
      { cancelled: 2, executing: 1 }, "running"],
     ["two payments",
      "exit 2, usage: 2 payments have begun and have not ended: line 1 is executing, line 2 is executing",
      "1 payment is cancelled. As long as nothing irreversible was sent:", "$ transfer cancel tr-1",
      "$ transfer cancel tr-2", { cancelled: 1, executing: 2 }, "running"],
     ["all payments",
      "exit 2, usage: 3 payments have begun and have not ended: line 1 is executing, line 2 is executing, line 3 is executing",
      "psd2 has cancelled no payment. As long as nothing irreversible was sent:",
      "$ transfer cancel tr-1", "$ transfer cancel tr-2", "$ transfer cancel tr-3", { executing: 3 },
      "running"],
     ["a bulk payment",
      "exit 2, usage: 2 payments have begun and have not ended: line 1 is authorizing, line 2 is authorizing",
      "1 payment is cancelled. psd2 cannot cancel a bulk payment of which the bank has not said what it calls it. psd2 batch run asks what became of it. See the payments with:",
      "$ batch status batch-1", { authorizing: 2, cancelled: 1 }, "running"],
     ["a basket and a bulk payment",
      "exit 2, usage: 2 payments have begun and have not ended: line 1 is executing, line 2 is authorizing",
      "1 payment is cancelled. psd2 cannot cancel a bulk payment of which the bank has not said what it calls it. psd2 batch run asks what became of it. As long as nothing irreversible was sent for the others:",
      "$ transfer cancel tr-1", { authorizing: 1, cancelled: 1, executing: 1 }, "running"]]
  `);
});

it('what the file says of a payment is in the report: the day, the account and its own id', async () => {
  const text = `name;iban;amount;currency;description;reference;date;from;customer;payee-verified\nAda;${IBAN};1.5;EUR;Rent;R-9;2030-01-02;DE02100100109307118603;2073915;yes\nBea;${IBAN};2;EUR;;;;;;\n`;
  const { payer } = await withFile({}, text, ['--from', OWN_ACCOUNT]);
  expect((await payer.run(['batch', 'report', 'batch-1'])).data[0]).toMatchInlineSnapshot(`
    { amount: "1.50", bankReasons: [], batch: "batch-1", currency: "EUR", description: "Rent",
      endToEndId: "R-9", executionDate: "2030-01-02", flow: null, from: "DE02100100109307118603",
      iban: "DE89370400440532013000", line: 1, name: "Ada", paidAt: null, payeeCheck: null,
      reason: null, reference: "R-9", refusedCall: null, remittanceStructured: null, state: "waiting" }
  `);
  const { customers, totals } = (await payer.run(['batch', 'show', 'batch-1'])).data;
  expect({ customers, totals }).toMatchInlineSnapshot(`
    { customers: ["2073915"],
      totals: [{ amount: "1.50", count: 1, currency: "EUR", from: "DE02100100109307118603" },
       { amount: "2.00", count: 1, currency: "EUR", from: "0000012345" }] }
  `);
});

// What a person reads of batches and their payments at a terminal and in a pipe.

const NARROW = { format: 'table', stdout: 100 } as const;
const PIPE = { format: 'table' } as const;

it('a run, the list and a batch are tables at a terminal, and leave out what has no room', async () => {
  const names = ['Ada', 'Bea', 'Cleo', 'Dora'];
  const { bank, payer } = await withPayees({}, names, ['--note', 'July']);
  const env = payeeCheck({ Ada: 'close', Cleo: 'none' });
  bank.meets('verify', refused());
  const ran = await payer.run([...RUN, '--only', '1', '2', '3', '--accept-close'], { env, ...WIDE });
  expect(ran.printed).toMatchInlineSnapshot(`
    "LINE  STATE        AMOUNT  TO    IBAN                    PAYEE                                FLOW               REASON                                                        REFERENCE
       1  failed    10.00 EUR  Ada   DE89370400440532013000                                       tr-1  Not this one                                                  R-1
       2  executed  11.00 EUR  Bea   DE89370400440532013000  match, the account is held by Other  tr-2                                                                R-2
       3  failed    12.00 EUR  Cleo  DE89370400440532013000                                                          The payee check says: no match, the account is held by Other  R-3
    "
  `);
  const again = await payer.run([...RUN, '--only', '1', '3'], NARROW);
  expect(again.printed).toMatchInlineSnapshot(`
    "LINE  STATE      AMOUNT  TO    IBAN                    FLOW               REASON           REFERENCE
       1  failed  10.00 EUR  Ada   DE89370400440532013000  tr-1  Not this one     R-1
       3  failed  12.00 EUR  Cleo  DE89370400440532013000                     The payee check  R-3
                                                                              says: no match,
                                                                              the account is
                                                                              held by Other
    "
  `);
  await payer.run(['batch', 'retry', 'batch-1']);
  const bob = { env: { PSD2_OPERATOR: 'bob' } };
  await payer.run(['batch', 'reject', 'batch-2', '--note', 'Twice the rent'], bob);
  const shown = async (how: typeof WIDE | typeof NARROW, ...words: string[]) =>
    (await payer.run(['batch', ...words], how)).printed.replaceAll(
      /(?:TODAY|\d{4}-\d\d-\d\d) \d\d:\d\d/g,
      'TODAY HH:MM',
    );
  expect(await shown(WIDE, 'list')).toMatchInlineSnapshot(`
    "BATCH         STATE     PAYMENTS  TOTAL                      LINES                            ADDED             BY   NOTE
    short batch-1  running          4  46.00 EUR from 0000012345  2 failed, 1 executed, 1 waiting  TODAY HH:MM  ada  July
    short batch-2  rejected         2  22.00 EUR from 0000012345  2 waiting                        TODAY HH:MM  ada  July
    "
  `);
  expect(await shown(NARROW, 'list')).toMatchInlineSnapshot(`
    "BATCH         STATE     PAYMENTS  TOTAL              LINES               ADDED             BY   NOTE
    short batch-1  running          4  46.00 EUR from     2 failed, 1         TODAY HH:MM  ada  July
                                      0000012345         executed, 1
                                                         waiting
    short batch-2  rejected         2  22.00 EUR from     2 waiting           TODAY HH:MM  ada  July
                                      0000012345
    "
  `);
  // It says who rejected it and why, and of which batch it is a retry.
  expect(await shown(WIDE, 'show', 'batch-2')).toMatchInlineSnapshot(`
    "Batch        batch-2
    State        rejected
    Note         July
    Payments     2
    Total        22.00 EUR from 0000012345
    Lines        2 waiting
    Added by     ada
    Added        TODAY HH:MM
    Approvals    0 of 0
    Rejected by  bob: Twice the rent
    Retry of     batch-1
    LINE  STATE       AMOUNT  TO    IBAN                    REFERENCE
       1  waiting  10.00 EUR  Ada   DE89370400440532013000  R-1
       2  waiting  12.00 EUR  Cleo  DE89370400440532013000  R-3
    "
  `);
});

it('a batch of two accounts has a sum for each', async () => {
  const text =
    'name,iban,amount,from\nAda,DE89370400440532013000,1.10,0000012345\nBea,DE89370400440532013000,2,0010482620\n';
  const { payer } = await withFile({}, text);
  expect((await payer.run(['batch', 'list'], PIPE)).printed).toContain(
    '\t1.10 EUR from 0000012345; 2.00 EUR from 0010482620\t',
  );
  expect((await payer.run(['batch', 'show', 'batch-1'], PIPE)).printed).toContain(
    'Total\t1.10 EUR from 0000012345; 2.00 EUR from 0010482620\n',
  );
});

/** A table at a terminal of this width. Its times are replaced, because they are those of the machine. */
async function drawnAt(payer: Awaited<ReturnType<typeof payees>>['payer'], words: string[], stdout: number) {
  const { printed } = await payer.run(words, { format: 'table', stdout });
  return printed.replaceAll(/(TODAY|\d{4}-\d\d-\d\d) \d\d:\d\d/g, 'TODAY HH:MM');
}

/** The titles of the columns that a table has at a terminal of each of these widths. */
async function titlesAt(payer: Parameters<typeof drawnAt>[0], words: string[], widths: number[]) {
  const titles: string[] = [];
  for (const stdout of widths) {
    const [heading = ''] = (await drawnAt(payer, words, stdout)).split('\n');
    titles.push(`${stdout}: ${heading.replaceAll(/ {2,}/g, ' ')}`);
  }
  return titles;
}

it('a narrow terminal leaves out of batches and of their payments what matters less', async () => {
  const text = `name,iban,amount,reference,customer\nAda Lovelace and Daughters,${IBAN},1,INVOICE-2026-0001,1048262\nBea,${IBAN},2,INVOICE-2026-0002,1048262\n`;
  const { payer } = await withFile({}, text, ['--from', OWN_ACCOUNT, '--note', 'Suppliers of November']);
  expect(await titlesAt(payer, ['batch', 'list'], [130, 100, 85, 78, 70, 60])).toMatchInlineSnapshot(`
    ["130: BATCH STATE PAYMENTS TOTAL LINES ADDED BY CUSTOMER NOTE",
     "100: BATCH STATE PAYMENTS TOTAL LINES ADDED CUSTOMER NOTE",
     "85: BATCH STATE PAYMENTS TOTAL LINES CUSTOMER NOTE",
     "78: BATCH STATE PAYMENTS TOTAL LINES CUSTOMER NOTE", "70: BATCH STATE PAYMENTS TOTAL LINES NOTE",
     "60: BATCH STATE PAYMENTS TOTAL LINES"]
  `);
  expect([
    await drawnAt(payer, ['batch', 'list'], 120),
    await drawnAt(payer, ['batch', 'list'], 58),
    await drawnAt(payer, ['batch', 'list'], 53),
  ]).toMatchInlineSnapshot(`
    ["BATCH         STATE  PAYMENTS  TOTAL                   LINES      ADDED             BY   CUSTOMER  NOTE
    short batch-1  added         2  3.00 EUR from           2 waiting  TODAY HH:MM  ada  1048262   Suppliers of November
                                   0000012345
    ",
     "BATCH         STATE  PAYMENTS  TOTAL             LINES
    short batch-1  added         2  3.00 EUR from     2 waiting
                                   0000012345
    ",
     "BATCH         STATE  PAYMENTS  TOTAL        LINES
    short batch-1  added         2  3.00 EUR     2 waiting
                                   from
                                   0000012345
    "]
  `);
  const env = payeeCheck({ Bea: 'close' });
  await payer.run([...RUN, '--accept-close'], { env });
  expect(await drawnAt(payer, ['batch', 'report', 'batch-1'], 120)).toMatchInlineSnapshot(`
    "LINE  STATE       AMOUNT  TO               IBAN                    PAYEE             FLOW               REFERENCE
       1  executed  1.00 EUR  Ada Lovelace     DE89370400440532013000  match, the        tr-1  INVOICE-2026-0001
                              and Daughters                            account is held
                                                                       by Other
       2  executed  2.00 EUR  Bea              DE89370400440532013000  close match, the  tr-2  INVOICE-2026-0002
                                                                       account is held
                                                                       by Other
    "
  `);
  expect(await titlesAt(payer, ['batch', 'report', 'batch-1'], [160, 100, 90, 80])).toMatchInlineSnapshot(`
    ["160: LINE STATE AMOUNT TO IBAN PAYEE FLOW REFERENCE",
     "100: LINE STATE AMOUNT TO IBAN FLOW REFERENCE", "90: LINE STATE AMOUNT TO IBAN FLOW",
     "80: LINE STATE AMOUNT TO IBAN FLOW"]
  `);
});
