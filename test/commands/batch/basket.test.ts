import { readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { expect, it } from 'vitest';
import type { Surroundings } from '../../../src/commands/context.ts';
import { paymentHolder } from '../../../src/domain/identifiers.ts';
import { Psd2Error } from '../../../src/errors.ts';
import { bankDay, untilWorkday } from '../../e2e/support/bank-days.ts';
import { storeLogin } from '../access.ts';
import { BankHere, OWN_ACCOUNT } from '../bank-here.ts';
import { TODAY } from '../payer-here.ts';
import {
  BASKET,
  failing,
  IBAN,
  interrupted,
  paid,
  RUN,
  refused,
  storeOf,
  told,
  useBatches,
  withFile,
} from './with-batch.ts';

// Signing baskets: each line is a payment of its own at the bank, and the customer authorises all of them once.

const { payeeCheck, payees, temporary, withPayees } = useBatches();
const AS_BASKET = [...RUN, '--as', 'basket'];

it('a basket whose run was interrupted goes on, and no payment is initiated twice', async () => {
  const { bank, pay } = await payees(BASKET, 'Ada', 'Bea', 'Cleo');
  let verified = 0;
  bank.meanwhile = async (call) => {
    if (call.startsWith('verify') && ++verified === 2) throw interrupted();
  };
  expect(await pay(AS_BASKET)).toMatchInlineSnapshot(`
    ["1 verified tr-1 ", "2 executing tr-2 ", "3 waiting  ",
     "0 of 3 paid, 1 unknown, 1 awaits its customer.", "exit 130: run batch-1"]
  `);
  expect(await pay(AS_BASKET)).toMatchInlineSnapshot(`
    ["1 executed tr-1 ", "2 executed tr-2 ", "3 executed tr-3 ",
     "The answer to the initiation was lost. Nobody has the link to authorise that transfer, so psd2 initiates it again under the same reference.",
     "3 of 3 paid (33.00 EUR).", "done"]
  `);
  expect([bank.sent, bank.payments.map(({ asked }) => asked).slice(3)]).toMatchInlineSnapshot(`
    [["verify transfer", "verify transfer", "verify transfer", "verify transfer",
      "verify signing basket", "sca pay-4"],
     ["["pay-1","pay-2","pay-3"]"]]
  `);
});

it('if the bank fails while a basket is filled, no basket is begun, and the next run goes on', async () => {
  const { bank, pay } = await payees(BASKET, 'Ada', 'Bea');
  bank.meets('verify', failing());
  expect([await pay(AS_BASKET), bank.sent]).toMatchInlineSnapshot(`
    [["1 unknown tr-1 The bank may have the transfer, but gave no usable answer to it: The bank is failing",
      "2 executed tr-2 ", "1 of 2 paid (11.00 EUR), 1 unknown.", "exit 9, unknown 1 of 2: run batch-1"],
     ["verify transfer", "verify transfer", "verify signing basket", "sca pay-2"]]
  `);
  expect([await pay(AS_BASKET), bank.sent]).toMatchInlineSnapshot(`
    [["1 executed tr-1 ", "2 executed tr-2 ",
      "The answer to the initiation was lost. Nobody has the link to authorise that transfer, so psd2 initiates it again under the same reference.",
      "2 of 2 paid (21.00 EUR).", "done"],
     ["verify transfer", "verify transfer", "verify signing basket", "sca pay-2", "verify transfer",
      "sca pay-3"]]
  `);
});

it('a line that waits for a person does not go into the basket of the others', async () => {
  const { bank, pay } = await payees(BASKET, 'Ada', 'Bea', 'Cleo');
  const env = payeeCheck({ Ada: 'close', Bea: 'close' });
  expect([await pay(AS_BASKET, { env }), bank.last.asked]).toMatchInlineSnapshot(`
    [["1 waiting  The payee check of payment 1 says: close match, the account is held by Other",
      "2 waiting  The payee check of payment 2 says: close match, the account is held by Other",
      "3 executed tr-1 ",
      "Payment 1: The payee check of payment 1 says: close match, the account is held by Other. If the payee is right after all, add --accept-close.",
      "Payment 2: The payee check of payment 2 says: close match, the account is held by Other. If the payee is right after all, add --accept-close.",
      "1 of 3 paid (12.00 EUR).", "exit 8, unpaid 2 of 3: run batch-1"],
     "["pay-1"]"]
  `);
  expect([await pay([...AS_BASKET, '--accept-close'], { env }), bank.last.asked]).toMatchInlineSnapshot(`
    [["1 executed tr-2 ", "2 executed tr-3 ", "3 executed tr-1 ", "3 of 3 paid (33.00 EUR).", "done"],
     "["pay-3","pay-4"]"]
  `);
});

it('what one payment of a basket lacks stops no other one', async () => {
  const { bank, pay } = await payees(BASKET, 'Ada', 'Bea', 'Cleo');
  bank.meets('verify', refused().with({ beganNothing: true }));
  expect([await pay(AS_BASKET), bank.last.asked]).toMatchInlineSnapshot(`
    [["1 failed tr-1 Not this one", "2 executed tr-2 ", "3 executed tr-3 ",
      "2 of 3 paid (23.00 EUR), 1 not paid.", "exit 8, unpaid 1 of 3: retry batch-1"],
     "["pay-1","pay-2"]"]
  `);
});

it('a basket that the bank refuses leaves its payments to another one, or to an authorisation alone', async () => {
  const { bank, pay, payAnew } = await payees(BASKET, 'Ada', 'Bea');
  bank.meanwhile = async (call) => {
    if (call === 'verify signing basket') throw refused();
  };
  expect(await pay(AS_BASKET)).toEqual([
    '1 verified tr-1 Not this one',
    '2 verified tr-2 Not this one',
    '0 of 2 paid, 2 await their customer.',
    'exit 13, still_open: The customer could not be asked for 2 of 2 payments. These payments are not over',
    'The bank has the payments, but not the signing basket. Have each payment authorised alone, or cancel them:',
    '$ batch run batch-1 --as single',
    '$ batch cancel batch-1',
  ]);
  bank.meanwhile = async () => {};
  await payAnew(AS_BASKET);
  expect(bank.sent).toEqual(['verify signing basket', 'sca pay-3']);
});

it('at a bank without baskets each payment is authorised alone, and the run says so once', async () => {
  const later = bankDay(untilWorkday());
  const days = [TODAY, TODAY, later, later];
  const rows = days.map((day, index) => `Payee ${index},${IBAN},${index + 10},R-${index},${day}`);
  const file = ['name,iban,amount,reference,date', ...rows].join('\n');
  const { bank, pay } = await withFile(temporary, BASKET, file, ['--from', OWN_ACCOUNT]);
  bank.meanwhile = async (call) => {
    if (call === 'verify signing basket')
      throw new Psd2Error('bank_refused', 'It has none', { beganNothing: true, lacksService: true });
  };
  expect([await pay(AS_BASKET), bank.sent]).toMatchInlineSnapshot(`
    [["1 executed tr-1 ", "2 executed tr-2 ", "3 executed tr-3 ", "4 executed tr-4 ",
      "It has none. So each payment is authorised alone, with a link of its own.",
      "4 of 4 paid (46.00 EUR).", "done"],
     ["verify transfer", "verify transfer", "verify signing basket", "sca pay-1", "sca pay-2",
      "verify transfer", "verify transfer", "verify signing basket", "sca pay-3", "sca pay-4"]]
  `);
});

it.each<[string, (bank: BankHere) => void, string, string]>([
  [
    'was refused',
    (bank) => bank.meets('verify', refused().with({ beganNothing: true })),
    '1 failed tr-1 Not this one',
    'pay-1',
  ],
  ['is lost', (bank) => bank.meets('verify', 'lost'), '1 executed tr-1 ', 'pay-2'],
])(
  'at a bank without baskets, a payment that %s does not stop the next one',
  async (_, prepare, first, second) => {
    const { bank, pay } = await payees(BASKET, 'Ada', 'Bea');
    prepare(bank);
    bank.meanwhile = async (call) => {
      if (call === 'verify signing basket')
        throw new Psd2Error('bank_refused', 'It has none', { beganNothing: true, lacksService: true });
    };
    expect((await pay(AS_BASKET)).slice(0, 2)).toEqual([first, '2 executed tr-2 ']);
    expect(bank.sent).toContain(`sca ${second}`);
  },
);

it('what becomes of a basket becomes of its payments, and the bank says it of each', async () => {
  const ends: unknown[] = [];
  const cases: [string, (bank: BankHere) => void][] = [
    ['the customer refuses', (bank) => Object.assign(bank.next, { decision: 'NOT_AUTHORIZED' })],
    ['the customer does not decide', (bank) => Object.assign(bank, { customersAgree: false })],
    ['the answer to the basket is lost', (bank) => bank.meets('verify', 'lost')],
  ];
  for (const [what, prepare] of cases) {
    const { bank, pay } = await payees(BASKET, 'Ada', 'Bea');
    bank.meanwhile = async (call) => {
      if (call === 'verify signing basket') prepare(bank);
    };
    ends.push([what, ...(await pay(AS_BASKET, { globals: { scaTimeout: '1' } })), ...bank.calls.slice(1)]);
    bank.meanwhile = async () => {};
    bank.calls.length = 0;
    ends.push(['again', ...(await pay(AS_BASKET, { globals: { scaTimeout: '1' } })), ...bank.calls]);
  }
  expect(ends).toMatchInlineSnapshot(`
    [["the customer refuses", "1 rejected tr-1 The customer did not authorise it",
      "2 rejected tr-2 The customer did not authorise it", "0 of 2 paid, 2 not paid.",
      "exit 8, unpaid 2 of 2: retry batch-1", "verify transfer", "verify transfer",
      "verify signing basket", "sca pay-3", "status pay-3", "status pay-3", "status pay-1",
      "status pay-2"],
     ["again", "1 rejected tr-1 The customer did not authorise it",
      "2 rejected tr-2 The customer did not authorise it", "0 of 2 paid, 2 not paid.",
      "exit 8, unpaid 2 of 2: retry batch-1"],
     ["the customer does not decide",
      "1 authorizing tr-1 The customer did not authorise the signing basket within 1 s. The payment is not over: the customer can still authorise it",
      "2 authorizing tr-2 The customer did not authorise the signing basket within 1 s. The payment is not over: the customer can still authorise it",
      "0 of 2 paid, 2 await their customer.", "exit 13, open 2 of 2: run batch-1", "verify transfer",
      "verify transfer", "verify signing basket", "sca pay-3", "status pay-3", "status pay-3",
      "status pay-1", "status pay-2"],
     ["again",
      "1 authorizing tr-1 The customer did not authorise the signing basket within 1 s. The payment is not over: the customer can still authorise it",
      "2 authorizing tr-2 The customer did not authorise the signing basket within 1 s. The payment is not over: the customer can still authorise it",
      "0 of 2 paid, 2 await their customer.", "exit 13, open 2 of 2: run batch-1", "status pay-3",
      "sca pay-3", "status pay-3", "status pay-3", "status pay-1", "status pay-2"],
     ["the answer to the basket is lost",
      "1 unknown tr-1 The bank may have the signing basket, but gave no usable answer to it: The connection was lost",
      "2 unknown tr-2 The bank may have the signing basket, but gave no usable answer to it: The connection was lost",
      "0 of 2 paid, 2 unknown.", "exit 9, unknown 2 of 2: run batch-1", "verify transfer",
      "verify transfer", "verify signing basket", "status pay-1", "status pay-2"],
     ["again", "1 executed tr-1 ", "2 executed tr-2 ",
      "The answer to the initiation was lost. Nobody has the link to authorise that signing basket, so psd2 initiates it again under the same reference.",
      "2 of 2 paid (21.00 EUR).", "done", "verify signing basket", "sca pay-4", "status pay-4",
      "status pay-1", "status pay-2"]]
  `);
});

const none = () => new Psd2Error('bank_refused', 'The bank has no signing baskets', { beganNothing: true });
/** What goes wrong with the basket, and how the operator goes on. */
const WITHOUT_BASKET = (['never', 'possible'] as const).flatMap((executesWithoutSca) =>
  (['refused', 'lost', 'interrupted'] as const).flatMap((fate) =>
    [['run'], ['run', '--as', 'single'], ['cancel']].map((then) => ({ executesWithoutSca, fate, then })),
  ),
);

it('without a signing basket, its payments go on alone or are cancelled, and none is paid twice', async () => {
  const ends: string[] = [];
  for (const { executesWithoutSca, fate, then } of WITHOUT_BASKET) {
    const { bank, payer } = await payees({ ...BASKET, executesWithoutSca }, 'Ada', 'Bea');
    bank.meanwhile = async (call) => {
      if (call !== 'verify signing basket') return;
      if (fate === 'refused') throw none();
      if (fate === 'interrupted') throw interrupted();
      bank.meets('verify', 'lost');
    };
    const first = (await payer.run(AS_BASKET)).failure?.code;
    bank.meanwhile = async () => {};
    bank.calls.length = 0;
    const [verb = '', ...more] = then;
    const { failure } = await payer.run(['batch', verb, 'batch-1', '--yes', ...more]);
    const report = await payer.run(['batch', 'report', 'batch-1', '--json']);
    const states = told(report)
      .slice(0, 2)
      .map((line) => line.split(' ').slice(0, 2).join(' '));
    const { sent } = bank;
    ends.push(
      `${executesWithoutSca}, ${fate}: ${first}; ${then.join(' ')}: ${failure?.code ?? 'done'}; ${states.join(', ')}; ${sent.join(', ')}`,
    );
    const { flows, read } = await storeOf(payer);
    const isOpen = [...(await read()).bulks.keys()].map(async (basket) =>
      ['unknown', 'executing'].includes((await flows.find('operation', basket)).state),
    );
    // Nothing waits for a person once all have ended.
    if (failure === null) expect(await Promise.all(isOpen)).not.toContain(true);
  }
  expect(ends).toMatchInlineSnapshot(`
    ["never, refused: still_open; run: done; 1 executed, 2 executed; sca pay-1, sca pay-2",
     "never, refused: still_open; run --as single: done; 1 executed, 2 executed; sca pay-1, sca pay-2",
     "never, refused: still_open; cancel: done; 1 cancelled, 2 cancelled; ",
     "never, lost: outcome_unknown; run: done; 1 executed, 2 executed; verify signing basket, sca pay-4",
     "never, lost: outcome_unknown; run --as single: done; 1 executed, 2 executed; sca pay-1, sca pay-2",
     "never, lost: outcome_unknown; cancel: done; 1 cancelled, 2 cancelled; cancel pay-1, cancel pay-2",
     "never, interrupted: interrupted; run: done; 1 executed, 2 executed; verify signing basket, sca pay-3",
     "never, interrupted: interrupted; run --as single: done; 1 executed, 2 executed; sca pay-1, sca pay-2",
     "never, interrupted: interrupted; cancel: done; 1 cancelled, 2 cancelled; cancel pay-1, cancel pay-2",
     "possible, refused: still_open; run: done; 1 executed, 2 executed; sca pay-1, sca pay-2",
     "possible, refused: still_open; run --as single: done; 1 executed, 2 executed; sca pay-1, sca pay-2",
     "possible, refused: still_open; cancel: done; 1 cancelled, 2 cancelled; cancel pay-1, cancel pay-2",
     "possible, lost: outcome_unknown; run: outcome_unknown; 1 unknown, 2 unknown; ",
     "possible, lost: outcome_unknown; run --as single: done; 1 executed, 2 executed; sca pay-1, sca pay-2",
     "possible, lost: outcome_unknown; cancel: done; 1 cancelled, 2 cancelled; cancel pay-1, cancel pay-2",
     "possible, interrupted: interrupted; run: outcome_unknown; 1 unknown, 2 unknown; ",
     "possible, interrupted: interrupted; run --as single: done; 1 executed, 2 executed; sca pay-1, sca pay-2",
     "possible, interrupted: interrupted; cancel: done; 1 cancelled, 2 cancelled; cancel pay-1, cancel pay-2"]
  `);
});

it('once the customer has authorised a basket, psd2 asks for each payment until the bank has decided all', async () => {
  const { bank, payer, pay, payAnew } = await payees(BASKET, 'Ada', 'Bea', 'Cleo');
  const becomes = ['executed', 'failed', null] as const;
  bank.meanwhile = async (call) => {
    bank.next = {
      becomes: call === 'verify transfer' ? (becomes[bank.payments.length] ?? null) : 'executed',
    };
  };
  const waits = { globals: { scaTimeout: '9' } };
  expect([await pay(AS_BASKET, waits), bank.calls]).toMatchInlineSnapshot(`
    [["1 executed tr-1 ", "2 failed tr-2 ", "3 unknown tr-3 The bank has not said whether it was paid",
      "1 of 3 paid (10.00 EUR), 1 not paid, 1 unknown.", "exit 9, unknown 1 of 3: run batch-1"],
     ["accounts 1048262", "verify transfer", "verify transfer", "verify transfer",
      "verify signing basket", "sca pay-4", "status pay-4", "status pay-1", "status pay-2",
      "status pay-2", "status pay-3", "status pay-3", "status pay-3", "status pay-3", "status pay-3"]]
  `);
  // What the bank does not say decides nothing.
  let isFirst = true;
  bank.meanwhile = async (call) => {
    if (call === 'status pay-3' && isFirst) throw failing();
    isFirst &&= call !== 'status pay-3';
  };
  expect(await payAnew(AS_BASKET, waits)).toMatchInlineSnapshot(`
    [["1 executed tr-1 ", "2 failed tr-2 ", "3 unknown tr-3 The bank has not said whether it was paid",
      "1 of 3 paid (10.00 EUR), 1 not paid, 1 unknown.", "exit 9, unknown 1 of 3: run batch-1"],
     ["status pay-3", "status pay-3", "status pay-3", "status pay-3", "status pay-3"]]
  `);
  bank.meanwhile = async (call) => {
    if (call === 'status pay-3') throw interrupted();
  };
  expect(await payAnew(AS_BASKET, waits)).toMatchInlineSnapshot(`
    [["1 executed tr-1 ", "2 failed tr-2 ", "3 unknown tr-3 The bank has not said whether it was paid",
      "1 of 3 paid (10.00 EUR), 1 not paid, 1 unknown.", "exit 130: run batch-1"],
     ["status pay-3"]]
  `);
  bank.meanwhile = async () => {};
  bank.payment('pay-3').became = 'executed';
  expect(await payAnew(AS_BASKET, waits)).toMatchInlineSnapshot(`
    [["1 executed tr-1 ", "2 failed tr-2 ", "3 executed tr-3 ", "2 of 3 paid (22.00 EUR), 1 not paid.",
      "exit 8, unpaid 1 of 3: retry batch-1"],
     ["status pay-3"]]
  `);
  expect(payer.journal('tr-3').map(({ type }) => type)).toEqual([
    ...['created', 'accepted', 'verify-sent', 'verified', 'bulk-joined', 'execute-unanswered', 'executed'],
  ]);
  await payer.run(['operation', 'list']);
  expect(payer.journal('op-1').map(({ type }) => type)).toMatchInlineSnapshot(
    `["created", "accepted", "verify-sent", "verified", "approach-sent", "sca-started", "executed"]`,
  );
});

it('psd2 waits for a basket no longer than until the bank has decided all of its payments', async () => {
  const { bank, pay } = await payees(BASKET, 'Ada', 'Bea');
  let slept = 0;
  const waits = {
    changes: ({ world }: Surroundings) => ({
      world: {
        ...world,
        sleep: async () => {
          slept += 1;
          bank.payment('pay-2').became = 'executed';
        },
      },
    }),
  };
  bank.meanwhile = async (call) => {
    bank.next = { becomes: bank.payments.length === 1 && call === 'verify transfer' ? null : 'executed' };
  };
  expect([await pay(AS_BASKET, waits), slept]).toEqual([paid(2), 1]);
});

it('what the bank has only checked before the customer authorises its basket is accepted afterwards', async () => {
  const { bank, pay } = await payees(BASKET, 'Ada');
  bank.verified = { bank: { transactionStatus: 'ACTC', scaStatus: null } };
  bank.next = { decision: 'AUTHORIZED', becomes: 'ordered', word: 'ACTC' };
  bank.meanwhile = async (call) => {
    if (call === 'verify signing basket') bank.next = { becomes: 'executed' };
  };
  expect([await pay(AS_BASKET), bank.calls]).toMatchInlineSnapshot(`
    [["1 ordered tr-1 The bank has accepted it, and has not said that it is final",
      "0 of 1 paid, 1 accepted.", "done"],
     ["accounts 1048262", "verify transfer", "verify signing basket", "sca pay-2", "status pay-2",
      "status pay-1"]]
  `);
});

it('instant payments of a basket end once the bank says that the payee has the money, or has not', async () => {
  const { bank, payer, pay, payAnew } = await withPayees(
    new BankHere(BASKET),
    ['Ada', 'Bea', 'Cleo'],
    ['--instant', '--payee-verified'],
  );
  const settlements = ['OK', 'KO', 'PENDING'] as const;
  bank.meanwhile = async (call) => {
    bank.next = {
      settlement: call === 'verify transfer' ? (settlements[bank.payments.length] ?? 'OK') : 'OK',
    };
  };
  const waits = { globals: { scaTimeout: '4' } };
  expect([await pay(AS_BASKET, waits), bank.calls]).toMatchInlineSnapshot(`
    [["1 settled tr-1 ", "2 failed tr-2 Account closed", "3 executed tr-3 ",
      "1 of 3 paid (10.00 EUR), 1 not paid, 1 unknown.", "exit 9, unknown 1 of 3: run batch-1"],
     ["accounts 1048262", "verify transfer", "verify transfer", "verify transfer",
      "verify signing basket", "sca pay-4", "status pay-4", "status pay-1", "status pay-2",
      "status pay-3", "settlement pay-1", "settlement pay-2", "settlement pay-3", "settlement pay-3",
      "settlement pay-3"]]
  `);
  bank.payment('pay-3').settlement = 'OK';
  expect(await payAnew(AS_BASKET, waits)).toMatchInlineSnapshot(`
    [["1 settled tr-1 ", "2 failed tr-2 Account closed", "3 settled tr-3 ",
      "2 of 3 paid (22.00 EUR), 1 not paid.", "exit 8, unpaid 1 of 3: retry batch-1"],
     ["settlement pay-3"]]
  `);
  expect(payer.journal('tr-3').map(({ type }) => type)).toEqual([
    ...['created', 'accepted', 'verify-sent', 'verified', 'bulk-joined', 'executed', 'settlement'],
  ]);
});

it('if the bank fails when it is asked for one instant payment of a basket, the others are paid all the same', async () => {
  const instant = ['--instant', '--payee-verified'];
  const { bank, pay } = await withPayees(BASKET, ['Ada', 'Bea', 'Cleo'], instant);
  bank.meanwhile = async (call) => {
    bank.next = { settlement: 'OK' };
    if (call === 'settlement pay-2') throw failing();
  };
  expect((await pay(AS_BASKET, { globals: { scaTimeout: '4' } })).slice(0, 4)).toEqual([
    '1 settled tr-1 ',
    '2 executed tr-2 ',
    '3 settled tr-3 ',
    '2 of 3 paid (22.00 EUR), 1 unknown.',
  ]);
});

it('what stops every payment stops a basket before it is begun, and the next run goes on', async () => {
  const { bank, pay } = await payees(BASKET, 'Ada', 'Bea');
  bank.meets('prepare', new Psd2Error('config', 'Not possible'));
  expect([await pay(AS_BASKET), bank.sent]).toMatchInlineSnapshot(`
    [["1 created tr-1 Not possible", "2 waiting  Not possible", "Payment 1: Not possible.",
      "Payment 2: Not possible.", "0 of 2 paid.", "exit 8, unpaid 2 of 2: run batch-1"],
     []]
  `);
  expect([await pay(AS_BASKET), bank.sent]).toEqual([
    paid(2),
    ['verify transfer', 'verify transfer', 'verify signing basket', 'sca pay-3'],
  ]);
});

it('a basket that could not be sent stays written down, and nothing is asked about it until the next run', async () => {
  const { bank, pay, payAnew } = await payees(BASKET, 'Ada', 'Bea');
  bank.meanwhile = async (call) => {
    if (call === 'verify transfer' && bank.payments.length === 1)
      bank.meets('prepare', new Psd2Error('config', 'Not possible'));
  };
  expect([await pay(AS_BASKET), bank.calls]).toMatchInlineSnapshot(`
    [["1 verified tr-1 Not possible", "2 verified tr-2 Not possible", "0 of 2 paid, 2 unknown.",
      "exit 9, unknown 2 of 2: run batch-1"],
     ["accounts 1048262", "verify transfer", "verify transfer"]]
  `);
  bank.meanwhile = async () => {};
  expect(await payAnew(AS_BASKET)).toEqual([
    paid(2),
    ['verify signing basket', 'sca pay-3', 'status pay-3', 'status pay-1', 'status pay-2'],
  ]);
});

it('a run says how far it is while it waits for the customer and for the bank', async () => {
  const { payer } = await payees(BASKET, 'Ada', 'Bea');
  const texts: string[] = [];
  await payer.run([...RUN, '--as', 'single', '--only', '1']);
  await payer.run(AS_BASKET, {
    changes: (world) => ({
      terminal: {
        ...world.terminal,
        whileWaiting: (text, work) => {
          texts.push(typeof text === 'string' ? text : text());
          return work;
        },
      },
    }),
  });
  expect(texts).toMatchInlineSnapshot(`
    ["[>                   ] 0 of 2 paid. Waiting for the customer's decision (5:00 left)",
     "[>                   ] 0 of 2 paid. Asking the bank what became of the payments (5:00 left)"]
  `);
});

it('with --links, a basket has one link for its customer, and a later run asks what became of each payment', async () => {
  const { bank, payer } = await payees(BASKET, 'Ada', 'Bea');
  bank.customersAgree = false;
  const links = join(temporary, 'basket.ndjson');
  writeFileSync(links, '', { mode: 0o600 });
  const run = () => payer.run([...AS_BASKET, '--links', links]);
  expect(told(await run())).toMatchInlineSnapshot(`
    ["1 authorizing tr-1 ", "2 authorizing tr-2 ", "0 of 2 paid, 2 await their customer.",
     "exit 13, open 2 of 2: run batch-1"]
  `);
  await payer.run(['operation', 'list']);
  const { read, batch } = await storeOf(payer);
  const { bulks } = await read();
  const [joint = ''] = bulks.keys();
  expect(JSON.parse(readFileSync(links, 'utf8'))).toEqual({
    ...{ batch, lines: [1, 2], flow: joint, customer: '1048262', amount: '21.00', currency: 'EUR' },
    url: 'https://customers.bank.example/pay-3',
  });
  bank.calls.length = 0;
  expect([told(await run()), bank.calls]).toMatchInlineSnapshot(`
    [["1 authorizing tr-1 ", "2 authorizing tr-2 ", "0 of 2 paid, 2 await their customer.",
      "exit 13, open 2 of 2: run batch-1"],
     ["status pay-3"]]
  `);

  // The tokens of the basket stay as long as one of its payments is open.
  const { flows } = await storeOf(payer);
  const holder = paymentHolder((await flows.find('operation', joint)).transactionId);
  const { context } = payer.open();
  await storeLogin(context, holder);
  const { tokens } = await context.store();
  Object.assign(bank.payment('pay-3'), { decision: 'AUTHORIZED', became: 'executed' });
  bank.payment('pay-1').became = 'executed';
  bank.calls.length = 0;
  expect([told(await run()), bank.calls]).toMatchInlineSnapshot(`
    [["1 executed tr-1 ", "2 unknown tr-2 The bank has not said whether it was paid",
      "1 of 2 paid (10.00 EUR), 1 unknown.", "exit 9, unknown 1 of 2: run batch-1"],
     ["status pay-3", "status pay-3", "status pay-1", "status pay-2"]]
  `);
  expect(await tokens.login(holder)).not.toBeUndefined();
  const basket = (await flows.find('operation', joint)).transactionId;
  expect(new Set(bank.withLogin.splice(0))).toEqual(new Set([`pay-1 ${basket}`, `pay-2 ${basket}`]));
  await payer.run(['transfer', 'status', 'tr-2']);
  expect(bank.withLogin.splice(0)).toEqual([`pay-2 ${basket}`]);
  bank.payment('pay-2').became = 'executed';
  bank.calls.length = 0;
  expect([told(await run()), bank.calls]).toEqual([paid(2), ['status pay-2']]);
  expect(await tokens.login(holder)).toBeUndefined();
  expect(readFileSync(links, 'utf8').trim().split('\n')).toHaveLength(1);
});

it('a basket that somebody has changed in the store, or that the bank has no more, is not sent', async () => {
  const ends: unknown[] = [];
  for (const what of ['changed', 'no baskets'] as const) {
    const { bank, payer } = await payees(BASKET, 'Ada', 'Bea');
    bank.meanwhile = async (call) => {
      if (call === 'verify signing basket') throw interrupted();
    };
    await payer.run(AS_BASKET);
    await payer.run(['operation', 'list']);
    bank.meanwhile = async () => {};
    const { read } = await storeOf(payer);
    const [joint = ''] = (await read()).bulks.keys();
    const path = join(payer.folder.flows('env'), `${joint}.ndjson`);
    const journal = readFileSync(path, 'utf8');
    if (what === 'changed') writeFileSync(path, journal.replace('[\\"pay-1\\"', '[\\"pay-7\\"'));
    const at = new BankHere({ commits: 'by the customer' });
    at.payments.push(...bank.payments);
    const ran = await payer.run(what === 'changed' ? AS_BASKET : RUN, what === 'changed' ? {} : { at });
    ends.push([what, ...told(ran), at.sent, bank.sent]);
  }
  expect(ends).toMatchInlineSnapshot(`
    [["changed", "1 verified tr-1 What is stored is not what was asked for",
      "2 verified tr-2 What is stored is not what was asked for", "0 of 2 paid, 2 unknown.",
      "exit 9, unknown 2 of 2: run batch-1", [],
      ["verify transfer", "verify transfer", "verify signing basket"]],
     ["no baskets", "1 verified tr-1 The bank no longer has signing baskets",
      "2 verified tr-2 The bank no longer has signing baskets", "0 of 2 paid, 2 unknown.",
      "exit 9, unknown 2 of 2: run batch-1", [],
      ["verify transfer", "verify transfer", "verify signing basket"]]]
  `);
});
