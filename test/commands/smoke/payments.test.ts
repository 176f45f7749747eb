import { mkdirSync, readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { expect, it } from 'vitest';
import type { CancellationAnswer } from '../../../src/bank/ports/payment-calls.ts';
import { printsOf } from '../../../src/commands/smoke/access.ts';
import type { ConsentEvent } from '../../../src/domain/consent.ts';
import type { TransferEvent } from '../../../src/domain/transfer.ts';
import { Psd2Error } from '../../../src/errors.ts';
import { decimalOf } from '../../domain/bookings.ts';
import { VERIFIED } from '../../domain/orders.ts';
import { temporaryFolder } from '../../store/temporary-folder.ts';
import { storeConsentFlow, storeTransfer } from '../access.ts';
import { account, type BankHere, OWN_ACCOUNT, OWN_IBAN } from '../bank-here.ts';
import { differing } from '../named-bank.ts';
import { ANNA, payerAt, payerWith } from '../payer-here.ts';
import { smokeAt } from './smoke-here.ts';

// What a smoke test begins, pays and ends: at a bank where psd2 executes, and at one where the customer's SCA does.

const temporary = temporaryFolder();
const PAYEE = ['--to', 'DE89370400440532013000', '--name', 'Ada'];
const STEPS = ['--steps', 'accounts,initiate,pay'];
const INITIATE = [...STEPS.slice(0, 1), 'accounts,initiate', '--initiate', ...PAYEE];
const pay = (amount: string, ...more: string[]) => [
  '--steps',
  'accounts,pay',
  '--pay',
  amount,
  ...PAYEE,
  ...more,
];
const NEXT = ['--skip', 'settings..signature,consent..transactions'];
const LINKED = { commits: 'by the customer' as const };

async function operatorAt(terms: ConstructorParameters<typeof BankHere>[0] = {}) {
  const { bank, payer } = await payerWith(temporary, terms);
  bank.interface.has = new Set([
    ...bank.interface.has,
    ...(terms.commits ? (['links for SCA'] as const) : []),
  ]);
  const states = async () => {
    const { data } = await payer.run(['transfer', 'list']);
    return Object.values(data).map(
      ({ state, amount, reference }) => `${state} ${amount} ${String(reference).replace(/-sm-.*/, '')}`,
    );
  };
  return { bank, payer, states, smoke: (words: string[], how = {}) => smokeAt(payer, words, how) };
}

/** What still must be ended. */
const noted = ({ folder }: Awaited<ReturnType<typeof operatorAt>>['payer']): unknown => {
  try {
    return JSON.parse(readFileSync(join(folder.smoke('env'), 'unended.json'), 'utf8')).made;
  } catch {
    return [];
  }
};

it('a payment is begun and given up before SCA and execute, where psd2 executes', async () => {
  const { bank, payer, states, smoke } = await operatorAt();
  const { exitCode, lines } = await smoke(INITIATE);
  expect([exitCode, lines]).toEqual([
    0,
    ['pass accounts: 1', 'pass initiate: begun and given up', 'pass clean-up: nothing to end'],
  ]);
  expect(bank.calls).toEqual([`accounts ${ANNA}`, `terms ${OWN_ACCOUNT}`, 'verify transfer']);
  expect(bank.last.asked).toMatchObject({ amount: expect.anything(), from: OWN_ACCOUNT, name: 'Ada' });
  expect([await states(), noted(payer)]).toEqual([['cancelled 0.01 SMOKE'], []]);
});

it('a payment is begun and given up by the bank, where the customer executes, and nobody sees the link', async () => {
  const { bank, payer, states, smoke } = await operatorAt(LINKED);
  const { exitCode, lines, ran } = await smoke(INITIATE);
  expect([exitCode, lines[1]]).toEqual([0, 'pass initiate: begun and given up']);
  expect(bank.sent).toEqual(['verify transfer', 'cancel pay-1']);
  expect(bank.last.became).toBe('cancelled');
  expect([await states(), noted(payer)]).toEqual([['cancelled 0.01 SMOKE'], []]);
  expect(ran.said).not.toContain('https://customers.bank.example');
});

it.each<[what: string, words: string[], bank: (bank: BankHere) => void, exitCode: number, line: string]>([
  [
    'an account that is named',
    [...INITIATE, '--from', '0000054321'],
    () => {},
    0,
    'pass initiate: begun and given up',
  ],
  [
    'an account that is named, without a list',
    ['--steps', 'initiate', '--initiate', ...PAYEE, '--from', OWN_ACCOUNT],
    () => {},
    0,
    'pass initiate: begun and given up',
  ],
  [
    'no account',
    ['--steps', 'initiate', '--initiate', ...PAYEE],
    () => {},
    2,
    'fail initiate: No account to debit is known (usage, exit 2)',
  ],
  [
    'a bank that refuses it',
    INITIATE,
    (bank) => bank.meets('verify', new Psd2Error('bank_refused', 'No', { refusal: 'other', isBanks: true })),
    7,
    'fail initiate: No (bank_refused, exit 7)',
  ],
])('a payment is begun with %s', async (_, words, arrange, exitCode, line) => {
  const { bank, smoke, payer } = await operatorAt();
  arrange(bank);
  const { lines, exitCode: code } = await smoke(words);
  expect([code, lines.find((each) => each.includes(' initiate'))]).toEqual([exitCode, line]);
  expect(bank.sent.filter((call) => !call.startsWith('verify'))).toEqual([]);
  expect(noted(payer)).toEqual([]);
});

it('no payment is begun where the bank may execute it before it is given up, unless a whole one is made', async () => {
  const { bank, smoke } = await operatorAt(LINKED);
  Object.assign(bank.interface, {
    refuseGivingUp: () => {
      throw new Psd2Error('usage', 'It may execute it');
    },
  });
  const { exitCode, lines } = await smoke(INITIATE);
  expect([exitCode, lines[1], bank.sent]).toEqual([
    2,
    'fail initiate: It may execute it (usage, exit 2)',
    [],
  ]);
  const whole = await smoke([
    '--steps',
    'accounts..pay',
    '--skip',
    'balance..funds',
    '--pay',
    '0.50',
    ...PAYEE,
  ]);
  expect([whole.exitCode, whole.lines.slice(1)]).toEqual([
    0,
    [
      'skip initiate: this bank may not let psd2 give it up: the step pay makes a whole one',
      ...['pass pay: executed', 'pass clean-up: nothing to end'],
    ],
  ]);
});

it('a payment that the bank does not say it has cancelled is named, and the next run ends it', async () => {
  const { bank, payer, states, smoke } = await operatorAt(LINKED);
  const down = () => new Psd2Error('bank_failing', 'Down', { httpStatus: 503 });
  // Once in the step, once in the clean-up.
  bank.meets('cancel', down(), down());
  const { exitCode, lines, ran } = await smoke(INITIATE);
  expect([exitCode, lines[1]]).toMatchInlineSnapshot(`
    [9,
     "fail initiate: The payment tr-1 of this smoke test is still at the bank: Down (outcome_unknown, exit 9)"]
  `);
  expect(ran.failure).toMatchObject({
    flow: 'tr-1',
    next: [
      ['transfer', 'status', 'tr-1'],
      ['transfer', 'cancel', 'tr-1'],
      ['log', '--run', expect.anything()],
    ],
  });
  const next = await smoke(['--skip', 'settings..signature,consent..transactions']);
  expect([next.exitCode, noted(payer)]).toEqual([0, []]);
  expect(next.lines.at(-1)).toMatch(/^pass clean-up: nothing to end; of sm-\w+: ended the transfer tr-1$/);
  expect(await states()).toEqual(['cancelled 0.01 SMOKE']);
});

/** A bank that answers so to a cancellation, and does it or not. */
function cancelling(bank: BankHere, answer: CancellationAnswer, isDone: boolean) {
  return differing(bank.interface, ({ payments }) => ({
    payments: {
      ...payments,
      transfer(...payment) {
        const calls = payments.transfer(...payment);
        const { cancellation } = calls;
        return {
          ...calls,
          ...(cancellation && {
            cancellation: {
              ...cancellation,
              async request(cancel) {
                if (isDone) await cancellation.request(cancel);
                return answer;
              },
            },
          }),
        };
      },
    },
  }));
}

const PAGE = { approach: null, redirect: 'https://customers.bank.example/end' };
const STAYS = 'The payment tr-1 of this smoke test is still at the bank: ';
const UNSAID = 'The bank does not say that the transfer is cancelled (outcome_unknown, exit 9)';
it.each<[answer: CancellationAnswer, isDone: boolean, exitCode: number, says: string]>([
  [{ verdict: 'taken' }, true, 0, 'begun and given up'],
  [{ verdict: 'taken', mayWantCustomer: true }, true, 0, 'begun and given up'],
  [{ verdict: 'taken' }, false, 9, `${STAYS}${UNSAID}`],
  [{ verdict: 'taken', mayWantCustomer: true }, false, 9, `${STAYS}${UNSAID}`],
  [
    { verdict: 'to be authorised', links: PAGE },
    false,
    13,
    `${STAYS}The bank wants the customer to authorise the cancellation (still_open, exit 13)`,
  ],
])(
  'no customer is asked to end a payment that is given up, where the bank answers %j, and has done it: %s',
  async (answer, isDone, exitCode, says) => {
    const { bank } = await operatorAt(LINKED);
    const payer = await payerAt({ interface: cancelling(bank, answer, isDone) }, temporary);
    const { exitCode: code, lines, ran } = await smokeAt(payer, INITIATE);
    expect([code, lines[1]]).toEqual([exitCode, `${exitCode === 0 ? 'pass' : 'fail'} initiate: ${says}`]);
    expect([bank.calls.filter((call) => call.startsWith('sca')), ran.said]).toEqual([
      [],
      expect.not.stringContaining('https:'),
    ]);
  },
);

it('a payment that the bank has executed meanwhile cannot be given up, and that is said', async () => {
  const { bank, states, smoke } = await operatorAt(LINKED);
  bank.meets('cancel', new Psd2Error('bank_refused', 'Too late', { refusal: 'other', isBanks: true }));
  bank.next = { became: 'executed' };
  const { exitCode, lines, ran } = await smoke(INITIATE);
  expect([exitCode, lines[1]]).toMatchInlineSnapshot(`
    [9,
     "fail initiate: The payment tr-1 of this smoke test was executed: It is too late: the bank has executed the transfer (outcome_unknown, exit 9)"]
  `);
  expect(ran.failure).toMatchObject({ flow: 'tr-1', hint: expect.stringMatching(/^Money has moved/) });
  expect(ran.failure?.next?.[0]).toEqual(['transfer', 'show', 'tr-1']);
  expect(await states()).toEqual(['executed 0.01 SMOKE']);
});

it.each<[terms: object, words: string[], how: object, exitCode: number, line: string, calls: string[]]>([
  [{}, pay('1.00'), {}, 0, 'pass pay: executed', ['verify transfer', 'sca pay-1', 'execute pay-1']],
  [LINKED, pay('1.00'), {}, 0, 'pass pay: executed', ['verify transfer', 'sca pay-1']],
  [
    {},
    pay('1.00', '--max-fee', '0'),
    {},
    0,
    'pass pay: executed',
    ['verify transfer', 'sca pay-1', 'execute pay-1'],
  ],
  [
    {},
    pay('2.00'),
    { answers: [true], yes: true },
    0,
    'pass pay: executed',
    ['verify transfer', 'sca pay-1', 'execute pay-1'],
  ],
  [
    {},
    pay('2.00'),
    { answers: [false], yes: true },
    2,
    'fail pay: The payment was not made (cancelled, exit 2)',
    [],
  ],
])('at a bank with %j, %j with %j', async (terms, words, how, exitCode, line, calls) => {
  const { bank, payer, smoke } = await operatorAt(terms);
  const smoked = await smoke(words, how);
  expect([smoked.exitCode, smoked.lines[1], bank.sent]).toEqual([exitCode, line, calls]);
  expect(noted(payer)).toEqual([]);
});

it('a payment whose link the customer has is not ended behind them, and stays noted until it has', async () => {
  const { bank, payer, states, smoke } = await operatorAt(LINKED);
  bank.customersAgree = false;
  const { exitCode, lines } = await smoke(pay('0.50'), { globals: { scaTimeout: '1' } });
  expect([exitCode, lines[1], lines[2]]).toEqual([
    13,
    expect.stringMatching(/^fail pay: .*\(still_open, exit 13\)$/),
    expect.stringMatching(/^fail clean-up: The transfer tr-1 of a smoke test has not ended.*exit 13\)$/),
  ]);
  // Nor does the next run end it.
  expect((await smoke(NEXT)).exitCode).toBe(13);
  expect(bank.sent.filter((call) => call.startsWith('cancel'))).toEqual([]);
  expect(noted(payer)).toMatchObject([{ kind: 'payment' }]);
  Object.assign(bank.last, { decision: 'AUTHORIZED', became: 'executed' });
  await payer.run(['transfer', 'resume', 'tr-1']);
  expect((await smoke(NEXT)).lines.at(-1)).toMatch(
    /^pass clean-up: nothing to end; of sm-\w+: nothing to end$/,
  );
  expect([await states(), noted(payer)]).toEqual([['executed 0.50 SMOKE'], []]);
});

