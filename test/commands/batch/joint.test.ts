import { execFileSync, spawn } from 'node:child_process';
import { chmodSync, existsSync, readFileSync, statSync, symlinkSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { describe, expect, it } from 'vitest';
import { keepPsu } from '../../../src/commands/shared/psu.ts';
import type { BatchEvent } from '../../../src/domain/batch/batch.ts';
import { paymentHolder } from '../../../src/domain/identifiers.ts';
import type { TransferEvent } from '../../../src/domain/transfer.ts';
import { Psd2Error } from '../../../src/errors.ts';
import { VERIFIED } from '../../domain/orders.ts';
import { storeLogin } from '../access.ts';
import { BankHere, initiationOf, OWN_ACCOUNT, OWN_IBAN } from '../bank-here.ts';
import { ANNA, endOf } from '../payer-here.ts';
import {
  BASKET,
  BULK,
  beginBulk,
  beginLine,
  IBAN,
  interrupted,
  LINKED,
  paid,
  RUN,
  refused,
  storeOf,
  told,
  useBatches,
} from './with-batch.ts';

// Lines that their customer authorises once: what a second run does with what the first one has begun.

const { payeeCheck, payees, temporary, withFile, withPayees } = useBatches();
/** What an earlier run wrote down for the second line alone. */
const ALONE = initiationOf('payments', 'R-2', { address: 'https://tpp.example/callback', state: 's' });
const BOB = { by: 'bob', user: 'bob', machine: 'm' };
const IN_ANOTHER = { type: 'bulk-joined', bulk: 'op-0mwuiwxs0iiiii' } as const;

it('a bulk payment of which nobody has the link goes out once more, under the same references', async () => {
  const { bank, payer, pay } = await payees(BULK, 'Ada', 'Bea');
  bank.meets('verify', interrupted());
  expect(await pay()).toMatchInlineSnapshot(
    `["1 created tr-1 ", "2 created tr-2 ", "0 of 2 paid, 2 unknown.", "exit 130: run batch-1"]`,
  );
  expect([await pay(), bank.payments.length, bank.sent]).toMatchInlineSnapshot(`
    [["1 executed tr-1 ", "2 executed tr-2 ",
      "The answer to the initiation was lost. Nobody has the link to authorise that bulk payment, so psd2 initiates it again under the same reference.",
      "2 of 2 paid (21.00 EUR).", "done"],
     1, ["verify bulk payment", "verify bulk payment", "sca pay-1"]]
  `);
  const [operation] = Object.values((await payer.run(['operation', 'list'])).data);
  expect(operation).toMatchObject({ operation: 'bulk-payments', customerId: ANNA, product: OWN_ACCOUNT });
  expect([payer.events('op-1'), payer.events('tr-1')]).toMatchInlineSnapshot(`
    ["created accepted verify-sent initiate-again verify-sent verified approach-sent sca-started executed",
     "created bulk-joined executed"]
  `);
});

interface Prepared {
  /** The indexes of the transfers that have noted that they go with it. */
  joined?: number[];
  /** Whom the second transfer pays. */
  second?: string;
  /** Who has begun the bulk payment. */
  customerId?: string;
}

/** A batch of two lines whose transfers an earlier run began. The bulk payment is in the store, and was not sent. */
async function preparedBulk({ joined = [], second = 'Bea', customerId = ANNA }: Prepared = {}) {
  const here = await payees(BULK, 'Ada', 'Bea');
  const store = await storeOf(here.payer);
  const transfers = [await beginLine(store, 1), await beginLine(store, 2, { order: { name: second } })];
  const joint = await beginBulk(store, { customerId });
  const record = (index: number, event: TransferEvent) =>
    store.flows.resume('transfer', transfers[index] ?? '', (open) => open.record(event));
  for (const index of joined) await record(index, { type: 'bulk-joined', bulk: joint });
  const path = join(here.payer.folder.flows('env'), `${joint}.ndjson`);
  const edit = (before: string, after: string) => {
    const journal = readFileSync(path, 'utf8');
    expect(journal).toContain(before);
    writeFileSync(path, journal.replace(before, after));
  };
  return { ...here, ...store, joint, record, edit };
}

it.each([[[]], [[0]], [[0, 1]]])(
  'a run goes on with the bulk payment that an earlier run has written down (lines that have joined: %j)',
  async (joined) => {
    const here = await preparedBulk({ joined });
    const { bank, flows, joint, pay } = here;
    expect(await pay()).toEqual(paid(2));
    expect(bank.sent).toEqual(['verify bulk payment', 'sca pay-1']);
    const { initiation, state } = await flows.find('operation', joint);
    expect([bank.last.asked, state]).toEqual([initiation?.body, 'executed']);
    expect(['tr-1', 'tr-2'].map((flow) => here.payer.events(flow))).toEqual([
      'created bulk-joined executed',
      'created bulk-joined executed',
    ]);
  },
);

const NEXT = (...flows: string[]) => flows.map((flow) => `$ transfer cancel ${flow}`);
it.each<[joined: number[], states: string[], end: string[]]>([
  [[0, 1], ['cancelled', 'cancelled'], ['done']],
  [
    [0],
    ['cancelled', 'created'],
    [
      'exit 2, usage: One payment has begun and has not ended: line 2 is created',
      '1 payment is cancelled. As long as nothing irreversible was sent:',
      ...NEXT('tr-1'),
    ],
  ],
  [
    [],
    ['created', 'created'],
    [
      'exit 2, usage: 2 payments have begun and have not ended: line 1 is created, line 2 is created',
      'psd2 has cancelled no payment. As long as nothing irreversible was sent:',
      ...NEXT('tr-1', 'tr-2'),
    ],
  ],
])(
  'a bulk payment that an earlier run has written down is cancelled with its batch (lines that have joined: %j)',
  async (joined, states, end) => {
    const { bank, flows, joint, payer } = await preparedBulk({ joined });
    expect(endOf(await payer.run(['batch', 'cancel', 'batch-1']))).toEqual(end);
    expect([(await flows.find('operation', joint)).state, bank.sent]).toEqual(['cancelled', []]);
    const { data } = await payer.run(['batch', 'report', 'batch-1']);
    expect(data).toMatchObject(states.map((state) => ({ state })));
  },
);

it.each([[[]], [[0]], [[0, 1]]])(
  'of two bulk payments that were to have a line the last one pays it (lines that have joined: %j)',
  async (joined) => {
    const { bank, payer, pay } = await payees(BULK, 'Ada', 'Bea');
    const store = await storeOf(payer);
    const transfers = [await beginLine(store, 1), await beginLine(store, 2)];
    const left = await beginBulk(store);
    await store.flows.resume('operation', left, (open) => open.record({ type: 'cancelled' }));
    const bulk = await beginBulk(store);
    for (const index of joined)
      await store.flows.resume('transfer', transfers[index] ?? '', (open) =>
        open.record({ type: 'bulk-joined', bulk }),
      );
    expect([await pay(), bank.sent]).toEqual([paid(2), ['verify bulk payment', 'sca pay-1']]);
    const states = [left, bulk].map(async (flow) => (await store.flows.find('operation', flow)).state);
    expect(await Promise.all(states)).toEqual(['cancelled', 'executed']);
  },
);

it('what somebody has changed in the store of a bulk payment is not sent', async () => {
  const ends: unknown[] = [];
  type Here = Awaited<ReturnType<typeof preparedBulk>>;
  const cases: [string, (here: Here) => Promise<void> | void, Prepared?][] = [
    ['whom a transfer pays', () => {}, { second: 'Mallory' }],
    ['an order in the body', ({ edit }) => edit('\\"amount\\":\\"10.00\\"', '\\"amount\\":\\"90.00\\"')],
    ['its purpose', ({ edit }) => edit('\\"lines\\":', '\\"rows\\":')],
    ['a line is in another bulk payment', ({ record }) => record(1, IN_ANOTHER)],
    ['a line was cancelled alone', ({ record }) => record(1, { type: 'cancelled' })],
  ];
  for (const [what, change, before] of cases) {
    const here = await preparedBulk(before);
    await change(here);
    ends.push([what, ...told(await here.payer.run(RUN)), here.bank.payments.length]);
  }
  expect(ends).toMatchInlineSnapshot(`
    [["whom a transfer pays", "1 created tr-1 The transfer of payment 2 is not what the batch orders",
      "2 created tr-2 The transfer of payment 2 is not what the batch orders",
      "Payment 1: The transfer of payment 2 is not what the batch orders. Somebody or something has changed the store. psd2 sends nothing. Restore it from a backup.",
      "Payment 2: The transfer of payment 2 is not what the batch orders. Somebody or something has changed the store. psd2 sends nothing. Restore it from a backup.",
      "0 of 2 paid.", "exit 8, unpaid 2 of 2: run batch-1", 0],
     ["an order in the body", "1 created tr-1 What is stored is not what was asked for",
      "2 created tr-2 What is stored is not what was asked for",
      "Payment 1: What is stored is not what was asked for.",
      "Payment 2: What is stored is not what was asked for.", "0 of 2 paid.",
      "exit 8, unpaid 2 of 2: run batch-1", 0],
     ["its purpose", "1 created tr-1 The journal of the bulk-payments op-1 is damaged",
      "2 created tr-2 The journal of the bulk-payments op-1 is damaged",
      "Payment 1: The journal of the bulk-payments op-1 is damaged. Restore it from a backup.",
      "Payment 2: The journal of the bulk-payments op-1 is damaged. Restore it from a backup.",
      "0 of 2 paid.", "exit 8, unpaid 2 of 2: run batch-1", 0],
     ["a line is in another bulk payment", "1 executed tr-1 ", "2 created tr-2 ",
      "1 of 2 paid (10.00 EUR), 1 unknown.", "exit 9, unknown 1 of 2: run batch-1", 1],
     ["a line was cancelled alone", "1 executed tr-1 ", "2 executed tr-2 ", "2 of 2 paid (21.00 EUR).",
      "done", 1]]
  `);
});

it('one line of a bulk payment alone is paid with all that are in it', async () => {
  const { bank, pay } = await preparedBulk();
  expect(await pay([...RUN, '--only', '2'])).toMatchInlineSnapshot(
    `["2 executed tr-1 ", "1 of 1 paid (11.00 EUR).", "done"]`,
  );
  expect(await pay()).toEqual(['1 executed tr-2 ', '2 executed tr-1 ', '2 of 2 paid (21.00 EUR).', 'done']);
  expect(bank.payments).toHaveLength(1);
});

describe.each([true, false])('what an earlier run began for a line (noted: %s)', (isNoted) => {
  it('for a bulk payment, and no more, is ended and begins anew', async () => {
    const { bank, payer, pay } = await payees(BULK, 'Ada', 'Bea');
    const store = await storeOf(payer);
    const before = await beginLine(store, 2, { isNoted });
    expect([await pay(), bank.sent]).toEqual([paid(2), ['verify bulk payment', 'sca pay-1']]);
    expect((await store.flows.find('transfer', before)).state).toBe('cancelled');
  });

  it('alone, goes on alone, beside the bulk payment', async () => {
    const { bank, payer, pay } = await payees(BULK, 'Ada', 'Bea', 'Cleo');
    await beginLine(await storeOf(payer), 2, { isNoted, initiation: ALONE });
    expect([await pay(), bank.sent]).toEqual([
      paid(3),
      ['verify bulk payment', 'sca pay-1', 'verify transfer', 'sca pay-2'],
    ]);
    expect(bank.last.asked).toBe('"R-2"');
  });
});

it.each<[string, Parameters<typeof beginLine>[2]]>([
  ['bulk payment is not put into a second one', { events: [IN_ANOTHER] }],
  ['basket is not begun alone', { initiation: ALONE, events: [{ type: 'accepted' }, IN_ANOTHER] }],
])('a line that another run has put into its %s', async (_, begun) => {
  const { bank, payer, pay } = await payees(BULK, 'Ada', 'Bea', 'Cleo');
  await beginLine(await storeOf(payer), 2, { isNoted: false, ...begun });
  expect([await pay(), bank.sent]).toMatchInlineSnapshot(`
    [["1 executed tr-1 ", "2 created tr-2 ", "3 executed tr-3 ", "2 of 3 paid (22.00 EUR), 1 unknown.",
      "exit 9, unknown 1 of 3: run batch-1"],
     ["verify bulk payment", "sca pay-1"]]
  `);
  const orders: { reference: string }[] = JSON.parse(String(bank.last.asked));
  expect(orders.map(({ reference }) => reference)).toEqual(['R-1', 'R-3']);
});

it('of the lines of a bulk payment, what psd2 refuses or a person must decide stops no other one', async () => {
  const { bank, payer, pay } = await payees(BULK, 'Ada', 'Bea', 'Cleo', 'Dora', 'Eve', 'Fay');
  await payer.run([
    ...['transfer', 'create', '--from', OWN_ACCOUNT, '--to', IBAN, '--name', 'X', '--amount', '1'],
    ...['--reference', 'R-5'],
  ]);
  const env = {
    ...payeeCheck({
      Bea: 'none',
      Cleo: 'close',
      Dora: 'unavailable',
      Fay: 'close',
    }),
  };
  expect(await pay(RUN, { env })).toMatchInlineSnapshot(`
    ["1 executed tr-2 ", "2 failed  The payee check says: no match, the account is held by Other",
     "3 waiting  The payee check of payment 3 says: close match, the account is held by Other",
     "4 executed tr-3 ",
     "5 failed  The reference "R-5" was used by transfer tr-1, which is executed. These are different: the amount, the payee's name. psd2 pays a reference once. To pay this too, add it with another reference",
     "6 waiting  The payee check of payment 6 says: close match, the account is held by Other",
     "Payment 3: The payee check of payment 3 says: close match, the account is held by Other. If the payee is right after all, add --accept-close.",
     "Payment 6: The payee check of payment 6 says: close match, the account is held by Other. If the payee is right after all, add --accept-close.",
     "2 of 6 paid (23.00 EUR), 2 not paid.", "exit 8, unpaid 4 of 6: run batch-1"]
  `);
  // The transfer of before, those of two lines, and no other.
  expect(payer.flows()).toBe(4);
  const orders: { reference: string }[] = JSON.parse(String(bank.payment('pay-2').asked));
  expect(orders.map(({ reference }) => reference)).toEqual(['R-1', 'R-4']);
  expect(
    payer.journal('tr-2').map(({ type, result }) => [type, result].join(' ').trim()),
  ).toMatchInlineSnapshot(`["created", "payee-checked match", "bulk-joined", "executed"]`);
  expect(await pay([...RUN, '--accept-close'], { env })).toMatchInlineSnapshot(`
    ["1 executed tr-2 ", "2 failed  The payee check says: no match, the account is held by Other",
     "3 executed tr-4 ", "4 executed tr-3 ",
     "5 failed  The reference "R-5" was used by transfer tr-1, which is executed. These are different: the amount, the payee's name. psd2 pays a reference once. To pay this too, add it with another reference",
     "6 executed tr-5 ", "4 of 6 paid (50.00 EUR), 2 not paid.",
     "exit 8, refused 2 of 6: report batch-1"]
  `);
});

it('if the bank has no bulk payments any more, nothing of one that has begun is sent otherwise', async () => {
  const { bank, pay } = await preparedBulk();
  const at = new BankHere({ commits: 'by the customer' });
  expect(await pay(RUN, { at })).toMatchInlineSnapshot(`
    ["1 created tr-1 The bank file no longer has bulk payments",
     "2 created tr-2 The bank file no longer has bulk payments",
     "Payment 1: The bank file no longer has bulk payments.",
     "Payment 2: The bank file no longer has bulk payments.", "0 of 2 paid.",
     "exit 8, unpaid 2 of 2: run batch-1"]
  `);
  expect([bank.sent, at.sent]).toEqual([[], []]);
});

it('a bulk payment is that of the customer who began it', async () => {
  const { bank, pay } = await preparedBulk({ customerId: '2073915' });
  expect([await pay(), bank.sent]).toMatchInlineSnapshot(`
    [["1 created tr-1 The customer 2073915 is not logged in with the profile "env"",
      "2 created tr-2 The customer 2073915 is not logged in with the profile "env"",
      "Payment 1: The customer 2073915 is not logged in with the profile "env". Logged in: 1048262. Or run: psd2 --profile env auth login",
      "Payment 2: The customer 2073915 is not logged in with the profile "env". Logged in: 1048262. Or run: psd2 --profile env auth login",
      "0 of 2 paid.", "exit 8, unpaid 2 of 2: run batch-1"],
     []]
  `);
});

it('payments of a bulk payment that the bank does not have are not sent alone', async () => {
  const { bank, pay } = await payees(BULK, 'Ada', 'Bea');
  const none = { beganNothing: true, lacksService: true } as const;
  bank.meets('verify', new Psd2Error('bank_refused', 'It has none', none));
  expect([await pay(), bank.sent]).toEqual([
    [
      ...['1 failed tr-1 It has none', '2 failed tr-2 It has none'],
      ...['0 of 2 paid, 2 not paid.', 'exit 8, unpaid 2 of 2: retry batch-1'],
    ],
    ['verify bulk payment'],
  ]);
});

it('a bulk payment that could not be sent stays written down, and the next run sends it', async () => {
  const here = await payees(BULK, 'Ada', 'Bea');
  const { bank, payer, pay } = here;
  bank.meets('prepare', new Psd2Error('config', 'Not possible'));
  expect(await pay()).toMatchInlineSnapshot(`
    ["1 created tr-1 Not possible", "2 created tr-2 Not possible", "0 of 2 paid, 2 unknown.",
     "exit 9, unknown 2 of 2: run batch-1"]
  `);
  await payer.run(['operation', 'list']);
  expect([here.payer.events('op-1'), here.payer.events('tr-1')]).toEqual(['created', 'created bulk-joined']);
  expect([await pay(), bank.sent]).toEqual([paid(2), ['verify bulk payment', 'sca pay-1']]);
});

it('lines that somebody cancels, rejects or takes before the bulk payment is written down are not sent', async () => {
  const ends: unknown[] = [];
  const events = (sha256: string): BatchEvent[] => [
    { type: 'lines-cancelled', lines: [2], ...BOB },
    { type: 'rejected', note: 'No', sha256, ...BOB },
    { type: 'line-begun', line: 2, flow: 'tr-0mwuiwxs0iiiii' },
  ];
  for (const index of [0, 1, 2]) {
    const { bank, payer, pay } = await payees(BULK, 'Ada', 'Bea');
    const { change, read } = await storeOf(payer);
    const [event] = events((await read()).sha256).slice(index);
    bank.meanwhile = async (call) => {
      if (call === 'write 2 orders' && event) await change(event);
    };
    const ran = await payer.run(RUN);
    const { data } = await payer.run(['operation', 'list']);
    ends.push([event?.type, told(ran), data[0]?.state, (await read()).bulks.size, bank.sent]);
    bank.meanwhile = async () => {};
    if (event?.type !== 'line-begun') ends.push(await pay(), bank.sent);
  }
  expect(ends).toMatchInlineSnapshot(`
    [["lines-cancelled",
      ["1 waiting  ", "2 cancelled  ", "0 of 2 paid, 1 not paid.", "exit 8, unpaid 2 of 2: run batch-1"],
      "cancelled", 0, []],
     ["1 executed tr-1 ", "2 cancelled  ", "1 of 2 paid (10.00 EUR), 1 not paid.",
      "exit 8, unpaid 1 of 2: retry batch-1"],
     ["verify bulk payment", "sca pay-1"],
     ["rejected", ["1 waiting  ", "2 waiting  ", "0 of 2 paid.", "exit 8, unpaid 2 of 2: run batch-1"],
      "cancelled", 0, []],
     ["exit 2, usage: bob has rejected the batch: No", "psd2 pays nothing of it. See it with:",
      "$ batch show batch-1"],
     [],
     ["line-begun",
      ["1 waiting  ", "2 unknown tr-1 No flow of this profile matches "tr-1"",
       "0 of 2 paid, 1 unknown.", "exit 9, unknown 1 of 2: run batch-1"],
      "cancelled", 0, []]]
  `);
});

it('an order that the bank does not take in a bulk payment refuses its line alone', async () => {
  const { bank, payer, pay } = await payees(BULK, 'Ada', 'Bea', 'Cleo');
  let written = 0;
  bank.meanwhile = async (call) => {
    if (call === 'write 1 orders' && ++written === 2)
      throw new Psd2Error('invalid_text', 'The name is too long');
  };
  expect([await pay(), bank.sent, payer.flows()]).toMatchInlineSnapshot(`
    [["1 executed tr-1 ", "2 failed  The name is too long", "3 executed tr-2 ",
      "2 of 3 paid (22.00 EUR), 1 not paid.", "exit 8, refused 1 of 3: report batch-1"],
     ["verify bulk payment", "sca pay-1"], 3]
  `);
});

it('a failure while a bulk payment is prepared begins nothing', async () => {
  const { bank, payer, pay } = await payees(BULK, 'Ada', 'Bea');
  bank.meanwhile = async (call) => {
    if (call === 'write 1 orders') throw new Psd2Error('config', 'Not possible');
  };
  expect([await pay(), bank.sent]).toMatchInlineSnapshot(`
    [["1 waiting  Not possible", "2 waiting  Not possible", "Payment 1: Not possible.",
      "Payment 2: Not possible.", "0 of 2 paid.", "exit 8, unpaid 2 of 2: run batch-1"],
     []]
  `);
  expect((await payer.run(['transfer', 'list'])).data).toEqual([]);
});

it('a line that is cancelled while its transfer is written down stops no other one', async () => {
  const { bank, payer, pay } = await payees(BULK, 'Ada', 'Bea', 'Cleo');
  const { change } = await storeOf(payer);
  let written = 0;
  bank.meanwhile = async (call) => {
    if (call !== 'write 1 orders' || ++written !== 3) return;
    await change({ type: 'lines-cancelled', lines: [1], ...BOB });
  };
  expect([await pay(), bank.sent]).toMatchInlineSnapshot(`
    [["1 cancelled  ", "2 executed tr-1 ", "3 executed tr-2 ", "2 of 3 paid (23.00 EUR), 1 not paid.",
      "exit 8, unpaid 1 of 3: retry batch-1"],
     ["verify bulk payment", "sca pay-1"]]
  `);
  const { printed } = await payer.run(['transfer', 'list', '--state', 'cancelled']);
  expect(JSON.parse(printed)).toHaveLength(1);
});

it('a line that is in another bulk payment by now does not send the first one', async () => {
  const { bank, flows, joint, record, pay } = await preparedBulk();
  await record(1, IN_ANOTHER);
  expect([await pay([...RUN, '--only', '2']), bank.sent]).toMatchInlineSnapshot(
    `[["2 created tr-1 ", "0 of 1 paid, 1 unknown.", "exit 9, unknown 1 of 1: run batch-1"], []]`,
  );
  expect((await flows.find('operation', joint)).state).toBe('created');
});

it('a bulk payment that may have left is not sent again if a line of it is elsewhere', async () => {
  const { bank, flows, joint, record, pay } = await preparedBulk({ joined: [0] });
  await record(1, IN_ANOTHER);
  await flows.resume('operation', joint, async (open) => {
    await open.record({ type: 'accepted' });
    await open.record({ type: 'verify-sent', requestId: 'r', digest: null });
  });
  expect([await pay(), bank.sent]).toMatchInlineSnapshot(`
    [["1 created tr-1 The transfer of payment 2 is not what the batch orders",
      "2 created tr-2 The transfer of payment 2 is not what the batch orders",
      "0 of 2 paid, 2 unknown.", "exit 9, unknown 2 of 2: run batch-1"],
     []]
  `);
});

it('if psd2 has refused every line, no bulk payment is begun', async () => {
  const { bank, payer, pay } = await payees(BULK, 'Ada', 'Bea');
  const env = payeeCheck({ Ada: 'none', Bea: 'none' });
  expect((await pay(RUN, { env })).slice(2)).toEqual([
    '0 of 2 paid, 2 not paid.',
    'exit 8, refused 2 of 2: report batch-1',
  ]);
  expect([bank.sent, payer.flows()]).toEqual([[], 0]);
  // Nothing is left for the next run.
  expect((await pay([...RUN, '--as', 'bulk'])).at(2)).toBe('0 of 2 paid, 2 not paid.');
});

it('a bulk payment that nobody can authorise and that the bank has not cancelled is told of, with the command that goes on', async () => {
  const { bank, pay } = await payees(BULK, 'Ada', 'Bea');
  bank.meets('sca', new Psd2Error('bank_answer', 'The link is unusable', { isDeadEnd: true }));
  bank.meets('cancel', new Psd2Error('bank_refused', 'Not now'));
  expect(await pay()).toMatchInlineSnapshot(`
    ["1 authorizing tr-1 The link is unusable", "2 authorizing tr-2 The link is unusable",
     "Payment 1: The link is unusable. No customer has the link, but the bank has the bulk payment, and has not cancelled it: Not now. psd2 goes on, and pays nothing twice, with: psd2 batch run batch-1",
     "0 of 2 paid, 2 unknown.", "exit 9, unknown 2 of 2: run batch-1"]
  `);
  expect((await pay()).slice(-2)).toEqual(['2 of 2 paid (21.00 EUR).', 'done']);
  expect(bank.payments).toHaveLength(1);
});

// Lines that their customer authorises once, in a store that was damaged.

it('what was approved is what is paid, also if the file of the lines is damaged while psd2 asks for a confirmation', async () => {
  const { bank, payer } = await payees(BULK, 'Ada', 'Bea');
  const store = await storeOf(payer);
  await beginLine(store, 1);
  await beginLine(store, 2);
  await beginBulk(store);
  const lines = join(payer.folder.flows('env'), 'batches', store.batch, 'lines.ndjson');
  const ran = await payer.run(RUN, {
    yes: false,
    changes: ({ terminal }) => ({
      terminal: {
        ...terminal,
        canAsk: true,
        confirm: async () => {
          writeFileSync(lines, 'damaged\n');
          return true;
        },
      },
    }),
  });
  expect([told(ran), bank.sent]).toEqual([paid(2), ['verify bulk payment', 'sca pay-1']]);
});

it('a line of a bulk payment that has no transfer does not go with it, and is paid by another one', async () => {
  const { bank, payer, pay } = await payees(BULK, 'Ada', 'Bea');
  const store = await storeOf(payer);
  await beginLine(store, 1);
  await beginLine(store, 2, { isNoted: false });
  const joint = await beginBulk(store);
  await store.change({ type: 'bulk-begun', flow: joint, lines: [1, 2] });
  expect([await pay(), bank.sent, bank.payments.length]).toEqual([
    paid(2),
    ['verify bulk payment', 'sca pay-1', 'verify bulk payment', 'sca pay-2'],
    2,
  ]);
});

// Lines that are authorised each alone: what a second run does with what the first one has begun.

it.each([true, false])('a transfer that an earlier run has begun goes on (noted: %s)', async (isNoted) => {
  const { bank, payer, pay } = await payees({}, 'Ada');
  const store = await storeOf(payer);
  const flow = await beginLine(store, 1, { isNoted, commits: 'on execute' });
  expect(await pay()).toEqual(paid(1));
  expect(bank.sent).toEqual(['verify transfer', 'sca pay-1', 'execute pay-1']);
  expect((await store.read()).flows).toEqual(new Map([[1, flow]]));
  expect(await pay()).toEqual(paid(1));
  expect([payer.flows(), bank.sent.length]).toEqual([1, 3]);
});

it('a run that was stopped while the customer was at the bank goes on with the same payment', async () => {
  const { bank, pay } = await payees({}, 'Ada');
  bank.meets('status', interrupted());
  expect(await pay()).toMatchInlineSnapshot(
    `["1 authorizing tr-1 ", "0 of 1 paid, 1 awaits its customer.", "exit 130: run batch-1"]`,
  );
  expect([await pay(), bank.calls]).toEqual([
    paid(1),
    ['verify transfer', 'sca pay-1', 'status pay-1', 'status pay-1', 'execute pay-1'],
  ]);
});

it('what was interrupted and says how it is cancelled goes on with the batch, and keeps that way', async () => {
  const next = [
    ['transfer', 'resume', 'tr-1'],
    ['transfer', 'cancel', 'tr-1'],
  ];
  const { bank, pay } = await payees({}, 'Ada');
  bank.meets('status', interrupted().with({ hint: 'Go on with:', next }));
  expect(await pay()).toMatchInlineSnapshot(`
    ["1 authorizing tr-1 ", "0 of 1 paid, 1 awaits its customer.", "exit 130, interrupted: Interrupted",
     "Go on with:", "$ batch run batch-1", "$ transfer cancel tr-1"]
  `);
});

it('a transfer that is not what its line orders is not sent', async () => {
  const { bank, payer, pay } = await payees({}, 'Ada');
  await beginLine(await storeOf(payer), 1, { commits: 'on execute', order: { name: 'Mallory' } });
  expect([await pay(), bank.calls]).toMatchInlineSnapshot(`
    [["1 created tr-1 The transfer of payment 1 is not what the batch orders",
      "Payment 1: The transfer of payment 1 is not what the batch orders. Somebody or something has changed the store. psd2 sends nothing. Restore it from a backup.",
      "0 of 1 paid.", "exit 8, unpaid 1 of 1: run batch-1"],
     []]
  `);
});

it('what somebody decides about a line before its transfer is written down counts', async () => {
  const ends: unknown[] = [];
  const events = (sha256: string): BatchEvent[] => [
    { type: 'lines-cancelled', lines: [1], ...BOB },
    { type: 'rejected', note: 'No', sha256, ...BOB },
    { type: 'line-refused', line: 1, reason: 'Another run has refused it' },
    { type: 'line-begun', line: 1, flow: 'tr-0mwuiwxs0iiiii' },
  ];
  for (const index of [0, 1, 2, 3]) {
    const text = `name,iban,amount,from\nAda,${IBAN},10,${OWN_IBAN}\n`;
    const { bank, payer } = await withFile({}, text);
    const store = await storeOf(payer);
    const [event] = events((await store.read()).sha256).slice(index);
    bank.meanwhile = async (call) => {
      if (call.startsWith('accounts') && event) await store.change(event);
    };
    const ran = await payer.run(RUN);
    const { data } = await payer.run(['transfer', 'list']);
    ends.push([event?.type, told(ran), bank.sent, data[0]?.state]);
  }
  expect(ends).toMatchInlineSnapshot(`
    [["lines-cancelled",
      ["1 cancelled  ", "0 of 1 paid, 1 not paid.", "exit 8, unpaid 1 of 1: retry batch-1"], [],
      "cancelled"],
     ["rejected", ["1 waiting  ", "0 of 1 paid.", "exit 8, unpaid 1 of 1: run batch-1"], [],
      "cancelled"],
     ["line-refused",
      ["1 failed  Another run has refused it", "0 of 1 paid, 1 not paid.",
       "exit 8, refused 1 of 1: report batch-1"],
      [], "cancelled"],
     ["line-begun",
      ["1 unknown tr-1 No flow of this profile matches "tr-1"", "0 of 1 paid, 1 unknown.",
       "exit 9, unknown 1 of 1: run batch-1"],
      [], "cancelled"]]
  `);
});

it('a payment that psd2 cannot begin is ended, and the next run begins another one', async () => {
  const { bank, pay } = await payees({}, 'Ada');
  bank.meets('prepare', new Psd2Error('usage', 'Not possible'));
  expect(await pay()).toMatchInlineSnapshot(`
    ["1 created tr-1 Not possible", "Payment 1: Not possible.", "0 of 1 paid.",
     "exit 8, unpaid 1 of 1: run batch-1"]
  `);
  bank.meets('verify', new Psd2Error('forbidden', 'Not allowed', { refusal: 'other', isBanks: true }));
  for (const _ of ['once', 'again'])
    expect([await pay(), bank.sent]).toEqual([
      ['1 failed tr-1 Not allowed', '0 of 1 paid, 1 not paid.', 'exit 8, unpaid 1 of 1: retry batch-1'],
      ['verify transfer'],
    ]);
});

it('an instant payment that is not settled is unknown and has no time of payment; a later run asks only that', async () => {
  const instant = ['--instant', '--payee-verified'];
  const { bank, payer, pay, payAnew } = await withPayees({}, ['Ada'], instant);
  bank.next = { settlement: 'PENDING' };
  expect(await pay(RUN, { globals: { scaTimeout: '2' } })).toMatchInlineSnapshot(`
    ["1 executed tr-1 The instant transfer is executed, but its status at the bank is still PENDING",
     "0 of 1 paid, 1 unknown.", "exit 9, unknown 1 of 1: run batch-1"]
  `);
  const report = async () => (await payer.run(['batch', 'report', 'batch-1'])).data;
  expect(await report()).toMatchObject([{ paidAt: null }]);
  bank.payment('pay-1').settlement = 'OK';
  expect(await payAnew()).toEqual([
    ['1 settled tr-1 ', '1 of 1 paid (10.00 EUR).', 'done'],
    ['settlement pay-1'],
  ]);
  expect(await report()).toMatchObject([{ paidAt: 'NOW' }]);
});

it('the payee check is made again for a payment that nobody has confirmed, and kept for one that was', async () => {
  const ends: unknown[] = [];
  const initiation = initiationOf('payments', 'x', { address: 'https://tpp.example/callback', state: 's' });
  const cases: [string, ...TransferEvent[]][] = [
    ['none'],
    ['close'],
    ['match'],
    ['none', { type: 'accepted' }],
  ];
  for (const [result, ...events] of cases) {
    const { payer, bank } = await payees(LINKED, 'Ada');
    await beginLine(await storeOf(payer), 1, { initiation, events });
    const env = payeeCheck({ Ada: result });
    const ran = await payer.run(RUN, { env });
    await payer.run(['transfer', 'list']);
    ends.push([result, ...events.map(({ type }) => type), ...told(ran), ...bank.sent, payer.events('tr-1')]);
  }
  expect(ends).toMatchInlineSnapshot(`
    [["none", "1 failed  The payee check says: no match, the account is held by Other",
      "0 of 1 paid, 1 not paid.", "exit 8, refused 1 of 1: report batch-1", "created cancelled"],
     ["close",
      "1 created tr-1 The payee check of payment 1 says: close match, the account is held by Other",
      "Payment 1: The payee check of payment 1 says: close match, the account is held by Other. If the payee is right after all, add --accept-close.",
      "0 of 1 paid.", "exit 8, unpaid 1 of 1: run batch-1", "created"],
     ["match", "1 executed tr-1 ", "1 of 1 paid (10.00 EUR).", "done", "verify transfer", "sca pay-1",
      "created payee-checked accepted verify-sent verified approach-sent sca-started executed"],
     ["none", "accepted", "1 executed tr-1 ", "1 of 1 paid (10.00 EUR).", "done", "verify transfer",
      "sca pay-1", "created accepted verify-sent verified approach-sent sca-started executed"]]
  `);
});

it('a payment that the bank has verified is ended if the payee check of a later run does not match', async () => {
  const { bank, payer, pay } = await payees({}, 'Ada');
  await beginLine(await storeOf(payer), 1, {
    commits: 'on execute',
    events: [{ type: 'verify-sent', requestId: 'r', digest: null }, VERIFIED],
  });
  const env = payeeCheck({ Ada: 'none' });
  for (const how of [{ env }, {}])
    expect([await pay(RUN, how), bank.calls]).toEqual([
      [
        '1 cancelled tr-1 The payee check says: no match, the account is held by Other',
        ...['0 of 1 paid, 1 not paid.', 'exit 8, unpaid 1 of 1: retry batch-1'],
      ],
      [],
    ]);
  expect(endOf(await payer.run(['batch', 'retry', 'batch-1']))).toEqual(['done']);
});

it('a customer who has a link gets no second one, and the tokens of the payment end with it', async () => {
  const { bank, payer } = await payees(LINKED, 'Ada');
  bank.customersAgree = false;
  const links = join(temporary, 'single.ndjson');
  writeFileSync(links, '', { mode: 0o600 });
  const run = () => payer.run([...RUN, '--links', links]);
  await keepPsu(payer.open().context, ANNA, { psuId: 'dora' });
  const awaited = [
    ...['1 authorizing tr-1 ', '0 of 1 paid, 1 awaits its customer.'],
    'exit 13, open 1 of 1: run batch-1',
  ];
  expect(told(await run())).toEqual(awaited);
  const { read, flows, batch } = await storeOf(payer);
  const flow = (await read()).flows.get(1) ?? '';
  expect(JSON.parse(readFileSync(links, 'utf8'))).toEqual({
    ...{ batch, line: 1, flow, customer: ANNA, reference: 'R-1', name: 'Ada', iban: IBAN },
    ...{ amount: '10.00', currency: 'EUR', url: 'https://customers.bank.example/pay-1', psuId: 'dora' },
  });
  bank.calls.length = 0;
  expect([told(await run()), bank.calls]).toEqual([awaited, ['status pay-1']]);

  const { context } = payer.open();
  const holder = paymentHolder((await flows.find('transfer', flow)).transactionId);
  await storeLogin(context, holder);
  Object.assign(bank.payment('pay-1'), { decision: 'AUTHORIZED', became: 'executed' });
  expect(told(await run())).toEqual(paid(1));
  expect(await (await context.store()).tokens.login(holder)).toBeUndefined();
  expect(readFileSync(links, 'utf8').trim().split('\n')).toHaveLength(1);
});

it('a person whom the operator names gets a link of their own once somebody has authorised the payment, not before', async () => {
  const { bank, payer } = await payees(LINKED, 'Ada');
  Object.assign(bank.interface, { customers: 'named by the operator' });
  bank.customersAgree = false;
  const globals = { customer: ANNA };
  await keepPsu(payer.open().context, ANNA, { psuId: 'dora' });
  const path = join(temporary, 'persons.ndjson');
  const linked: string[][] = [];
  const run = async (...person: string[]) => {
    writeFileSync(path, '', { mode: 0o600 });
    await payer.run([...RUN, '--links', path, ...person], { globals });
    linked.push(readFileSync(path, 'utf8').match(/(?<="psuId":")\w+/g) ?? []);
  };
  await run('--psu-id', 'emil');
  await run('--psu-id', 'emil');
  bank.last.isPartly = true;
  await run();
  await run('--psu-id', 'emil');
  expect([linked, bank.sent]).toEqual([
    [['dora'], [], [], ['emil']],
    ['verify transfer', 'sca pay-1', 'sca pay-1'],
  ]);
});

it('a person whom the operator names authorises first if psd2 does not know the id of the customer', async () => {
  const { bank, payer } = await payees(LINKED, 'Ada');
  Object.assign(bank.interface, { customers: 'named by the operator' });
  const path = join(temporary, 'first.ndjson');
  writeFileSync(path, '', { mode: 0o600 });
  await payer.run([...RUN, '--links', path, '--psu-id', 'emil'], { globals: { customer: ANNA } });
  expect(JSON.parse(readFileSync(path, 'utf8'))).toMatchObject({ psuId: 'emil' });
  expect(bank.sent).toEqual(['verify transfer', 'sca pay-1']);
});

it('operation resume goes on with a bulk payment that the bank has, for the person whom the operator names', async () => {
  const { bank, payer, pay } = await payees(BULK, 'Ada', 'Bea');
  Object.assign(bank.interface, { customers: 'named by the operator' });
  const resumed = async (...person: string[]) => {
    const { data } = await payer.run(['operation', 'list']);
    const [operation] = Object.values(data);
    const { flow } = operation ?? {};
    return payer.run(['operation', 'resume', String(flow), ...person], { env, globals: { customer: ANNA } });
  };
  let env = {};
  bank.meets('verify', interrupted());
  await pay();
  expect(endOf(await resumed()).slice(0, 1)).toMatchInlineSnapshot(
    `["exit 2, usage of op-1: The bulk-payments op-1 is executing, and has no resource at the bank"]`,
  );
  bank.customersAgree = false;
  await pay();
  bank.last.isPartly = true;
  expect(endOf(await resumed()).slice(0, 1)).toMatchInlineSnapshot(
    `["exit 13, still_open of op-1: The bulk payment has an authorisation, and the bank waits for another person (PENDING). The payment is not over: another person can still authorise it"]`,
  );
  // What limits the batch limits this, too.
  env = { PSD2_APPROVALS: '2' };
  expect(endOf(await resumed('--psu-id', 'emil'))[0]).toBe(
    'exit 2, usage: The batch needs 2 approvals, and has 0',
  );
  env = {};
  expect(bank.sent.slice(-2)).toEqual(['verify bulk payment', 'sca pay-1']);
  await resumed('--psu-id', 'emil');
  expect(bank.sent.slice(-2)).toEqual(['sca pay-1', 'sca pay-1']);
  Object.assign(bank.last, { decision: 'AUTHORIZED', became: 'executed' });
  expect(endOf(await resumed())).toEqual(['done']);
  expect((await payer.run(['batch', 'show', 'batch-1'])).data).toMatchObject({ counts: { executed: 2 } });
});

it('what another person must authorise too has its own name: a bulk payment is no operation', async () => {
  const { bank, pay } = await payees(BULK, 'Ada', 'Bea');
  bank.customersAgree = false;
  await pay();
  bank.last.isPartly = true;
  expect(await pay()).toMatchInlineSnapshot(`
    ["1 authorizing tr-1 The bulk payment has an authorisation, and the bank waits for another person (PENDING). The payment is not over: another person can still authorise it",
     "2 authorizing tr-2 The bulk payment has an authorisation, and the bank waits for another person (PENDING). The payment is not over: another person can still authorise it",
     "0 of 2 paid, 2 await their customer.", "exit 13, open 2 of 2: run batch-1"]
  `);
});

it('PSD2_NOTIFY_LINK gets each link on its standard input, beside the file of --links', async () => {
  const { bank, payer, pay } = await payees({}, 'Ada', 'Bea');
  bank.customersAgree = false;
  const [links, notified] = ['both.ndjson', 'notified.ndjson'].map((name) => join(temporary, name));
  const script = join(temporary, 'notify.sh');
  writeFileSync(script, `cat >> '${notified}'\n`);
  const env = { PSD2_NOTIFY_LINK: `sh '${script}'` };
  expect((await pay([...RUN, '--only', '1'], { env })).at(0)).toBe('1 authorizing tr-1 ');
  expect(existsSync(links ?? '')).toBe(false);
  await payer.run([...RUN, '--links', links ?? ''], { env });
  const linksIn = (path = '') =>
    readFileSync(path, 'utf8')
      .trim()
      .split('\n')
      .map((line) => JSON.parse(line).url);
  const [one, two] = [1, 2].map((id) => `https://customers.bank.example/pay-${id}`);
  expect([linksIn(links), linksIn(notified)]).toEqual([[two], [one, two]]);
});

it('a link that cannot be given stops its line, and the next run makes a new one', async () => {
  const { bank, payer, pay } = await payees({}, 'Ada', 'Bea');
  bank.customersAgree = false;
  const ran = await payer.run(RUN, { env: { PSD2_NOTIFY_LINK: 'false' } });
  expect([told(ran), bank.sent]).toMatchInlineSnapshot(`
    [["1 authorizing tr-1 The link notification command "false" ended with the exit code 1",
      "2 authorizing tr-2 The link notification command "false" ended with the exit code 1",
      "The link notification command "false" ended with the exit code 1. Check PSD2_NOTIFY_LINK or the profile.",
      "The link notification command "false" ended with the exit code 1. Check PSD2_NOTIFY_LINK or the profile.",
      "0 of 2 paid, 2 await their customer.", "exit 6, awaited 2 of 2: run batch-1"],
     ["verify transfer", "sca pay-1", "verify transfer", "sca pay-2"]]
  `);
  bank.customersAgree = true;
  expect([await pay(), bank.sent.slice(4)]).toEqual([
    paid(2),
    ['sca pay-1', 'execute pay-1', 'sca pay-2', 'execute pay-2'],
  ]);
});

it('a file of links that is a link to another file, or cannot be written, is refused before anything is sent', async () => {
  const { bank, payer } = await payees({}, 'Ada');
  const end = async (path: string) => endOf(await payer.run([...RUN, '--links', path]));
  const at = (name: string) => join(temporary, name);
  const [path, other, missing] = [at('links-link'), at('of-somebody-else'), at('no/folder')];
  writeFileSync(other, 'mine');
  symlinkSync(other, path);
  expect(await end(path)).toEqual([
    `exit 3, config: The links cannot be written to ${path}, which is a link to another file`,
    'Name the file itself.',
  ]);
  expect(await end(missing)).toEqual([
    `exit 3, config: The links cannot be written to ${missing}: ENOENT`,
    'Check the path and the free space. The next run makes a new link.',
  ]);
  const [dangling, nowhere] = [at('dangling-link'), at('nothing-there')];
  symlinkSync(nowhere, dangling);
  expect((await end(dangling))[0]).toMatch(/dangling-link, which is a link to another file$/);
  expect([bank.calls, readFileSync(other, 'utf8'), existsSync(nowhere)]).toEqual([[], 'mine', false]);
});

it.each([
  [0o644, 'read'],
  [0o640, 'read'],
  [0o622, 'changed'],
])(
  'a file of links with the mode %i (decimal) is refused before anything is sent: it can be %s',
  async (mode, what) => {
    const { bank, payer } = await payees({}, 'Ada');
    const path = join(temporary, `links-of-${mode}`);
    writeFileSync(path, '');
    chmodSync(path, mode);
    const end = endOf(await payer.run([...RUN, '--links', path]));
    expect(end).toEqual([
      `exit 3, config: ${path} can be ${what} by others (mode 0${mode.toString(8)})`,
      `Run: chmod 600 ${path}`,
    ]);
    expect([bank.calls, readFileSync(path, 'utf8')]).toEqual([[], '']);
  },
);

it('a pipe of links that others may read is refused before anything is sent', async () => {
  const { bank, payer } = await payees({}, 'Ada');
  const path = join(temporary, 'pipe');
  execFileSync('mkfifo', ['-m', '644', path]);
  const reader = spawn('cat', [path], { stdio: 'ignore' });
  try {
    expect(endOf(await payer.run([...RUN, '--links', path]))[0]).toBe(
      `exit 3, config: ${path} can be read by others (mode 0644)`,
    );
    expect(bank.calls).toEqual([]);
  } finally {
    reader.kill();
  }
});

it('a new file of links is for the operator alone', async () => {
  const { bank, payer } = await payees({}, 'Ada');
  bank.customersAgree = false;
  const path = join(temporary, 'new.ndjson');
  await payer.run([...RUN, '--links', path]);
  expect([statSync(path).mode & 0o777, readFileSync(path, 'utf8')]).toEqual([
    0o600,
    expect.stringMatching(/pay-1/),
  ]);
});

it('a refusal by one answer alone is asked about again, and the payment may be executed after all', async () => {
  const { bank, pay, payAnew } = await payees({}, 'Ada');
  bank.meets('execute', refused());
  bank.next = { becomes: null };
  expect((await pay()).at(0)).toBe('1 failed tr-1 Not this one');
  bank.payment('pay-1').became = 'executed';
  expect(await payAnew()).toEqual([paid(1), ['status pay-1']]);
});

it('a reference that another line of the batch has taken refuses a line', async () => {
  const { bank, payer } = await payees({}, 'Ada', 'Bea');
  await beginLine(await storeOf(payer), 2, {
    ...{ isNoted: false, commits: 'on execute' },
    order: { reference: 'R-1', name: 'Ada' },
  });
  const ran = await payer.run([...RUN, '--only', '1']);
  expect([told(ran).at(0), bank.calls]).toEqual([
    expect.stringMatching(/^1 failed {2}The reference "R-1" .* That is payment 2 of the batch batch-1\. /),
    [],
  ]);
});

it('a customer who was sent to the bank from this machine gets a link if a later run writes links', async () => {
  const { bank, payer, pay } = await payees({}, 'Ada');
  bank.customersAgree = false;
  expect((await pay(RUN, { globals: { scaTimeout: '1' } })).at(0)).toMatch(/^1 authorizing tr-1 /);
  const links = join(temporary, 'later.ndjson');
  await payer.run([...RUN, '--links', links]);
  expect(JSON.parse(readFileSync(links, 'utf8')).url).toBe('https://customers.bank.example/pay-1');
});

it('the journal says which payment was initiated for a basket', async () => {
  const found: unknown[] = [];
  for (const way of ['single', 'basket']) {
    const { payer } = await payees(BASKET, 'Ada', 'Bea');
    await payer.run([...RUN, '--as', way]);
    const { flows, read } = await storeOf(payer);
    const flow = (await read()).flows.get(1) ?? '';
    found.push((await flows.find('transfer', flow)).initiation?.forBasket ?? false);
  }
  expect(found).toEqual([false, true]);
});
