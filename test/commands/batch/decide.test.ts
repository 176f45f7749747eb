import { join } from 'node:path';
import { expect, it } from 'vitest';
import * as z from 'zod';
import { document, information, transaction } from '../../batch-file/reading.ts';
import { BankHere, OWN_ACCOUNT } from '../bank-here.ts';
import { endOf, type Ran, TODAY } from '../payer-here.ts';
import { BULK, IBAN, RUN, storeOf, useBatches } from './with-batch.ts';

// Who may decide about a batch, what they see before, and what is said and kept afterwards.

const { payeeCheck, payees, temporary, withFile, withPayees } = useBatches();
const TWO = { PSD2_APPROVALS: '2' };
const approve = (by: string) => ['batch', 'approve', 'batch-1', '--by', by];
const reject = (by: string, note: string) => ['batch', 'reject', 'batch-1', '--by', by, '--note', note];
const show = ['batch', 'show', 'batch-1'];
const audited = ({ data }: Ran) =>
  z
    .array(z.object({ action: z.string(), about: z.string() }))
    .parse(data)
    .map(({ action, about }) => `${action}: ${about}`);

it('a second person sees what is paid from which account, the note and the payee checks, and decides', async () => {
  const env = { ...TWO, ...payeeCheck({ Bea: 'close' }) };
  const text = `name,iban,amount,from\nAda,${IBAN},1.10,${OWN_ACCOUNT}\nBea,${IBAN},2,${OWN_ACCOUNT}\nCleo,${IBAN},3,0000099999\n`;
  const { payer } = await withFile({}, text, ['--note', 'Suppliers']);
  const again = ['batch', 'add', join(temporary, 'payments.csv'), '--note', 'Suppliers', '--again'];
  const added = await payer.run(again, { env });
  expect(added.said).toMatchInlineSnapshot(`
    "Payees: 2 match, 1 close, 0 none, 0 unavailable.
    Stored. 2 other people must approve it before it can be paid.
    "
  `);
  expect(added.data).toMatchInlineSnapshot(`
    { addedAt: "NOW", addedBy: "ada", approvals: [], approvalsNeeded: 2, batch: "batch-2",
      counts: { waiting: 3 }, customers: [], lines: 3, note: "Suppliers", rejection: null,
      retryOf: null, sha256: "batch-1", state: "added",
      totals: [{ amount: "3.10", count: 2, currency: "EUR", from: "0000012345" },
       { amount: "3.00", count: 1, currency: "EUR", from: "0000099999" }] }
  `);
  const words = ['batch', 'approve', 'batch-2', '--by', 'bea'];
  const no = await payer.run(words, { env, answers: [false] });
  expect([no.said, no.asked, endOf(no)]).toMatchInlineSnapshot(`
    ["The batch batch-2 of ada has 3 payments (3 waiting):
      2 from 0000012345: 3.10 EUR
      1 from 0000099999: 3.00 EUR
      1.10 EUR to Ada, DE89370400440532013000, new
      2.00 EUR to Bea, DE89370400440532013000, new
      3.00 EUR to Cleo, DE89370400440532013000, new
      Note: Suppliers
      Payee check: 2 match, 1 close
    ",
     ["Approve these payments as bea?"], ["exit 2, cancelled: psd2 has recorded nothing"]]
  `);
  const yes = await payer.run(words, { env, answers: [true] });
  expect([yes.said, yes.asked, endOf(yes)]).toEqual([
    `${no.said}It needs 1 more.\n`,
    ...[no.asked, ['done']],
  ]);
  expect(yes.data).toEqual({
    ...added.data,
    approvals: [{ at: 'NOW', by: 'bea', machine: 'machine', user: 'user' }],
  });
  expect(endOf(await payer.run(['batch', 'run', 'batch-2'], { env }))).toMatchInlineSnapshot(`
    ["exit 2, usage: The batch needs 2 approvals, and has 1",
     "psd2 has sent nothing. A person other than ada approves it with:", "$ batch approve batch-2"]
  `);
  const approved = ['batch', 'approve', 'batch-2', '--by', 'cleo'];
  const second = await payer.run(approved, { env, answers: [], yes: true });
  expect([second.said.split('\n').at(-2), second.data.state]).toEqual(['It can be paid now.', 'approved']);
  const { printed } = await payer.run(['batch', 'show', 'batch-2'], { env, format: 'table' });
  expect(printed).toContain('Approvals\t2 of 2: bea, cleo\n');
  expect(printed).toContain('\tclose match, the account is held by Other\t');
});