it.each<[amount: string, fee: string[], question: string | undefined]>([
  ['1.00', [], undefined],
  ['0.50', ['--max-fee', '0.50'], undefined],
  ['1.01', [], 'Pay 1.01 EUR for this smoke test?'],
  ['1.01', ['--max-fee', '0'], 'Pay 1.01 EUR for this smoke test?'],
  ['0.60', ['--max-fee', '0.50'], 'Pay 0.60 EUR, and fees of at most 0.50 EUR, for this smoke test?'],
])('a person is asked about %s EUR with %j: %s', async (amount, fee, question) => {
  const { smoke } = await operatorAt();
  const { ran } = await smoke(pay(amount, ...fee), { answers: [true], yes: true });
  expect(ran.asked).toEqual(question === undefined ? [] : [question]);
});

it.each<[commissions: string, options: string[], exitCode: number]>([
  ['0.00', [], 0],
  ['0.50', ['--max-fee', '0.50'], 0],
  ['0.51', ['--max-fee', '0.50'], 2],
  // The fees count where the operator names a limit.
  ['0.51', [], 0],
])('of 0.50 EUR with fees of %s EUR and %j, the exit code is %i', async (commissions, options, exitCode) => {
  const { bank, smoke } = await operatorAt();
  const eur = (cents: number) => ({ amount: decimalOf(cents), currency: 'EUR' });
  const cents = Number(commissions) * 100;
  bank.verified = { commissions: eur(cents), totalAmount: eur(50 + cents) };
  const { exitCode: code } = await smoke(pay('0.50', ...options));
  expect(code).toBe(exitCode);
});

