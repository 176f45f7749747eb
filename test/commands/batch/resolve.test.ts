import { expect, it } from 'vitest';
import { paymentHolder } from '../../../src/domain/identifiers.ts';
import type { StepEvent } from '../../../src/domain/operation.ts';
import type { TransferEvent } from '../../../src/domain/transfer.ts';
import { Psd2Error } from '../../../src/errors.ts';
import { AT_THE_BANK } from '../../flows/stored-transfers.ts';
import { login } from '../../store/whole-store.ts';
import { OWN_ACCOUNT } from '../bank-here.ts';
import { endOf } from '../payer-here.ts';
import { BASKET, BULK, beginLine, IBAN, LINKED, RUN, storeOf, told, useBatches } from './with-batch.ts';

// A person ends the payments of a batch whose outcome nobody knows.

const { payees, withFile } = useBatches();
const RESOLVE = ['batch', 'resolve', 'batch-1', '--not-executed'];
const UNSEEN = { ...LINKED, executesWithoutSca: 'possible' } as const;

const audited = async (payer: Awaited<ReturnType<typeof payees>>['payer']) => {
  const { data } = await payer.run(['audit']);
  return Object.values(data).flatMap(({ action, about, flow }) =>
    String(action) === 'resolved' ? [`${about} ${flow}`] : [],
  );
};

it('all unknown payments are ended with one question, each with a line in the audit log, and the others are named', async () => {
  const { bank, payer } = await payees(UNSEEN, 'Ada', 'Bea', 'Cleo', 'Dora');
  bank.meets('verify', 'lost', 'lost');
  await payer.run([...RUN, '--only', '1', '2', '3']);
  const asked = await payer.run([...RESOLVE, '--note', 'Case 4711'], { answers: [true] });
  expect([asked.asked, told(asked)]).toMatchInlineSnapshot(`
    [["Record for good that 2 payments of 21.00 EUR were not executed? You can then pay their references again"],
     ["1 failed tr-1 ", "2 failed tr-2 ",
      "Payment 1: 10.00 EUR to Ada, DE89370400440532013000, is unknown",
      "Payment 2: 11.00 EUR to Bea, DE89370400440532013000, is unknown",
      "psd2 leaves the other 2 alone: line 3 is executed, line 4 is waiting.",
      "You can use their references again.", "done"]]
  `);
  expect([payer.journal('tr-1').at(-1), await audited(payer)]).toMatchInlineSnapshot(`
    [{ by: "ada@machine", machine: "machine", note: "Case 4711", operator: "ada",
       outcome: "not-executed", type: "resolved", user: "user", version: "0.0.0" },
     ["transfer not-executed tr-1", "transfer not-executed tr-2"]]
  `);
  expect(told(await payer.run(['batch', 'retry', 'batch-1']))).toMatchInlineSnapshot(
    `["Stored. It can be paid now.", "done"]`,
  );
});

it('what a person cannot end is refused, and nothing is recorded', async () => {
  const { bank, payer } = await payees(UNSEEN, 'Ada', 'Bea', 'Cleo', 'Dora');
  bank.meets('verify', 'lost');
  await payer.run([...RUN, '--only', '1', '2']);
  bank.customersAgree = false;
  await payer.run([...RUN, '--only', '3'], { globals: { scaTimeout: '1' } });
  const cases: [string[], Parameters<typeof payer.run>[1]?][] = [
    [RESOLVE.slice(0, 3)],
    [['batch', 'resolve', 'no-such', '--not-executed']],
    [[...RESOLVE, '--only', '9']],
    [[...RESOLVE, '--only', '1', '2', '3', '4']],
    [[...RESOLVE, '--note', '']],
    [RESOLVE, { yes: false }],
    [RESOLVE, { answers: [false] }],
  ];
  const ends: unknown[] = [];
  for (const [words, how] of cases) ends.push(endOf(await payer.run(words, how)));
  expect(ends).toMatchInlineSnapshot(`
    [["exit 2, usage: The outcome is missing", "Add --not-executed."],
     ["exit 2, usage: There is no batch "no-such"", "See all of them with:", "$ batch list"],
     ["exit 2, usage: --only "9" is not a whole number from 1 to 4"],
     ["exit 2, usage: The outcome of these payments is not unknown: line 2 is executed, line 3 is authorizing, line 4 is waiting",
      "psd2 has recorded nothing. Name others with --only, or leave it out. See the payments with:",
      "$ batch show batch-1"],
     ["exit 2, invalid_text: --note is empty", "Leave it out."],
     ["exit 2, confirmation_needed: The outcome needs a confirmation, and psd2 cannot ask without a terminal",
      "Add --yes to confirm in advance. psd2 has sent nothing."],
     ["exit 2, cancelled: The outcome was not recorded"]]
  `);
  expect(await audited(payer)).toEqual([]);
  await payer.run(RESOLVE);
  expect(endOf(await payer.run(RESOLVE))).toMatchInlineSnapshot(`
    ["exit 2, usage: No payment of the batch has an unknown outcome: line 1 is failed, line 2 is executed, line 3 is authorizing, line 4 is waiting",
     "psd2 has recorded nothing. See the payments with:", "$ batch show batch-1"]
  `);
});

