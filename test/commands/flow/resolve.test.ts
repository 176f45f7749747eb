import { describe, expect, it } from 'vitest';
import { parsePaymentAmount } from '../../../src/domain/order/payment-amount.ts';
import type { Transfer } from '../../../src/domain/transfer.ts';
import { Psd2Error } from '../../../src/errors.ts';
import type { OpenFlow } from '../../../src/store/ports/flows.ts';
import { begunTransfer, transferOrder } from '../../domain/orders.ts';
import { newConfigFolder, temporaryFolder } from '../../store/temporary-folder.ts';
import { openCommand, runIn } from '../command.ts';
import { failureIfAny } from '../failure.ts';
import { ANNA, CREATE, endOf, payerWith } from '../payer-here.ts';

// A person ends a payment whose outcome is not known, or gives one up.

const temporary = temporaryFolder();
const CANCEL = ['transfer', 'cancel', 'tr-1'];

/** An operator whose first transfer is unknown: the answer to execute was lost. */
async function withUnknown(...more: string[]) {
  const { bank, payer } = await payerWith(temporary);
  bank.next = { becomes: null };
  bank.meets('execute', 'lost');
  expect((await payer.run([...CREATE, ...more])).failure?.code).toBe('outcome_unknown');
  return { bank, payer };
}

it('a person says that an unknown transfer was executed, and that is recorded with who, why and when', async () => {
  const { payer } = await withUnknown('--reference', 'INV-1');
  const words = ['transfer', 'resolve', 'tr-1', '--executed', '--note', ' On the \u001b statement '];
  const { data, said, asked, failure } = await payer.run(words, { answers: [true] });
  expect(failure).toBeNull();
  expect(data.resolution).toEqual({
    ...{ outcome: 'executed', by: 'ada@machine', at: 'NOW', note: 'On the � statement' },
  });
  expect([data.state, said, asked]).toMatchInlineSnapshot(`
    ["executed",
     "At the bank its authorization is AUTHORIZED, and its execution is not given.
    This does not show whether it was executed.
    The transfer tr-1 is unknown:
      From               0000012345
      Payee              Mario Rossi
      IBAN               IT60 X054 2811 1010 0000 0123 456
      Amount             12.50 EUR
      Execution          TODAY
      Reference          INV-1
      Begun              NOW
      Last change        NOW
    ",
     ["Record for good that the transfer was executed?"]]
  `);
  expect(endOf(await payer.run(words))).toMatchInlineSnapshot(`
    ["exit 2, usage of tr-1: The transfer tr-1 has already ended: ada@machine recorded on NOW that it was executed",
     "See it with:", "$ transfer show tr-1", "transactionId: "an-id""]
  `);
  const shown = await payer.run(['transfer', 'show', 'tr-1'], { format: 'table' });
  expect(shown.printed).toContain(
    'resolution.outcome\texecuted\nresolution.by\tada@machine\nresolution.at\tNOW\nresolution.note\tOn the � statement\n',
  );
});

it('a transfer that was not executed frees its reference, and psd2 says so', async () => {
  const { payer } = await withUnknown('--reference', 'INV-1');
  const words = ['transfer', 'resolve', 'tr-1', '--not-executed'];
  const no = await payer.run(words, { answers: [false] });
  expect([no.asked, no.printed, endOf(no)]).toMatchInlineSnapshot(`
    [["Record for good that the transfer was not executed? You can then pay its reference INV-1 again"],
     "",
     ["exit 2, cancelled of tr-1: The outcome of the transfer tr-1 was not recorded",
      "Ask the bank again with:", "$ transfer resume tr-1", "transactionId: "an-id""]]
  `);
  const { data, said, failure } = await payer.run(words);
  expect([failure, data.state, data.resolution?.note, said.split('\n').at(-2)]).toEqual([
    ...[null, 'failed', null, 'You can use the reference "INV-1" again.'],
  ]);
  expect(endOf(await payer.run(words))[0]).toBe(
    'exit 2, usage of tr-1: The transfer tr-1 has already ended: ada@machine recorded on NOW that it was not executed',
  );
});