it('who approves a batch that names no account reads that the customer chooses it', async () => {
  const bank = new BankHere();
  Object.assign(bank.interface, { debtorAccount: 'optional' });
  const text = `name,iban,amount,from\nAda,${IBAN},1.10,\nBea,${IBAN},2,${OWN_ACCOUNT}\nCleo,${IBAN},3,\n`;
  const { payer } = await withFile(bank, text);
  expect((await payer.run(approve('bea'))).said.split('\n').slice(1, 3)).toEqual([
    '  2 from the account that the customer chooses at the bank: 4.10 EUR',
    `  1 from ${OWN_ACCOUNT}: 2.00 EUR`,
  ]);
  expect((await payer.run(show, { format: 'table' })).printed).toContain(
    `Total\t4.10 EUR; 2.00 EUR from ${OWN_ACCOUNT}\n`,
  );
});

it('who approves a batch reads the structured reference of each payee', async () => {
  const reference = '<Tp><CdOrPrtry><Cd>SCOR</Cd></CdOrPrtry></Tp><Ref>RF18539007547034</Ref>';
  const rest = `<RmtInf><Strd><CdtrRefInf>${reference}</CdtrRefInf></Strd></RmtInf>`;
  const payments = [transaction({ rest }), transaction({ id: '<EndToEndId>E-2</EndToEndId>' })];
  const day = { ReqdExctnDt: `<ReqdExctnDt><Dt>${TODAY}</Dt></ReqdExctnDt>` };
  const { payer } = await withFile(new BankHere(), document([information(payments, day)]));
  expect((await payer.run(approve('bea'))).said.split('\n').slice(2, 4)).toEqual([
    `  12.50 EUR to Ada Lovelace, ${IBAN}, reference RF18539007547034, new`,
    `  12.50 EUR to Ada Lovelace, ${IBAN}, new`,
  ]);
});

it('what an account pays at once and later is one total', async () => {
  const day = { ReqdExctnDt: `<ReqdExctnDt><Dt>${TODAY}</Dt></ReqdExctnDt>` };
  const instrument = '<PmtTpInf><LclInstrm><Cd>INST</Cd></LclInstrm></PmtTpInf>';
  const instant = { PmtInfId: '<PmtInfId>P-2</PmtInfId>', PmtMtd: `<PmtMtd>TRF</PmtMtd>${instrument}` };
  const second = transaction({ id: '<EndToEndId>E-2</EndToEndId>' });
  const text = document([information([transaction()], day), information([second], { ...day, ...instant })]);
  const { payer } = await withFile(new BankHere(), text);
  const { totals } = (await payer.run(show)).data;
  expect(totals).toMatchObject([{ amount: '25.00', count: 2 }]);
});

it('of more than 20 payees a person sees the largest payments, and which payees are new', async () => {
  const names = Array.from({ length: 22 }, (_, index) => `P${index}`);
  const { payer } = await withPayees({}, names);
  const shown = async (by: string) =>
    (await payer.run(approve(by), { env: TWO })).said
      .split('\n')
      .filter((line) => / to P|smaller/.test(line));
  const first = await shown('bea');
  expect([first.length, first[0], first[19]]).toEqual([
    21,
    `  31.00 EUR to P21, ${IBAN}, new`,
    `  12.00 EUR to P2, ${IBAN}, new`,
  ]);
  expect(first[20]).toBe('  and 2 smaller payments, 22 of all 22 to new payees');
  await payer.run([...RUN, '--only', '1']);
  expect((await shown('cleo')).slice(19)).toEqual([
    `  12.00 EUR to P2, ${IBAN}`,
    '  and 2 smaller payments, 0 of all 22 to new payees',
  ]);
});