/** A note that an earlier run has made this. */
function note(payer: Awaited<ReturnType<typeof operatorAt>>['payer'], made: object[]): void {
  const folder = payer.folder.smoke('env');
  mkdirSync(folder, { recursive: true, mode: 0o700 });
  writeFileSync(join(folder, 'unended.json'), JSON.stringify({ run: 'sm-old', made }), { mode: 0o600 });
}
const SENT = { requestId: 'q', digest: null };
const UNANSWERED: TransferEvent[] = [
  ...[{ type: 'verify-sent', ...SENT } as const, VERIFIED, { type: 'accepted' } as const],
  ...[{ type: 'execute-sent', ...SENT } as const, { type: 'execute-unanswered' } as const],
];

it.each<[what: string, tokens: string[], isThere: boolean, end: string]>([
  ['is there', printsOf({ accessToken: 'a1', refreshToken: 'r1' }), true, 'fail'],
  ['has a new access token by itself', printsOf({ accessToken: 'a0', refreshToken: 'r1' }), true, 'fail'],
  [
    'was renewed',
    printsOf({ accessToken: 'a0', refreshToken: 'r0' }),
    true,
    `warn clean-up [login_stays]: the login of customer ${ANNA} was made again or renewed since: it stays; nothing to end; of sm-old: nothing to end`,
  ],
  [
    'is gone',
    printsOf({ accessToken: 'a1', refreshToken: 'r1' }),
    false,
    'pass clean-up: nothing to end; of sm-old: nothing to end',
  ],
])('a login of an earlier run that %s', async (_, tokens, isThere, end) => {
  const { payer, smoke } = await operatorAt();
  note(payer, [{ kind: 'login', customerId: isThere ? ANNA : '7777777', tokens }]);
  const { lines } = await smoke(NEXT);
  expect(lines.at(-1)).toMatch(end === 'fail' ? /^fail clean-up: / : end);
  expect(noted(payer)).toEqual(end === 'fail' ? [{ kind: 'login', customerId: ANNA, tokens }] : []);
});