it('a transfer without a reference frees none', async () => {
  const { payer } = await withUnknown();
  const { asked, said } = await payer.run(['transfer', 'resolve', 'tr-1', '--not-executed'], {
    answers: [true],
  });
  expect(asked).toEqual(['Record for good that the transfer was not executed?']);
  expect(said).not.toContain('again');
});

it('PSD2_CUSTOMER is only a default, and so is another customer who has logged in since', async () => {
  const { payer, bank } = await withUnknown();
  bank.last.became = 'executed';
  await payer.logIn('1000002');
  const { failure, data } = await payer.run(['transfer', 'resume', 'tr-1'], {
    globals: { customer: '1000002' },
  });
  expect([failure, data.state, data.customerId]).toEqual([null, 'executed', ANNA]);
});

/** An operator whose first transfer waits for its customer. */
async function withOpen(commits: 'on execute' | 'by the customer' = 'on execute', ...more: string[]) {
  const { bank, payer } = await payerWith(temporary, { commits });
  bank.customersAgree = false;
  const { failure } = await payer.run([...CREATE, ...more], { globals: { scaTimeout: '1' } });
  expect(failure?.code).toBe(commits === 'on execute' ? 'authorisation_timeout' : 'still_open');
  return { bank, payer };
}

describe('cancel', () => {
  it('a person gives up a transfer, and what the customer does then has no effect', async () => {
    const { payer, bank } = await withOpen('on execute', '--reference', 'INV-1');
    const no = await payer.run(CANCEL, { answers: [false] });
    expect([no.asked, no.printed, endOf(no)]).toEqual([
      ...[['Cancel the transfer for good?'], ''],
      ['exit 2, cancelled: The transfer tr-1 is unchanged'],
    ]);
    expect(no.said).toMatch(
      /^The transfer tr-1 is authorizing:\n {2}From {15}0000012345\n[\s\S]* {2}Last change {8}NOW\n$/,
    );
    const sent = [...bank.sent];
    const yes = await payer.run(CANCEL, { answers: [true] });
    expect([yes.failure, yes.data.state, yes.said.split('\n').slice(-3)]).toMatchInlineSnapshot(`
      [null, "cancelled",
       ["The customer can still answer at the bank, but it has no effect: psd2 will not send execute.",
        "You can use the reference "INV-1" again.", ""]]
    `);
    expect(bank.sent).toEqual(sent);
  });

  it('a transfer that the customer has not seen is cancelled without a word of them', async () => {
    const { bank, payer } = await payerWith(temporary);
    bank.meets('sca', new Psd2Error('bank_failing', 'The bank is failing'));
    await payer.run(CREATE);
    const { said, data } = await payer.run(CANCEL);
    expect(data.state).toBe('cancelled');
    expect(said).not.toMatch(/no effect|again/);
  });

  it('what cannot be cancelled is refused with a way to go on', async () => {
    const { payer, bank } = await withUnknown();
    const calls = bank.calls.length;
    expect(endOf(await payer.run(CANCEL))).toMatchInlineSnapshot(`
      ["exit 2, usage of tr-1: The transfer tr-1 is unknown. psd2 has sent execute, so it can no longer cancel the transfer",
       "First ask the bank for the outcome, which never sends execute again. If the outcome stays unknown, ask the bank's support or look at the account statement, then record what they say:",
       "$ transfer resume tr-1", "$ transfer resolve tr-1 --executed",
       "$ transfer resolve tr-1 --not-executed", "transactionId: "an-id""]
    `);
    const other = { globals: { customer: '1000002' }, given: ['customer'] };
    expect(endOf(await payer.run(CANCEL, other)).at(-1)).toBe(
      'psd2 acts for the customer of the flow. Leave out --customer.',
    );
    expect(bank.calls).toHaveLength(calls);
    const open = await withOpen();
    expect(endOf(await open.payer.run([...CANCEL, '--paste']))).toEqual([
      'exit 2, usage: This needs no authorisation, so --paste has no effect',
    ]);
    expect(endOf(await open.payer.run(CANCEL, { yes: false }))[0]).toContain(
      ': Cancelling needs a confirmation',
    );
  });

  it('where the customer commits, only the bank cancels a transfer that may run', async () => {
    const { payer, bank } = await withOpen('by the customer', '--reference', 'INV-1');
    const needsYes = await payer.run(CANCEL, { yes: false });
    expect(endOf(needsYes)).toMatchInlineSnapshot(`
      ["exit 2, confirmation_needed: Cancelling needs a confirmation, and psd2 cannot ask without a terminal",
       "Add --yes to confirm in advance. psd2 has sent nothing."]
    `);
    const no = await payer.run(CANCEL, { answers: [false] });
    expect([no.asked, endOf(no)]).toEqual([
      ['Ask the bank to cancel the transfer?'],
      ['exit 2, cancelled: The transfer tr-1 is unchanged'],
    ]);
    expect(bank.sent).not.toContain('cancel pay-1');
    const { failure, data, said } = await payer.run(CANCEL);
    expect([failure, data.state, said.split('\n').slice(-2), bank.sent]).toMatchInlineSnapshot(`
      [null, "cancelled", ["You can use the reference "INV-1" again.", ""],
       ["verify transfer", "sca pay-1", "cancel pay-1"]]
    `);
  });

  it('a customer whose link may work on keeps the reference, and psd2 says how it becomes free', async () => {
    const { bank, payer } = await payerWith(temporary, { commits: 'by the customer' });
    bank.customersAgree = false;
    bank.linksStay = true;
    await payer.run([...CREATE, '--reference', 'INV-1'], { globals: { scaTimeout: '1' } });
    const { data, said } = await payer.run(['transfer', 'cancel', 'tr-1']);
    expect([data.state, data.linkUntil !== null, said]).toMatchInlineSnapshot(`
      ["cancelled", true,
       "The transfer tr-1 is authorizing:
        From               DE02100100109307118603 (0000012345)
        Payee              Mario Rossi
        IBAN               IT60 X054 2811 1010 0000 0123 456
        Amount             12.50 EUR
        Execution          TODAY
        Reference          INV-1
        Begun              NOW
        Last change        NOW
      A customer has a link to authorise the transfer, which may work, although the bank has cancelled it. The bank does not say what time it is. The reference "INV-1" stays reserved until the bank says that the link is over, or you do. Then ask the bank again with: psd2 transfer resume tr-1
      "]
    `);
    bank.linksStay = false;
    await payer.run(['transfer', 'resume', 'tr-1']);
    expect((await payer.run(['transfer', 'show', 'tr-1'])).data).toMatchObject({ linkUntil: null });
  });

  it('an interrupted cancellation may have been carried out, and the bank knows', async () => {
    const { payer, bank } = await withOpen('by the customer');
    bank.meets('cancel', new Psd2Error('interrupted', 'Interrupted'));
    expect(endOf(await payer.run(CANCEL))).toMatchInlineSnapshot(`
      ["exit 130, interrupted of tr-1: Interrupted",
       "The transfer may be cancelled or not. Ask the bank, or ask it again to cancel it, with:",
       "$ transfer status tr-1", "$ transfer cancel tr-1"]
    `);
    // What says more stays as it is.
    const own = { hint: 'See the calls with:', next: [['log']] };
    bank.meets('cancel', new Psd2Error('interrupted', 'Interrupted', own));
    expect(endOf(await payer.run(CANCEL))).toEqual([
      'exit 130, interrupted: Interrupted',
      ...['See the calls with:', '$ log'],
    ]);
    bank.meets('cancel', 'lost');
    expect(endOf(await payer.run(CANCEL))).toEqual(['done']);
    expect((await payer.run(['transfer', 'show', 'tr-1'])).data.state).toMatchInlineSnapshot(`"cancelled"`);
  });
});