it('the word of the bank counts more than that of a person', async () => {
  const { bank, payer } = await payees({}, 'Ada', 'Bea', 'Cleo');
  const lost = new Psd2Error('bank_failing', 'Down');
  bank.meets('execute', 'lost', lost, lost);
  bank.meanwhile = async (call) => {
    if (call.startsWith('execute')) bank.meets('status', ...Array.from({ length: 9 }, () => lost));
  };
  await payer.run(RUN);
  bank.fates.clear();
  bank.payment('pay-3').became = 'failed';
  const before = bank.calls.length;
  const first = await payer.run(RESOLVE);
  const calls = bank.calls.slice(before);
  expect([told(first), calls, told(await payer.run(RESOLVE)), await audited(payer)]).toMatchInlineSnapshot(`
    [["Payment 1: At the bank its authorization is executed, and its execution is executed.",
      "Payment 2: At the bank its authorization is AUTHORIZED, and its execution is not given.",
      "Payment 3: At the bank its authorization is failed, and its execution is failed.",
      "exit 2, usage: The bank says that it has executed payment 1",
      "psd2 has recorded the bank's answer, and not that the others were not executed. Look at them again, and repeat the command for the rest. See the payments with:",
      "$ batch show batch-1"],
     ["status pay-1", "status pay-2", "status pay-3"],
     ["2 failed tr-2 ",
      "Payment 2: At the bank its authorization is AUTHORIZED, and its execution is not given.",
      "Payment 2: 11.00 EUR to Bea, DE89370400440532013000, is unknown",
      "psd2 leaves the other 2 alone: line 1 is executed, line 3 is failed.",
      "You can use their references again.", "done"],
     ["transfer not-executed tr-2"]]
  `);
});

it.each([false, true])(
  'what another psd2 writes down while the operator is asked stays (bulk payment: %s)',
  async (isBulk) => {
    const { bank, payer } = await payees({ ...UNSEEN, ...(isBulk && BULK) }, 'Ada', 'Bea');
    bank.meets('verify', 'lost', 'lost');
    await payer.run(RUN);
    const store = await storeOf(payer);
    const { flows: transfers, bulks } = await store.read();
    const meanwhile = async () => {
      for (const bulk of bulks.keys())
        await store.flows.resume('operation', bulk, async (open) => {
          await open.record(AT_THE_BANK);
          await open.record({ type: 'sca-started' });
        });
      for (const flow of transfers.values())
        await store.flows.resume('transfer', flow, async (open) => {
          if (!isBulk) await open.record({ ...AT_THE_BANK, resourceId: `of ${flow}` });
          await open.record({ type: 'sca-started' });
        });
      return true;
    };
    await payer.run(RESOLVE, {
      yes: false,
      changes: ({ terminal }) => ({ terminal: { ...terminal, canAsk: true, confirm: meanwhile } }),
    });
    const states: string[] = [];
    for (const flow of transfers.values()) states.push((await store.flows.find('transfer', flow)).state);
    for (const bulk of bulks.keys()) states.push((await store.flows.find('operation', bulk)).state);
    expect(states).toEqual(Array(isBulk ? 3 : 2).fill('authorizing'));
    expect(await audited(payer)).toEqual([]);
  },
);