it.each<[string, prepare: (bank: BankHere) => void, mark: string]>([
  ['was paid', () => {}, ''],
  [
    'is unknown',
    (bank) => Object.assign(bank, { next: { becomes: null } }).meets('execute', 'lost'),
    ', new',
  ],
  ['waits for its customer', (bank) => void Object.assign(bank, { customersAgree: false }), ', new'],
])('a payee is no new one only once psd2 has paid them: the first payment %s', async (_, prepare, mark) => {
  const { bank, payer } = await withPayees({}, ['Ada', 'Bea']);
  prepare(bank);
  await payer.run([...RUN, '--only', '1'], { globals: { scaTimeout: '1' } });
  const { said } = await payer.run(approve('bea'), { env: TWO });
  expect(said).toContain(`  11.00 EUR to Bea, ${IBAN}${mark}\n`);
});

it('nobody approves what they have added or approved, and nobody decides about a rejected batch', async () => {
  const { payer } = await withPayees({}, ['Ada'], ['--note', 'Refunds']);
  const ends = async (...words: string[][]) => {
    const all: string[][] = [];
    for (const each of words) all.push(endOf(await payer.run(each, { env: TWO })));
    return all;
  };
  expect(await ends(approve('Ada'), approve('bea'), approve(' BEA '), RUN)).toMatchInlineSnapshot(`
    [["exit 2, usage: Ada has added or approved this batch, so someone else must approve it",
      "If you share this system account, identify yourself with --by."],
     ["done"],
     ["exit 2, usage: BEA has added or approved this batch, so someone else must approve it",
      "If you share this system account, identify yourself with --by."],
     ["exit 2, usage: The batch needs 2 approvals, and has 1",
      "psd2 has sent nothing. A person other than ada approves it with:", "$ batch approve batch-1"]]
  `);
  const rejected = await payer.run(reject('ada', 'Line 1 is wrong'), { env: TWO });
  expect([rejected.said, rejected.data.rejection, rejected.data.state]).toMatchInlineSnapshot(`
    ["The batch batch-1 of ada has 1 payment (1 waiting):
      1 from 0000012345: 10.00 EUR
      10.00 EUR to Ada, DE89370400440532013000, new
      Note: Refunds
    ",
     { at: "NOW", by: "ada", machine: "machine", note: "Line 1 is wrong", user: "user" }, "rejected"]
  `);
  for (const end of await ends(approve('cleo'), reject('cleo', 'No'), RUN))
    expect(end).toEqual([
      'exit 2, usage: ada has rejected the batch: Line 1 is wrong',
      ...['psd2 pays nothing of it. See it with:', '$ batch show batch-1'],
    ]);
  const asked = await payer.run(reject('ada', 'x'), { answers: [] });
  expect([asked.asked, endOf(asked).length]).toEqual([[], 3]);
  expect(audited(await payer.run(['audit']))).toMatchInlineSnapshot(`
    ["added: batch batch-1, by ada", "approved: batch batch-1, by bea",
     "rejected: batch batch-1, by ada"]
  `);
});

it.each(['be\u200ba', '\u2066bea\u2069', 'bea\u0007', '\ufeffBEA', 'ｂｅａ', 'a\u00adda'])(
  'nobody approves twice, or what they have added, as %j',
  async (name) => {
    const { payer } = await payees({}, 'Ada');
    await payer.run(approve('bea'), { env: TWO });
    expect((await payer.run(approve(name), { env: TWO })).failure?.exitCode).toBe(2);
    expect((await payer.run(RUN, { env: TWO })).failure?.message).toBe(
      'The batch needs 2 approvals, and has 1',
    );
  },
);