it('an operation that the customer has authorised can be cancelled as long as execute was not sent', async () => {
  const { payer } = await payerWith(temporary);
  const named = ['standingOrder', '--account', '0000012345'];
  await payer.run(['operation', 'verify', ...named]);
  expect((await payer.run(['operation', 'sca', ...named, '--resource', 'op-1'])).data.state).toBe(
    'authorized',
  );
  const { said, data } = await payer.run(['operation', 'cancel', 'op-1']);
  expect([data.state, said]).toEqual([
    'cancelled',
    expect.stringMatching(
      /\nThe customer can still answer at the bank, but it has no effect: psd2 will not send execute\.\n$/,
    ),
  ]);
});

it('where the customer commits, what they have refused is not cancelled again', async () => {
  const { bank, payer } = await payerWith(temporary, { commits: 'by the customer' });
  bank.next = { decision: 'NOT_AUTHORIZED' };
  await payer.run([...CREATE, '--reference', 'INV-1']);
  bank.calls.length = 0;
  expect([endOf(await payer.run(CANCEL)), bank.calls]).toEqual([
    [
      'exit 2, usage of tr-1: The transfer tr-1 is rejected, so there is nothing to cancel',
      ...['See it with:', '$ transfer show tr-1', 'transactionId: "an-id"'],
    ],
    [],
  ]);
});