/** What another psd2 has written of a bulk payment, and not yet of its payments. */
const SENT = [AT_THE_BANK, { type: 'sca-started' }] as const;
const PAID = [...SENT, { type: 'executed', cro: null }] as const;
const PARTLY = [
  ...SENT,
  { type: 'executed', cro: null, bank: { transactionStatus: 'PART', scaStatus: null } },
] as const;
const CHANGED = 'Another psd2 has changed what is known of payment 1, 2 while you were asked';
const WAS_PAID = 'The bank says that it has executed the payments 1, 2';
it.each<[string, boolean, readonly StepEvent[], message: string | undefined, states: string[]]>([
  ['paid it', false, PAID, WAS_PAID, ['executed', 'executed', 'executed']],
  ['paid it, while the operator is asked', true, PAID, WAS_PAID, ['executed', 'executed', 'executed']],
  ['paid some of it', false, PARTLY, undefined, ['failed', 'failed', 'executed']],
  ['taken it, while the operator is asked', true, SENT, CHANGED, ['unknown', 'unknown', 'authorizing']],
  ['paid some, while the operator is asked', true, PARTLY, CHANGED, ['unknown', 'unknown', 'executed']],
])(
  'what the bulk payment has of the bank counts more than the word of a person: it has %s',
  async (_, isMeanwhile, events, message, states) => {
    const { bank, payer } = await payees({ ...UNSEEN, ...BULK }, 'Ada', 'Bea');
    bank.meets('verify', 'lost', 'lost');
    await payer.run(RUN);
    const store = await storeOf(payer);
    const { flows: transfers, bulks } = await store.read();
    const [bulk = ''] = bulks.keys();
    const write = async () => {
      await store.flows.resume('operation', bulk, async (open) => {
        for (const event of events) await open.record(event);
      });
      return true;
    };
    if (!isMeanwhile) await write();
    const confirm = isMeanwhile ? write : async () => true;
    // Nobody is logged in any more, so that the bank cannot be asked.
    await payer.run(['auth', 'logout']);
    const { failure } = await payer.run(RESOLVE, {
      yes: false,
      changes: ({ terminal }) => ({ terminal: { ...terminal, canAsk: true, confirm } }),
    });
    expect(failure?.message).toBe(message);
    const now: string[] = [];
    for (const flow of transfers.values()) now.push((await store.flows.find('transfer', flow)).state);
    expect([...now, (await store.flows.find('operation', bulk)).state]).toEqual(states);
  },
);

it.each([
  ['--not-executed', PAID, false, 'The bank says that the transfer tr-1 was executed', 'executed'],
  ['--not-executed', PAID, true, 'The bank says that the transfer tr-1 was executed', 'executed'],
  ['--executed', PAID, true, undefined, 'executed'],
  [
    '--not-executed',
    PARTLY,
    true,
    'Another psd2 has changed what is known of op-1 while you were asked',
    'execute-unanswered',
  ],
] as const)(
  'of a payment in a bulk payment, %s counts less than %j of the bulk payment (while they are asked: %s)',
  async (option, events, isMeanwhile, message, last) => {
    const { bank, payer } = await payees({ ...UNSEEN, ...BULK }, 'Ada', 'Bea');
    bank.meets('verify', 'lost', 'lost');
    await payer.run(RUN);
    const store = await storeOf(payer);
    const { flows, bulks } = await store.read();
    const [bulk = ''] = bulks.keys();
    const write = async () => {
      await store.flows.resume('operation', bulk, async (open) => {
        for (const event of events) await open.record(event);
      });
      return true;
    };
    if (!isMeanwhile) await write();
    const { failure } = await payer.run(['transfer', 'resolve', flows.get(1) ?? '', option], {
      yes: false,
      changes: ({ terminal }) => ({ terminal: { ...terminal, canAsk: true, confirm: write } }),
    });
    expect(failure?.message).toBe(message);
    const after = last === 'executed' ? ' executed' : '';
    expect(payer.events('tr-1').endsWith(` execute-unanswered${after}`)).toBe(true);
  },
);

