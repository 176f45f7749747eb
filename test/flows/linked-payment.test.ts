import { describe, expect, it } from 'vitest';
import type { BankFile } from '../../src/bank/interfaces/nextgenpsd2/description/schema.ts';
import { parseDate } from '../../src/domain/calendar.ts';
import { isPlainlyFailed, standingOf } from '../../src/domain/flow-states.ts';
import { type ErrorCode, Psd2Error } from '../../src/errors.ts';
import { askOfOperation } from '../../src/flows/resolve.ts';
import { json, judgeByStandard, useNextGen } from '../bank/interfaces/nextgenpsd2/client.ts';
import { type ScriptedAnswer, useRecordedBank } from '../bank/recorded-bank.ts';
import { temporaryFolder } from '../store/temporary-folder.ts';
import { errorOf, fakeCustomer } from './doubles.ts';
import { linksTo, newPayment, PAGE, paymentScriptOf } from './linked-payments.ts';

// A payment at a NextGenPSD2 bank: every point at which an answer can be lost, or psd2 killed (section 4).

// A repeated initiation has the id of the first one.
const recorded = useRecordedBank((request, certificates, earlier) =>
  judgeByStandard(request, certificates, earlier).filter((problem) => problem !== 'with a used X-Request-ID'),
);
const open = useNextGen(recorded);
const bank = paymentScriptOf(recorded);
const temporary = temporaryFolder();

type Payments = NonNullable<BankFile['payments']>;
const payment = (payments: Payments = {}, more: Parameters<typeof newPayment>[2] = {}) =>
  newPayment(temporary, open({ file: { payments } }).bank, more);

/** A payment whose initiation was sent, and has no answer. */
async function unanswered(payments: Payments = {}) {
  const paying = await payment(payments);
  bank.initiate('cut before the answer');
  expect(await errorOf(paying.run())).toMatchObject({ code: 'outcome_unknown' });
  return paying;
}

const REPEATS = { repeat: 'same-answer', repeatMinutes: 60 } as const;
const NEVER = { executesWithoutSca: 'never' } as const;
const refused = (code: string, status = 400) =>
  json({ tppMessages: [{ category: 'ERROR', code, text: 'no' }] }, status);
const STATUS = '/v1/payments/sepa-credit-transfers/p1/status';
const SCA_STATUS = '/v1/payments/sepa-credit-transfers/p1/authorisations/a1';
/** What stops psd2 with this error. */
const stops = (code: ErrorCode) => () => Promise.reject(new Psd2Error(code, 'It stops'));
const posts = () => recorded.received.filter(({ method }) => method === 'POST');