it('where the customer commits, what they were never sent to is given up without the bank', async () => {
  const { bank, payer } = await payerWith(temporary, { commits: 'by the customer' });
  bank.verified = { commissions: { amount: parsePaymentAmount('1'), currency: 'EUR' } };
  const confirm = async (question: string) => {
    if (question.includes('fees')) throw new Psd2Error('interrupted', 'Interrupted');
    return true;
  };
  const begun = await payer.run([...CREATE, '--reference', 'INV-1'], {
    ...{ yes: false, answers: [] },
    changes: ({ terminal }) => ({ terminal: { ...terminal, canAsk: true, confirm } }),
  });
  expect([begun.data.state, begun.failure?.code]).toEqual(['verified', 'interrupted']);
  const { data, said } = await payer.run(CANCEL);
  expect([data.state, said.split('\n').slice(-2), bank.sent]).toEqual([
    ...['cancelled', ['You can use the reference "INV-1" again.', ''], ['verify transfer']],
  ]);
});

it('a cancellation that never began changes nothing, and leads to no question about its outcome', async () => {
  const { bank, payer } = await withOpen('by the customer', '--reference', 'INV-1');
  const sent = [...bank.sent];
  const pasted = await payer.run([...CANCEL, '--paste']);
  bank.meets('prepare', new Psd2Error('interrupted', 'Interrupted'));
  const interrupted = await payer.run(CANCEL);
  expect([pasted.printed, endOf(pasted), interrupted.printed, endOf(interrupted)]).toEqual([
    '',
    [
      'exit 2, usage: --paste asks for an address, and psd2 cannot ask without a terminal',
      'Use a redirect URI on this machine instead (PSD2_REDIRECT_URI).',
    ],
    '',
    ['exit 130, interrupted: Interrupted'],
  ]);
  expect(bank.sent).toEqual(sent);
});

it('a cancellation that another error stopped leaves the payment as open as it was', async () => {
  const { bank, payer } = await withOpen('by the customer', '--reference', 'INV-1');
  bank.meets('cancel', new Psd2Error('bank_failing', 'The bank is failing'));
  const ran = await payer.run(CANCEL);
  expect([ran.data.state, ran.said.split('\n').at(1), endOf(ran)]).toEqual([
    ...['authorizing', '  From               DE02100100109307118603 (0000012345)'],
    [
      'exit 13, still_open of tr-1: The bank is failing. The payment is not over: the customer can still authorise it',
      'Ask the bank what became of it, or end it there:',
      ...['$ transfer resume tr-1', '$ transfer cancel tr-1', 'transactionId: "an-id"'],
    ],
  ]);
});

// Another psd2 may finish a flow after a command has read it and before the command has it for itself.

it.each([
  ['500 letters of any alphabet', '𝒳'.repeat(500), null],
  ['501 letters', 'x'.repeat(501), '--note has 501 characters; the maximum is 500'],
  ['501 letters of any alphabet', '𝒳'.repeat(501), '--note has 501 characters; the maximum is 500'],
  ['no letter', ' \n ', '--note is empty'],
])('a note may have 500 characters: %s', async (_, note, message) => {
  const { payer } = await withUnknown();
  const { data, failure } = await payer.run(['transfer', 'resolve', 'tr-1', '--executed', '--note', note]);
  expect([failure?.message ?? null, data.resolution?.note]).toEqual([
    message,
    message === null ? note : undefined,
  ]);
});