it('payments that the bank says it has executed are named', async () => {
  const { bank, payer } = await payees({}, 'Ada', 'Bea');
  const lost = new Psd2Error('bank_failing', 'Down');
  bank.meets('execute', 'lost', 'lost');
  bank.meanwhile = async (call) => {
    if (call.startsWith('execute')) bank.meets('status', ...Array.from({ length: 9 }, () => lost));
  };
  await payer.run(RUN);
  bank.fates.clear();
  expect(endOf(await payer.run(RESOLVE))[0]).toBe(
    'exit 2, usage: The bank says that it has executed the payments 1, 2',
  );
  expect(await audited(payer)).toEqual([]);
});

it('a payment that the bank has taken for a later day counts as executed', async () => {
  const later = `Ada,${IBAN},10,R-1,2030-01-02\nBea,${IBAN},11,R-2,2030-01-02\n`;
  const from = ['--from', OWN_ACCOUNT];
  const { bank, payer } = await withFile({}, `name,iban,amount,reference,date\n${later}`, from);
  const lost = new Psd2Error('bank_failing', 'Down');
  bank.meets('execute', 'lost', 'lost');
  bank.meanwhile = async (call) => {
    if (call.startsWith('execute')) bank.meets('status', ...Array.from({ length: 9 }, () => lost));
  };
  await payer.run(RUN);
  bank.fates.clear();
  expect(endOf(await payer.run(RESOLVE))[0]).toBe(
    'exit 2, usage: The bank says that it has executed the payments 1, 2',
  );
  const { data } = await payer.run(['batch', 'report', 'batch-1']);
  expect(data).toMatchObject([{ state: 'ordered' }, { state: 'ordered' }]);
  expect(await audited(payer)).toEqual([]);
});

it.each([
  ['has accepted', 'executed', 'executed'],
  ['will execute on its day', 'ordered', 'ordered'],
] as const)('a payment of a basket that the bank %s counts as executed', async (_, became, state) => {
  const { bank, payer } = await payees(BASKET, 'Ada', 'Bea', 'Cleo');
  bank.next = { becomes: null };
  bank.isFinal = false;
  await payer.run([...RUN, '--as', 'basket'], { globals: { scaTimeout: '1' } });
  for (const id of ['pay-1', 'pay-3']) bank.payment(id).became = became;
  const ended = endOf(await payer.run(RESOLVE))[0];
  expect(ended).toBe('exit 2, usage: The bank says that it has executed the payments 1, 3');
  const { data } = await payer.run(['batch', 'report', 'batch-1']);
  expect(data).toMatchObject([{ state }, { state: 'unknown' }, { state }]);
  expect(await audited(payer)).toEqual([]);
});

it.each([
  ['fails', () => new Psd2Error('bank_failing', 'Down'), ['done'], true],
  ['is interrupted', () => new Psd2Error('interrupted', 'Interrupted'), null, false],
] as const)(
  'of a bulk payment that the bank has executed in part: if the question about its payments %s',
  async (_, fate, end, isResolved) => {
    const { bank, payer } = await payees(BULK, 'Ada', 'Bea');
    bank.next = { word: 'PART' };
    await payer.run(RUN);
    bank.meets('entries', fate());
    const ended = endOf(await payer.run(RESOLVE));
    if (end) expect(ended).toEqual(end);
    else expect(ended[0]).toMatch(/interrupted/);
    const last = ['tr-1', 'tr-2'].map((flow) => payer.events(flow).split(' ').at(-1) === 'resolved');
    expect(last).toEqual([isResolved, isResolved]);
  },
);

it('the bank is asked once about a bulk payment, however many of its payments are unknown', async () => {
  const { bank, payer } = await payees(BULK, 'Ada', 'Bea', 'Cleo');
  bank.next = { word: 'PART' };
  await payer.run(RUN);
  const before = bank.calls.length;
  await payer.run(RESOLVE);
  const asked = bank.calls.slice(before);
  expect(asked.filter((call) => /^(entries|bookings)/.test(call)).map((call) => call.split(' ')[0])).toEqual([
    ...['entries', 'bookings'],
  ]);
});