it.each<[what: string, kind: 'transfer' | 'payment', events: TransferEvent[], end: string]>([
  ['was not sent', 'transfer', [], 'pass clean-up: nothing to end; of sm-old: ended the transfer tr-1'],
  [
    'was cancelled',
    'transfer',
    [{ type: 'cancelled' }],
    'pass clean-up: nothing to end; of sm-old: ended the transfer tr-1',
  ],
  [
    'was not sent, of --pay',
    'payment',
    [],
    'pass clean-up: nothing to end; of sm-old: ended the transfer tr-1',
  ],
])('a transfer of an earlier run that %s', async (_, kind, events, end) => {
  const { payer, smoke, states } = await operatorAt();
  const { context } = payer.open();
  const flow = await storeTransfer(context, {}, ...events);
  // Another one is none of its.
  await storeTransfer(context, { reference: 'OTHER' });
  const { transactionId } = await (await context.store()).flows.find('transfer', flow);
  note(payer, [{ kind, transactionId, run: 'sm-old' }]);
  const { lines } = await smoke(NEXT);
  expect(lines.at(-1)).toBe(end);
  expect((await states()).filter((state) => state.startsWith('cancelled'))).toHaveLength(1);
  expect(noted(payer)).toEqual([]);
});

it.each([
  ['the login', 0],
  ['the payment', 1],
])('of several things that cannot be ended, the one that was made last is named: %s', async (_, nth) => {
  const { payer, smoke } = await operatorAt();
  const { context } = payer.open();
  const { flows } = await context.store();
  const made = async (kind: 'transfer' | 'payment', reference: string, ...events: TransferEvent[]) => {
    const flow = await storeTransfer(context, { reference }, ...events);
    return { kind, transactionId: (await flows.find('transfer', flow)).transactionId, run: 'sm-old' };
  };
  const login = {
    kind: 'login',
    customerId: ANNA,
    tokens: printsOf({ accessToken: 'a1', refreshToken: 'r1' }),
  };
  const lost = await made('payment', 'LOST', ...UNANSWERED);
  const unsent = await made('transfer', 'UNSENT');
  const left = nth === 0 ? [lost, login] : [login, lost];
  note(payer, [left[0] ?? {}, unsent, ...left.slice(1)]);
  const { lines } = await smoke(NEXT);
  expect(lines.at(-1)).toMatch(nth === 0 ? /fail clean-up: .*client id/ : /fail clean-up: .*outcome_unknown/);
  // The one between them is ended all the same.
  expect(noted(payer)).toEqual(left);
  expect((await flows.find('transfer', 'UNSENT')).state).toBe('cancelled');
});