it.each([
  ['they approve it in another window', approve('bea'), 'bea has added or approved', 1],
  ['another one rejects it', reject('cleo', 'No'), 'cleo has rejected', 0],
])('what is decided while a person is asked counts: %s', async (_, meanwhile, why, approvals) => {
  const { payer } = await payees({}, 'Ada');
  const isDone: unknown[] = [];
  const asking = await payer.run(approve('bea'), {
    env: TWO,
    yes: false,
    changes: ({ terminal }) => ({
      terminal: {
        ...terminal,
        canAsk: true,
        confirm: async () => {
          isDone.push((await payer.run(meanwhile, { env: TWO })).failure);
          return true;
        },
      },
    }),
  });
  expect([isDone, asking.failure?.exitCode, asking.failure?.message]).toEqual([
    ...[[null], 2],
    expect.stringContaining(why),
  ]);
  expect((await payer.run(show)).data.approvals).toHaveLength(approvals);
});

it('a person is asked before they reject, and a no records nothing', async () => {
  const { payer } = await payees({}, 'Ada');
  const no = await payer.run(reject('bea', 'No'), { answers: [false] });
  expect([no.asked, endOf(no), no.printed]).toEqual([
    ['Reject these payments as bea?'],
    ['exit 2, cancelled: psd2 has recorded nothing'],
    '',
  ]);
  expect((await payer.run(show)).data.rejection).toBeNull();
});

it('once every payment has ended, nothing is left to decide', async () => {
  const { payer } = await payees({}, 'Ada', 'Bea');
  await payer.run([...RUN, '--only', '1']);
  // One payment is left.
  expect(endOf(await payer.run(approve('bea')))).toEqual(['done']);
  await payer.run(RUN);
  expect(endOf(await payer.run(approve('cleo')))).toMatchInlineSnapshot(`
    ["exit 2, usage: Every payment of this batch has ended, so there is nothing left to decide",
     "psd2 has recorded nothing. See it with:", "$ batch show batch-1"]
  `);
});

it('psd2 pays nothing of a batch of which it has forgotten a customer', async () => {
  const { bank, payer } = await payees({}, 'Ada');
  const { change, read } = await storeOf(payer);
  await change({ type: 'pseudonymised', sha256: (await read()).sha256 });
  expect([endOf(await payer.run(RUN)), bank.calls]).toMatchInlineSnapshot(`
    [["exit 2, usage: psd2 has forgotten a customer of the batch, so it pays nothing of it",
      "See what was paid with:", "$ batch show batch-1"],
     []]
  `);
});

it('the status has the batches that wait for an approval, and their sums', async () => {
  const { payer } = await withPayees({}, ['Ada', 'Bea'], ['--note', 'x']);
  const attention = async (env: Record<string, string>) => {
    const { data } = await payer.run(['status'], { env });
    return JSON.parse(JSON.stringify(data.attention ?? null));
  };
  expect(await attention({ PSD2_APPROVALS: '1' })).toMatchInlineSnapshot(`
    [{ amount: "21.00", currency: "EUR", customerId: null, id: "batch-1", kind: "batch",
       message: "2 payments, 0 of 1 approvals", next: ["psd2", "batch", "approve", "batch-1"],
       payee: null, since: "NOW", state: "added" }]
  `);
  expect(await attention({ PSD2_MAX_AMOUNT: '20' })).toHaveLength(1);
  expect(await attention({ PSD2_MAX_AMOUNT: '21' })).toEqual([]);
  expect(await attention({})).toEqual([]);
  await payer.run(approve('bea'));
  expect(await attention({ PSD2_APPROVALS: '1' })).toEqual([]);
  expect(await attention({ PSD2_APPROVALS: '2' })).toHaveLength(1);
  await payer.run(['batch', 'cancel', 'batch-1']);
  expect(await attention({ PSD2_APPROVALS: '2' })).toEqual([]);
});