it('a bulk payment is ended as a whole: once, and then its payments', async () => {
  const { bank, payer, pay } = await payees(BULK, 'Ada', 'Bea', 'Cleo');
  bank.meets('verify', 'lost');
  await payer.run([...RUN, '--only', '1', '2']);
  expect(told(await payer.run([...RESOLVE, '--only', '1']))).toMatchInlineSnapshot(`
    ["exit 2, usage: Payment 1 is in one bulk payment with 2: the bank has executed all of them, or none",
     "psd2 has recorded nothing. Name all of them with --only."]
  `);
  expect(told(await payer.run(RESOLVE))).toMatchInlineSnapshot(`
    ["1 failed tr-1 ", "2 failed tr-2 ",
     "Payment 1: 10.00 EUR to Ada, DE89370400440532013000, is unknown",
     "Payment 2: 11.00 EUR to Bea, DE89370400440532013000, is unknown",
     "psd2 leaves the other 1 alone: line 3 is waiting.", "You can use their references again.", "done"]
  `);
  await payer.run(['operation', 'list']);
  expect([payer.events('op-1'), payer.events('tr-1'), await audited(payer)]).toMatchInlineSnapshot(`
    ["created accepted verify-sent execute-unanswered resolved",
     "created bulk-joined execute-unanswered resolved",
     ["operation not-executed op-1", "transfer not-executed tr-1", "transfer not-executed tr-2"]]
  `);
  expect([await pay(), bank.sent]).toMatchInlineSnapshot(`
    [["1 failed tr-1 ", "2 failed tr-2 ", "3 executed tr-3 ", "1 of 3 paid (12.00 EUR), 2 not paid.",
      "exit 8, unpaid 2 of 3: retry batch-1"],
     ["verify bulk payment", "verify bulk payment", "sca pay-2"]]
  `);
});

it('the tokens of a bulk payment go with its end, and those of another payment stay', async () => {
  const { bank, payer } = await payees(BULK, 'Ada', 'Bea');
  bank.meets('verify', 'lost');
  await payer.run(RUN);
  const { flows, read } = await storeOf(payer);
  const [bulk = ''] = (await read()).bulks.keys();
  const { transactionId } = await flows.find('operation', bulk);
  const { tokens } = await payer.open().context.store();
  const holders = [paymentHolder(transactionId), paymentHolder('of-another')];
  for (const holder of holders) await tokens.change(holder, (slot) => slot.write(login));
  const kept = async () =>
    Promise.all(holders.map(async (holder) => (await tokens.login(holder)) !== undefined));
  expect(await kept()).toEqual([true, true]);
  expect(endOf(await payer.run(RESOLVE))).toEqual(['done']);
  expect(await kept()).toEqual([false, true]);
});

it('if psd2 stops between a bulk payment and its payments, they follow it', async () => {
  const { bank, payer, pay } = await payees(BULK, 'Ada', 'Bea');
  bank.meets('verify', 'lost');
  await pay();
  const { flows } = await storeOf(payer);
  for await (const { flow } of flows.list('operation', { onDamaged: () => {} }))
    await flows.resume('operation', flow, (open) =>
      open.record({ type: 'resolved', outcome: 'not-executed', by: 'ada@m', note: null }),
    );
  expect([await pay(), bank.sent, payer.journal('tr-1').at(-1)]).toMatchInlineSnapshot(`
    [["1 failed tr-1 ", "2 failed tr-2 ", "0 of 2 paid, 2 not paid.",
      "exit 8, unpaid 2 of 2: retry batch-1"],
     ["verify bulk payment"],
     { by: "ada@m", machine: "machine", note: null, operator: "ada", outcome: "not-executed",
       type: "resolved", user: "user", version: "0.0.0" }]
  `);
});