describe('a payment', () => {
  it('the operator confirms, psd2 initiates, the customer authorises, and the bank’s status ends it', async () => {
    const paying = await payment();
    bank.initiate();
    bank.says('started', 'RCVD');
    bank.says('finalised', 'ACSP');
    const paid = await paying.run();
    expect(paid).toMatchObject({ state: 'executed', transactionStatus: 'ACSP', scaStatus: 'finalised' });
    expect(paying.customer.visited).toEqual([PAGE]);
    expect(paying.events()).toEqual([
      ...['created', 'accepted', 'verify-sent', 'verified', 'sca-started', 'sca-returned', 'executed'],
    ]);
    expect(JSON.parse(String(posts()[0]?.body))).toEqual({
      endToEndIdentification: 'INV-7',
      debtorAccount: { iban: 'DE02100100109307118603' },
      instructedAmount: { currency: 'EUR', amount: '12.50' },
      creditorAccount: { iban: 'IT60X0542811101000000123456' },
      creditorName: 'Mario Rossi',
      remittanceInformationUnstructured: 'Invoice 7',
    });
    expect(posts()[0]?.headers).toMatchObject({
      'psu-ip-address': expect.any(String),
      'tpp-redirect-uri': 'http://127.0.0.1:8910/callback?state=s1',
    });
  });

  it('the log of calls has its id from the answer to the initiation', async () => {
    const { bank: itsBank, observations } = open({ file: { payments: {} } });
    const paying = await newPayment(temporary, itsBank);
    bank.initiate();
    bank.says('finalised', 'ACSC');
    await paying.run();
    expect(observations.map(({ method, begun }) => [method, begun])).toEqual([
      ...[['POST', 'p1'], ...Array(2).fill(['GET', undefined])],
    ]);
  });

  it('the customer chooses the account at the bank, and psd2 records which one, once the bank names it', async () => {
    const paying = await payment(
      { debtorAccount: 'optional' },
      { order: { from: null, fromIban: undefined } },
    );
    const self = '/v1/payments/sepa-credit-transfers/p1';
    const named = { transactionStatus: 'ACSP', debtorAccount: { iban: 'DE02120300000000202051' } };
    bank.initiate();
    bank.says('finalised', 'ACSP');
    recorded.expect('GET', self, refused('SERVICE_BLOCKED', 403));
    expect(await paying.run()).toMatchObject({ state: 'executed', debtor: null });
    expect(JSON.parse(String(posts()[0]?.body)).debtorAccount).toBeUndefined();
    bank.says('finalised', 'ACSP');
    recorded.expect('GET', self, json({ ...named, paymentId: 'p2' }));
    expect(await paying.run()).toMatchObject({ state: 'executed', debtor: null });
    const { updatedAt } = await paying.stored();
    bank.says('finalised', 'ACSP');
    recorded.expect('GET', self, json(named));
    const debtor = 'DE02120300000000202051';
    expect(await paying.run()).toMatchObject({ state: 'executed', debtor, updatedAt });
    bank.says('finalised', 'ACSC');
    expect(await paying.run()).toMatchObject({ state: 'executed', debtor, isFinal: true });
    expect(paying.events().slice(-3)).toEqual(['executed', 'debtor-named', 'executed']);
  });

  it('the browser of one who refuses never returns, and others have authorised it: psd2 does not wait on', async () => {
    const bankFile = open({ file: { payments: {}, sca: { pollSeconds: 1 } } }).bank;
    const paying = await newPayment(temporary, bankFile, {}, fakeCustomer({}, null));
    bank.initiate();
    for (const _ of ['the browser', 'the status']) bank.says('failed', 'PATC');
    expect(await errorOf(paying.run())).toMatchObject({ code: 'still_open' });
  });

  it.each([
    ['the browser command fails', { sendBrowser: stops('config') }, 'still_open'],
    ['the disk is full', { whileWaiting: stops('config') }, 'still_open'],
    ['the port is taken, before the customer has the link', { listen: stops('config') }, 'config'],
    ['the operator presses Ctrl-C', { sendBrowser: stops('interrupted') }, 'interrupted'],
  ] as const)('%s: the error is right about the customer', async (_what, customer, code) => {
    const paying = await payment();
    Object.assign(paying.customer, customer);
    bank.initiate();
    const { next, ...error } = await errorOf(paying.run());
    expect(error.code).toBe(code);
    const { flow } = await paying.stored();
    const ways = ['resume', 'cancel'].map((verb) => ['transfer', verb, flow]);
    expect(next).toEqual(code === 'still_open' ? ways : undefined);
  });

  it('the operator says no, and psd2 has sent nothing', async () => {
    const paying = await payment();
    expect(await errorOf(paying.run(false))).toMatchObject({ code: 'cancelled' });
    expect(recorded.received).toEqual([]);
    expect(isPlainlyFailed(await paying.stored())).toBe(true);
  });

  it.each([
    ['payee', (body: string) => body.replace('IT60X0542811101000000123456', 'DE89370400440532013000')],
    ['name', (body: string) => body.replace('Mario Rossi', 'Maria Rossi')],
    ['amount', (body: string) => body.replace('12.50', '999.00')],
    ['currency', (body: string) => body.replace('EUR', 'USD')],
    ['account', (body: string) => body.replace('DE02100100109307118603', 'DE89370400440532013000')],
    ['text', (body: string) => body.replace('Invoice 7', 'Invoice 8')],
    ['day', (body: string) => body.replace('{', '{"requestedExecutionDate":"2030-01-01",')],
    ['repetition', (body: string) => body.replace('{', '{"frequency":"Daily",')],
    ['form', () => '<Document/>'],
  ])('somebody has changed its %s in the store: psd2 sends nothing', async (_, changed) => {
    const paying = await payment();
    const [created = '', ...rest] = paying.lines();
    const line = JSON.parse(created);
    line.event.initiation.body = changed(line.event.initiation.body);
    const edited = await payment({}, { journal: [JSON.stringify(line), ...rest] });
    for (const _ of ['at once', 'resumed'])
      expect(await errorOf(edited.run())).toMatchObject({
        code: 'config',
        message: 'The stored payment is not the one that was ordered',
      });
    expect(recorded.received).toEqual([]);
  });

  it('the bank refuses the token, and executes nothing without the customer: psd2 sends it once more with a new one', async () => {
    const tokens = { current: async () => 'old', renewed: async () => 'new' };
    const paying = await newPayment(temporary, open({ file: { payments: NEVER }, tokens }).bank);
    bank.initiate(refused('TOKEN_EXPIRED', 401));
    bank.initiate();
    bank.says('finalised', 'ACSC');
    expect((await paying.run()).state).toBe('executed');
    expect(posts().map(({ headers }) => headers.authorization)).toEqual(['Bearer old', 'Bearer new']);
  });

  it('the bank refuses the token, and may execute it: it is not sent again', async () => {
    const tokens = { current: async () => 'old', renewed: async () => 'new' };
    const paying = await newPayment(temporary, open({ tokens }).bank);
    bank.initiate(refused('TOKEN_EXPIRED', 401));
    await expect(paying.run()).rejects.toMatchObject({ code: 'outcome_unknown', bankCode: 'TOKEN_EXPIRED' });
    expect([posts().length, paying.events().at(-1)]).toEqual([1, 'execute-unanswered']);
  });

  it('the bank repeats its answer: the same bytes with the same id, also from another machine', async () => {
    bank.clock();
    const paying = await unanswered(REPEATS);
    const elsewhere = await payment({ repeat: 'unknown' }, { journal: paying.lines() });
    bank.clock();
    bank.initiate();
    bank.says('finalised', 'ACSC');
    expect((await elsewhere.run()).state).toBe('executed');
    const [first, second] = posts();
    expect(second?.body).toEqual(first?.body);
    expect(second?.headers['x-request-id']).toBe(first?.headers['x-request-id']);
    expect(second?.headers['tpp-redirect-uri']).toBe(first?.headers['tpp-redirect-uri']);
  });

  it('a repetition that never leaves is no evidence that nothing has left', async () => {
    bank.clock();
    const paying = await unanswered(REPEATS);
    const journal = paying.lines();
    const other = await payment({}, { journal });
    const { bank: down } = open({ baseUrl: 'https://127.0.0.1:1' });
    const cut = await newPayment(temporary, down, { journal });
    expect(await errorOf(cut.run())).toMatchObject({ code: 'outcome_unknown' });
    expect(await cut.stored()).toMatchObject({ mayExecuteWithoutUs: true });
    expect((await other.stored()).mayExecuteWithoutUs).toBe(true);
  });

  it.each<[string, { clock: number; bank: number | null; headers?: object; isRepeated?: true }]>([
    ['is right', { clock: 5, bank: 5, isRepeated: true }],
    ['is 10 minutes slow', { clock: 2, bank: 12 }],
    ['is 10 minutes fast', { clock: 15, bank: 5 }],
    ['is an hour slow', { clock: -55, bank: 5 }],
    ['is an hour fast', { clock: 65, bank: 5 }],
    ['is right, but the bank does not say its time', { clock: 5, bank: null, headers: { date: 'today' } }],
    ['is right, but something on the way answers for the bank', { clock: 5, bank: 5, headers: { age: '9' } }],
  ])('the clock of the second machine %s', async (_what, { clock, bank: there, headers, isRepeated }) => {
    const paying = await payment({ ...REPEATS, repeatMinutes: 10 });
    const begun = paying.world.now().getTime();
    bank.clock(paying.world.now());
    bank.initiate('cut before the answer');
    await errorOf(paying.run());
    const elsewhere = await payment({}, { journal: paying.lines() });
    elsewhere.world.pass(begun + clock * 60_000 - elsewhere.world.now().getTime());
    bank.clock(there === null ? undefined : new Date(begun + there * 60_000), headers);
    if (isRepeated) {
      bank.initiate();
      bank.says('finalised', 'ACSC');
      expect((await elsewhere.run()).state).toBe('executed');
    } else expect(await errorOf(elsewhere.run())).toMatchObject({ code: 'outcome_unknown' });
    expect(posts()).toHaveLength(isRepeated ? 2 : 1);
  });

  it('a bank that did not say its time is not trusted to give the same answer', async () => {
    recorded.expect('GET', '/v1/accounts', 'cut before the answer');
    const paying = await unanswered(REPEATS);
    bank.clock();
    expect(await errorOf(paying.run())).toMatchObject({ code: 'outcome_unknown' });
    expect(posts()).toHaveLength(1);
  });

  it('nobody holds the link, and the bank runs nothing without SCA: psd2 begins a new resource', async () => {
    const paying = await unanswered(NEVER);
    paying.logged.is = { answer: 'lost' };
    bank.initiate();
    bank.says('finalised', 'ACSC');
    expect((await paying.run()).state).toBe('executed');
    expect(paying.said.join()).toContain('initiates it again under the same reference');
    const [first, second] = posts();
    expect(second?.body).toEqual(first?.body);
    expect(second?.headers['x-request-id']).not.toBe(first?.headers['x-request-id']);
  });

  it('a journal that is older than the answer begins nothing: the customer may hold the link', async () => {
    const paying = await unanswered(NEVER);
    paying.logged.is = { answer: 'answered', resourceId: null };
    const older =
      'The bank has answered the initiation, but the journal of tr-1 does not have the answer. It may be older than a link that the customer has, so psd2 initiates nothing';
    for (const _ of ['first', 'second']) {
      const { code, message } = await errorOf(paying.run());
      expect([code, message.replace(paying.flow, 'tr-1')]).toEqual(['outcome_unknown', older]);
      expect(paying.events().filter((type) => type === 'execute-unanswered')).toHaveLength(1);
    }
    expect([(await paying.stored()).state, posts().length]).toEqual(['unknown', 1]);
  });

  it('a run that was killed while the initiation was sent leaves a payment that is unknown from the next run on', async () => {
    const whole = await unanswered();
    const killed = await payment({}, { journal: whole.lines().slice(0, 3) });
    expect((await killed.stored()).state).toBe('executing');
    const error = await errorOf(killed.run());
    expect(error.message.replace(killed.flow, 'tr-1')).toBe(
      'The journal of tr-1 does not say which resource of the bank it has, so psd2 cannot ask whether the transfer was executed',
    );
    expect([(await killed.stored()).state, posts().length]).toEqual(['unknown', 1]);
  });

  it.each([
    ['possible', {}],
    ['never', NEVER],
  ])(
    'the answer is not in the journal, but the log of calls has its id: psd2 asks the bank first (without SCA: %s)',
    async (_, payments) => {
      const paying = await unanswered(payments);
      paying.logged.is = { answer: 'answered', resourceId: 'p1' };
      // The customer has not decided, so they get a link.
      bank.is('RCVD');
      bank.start();
      bank.says('finalised', 'ACSC');
      expect(await paying.run()).toMatchObject({ state: 'executed', verification: { resourceId: 'p1' } });
      expect(posts().map(({ target }) => target)).toEqual([
        '/v1/payments/sepa-credit-transfers',
        '/v1/payments/sepa-credit-transfers/p1/authorisations',
      ]);
    },
  );

  it.each([
    ['ACSC', 'executed'],
    ['RJCT', 'failed'],
  ])('the log has the id, and the bank says %s: psd2 sends the customer nowhere', async (status, state) => {
    const whole = await unanswered();
    const restored = await payment({}, { journal: whole.lines().slice(0, 2) });
    restored.logged.is = { answer: 'answered', resourceId: 'p1' };
    bank.is(status);
    await restored.run().catch(() => {});
    expect((await restored.stored()).state).toBe(state);
    expect(posts()).toHaveLength(1);
  });

  it('a journal that has lost the initiation sends no other one', async () => {
    const paying = await payment();
    bank.initiate();
    bank.says('started', 'ACSC');
    await paying.run();
    const restored = await payment({}, { journal: paying.lines().slice(0, 2) });
    restored.logged.is = { answer: 'lost' };
    expect(await errorOf(restored.run())).toMatchObject({ code: 'outcome_unknown' });
    expect(posts()).toHaveLength(1);
  });

  it('a bank that may ask the customer in its app is not asked for another payment', async () => {
    const file = { payments: NEVER, sca: { approaches: ['redirect' as const, 'decoupled' as const] } };
    const paying = await newPayment(temporary, open({ file }).bank);
    bank.initiate('cut before the answer');
    await errorOf(paying.run());
    expect(await errorOf(paying.run())).toMatchObject({ code: 'outcome_unknown' });
    expect(posts()).toHaveLength(1);
  });

  it('psd2 was killed after each event: the next one goes on, and initiates nothing again', async () => {
    const whole = await payment();
    bank.initiate();
    bank.says('finalised', 'ACSC');
    await whole.run();
    const lines = whole.lines();
    for (let kept = 4; kept < lines.length; kept += 1) {
      const cut = await payment({}, { journal: lines.slice(0, kept) });
      cut.logged.is = { answer: 'answered', resourceId: null };
      const before = posts().length;
      bank.says('finalised', 'ACSC');
      expect((await cut.run()).state).toBe('executed');
      expect(posts()).toHaveLength(before);
    }
  });
});