it('a retry has the unpaid payments alone, with their references and the payee checks that were kept', async () => {
  const text = `name,iban,amount,from\nAda,${IBAN},1,${OWN_ACCOUNT}\nBea,${IBAN},2,${OWN_ACCOUNT}\nCleo,${IBAN},3,${OWN_ACCOUNT}\n`;
  const env = payeeCheck({ Cleo: 'close' });
  const { payer } = await withFile({}, text, ['--note', 'Suppliers']);
  const again = ['batch', 'add', join(temporary, 'payments.csv'), '--note', 'Suppliers', '--again'];
  await payer.run(again, { env });
  await payer.run(['batch', 'run', 'batch-2', '--only', '2']);
  const { data } = await payer.run(['batch', 'cancel', 'batch-2']);
  expect(data).toMatchObject({ state: 'done', counts: { executed: 1, cancelled: 2 } });
  const retried = await payer.run(['batch', 'retry', 'batch-2']);
  expect([retried.said, retried.data]).toMatchInlineSnapshot(`
    ["Stored. It can be paid now.
    ",
     { addedAt: "NOW", addedBy: "ada", approvals: [], approvalsNeeded: 0, batch: "batch-3",
       counts: { waiting: 2 }, customers: [], lines: 2, note: "Suppliers", rejection: null,
       retryOf: "batch-2", sha256: "batch-3", state: "added",
       totals: [{ amount: "4.00", count: 2, currency: "EUR", from: "0000012345" }] }]
  `);
  const { read, batches } = await storeOf(payer);
  const now = await read();
  expect(now.payees).toEqual([
    { line: 1, result: 'match', name: 'Other', problem: null },
    { line: 2, result: 'close', name: 'Other', problem: null },
  ]);
  const lines = await batches.lines(now);
  expect(lines.map(({ line, name, reference }) => [line, name, reference?.slice(-4)])).toEqual([
    [1, 'Ada', '-2-1'],
    [2, 'Cleo', '-2-3'],
  ]);
  expect(endOf(await payer.run(['batch', 'retry', 'batch-2']))).toMatchInlineSnapshot(`
    ["exit 2, usage: The batch batch-3 has these payments already",
     "psd2 has stored nothing. Run that batch. Once it has ended, retry that one. See it with:",
     "$ batch show batch-3"]
  `);
  // A retry that has failed as a whole is retried with the same content.
  await payer.run(['batch', 'cancel', 'batch-3']);
  const third = await payer.run(['batch', 'retry', 'batch-3']);
  expect([endOf(third), third.data.retryOf, third.data.batch]).toEqual([['done'], 'batch-3', 'batch-4']);
  expect(audited(await payer.run(['audit']))).toMatchInlineSnapshot(`
    ["added: batch batch-1, by ada", "added: batch batch-2, content batch-1, by ada",
     "paid: batch batch-2, content batch-1, by ada, 0 of 0 approvals", "began: transfer",
     "confirmed: transfer", "executed: transfer", "cancelled: batch batch-2, content batch-1, by ada",
     "added: batch batch-3, by ada", "cancelled: batch batch-3, by ada",
     "added: batch batch-4, content batch-3, by ada"]
  `);
  expect(endOf(await payer.run(['batch', 'run', 'batch-4', '--accept-close']))).toEqual(['done']);
  expect(endOf(await payer.run(['batch', 'retry', 'batch-4']))).toMatchInlineSnapshot(`
    ["exit 2, usage: There is nothing to retry: no payment is known to have failed",
     "psd2 has stored nothing. See its payments with:", "$ batch report batch-4"]
  `);
});