it.each<[kind: 'transfer' | 'payment', option: string, words: string[], line: string]>([
  ['transfer', '--initiate', INITIATE, 'pass initiate: begun and given up'],
  ['payment', '--initiate', INITIATE, 'pass initiate: begun and given up'],
  ['transfer', '--pay', pay('0.50'), 'pass pay: executed'],
  ['payment', '--pay', pay('0.50'), 'pass pay: executed'],
])('a %s that an earlier run could not end stays noted after %s', async (kind, _, words, line) => {
  const { payer, smoke } = await operatorAt();
  const { context } = payer.open();
  const flow = await storeTransfer(context, { reference: 'LOST' }, ...UNANSWERED);
  const { transactionId } = await (await context.store()).flows.find('transfer', flow);
  const left = { kind, transactionId, run: 'sm-old' };
  note(payer, [left]);
  const { exitCode, lines } = await smoke(words);
  expect([exitCode, lines[1], noted(payer)]).toEqual([9, line, [left]]);
});

const REQUESTED: ConsentEvent = { type: 'requested', resourceId: 'c1', outcomes: [] };
const CONFIRMING: ConsentEvent[] = [REQUESTED, { type: 'confirm-sent', ...SENT }];
it.each<[what: string, events: ConsentEvent[], end: string]>([
  ['was not requested', [], 'pass clean-up: nothing to end; of sm-old: ended the consent co-1'],
  ['was requested', [REQUESTED], 'pass clean-up: nothing to end; of sm-old: ended the consent co-1'],
  [
    'may be confirmed',
    [...CONFIRMING, { type: 'confirm-unanswered' }],
    'warn clean-up [consent_stays]: the consent co-1 stays: psd2 does not know whether the bank has it; nothing to end; of sm-old: nothing to end',
  ],
  [
    'is confirmed',
    [...CONFIRMING, { type: 'confirmed' }],
    'pass clean-up: nothing to end; of sm-old: nothing to end',
  ],
])('a consent of an earlier run that %s, at a bank that ends none', async (_, events, end) => {
  const { payer, smoke } = await operatorAt({ lacks: ['consent deletion'] });
  const { context } = payer.open();
  const flow = await storeConsentFlow(context, {}, ...events);
  const { transactionId } = await (await context.store()).flows.find('consent', flow);
  note(payer, [{ kind: 'consent', transactionId, run: 'sm-old' }]);
  const { lines } = await smoke(NEXT);
  expect([lines.at(-1), noted(payer)]).toEqual([end, []]);
});