const CANCELLATIONS = '/v1/payments/sepa-credit-transfers/p1/cancellation-authorisations';
const CANCELLATION = `${CANCELLATIONS}/c1`;
const PASSWORD = { updatePsuAuthentication: { href: CANCELLATION } };

describe('the customer', () => {
  it('SCA has failed, and the bank has not accepted it after that: it has ended unpaid', async () => {
    const paying = await payment();
    bank.initiate();
    for (const _ of ['at first', 'once more, over connections of their own']) {
      bank.says('failed', 'RCVD');
      bank.authorisations('a1');
    }
    expect(await errorOf(paying.run())).toMatchObject({ code: 'not_authorised' });
    expect(await paying.stored()).toMatchObject({ state: 'rejected', scaStatus: 'failed' });
    const ports = recorded.received.slice(-3).map(({ clientPort }) => clientPort);
    expect(new Set(ports).size).toBe(3);
  });

  it.each([
    ['RCVD', () => bank.authorisations('a1')],
    ['RJCT', () => {}],
    ['CANC', () => {}],
  ])('an end that is the answer to somebody else (%s) decides nothing', async (status, others) => {
    const paying = await payment();
    bank.initiate();
    bank.says('failed', status);
    others();
    bank.says('started', 'RCVD');
    bank.says('finalised', 'ACSC');
    expect((await paying.run()).state).toBe('executed');
  });

  it('an end with the X-Request-ID of another request decides nothing', async () => {
    const headers = { 'X-Request-ID': '7f0c1b7e-6c1d-4a5c-9f53-0f5a2f4c9a11' };
    const paying = await payment();
    bank.initiate();
    bank.says('failed', 'RJCT');
    bank.sca('failed');
    recorded.expect('GET', STATUS, { ...json({ transactionStatus: 'RJCT' }), headers, isSilent: true });
    bank.says('finalised', 'ACSC');
    expect((await paying.run()).state).toBe('executed');
  });

  it('an end without an X-Request-ID decides as any other, at a bank that sends it elsewhere', async () => {
    const paying = await payment();
    bank.initiate();
    bank.says('failed', 'RJCT');
    bank.sca('failed');
    recorded.expect('GET', STATUS, { ...json({ transactionStatus: 'RJCT' }), isSilent: true });
    expect(await errorOf(paying.run())).toMatchObject({ code: 'not_authorised' });
  });

  it('an authorisation that they have completed is not opened again after a kill', async () => {
    const paying = await newPayment(temporary, open().bank, {}, fakeCustomer({ scaTimeoutMs: 1 }, null));
    bank.initiate();
    bank.says('started', 'RCVD');
    await errorOf(paying.run());
    expect(paying.customer.visited).toEqual([PAGE]);
    bank.says('finalised', 'RCVD');
    bank.says('finalised', 'PDNG');
    bank.says('finalised', 'ACSC');
    const again = await payment({}, { journal: paying.lines() });
    expect((await again.run()).state).toBe('executed');
    expect(again.customer.visited).toEqual([]);
  });

  it('a link to the authorisation of another payment is not asked', async () => {
    const paying = await newPayment(temporary, open().bank, {}, fakeCustomer({ scaTimeoutMs: 1 }, null));
    bank.initiate({ _links: linksTo({ scaStatus: { href: '/v1/payments/x/p2/authorisations/a2' } }) });
    bank.is('RCVD');
    await errorOf(paying.run());
    bank.is('ACSC');
    const again = await payment({}, { journal: paying.lines() });
    expect((await again.run()).state).toBe('executed');
  });

  describe.each([
    [
      'embedded SCA alone',
      { _links: { startAuthorisationWithPsuAuthentication: { href: '/v1/x' } } },
      { code: 'config', message: 'The profile allows no embedded SCA' },
    ],
    [
      'fees above the largest amount',
      { transactionFees: { amount: '1000.00', currency: 'EUR' }, _links: { scaRedirect: { href: PAGE } } },
      { code: 'invalid_amount', message: 'Too much' },
    ],
  ])('%s: no customer gets a link, and the bank cancels the payment', (what, answer, why) => {
    const isUnknownTwice = () => {
      for (const _ of ['once', 'again']) recorded.expect('GET', STATUS, refused('RESOURCE_UNKNOWN', 404));
    };
    const given = async () => {
      const paying = await payment();
      if (what.startsWith('fees'))
        paying.ports.refusesCost = () => new Psd2Error('invalid_amount', 'Too much');
      bank.initiate(answer);
      return paying;
    };

    it.each<[string, () => void]>([
      ['says so', () => bank.is('CANC')],
      ['does not know it any more', isUnknownTwice],
    ])('which it %s afterwards', async (_, says) => {
      const paying = await given();
      bank.cancel();
      says();
      expect(await errorOf(paying.run())).toMatchObject({
        ...why,
        hint: expect.stringMatching(/The bank has cancelled the transfer\.$/),
        next: undefined,
      });
      expect(paying.customer.visited).toEqual([]);
      expect(await paying.stored()).toMatchObject({
        ...{ state: 'cancelled', executionStatusDescription: why.message },
      });
    });

    const wantsSca = json({ transactionStatus: 'RCVD', _links: { scaRedirect: { href: PAGE } } }, 202);
    const MUST = 'the customer must authorise the cancellation';
    const TWICE = ['once', 'for execution'];
    const POLLS = Array(6).fill('within 10 s');
    it.each<[string, ScriptedAnswer, string[], string]>([
      ['the customer would have to authorise that', wantsSca, [], MUST],
      ['the bank does not', refused('SERVICE_INVALID', 405), TWICE, 'HTTP 405'],
      [
        'its status does not say so',
        { status: 204 },
        [...POLLS, 'for execution'],
        'its status does not say so',
      ],
    ])('unless %s: then the command that cancels it is named', async (_, says, asked, reason) => {
      const paying = await given();
      bank.cancel(says);
      for (const _ of asked) bank.is('RCVD');
      const error = await paying.run().catch((thrown: unknown) => thrown);
      expect(error).toMatchObject({
        ...{ ...why, flow: paying.flow, isDeadEnd: true, next: [['transfer', 'cancel', paying.flow]] },
        hint: expect.stringMatching(
          new RegExp(`No customer has the link, .*${reason}.*\\. Cancel it with:$`),
        ),
      });
      expect(paying.customer.visited).toEqual([]);
      expect(await paying.stored()).toMatchObject({ state: 'verified', verification: { resourceId: 'p1' } });
    });

    it.each([
      ['refuses', refused('RESOURCE_BLOCKED', 400), TWICE],
      ['takes', { status: 204 }, [...POLLS, 'for execution']],
    ])(
      'unless the bank has executed it when it %s the cancellation: then it is paid',
      async (_, answer, asked) => {
        const paying = await given();
        bank.cancel(answer);
        for (const _ of asked) bank.is('ACSC');
        expect((await paying.run()).state).toBe('executed');
        expect(paying.customer.visited).toEqual([]);
        expect(paying.said.join()).toContain('The bank has executed the transfer at once');
      },
    );
  });

  it('the bank takes fees: the operator is asked again, before the customer has a link', async () => {
    const paying = await payment(NEVER);
    bank.initiate({ transactionFees: { amount: '1.20', currency: 'EUR' } });
    expect(await errorOf(paying.run(true, false))).toMatchObject({ code: 'cancelled' });
    expect(paying.customer.visited).toEqual([]);
    expect(isPlainlyFailed(await paying.stored())).toBe(true);
  });
});