it('a batch needs the approvals that its journal says, where the settings want fewer, and so does its retry', async () => {
  const { payer } = await payees({}, 'Ada', 'Bea');
  const again = ['batch', 'add', join(temporary, 'payments.csv'), '--from', OWN_ACCOUNT, '--again'];
  expect((await payer.run(again, { env: TWO })).data.approvalsNeeded).toBe(2);
  const approveAgain = (by: string) => payer.run(['batch', 'approve', 'batch-2', '--by', by]);
  const needs: unknown[] = [];
  needs.push((await payer.run(['batch', 'show', 'batch-2'])).data.approvalsNeeded);
  needs.push((await approveAgain('bea')).said.split('\n').at(-2));
  needs.push((await payer.run(['batch', 'run', 'batch-2'])).failure?.message);
  needs.push((await approveAgain('cleo')).said.split('\n').at(-2));
  await payer.run(['batch', 'cancel', 'batch-2']);
  const retried = await payer.run(['batch', 'retry', 'batch-2']);
  needs.push(retried.data.approvalsNeeded, retried.said.trimEnd());
  needs.push((await payer.run(['batch', 'run', 'batch-3'])).failure?.message);
  expect(needs).toEqual([
    ...[2, 'It needs 1 more.', 'The batch needs 2 approvals, and has 1', 'It can be paid now.'],
    ...[2, 'Stored. 2 other people must approve it before it can be paid.'],
    'The batch needs 2 approvals, and has 0',
  ]);
});

it('the name of who approves may have 100 characters', async () => {
  const { payer } = await payees({}, 'Ada');
  const { failure, data } = await payer.run(approve('x'.repeat(100)), { env: TWO });
  expect([failure, data.approvals?.length]).toEqual([null, 1]);
});

it.each<[Record<string, string>, number]>([
  [{}, 0],
  [{ PSD2_ENVIRONMENT: 'production' }, 1],
  [{ PSD2_ENVIRONMENT: 'production', PSD2_APPROVALS: '0' }, 0],
  [{ PSD2_APPROVALS: '2' }, 2],
  [{ PSD2_MAX_AMOUNT: '21' }, 0],
  [{ PSD2_MAX_AMOUNT: '20.99' }, 1],
  [{ PSD2_MAX_AMOUNT: '20.99', PSD2_APPROVALS: '2' }, 3],
  [{ PSD2_MAX_AMOUNT: '20.99', PSD2_ENVIRONMENT: 'production', PSD2_APPROVALS: '0' }, 1],
])('of a profile with %j, a batch of 10 and 11 EUR needs %i approvals', async (env, needed) => {
  const { payer } = await payees({}, 'Ada', 'Bea');
  expect((await payer.run(show, { env })).data).toMatchObject({ approvalsNeeded: needed, state: 'added' });
  expect((await payer.run(RUN, { env })).failure?.message).toBe(
    needed === 0 ? undefined : `The batch needs ${needed} approval${needed === 1 ? '' : 's'}, and has 0`,
  );
});

it.each([
  ['reject', '--note', ''],
  ['reject', '--note', ' '],
  ['approve', '--by', ''],
  ['approve', '--by', ' '],
  ['approve', '--by', 'x'.repeat(101)],
])('psd2 batch %s with %s %j records nothing', async (verb, option, value) => {
  const { payer } = await payees({}, 'Ada');
  const { failure } = await payer.run(['batch', verb, 'batch-1', option, value]);
  expect(failure?.code).toMatch(/^(usage|invalid_text)$/);
  expect((await payer.run(show)).data).toMatchObject({ approvals: [], rejection: null });
});

it.each([
  ['for which nothing was sent', {}, []],
  ['whose bulk payment waits at the bank', BULK, ['paid: batch batch-1, by ada, 0 of 0 approvals']],
])('a batch %s is cancelled once, and the audit log says so once', async (_, terms, paid) => {
  const { bank, payer } = await payees(terms, 'Ada', 'Bea');
  bank.customersAgree = false;
  if (terms === BULK) await payer.run(RUN, { globals: { scaTimeout: '1' } });
  for (const _ of ['once', 'again'])
    expect((await payer.run(['batch', 'cancel', 'batch-1'])).data).toMatchObject({
      ...{ state: 'cancelled', counts: { cancelled: 2 } },
    });
  const ofBatch = audited(await payer.run(['audit'])).filter((line) => line.includes(': batch batch-1'));
  expect(ofBatch).toEqual(['added: batch batch-1, by ada', ...paid, 'cancelled: batch batch-1, by ada']);
});