/**
 * Runs a command for a transfer that is in one state when it is read, and in another once no other psd2 works on it.
 *
 * @returns how the command ended, and the events that it recorded
 */
async function ranFor(was: Partial<Transfer>, is: Partial<Transfer>, ...words: string[]) {
  const { context } = openCommand(newConfigFolder(temporary), '2026-11-22T12:00:00.000Z', {
    globals: { yes: true },
  });
  const recorded: unknown[] = [];
  const open: OpenFlow<Transfer, unknown> = {
    current: begunTransfer(is),
    record: async (event) => {
      recorded.push(event);
      return begunTransfer(is);
    },
    assertOurs: async () => {},
    reread: async () => begunTransfer(is),
  };
  const data = await context.store();
  const flows = Object.assign(Object.create(data.flows), {
    find: async () => begunTransfer(was),
    resume: (_kind: string, _flow: string, work: (of: typeof open) => Promise<void>) => work(open),
  });
  const within = { ...context, store: async () => ({ ...data, flows }) };
  return { failure: await failureIfAny(runIn(within, ...words)), recorded };
}

const BATCH = 'b'.repeat(64);
const MAY_RUN = { commits: 'by the customer', mayExecuteWithoutUs: true } as const;
const UNTOUCHED = { commits: 'by the customer', mayExecuteWithoutUs: false, state: 'verified' } as const;

it('what the customer may make run, alone or with others, is not cancelled, and the error says what finds out', async () => {
  const order = transferOrder({ batch: { batch: BATCH, line: 1 } });
  const cases: Partial<Transfer>[] = [
    { ...MAY_RUN, state: 'verified' },
    { ...MAY_RUN, state: 'authorizing', bulk: 'op-1', order },
  ];
  const ends: unknown[] = [];
  for (const transfer of cases) ends.push(await ranFor(transfer, transfer, ...CANCEL));
  expect(ends).toMatchInlineSnapshot(`
    [{ failure: { code: "usage", exitCode: 2, flow: "tr-1",
         hint: "First ask the bank for the outcome, which never pays twice. If the outcome stays unknown, ask the bank's support or look at the account statement, then record what they say:",
         message: "The transfer tr-1 is verified. The bank may execute it without psd2, so psd2 can no longer cancel it",
         next: [["transfer", "resume", "tr-1"], ["transfer", "resolve", "tr-1", "--executed"],
          ["transfer", "resolve", "tr-1", "--not-executed"]] },
       recorded: [] },
     { failure: { code: "usage", exitCode: 2, flow: "tr-1",
         hint: "The customer authorises it with others. psd2 goes on with all, and never pays twice, with:",
         message: "The transfer tr-1 is authorizing. The bank may execute it without psd2, so psd2 can no longer cancel it",
         next: [["batch", "run", "bbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbb"]] },
       recorded: [] }]
  `);
  expect(await ranFor(UNTOUCHED, UNTOUCHED, ...CANCEL)).toEqual({
    failure: null,
    recorded: [{ type: 'cancelled' }],
  });
});

const RESOLVE = ['transfer', 'resolve', 'tr-1', '--not-executed'];

const VERIFIED = { ...MAY_RUN, state: 'verified' } as const;
const EXECUTED = { state: 'executed', order: transferOrder({ instant: false }) } as const;
const SENT = 'executing. psd2 has sent execute, so it can no longer cancel the transfer';
const RUNS = 'verified. The bank may execute it without psd2, so psd2 can no longer cancel it';
it.each<[string, string[], Partial<Transfer>, Partial<Transfer>, string]>([
  ['cancel a transfer whose execute was sent', CANCEL, { state: 'authorized' }, { state: 'executing' }, SENT],
  ['cancel a transfer that may run without it', CANCEL, UNTOUCHED, VERIFIED, RUNS],
  [
    'resolve one that has ended',
    RESOLVE,
    { state: 'unknown' },
    EXECUTED,
    'executed, so its outcome is not unknown',
  ],
])('psd2 does not %s by another psd2 meanwhile', async (_, words, was, is, message) => {
  const { failure, recorded } = await ranFor(was, is, ...words);
  expect([failure?.exitCode, failure?.message, recorded]).toEqual([2, `The transfer tr-1 is ${message}`, []]);
});