it.each([
  ['bulk payment', BULK, []],
  ['signing basket', BASKET, ['--as', 'basket']],
] as const)(
  'a %s is not sent again with a payment that a person has ended alone',
  async (name, terms, as) => {
    const { bank, payer, pay } = await payees(terms, 'Ada', 'Bea', 'Cleo');
    bank.meanwhile = async (call) => {
      if (call === `verify ${name}`) bank.meets('verify', 'lost');
    };
    await pay([...RUN, ...as, '--only', '1', '2']);
    bank.meanwhile = async () => {};
    const sent = bank.sent.length;
    expect(endOf(await payer.run(['transfer', 'resolve', 'tr-1', '--not-executed']))).toEqual(['done']);
    const why = 'Payment 1 has ended alone, so psd2 does not send it again with the others';
    const todo =
      'Look at the account statement. If the others were not executed either, record that with: psd2 batch resolve batch-1 --not-executed';
    expect((await pay([...RUN, ...as])).slice(1, 4)).toEqual([
      `2 unknown tr-2 ${why}`,
      `3 waiting  ${why}`,
      `Payment 3: ${why}. ${todo}`,
    ]);
    expect(bank.sent.slice(sent)).toEqual([]);
    expect(endOf(await payer.run(RESOLVE))).toEqual(['done']);
    const left: string[] = [];
    const { flows } = await storeOf(payer);
    for await (const { state } of flows.list('operation', { onDamaged: () => {} })) left.push(state);
    expect(left).toEqual(['failed']);
  },
);

const UNKNOWN: TransferEvent[] = [
  { type: 'accepted' },
  { type: 'verify-sent', requestId: 'r', digest: null },
  { type: 'execute-unanswered' },
];

/** A batch of so many payments, of which the first are unknown. */
async function withUnknown(unknown: number, count: number) {
  const names = Array.from({ length: count }, (_, index) => `P${index + 1}`);
  const { payer } = await payees(UNSEEN, ...names);
  const store = await storeOf(payer);
  for (let line = 1; line <= unknown; line += 1) await beginLine(store, line, { events: UNKNOWN });
  const asked = async (...words: string[]) => {
    const ran = await payer.run([...RESOLVE, ...words], { answers: [false] });
    expect(ran.failure?.code).toBe('cancelled');
    return { said: ran.said.trimEnd().split('\n'), asked: ran.asked };
  };
  return { payer, store, asked };
}
const range = (from: number, to: number) => Array.from({ length: to - from + 1 }, (_, index) => from + index);
const waiting = (from: number, to: number) =>
  range(from, to)
    .map((line) => `line ${line} is waiting`)
    .join(', ');

it('of more than 20 unknown payments a person sees the first 20, and of more than 10 others the first 10', async () => {
  const { asked } = await withUnknown(21, 32);
  const all = await asked();
  expect([all.said[19], all.said.slice(20)]).toEqual([
    'Payment 20: 29.00 EUR to P20, DE89370400440532013000, is unknown',
    ['and 1 more', `psd2 leaves the other 11 alone: ${waiting(22, 31)}, and 1 more.`],
  ]);
  const some = await asked('--only', ...range(1, 20).map(String));
  expect(some.said.slice(20)).toEqual([
    `psd2 leaves the other 12 alone: line 21 is unknown, ${waiting(22, 30)}, and 2 more.`,
  ]);
});

it('a person sees that psd2 asks the bank first', async () => {
  const { payer } = await withUnknown(1, 1);
  const texts: unknown[] = [];
  await payer.run(RESOLVE, {
    changes: ({ terminal }) => ({
      terminal: {
        ...terminal,
        whileWaiting: (text, work) => {
          texts.push(text);
          return work;
        },
      },
    }),
  });
  expect(texts).toEqual(['Asking the bank for the outcome of the payments']);
});

it('one unknown payment, and what cannot be read, are named as such', async () => {
  const { asked, store } = await withUnknown(1, 11);
  const one = await asked();
  expect([one.said.at(-1), one.asked]).toEqual([
    `psd2 leaves the other 10 alone: ${waiting(2, 11)}.`,
    ['Record for good that 1 payment of 10.00 EUR was not executed? You can then pay its reference again'],
  ]);
  await store.change({ type: 'line-begun', line: 2, flow: 'tr-0mwuiwxs0iiiii' });
  expect((await asked()).said.at(-1)).toMatch(
    /alone: line 2 cannot be read \(No flow of this profile matches "tr-\w+"\.\), line 3 is waiting, /,
  );
});