it('what nobody knows any longer is gone, and of several things each is ended', async () => {
  const { payer, smoke } = await operatorAt();
  const none = { transactionId: '6f1c2b9e-8a53-4d0e-9f5e-0d3b7c1a2e44', run: 'sm-old' };
  note(payer, [
    { kind: 'transfer', ...none },
    { kind: 'consent', ...none },
    { kind: 'payment', ...none },
  ]);
  const { lines } = await smoke(NEXT);
  expect([lines.at(-1), noted(payer)]).toEqual([
    'pass clean-up: nothing to end; of sm-old: nothing to end',
    [],
  ]);
});

it('whether an account has one cent is asked of the first one, or of the IBAN that is named', async () => {
  const { bank, smoke } = await operatorAt();
  Object.assign(bank.interface, { readAccountId: (text: string) => text });
  const funds = async (...words: string[]) => {
    bank.calls.length = 0;
    const { lines } = await smoke(['--funds', ...words]);
    return [lines.find((line) => line.includes(' funds')), bank.calls.at(-1)];
  };
  expect(await funds('--steps', 'accounts,funds')).toEqual([
    'pass funds: available',
    `funds ${OWN_IBAN} 0.01 EUR`,
  ]);
  const other = 'DE89370400440532013000';
  expect(await funds('--steps', 'funds', '--account', other)).toEqual([
    'pass funds: available',
    `funds ${other} 0.01 EUR`,
  ]);
  bank.funds = 0;
  expect((await funds('--steps', 'accounts,funds'))[0]).toBe('pass funds: not available');
  const lacks =
    'fail funds: Asked for with --funds, and did not run: no account with an IBAN is known: name one with --account (skipped, exit 12)';
  expect((await funds('--steps', 'funds'))[0]).toBe(lacks);
  bank.accounts = [account(OWN_ACCOUNT, null)];
  expect((await funds('--steps', 'accounts,funds'))[0]).toBe(lacks);
  bank.interface.has = new Set();
  expect((await funds('--steps', 'accounts,funds'))[0]).toBe(
    'fail funds: Asked for with --funds, and did not run: this bank has no confirmation of funds (skipped, exit 12)',
  );
});

it('the tokens of a login are recognised, and not kept', () => {
  expect(printsOf({ accessToken: 'a1', refreshToken: null })).toEqual(['f55ff16f66f43360266b95db6f8fec01']);
  expect(printsOf({ accessToken: 'a1', refreshToken: 'r1' })).toHaveLength(2);
});