describe('the bank’s own word for a payment', () => {
  const LATER = { futureDays: 60 };
  const inADay = { executionDate: parseDate('--date', '2026-11-22'), futureDated: true };
  const failing = refused('INTERNAL_SERVER_ERROR', 500);
  const fails = (path: string) => {
    for (const _ of ['at once', 'retry', 'retry', 'retry'])
      recorded.expect('GET', `/v1/payments/sepa-credit-transfers/p1/${path}`, failing);
  };

  it.each(['started', 'unconfirmed', 'failed'])(
    'has checked one for a later day, but its authorisation is %s: it is not ordered',
    async (sca) => {
      const paying = await payment(LATER, { order: inADay });
      paying.customer.scaTimeoutMs = 100;
      bank.initiate({ transactionStatus: 'ACTC' });
      bank.says(sca, 'ACTC');
      expect(await errorOf(paying.run())).toMatchObject({ code: 'still_open' });
      const kept = await paying.stored();
      expect(kept).toMatchObject({ state: 'authorizing', transactionStatus: 'ACTC', scaStatus: sca });
      expect(standingOf(kept)).toBe('sent');
    },
  );

  describe('has only checked it, and no link leads to the authorisation', () => {
    const WITHOUT_LINK = { transactionStatus: 'ACTC', _links: { scaRedirect: { href: PAGE } } };

    it.each([
      ['for a later day', inADay],
      ['for today', {}],
    ])('%s: the customer has not authorised it, so it stays open', async (_day, order) => {
      const paying = await payment(LATER, { order });
      paying.customer.scaTimeoutMs = 100;
      bank.initiate(WITHOUT_LINK);
      bank.is('ACTC');
      bank.authorisations('a1');
      bank.sca('received');
      expect(await errorOf(paying.run())).toMatchObject({ code: 'still_open' });
      const kept = await paying.stored();
      expect(kept).toMatchObject({ state: 'authorizing', transactionStatus: 'ACTC', scaStatus: 'received' });
      expect(standingOf(kept)).toBe('sent');
    });

    it('the bank does not list them, and psd2 has not seen the browser return: the customer gets the link again', async () => {
      const says = (status: string) => {
        bank.is(status);
        recorded.expect('GET', SCA_STATUS.replace('/a1', ''), refused('SERVICE_INVALID', 405));
      };
      const paying = await payment(LATER, { order: inADay });
      Object.assign(paying.customer, { scaTimeoutMs: 100, atAnotherDevice: true });
      bank.initiate(WITHOUT_LINK);
      says('ACTC');
      expect(await errorOf(paying.run())).toMatchObject({ code: 'still_open' });
      expect(await paying.stored()).toMatchObject({ state: 'authorizing' });
      says('ACTC');
      bank.is('ACSP');
      expect((await paying.run()).state).toBe('executed');
      expect(paying.customer.visited).toEqual([PAGE, PAGE]);
    });
  });

  it('does not decide, and the bank does not say how far the authorisation is: a person may', async () => {
    const { bank: opened } = open({ file: { payments: NEVER } });
    const paying = await newPayment(temporary, opened);
    paying.customer.scaTimeoutMs = 100;
    bank.initiate();
    bank.says('started', 'RCVD');
    expect(await errorOf(paying.run())).toMatchObject({ code: 'still_open' });
    const kept = await paying.stored();
    bank.is('RCVD');
    fails('authorisations/a1');
    bank.is('RCVD');
    const said = await askOfOperation(
      async () => opened,
      kept,
      () => opened.payments.transfer(kept),
    );
    expect(said).toMatchObject({ outcome: null, events: [] });
    expect(said.sentences.join(' ')).toContain('RCVD');
  });
});

describe('a cancellation', () => {
  const executed = async () => {
    const paying = await payment();
    bank.initiate();
    bank.says('finalised', 'ACSP');
    await paying.run();
    return paying;
  };

  it('the customer returns to the machine that asks for it, whichever began the payment', async () => {
    const paying = await executed();
    paying.customer.redirectUri = 'http://127.0.0.1:9999/elsewhere';
    bank.cancel();
    bank.says('finalised', 'CANC');
    await paying.cancel();
    const request = recorded.received.find(({ method }) => method === 'DELETE');
    expect(request?.headers['tpp-redirect-uri']).toBe('http://127.0.0.1:9999/elsewhere?state=s1');
  });

  it('the bank wants the customer’s password for it (embedded SCA) once the authorisation starts: nothing leads there again', async () => {
    const paying = await executed();
    bank.cancel(json({ _links: { startAuthorisation: { href: CANCELLATIONS } } }, 202));
    recorded.expect('POST', CANCELLATIONS, json({ scaStatus: 'received', _links: PASSWORD }, 201));
    const error = await errorOf(paying.cancel());
    expect(error.code).toBe('config');
    expect(error.message).toContain('embedded SCA');
    expect(JSON.stringify(error.next ?? [])).not.toContain('cancel');
    expect((await paying.stored()).state).toBe('executed');
    expect(paying.customer.visited).toHaveLength(1);
  });
});
