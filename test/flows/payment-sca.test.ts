import { afterEach, describe, expect, it, vi } from 'vitest';
import type { Sca, ScaLinks, ScaTurn } from '../../src/bank/ports/customer.ts';
import type { ResourceStatus, ScaProgress } from '../../src/domain/payment-answers.ts';
import type { TransferEvent } from '../../src/domain/transfer.ts';
import { Psd2Error } from '../../src/errors.ts';
import { giveUpPayment } from '../../src/flows/payment/authorise.ts';
import { runOperation } from '../../src/flows/payment/loop.ts';
import { temporaryFolder } from '../store/temporary-folder.ts';
import { errorOf, type FakeCustomer, fakeCustomer, returnsTo, waitsOf } from './doubles.ts';
import {
  AT_THE_BANK,
  createdForExecute,
  createdTransfer,
  EVERY_STEP,
  FAILING,
  FIND_OUT,
  FLOW,
  paymentStatus,
  runOf,
  scaThatSays,
  transfersIn,
} from './stored-transfers.ts';

// SCA of a payment that the customer commits: from their link to the bank's word.

const transferAfter = transfersIn(temporaryFolder());
const PAGE = 'https://customers.bank.example/sca';
const LINKS: ScaLinks = { approach: 'redirect', redirect: PAGE, status: '/a1' };
const WITH_CODE: ScaLinks = { ...LINKS, confirmation: '/a1/code' };
const ACCEPTED: TransferEvent = { type: 'accepted' };
const INTENT = { requestId: 'q1', digest: null };

/** What psd2 says if it stops while the customer has the link. @param stopped why @param goesOn the options of the command that goes on */
const stillOpen = (stopped: string, ...goesOn: string[]) => ({
  code: 'still_open',
  message: `${stopped}. The payment is not over: the customer can still authorise it`,
  hint: 'Ask the bank what became of it, or end it there:',
  next: [
    ['transfer', 'resume', FLOW, ...goesOn],
    ['transfer', 'cancel', FLOW],
  ],
  ...{ flow: FLOW, transactionId: 't1' },
});

const OPEN = paymentStatus('RCVD', null, { awaitsSca: true });
const CHECKED = paymentStatus('ACTC', null);
const EXECUTED = paymentStatus('ACSC', 'executed');
const REJECTED = paymentStatus('RJCT', 'failed');
/** A transfer that the bank has, with links. */
const verified = (links: ScaLinks, ...more: TransferEvent[]) =>
  transferAfter(createdTransfer(), ACCEPTED, { ...AT_THE_BANK, links }, ...more);

const DONE: ScaProgress = { scaStatus: 'finalised', means: 'done', message: null };

/** How far the authorisation is, by question; the last one stays. */
function progressOf(...means: ScaProgress['means'][]): Pick<Sca, 'progress'> {
  return {
    async progress() {
      const next = (means.length > 1 ? means.shift() : means[0]) ?? 'done';
      return { scaStatus: next, means: next, message: null };
    },
  };
}

describe('the customer gets the link', () => {
  afterEach(() => void vi.useRealTimers());

  interface Scene {
    links?: ScaLinks;
    turn?: ScaTurn;
    sca?: Sca;
    customer?: FakeCustomer;
    more?: Partial<Sca>;
    events?: TransferEvent[];
  }
  async function authorise({
    links = LINKS,
    sca = scaThatSays(OPEN),
    customer = fakeCustomer(),
    ...scene
  }: Scene = {}) {
    const transfer = await verified(links, ...(scene.events ?? []));
    const turn: ScaTurn = scene.turn ?? { next: 'open', url: PAGE, links };
    const asked: unknown[] = [];
    const proceed: Sca['proceed'] = async ({ beforeSend, ...request }) => {
      asked.push([request.resourceId, request.links, request.redirectUri, request.transactionId]);
      await beforeSend(INTENT);
      return turn;
    };
    const confirmCode: Sca['confirmCode'] = async ({ beforeSend }) => {
      await beforeSend({ requestId: 'q2', digest: 'd' });
      return DONE;
    };
    const { waits, whileWaiting } = waitsOf();
    const run = runOf(transfer, {
      sca: { ...sca, proceed, confirmCode, ...scene.more },
      ports: { customer: { ...customer, whileWaiting } },
    });
    const ports = { ...run.ports, returns: returnsTo() };
    const end = runOperation(transfer.open, run.calls, ports, EVERY_STEP);
    return { ...transfer, end, asked, waits, customer };
  }

  it('it is durable before, and so is each request', async () => {
    const customer = fakeCustomer({}, { code: 'c1' });
    const { end, recorded, asked, waits } = await authorise({ links: WITH_CODE, customer });
    await end;
    expect(recorded()).toEqual([
      { type: 'approach-sent', ...INTENT },
      { type: 'sca-started', links: WITH_CODE },
      { type: 'sca-returned' },
      { type: 'code-sent', requestId: 'q2', digest: 'd' },
    ]);
    expect(asked).toEqual([['p1', WITH_CODE, 'http://127.0.0.1:8910/callback?state=s1', 't1']]);
    expect(waits).toEqual(['Waiting for the customer to authorise the transfer']);
    expect(customer.listeners).toEqual([{ state: 's1', purpose: 'confirmation', closed: true }]);
  });

  it('they are too late', async () => {
    vi.useFakeTimers({ toFake: ['setTimeout', 'clearTimeout'] });
    const { end } = await authorise({ customer: fakeCustomer({ scaTimeoutMs: 2_000 }, null) });
    const error = errorOf(end);
    await vi.advanceTimersByTimeAsync(2_000);
    const late = 'The customer did not authorise the transfer and come back within 2 s';
    expect(await error).toEqual(stillOpen(late));
  });

  const going = progressOf('going on');
  it.each<[string, ResourceStatus, Partial<Sca>, boolean]>([
    ['the bank waits for them', OPEN, going, true],
    ['the bank waits for them, and their authorisation is done', CHECKED, progressOf('done'), false],
    ['the bank has executed it', EXECUTED, going, false],
    ['the bank has rejected it', REJECTED, going, false],
  ])('their browser does not come back, and %s', async (_what, status, progress, waits) => {
    vi.useFakeTimers({ toFake: ['setTimeout', 'clearTimeout'] });
    const sca = { ...scaThatSays(status), ...progress };
    const { end } = await authorise({ sca, customer: fakeCustomer({ scaTimeoutMs: 10_000 }, null) });
    const ended = end.then(
      () => 'has decided',
      () => 'is late',
    );
    await vi.advanceTimersByTimeAsync(10_000);
    expect(await ended).toBe(waits ? 'is late' : 'has decided');
  });

  it.each<[string, known: [transactionStatus: string, scaStatus: string] | null, isNew: boolean]>([
    ['says something for the first time', null, true],
    ['says what it said before', ['RCVD', 'going on'], false],
    ['has another word for the payment', ['PDNG', 'going on'], true],
    ['has another word for the authorisation', ['RCVD', 'received'], true],
  ])('they are too late, and the bank %s: that is in the journal if it is new', async (_, known, isNew) => {
    vi.useFakeTimers({ toFake: ['setTimeout', 'clearTimeout'] });
    const [transactionStatus, scaStatus] = known ?? [];
    const bank = { transactionStatus: transactionStatus ?? null, scaStatus: scaStatus ?? null };
    const before: TransferEvent = { ...AT_THE_BANK, links: LINKS, bank };
    const { end, recorded } = await authorise({
      ...(known && { events: [before] }),
      sca: { ...scaThatSays(OPEN), ...progressOf('going on') },
      customer: fakeCustomer({ scaTimeoutMs: 10_000 }, null),
    });
    const late = errorOf(end);
    await vi.advanceTimersByTimeAsync(10_000);
    expect((await late).code).toBe('still_open');
    const said = {
      ...{ type: 'authorization', status: 'PENDING', bankStatus: 'RCVD' },
      bank: { transactionStatus: 'RCVD', scaStatus: 'going on' },
    };
    expect(recorded().slice(2)).toEqual(isNew ? [said] : []);
  });

  describe('their browser does not come back, and the bank', () => {
    const refused = (context: Psd2Error['context'], code: Psd2Error['code'] = 'bank_refused') =>
      new Psd2Error(code, 'No', { isBanks: true, ...context });
    const UNKNOWN = 'outcome_unknown The bank does not say what became of the transfer: No';
    const UNASKED = /^outcome_unknown The bank could not be asked since \S+ what became of the transfer: No$/;
    const STOPS = 'still_open No. The payment is not over: the customer can still authorise it';
    const LOGIN: ScaLinks = { approach: 'redirect', oauth: 'https://oauth.bank.example' };
    const noToken = refused({ refusal: 'unread' }, 'not_logged_in');
    it.each<[string, Error, ScaLinks, string | RegExp]>([
      ['refuses to say', refused({ refusal: 'content' }), LINKS, UNKNOWN],
      ['refuses to say, for another reason', refused({ refusal: 'other' }), LINKS, UNKNOWN],
      ['does not accept the token', noToken, LINKS, UNKNOWN],
      ['does not accept the token of the login with it', noToken, LOGIN, STOPS],
      ['has too many calls', refused({ refusal: 'unread' }, 'too_many_calls'), LINKS, UNASKED],
      [
        'does not answer, but a gateway',
        new Psd2Error('bank_refused', 'No', { refusal: 'other' }),
        LINKS,
        UNASKED,
      ],
      ['is away', new Psd2Error('bank_failing', 'No'), LINKS, UNASKED],
      ['cannot be asked with this setting', new Psd2Error('config', 'No'), LINKS, STOPS],
      ['is asked no more: Ctrl-C', new Psd2Error('interrupted', 'No'), LINKS, 'interrupted No'],
    ])('%s', async (_, error, links, says) => {
      vi.useFakeTimers({ toFake: ['setTimeout', 'clearTimeout'] });
      const customer = fakeCustomer({ scaTimeoutMs: 10_000 }, null);
      const { end } = await authorise({ links, customer, sca: scaThatSays(error) });
      const told = errorOf(end);
      await vi.advanceTimersByTimeAsync(10_000);
      const { code, message } = await told;
      expect(`${code} ${message}`).toMatch(says);
    });
  });

  describe('they refuse the login with it', () => {
    const server = 'https://oauth.bank.example';
    const refusing = {
      customer: fakeCustomer({}, { error: 'access_denied' }),
      turn: { next: 'log in', url: PAGE, server, links: { approach: 'redirect', oauth: server } },
    } as const;

    it.each([OPEN, FAILING])('and the bank does not say that it is over: %o', async (status) => {
      const { end, recorded } = await authorise({ ...refusing, sca: scaThatSays(status) });
      expect(await errorOf(end)).toEqual(stillOpen('The customer refused the login: access_denied'));
      expect(recorded().map(({ type }) => type)).toEqual(['approach-sent', 'sca-started']);
    });

    it('and the bank has ended it: the status comes next', async () => {
      const { end } = await authorise({ ...refusing, sca: scaThatSays(REJECTED) });
      expect((await end).state).toBe('authorizing');
    });
  });
});

describe('psd2 asks for the decision', () => {
  const AFTER = EVERY_STEP.filter((step) => step !== 'await-authorization');
  interface Scene {
    links?: ScaLinks;
    sentCode?: boolean;
    scaTimeoutMs?: number;
    events?: TransferEvent[];
    psuId?: string;
  }
  async function ask(
    sca: Sca,
    { links = LINKS, sentCode = false, scaTimeoutMs = 5_000, events = [], psuId }: Scene = {},
  ) {
    const transfer = await verified(links, ...events);
    const limits: unknown[] = [];
    const settings: Parameters<typeof fakeCustomer>[0] = {
      scaTimeoutMs,
      whileWaiting(text, work, milliseconds) {
        limits.push([text, milliseconds]);
        return work;
      },
    };
    const customer = fakeCustomer(settings, { code: 'c1' });
    const proceed: Sca['proceed'] = async () =>
      sentCode ? { next: 'open', url: PAGE, links } : { next: 'wait', links };
    const confirmCode: Sca['confirmCode'] = async () => DONE;
    const run = runOf(transfer, { sca: { ...sca, proceed, confirmCode }, ports: { customer } });
    const returns = returnsTo(psuId === undefined ? {} : { psuId });
    const end = runOperation(transfer.open, run.calls, { ...run.ports, returns }, AFTER);
    const decided = () => transfer.recorded().filter(({ type }) => !type.startsWith('sca-'));
    return { ...transfer, end, recorded: decided, limits, sleeps: run.sleeps };
  }
  const words = (transactionStatus: string, scaStatus: string | null) => ({
    bank: { transactionStatus, scaStatus },
  });
  const LATE = stillOpen('The customer did not authorise the transfer within 5 s');

  it('until there is one, and records it', async () => {
    const { end, recorded, limits, sleeps } = await ask(scaThatSays(OPEN, OPEN, EXECUTED));
    await end;
    expect(recorded()).toEqual([{ type: 'executed', cro: null, ...words('ACSC', null) }]);
    expect(limits).toEqual([["Waiting for the customer's decision", 5_000]]);
    expect(sleeps).toEqual([500, 1_000]);
  });

  it.each([undefined, 'ada'])('and names who is late, and can still authorise it: %s', async (psuId) => {
    const { end } = await ask(scaThatSays(OPEN), psuId === undefined ? {} : { psuId });
    const { code, message } = await errorOf(end);
    expect(`${code}: ${message}`).toBe(
      `still_open: ${psuId ?? 'The customer'} did not authorise the transfer within 5 s. The payment is not over: ${psuId ?? 'the customer'} can still authorise it`,
    );
  });

  it('they have authorised it, and the bank does not say whether it executes it: nobody knows', async () => {
    const { end, recorded, open } = await ask({ ...scaThatSays(CHECKED), ...progressOf('done') });
    expect(await errorOf(end)).toEqual({
      code: 'outcome_unknown',
      message: 'The bank does not say yet whether it executes the transfer',
      ...FIND_OUT,
    });
    expect(recorded()).toEqual([
      { type: 'authorization', status: 'PENDING', bankStatus: 'ACTC', ...words('ACTC', 'done') },
      { type: 'execute-unanswered' },
    ]);
    expect(open.current.state).toBe('unknown');
  });

  describe('the bank waits for a code', () => {
    const sca = (...means: ScaProgress['means'][]) => ({ ...scaThatSays(OPEN), ...progressOf(...means) });

    it('that only the browser brings: nothing is recorded', async () => {
      const { end, recorded } = await ask(sca('needs code'), { links: WITH_CODE });
      const lacksCode = "The bank waits for the code that only the customer's browser brings back";
      expect(await errorOf(end)).toEqual(stillOpen(lacksCode, '--paste'));
      expect(recorded()).toEqual([]);
    });

    it.each([
      ['that it has already', { links: WITH_CODE, sentCode: true }],
      ['for which it gave no link', { links: LINKS }],
    ])('%s', async (_what, scene) => {
      expect(await errorOf((await ask(sca('needs code'), scene)).end)).toEqual(LATE);
    });
  });
});

describe('a question that the bank does not answer', () => {
  const refused = (context: Psd2Error['context']) =>
    new Psd2Error('bank_refused', 'No such payment', { httpStatus: 404, bankCode: 'X', ...context });
  const answer = async (error: Error, created = createdTransfer()) => {
    const transfer = await transferAfter(created, ACCEPTED, AT_THE_BANK, { type: 'sca-started' });
    const { calls, ports } = runOf(transfer, { sca: scaThatSays(error) });
    return runOperation(transfer.open, calls, ports, EVERY_STEP);
  };

  it.each(['content', 'other'] as const)('is refused (%s): the payment may have run', async (refusal) => {
    const error = refused({ refusal });
    const end = answer(error);
    expect(await errorOf(end)).toEqual({
      code: 'outcome_unknown',
      message: 'The bank does not say what became of the transfer: No such payment',
      ...FIND_OUT,
    });
    await expect(end).rejects.toMatchObject({ httpStatus: 404, bankCode: 'X', cause: error });
  });

  it.each(['bank_failing', 'bank_unreachable', 'bank_answer', 'too_many_calls'] as const)(
    'meets %s after the customer had the link: the payment may have run',
    async (code) => {
      const error = new Psd2Error(code, 'Away');
      const end = answer(error);
      expect(await errorOf(end)).toMatchObject({ code: 'outcome_unknown' });
      await expect(answer(error, createdForExecute())).rejects.toBe(error);
    },
  );

  it('does not accept the token of the login: another login comes first in what can be done', async () => {
    const next = [['auth', 'login']];
    const error = new Psd2Error('not_logged_in', 'No', { refusal: 'unread', hadToken: true, next });
    const end = answer(error);
    expect(await errorOf(end)).toMatchObject({
      ...{ code: 'outcome_unknown', next: [...next, ...FIND_OUT.next] },
    });
  });

  it('stays as it is where psd2 commits', async () => {
    const error = refused({ refusal: 'content' });
    await expect(answer(error, createdForExecute())).rejects.toBe(error);
  });
});

describe('a payment that nobody may get a link to any more', () => {
  const WHY = new Psd2Error('invalid_amount', 'It costs too much', { hint: 'See the limit.' });
  const begun = (psuId: string, id?: string): TransferEvent =>
    id === undefined
      ? { type: 'approach-sent', ...INTENT, psuId }
      : { type: 'sca-started', links: { ...LINKS, id }, psuId };
  const gave = (psuId: string, begins = true): TransferEvent => ({
    ...{ type: 'credential-sent', what: 'password', requestId: 'q3', digest: null, psuId },
    ...(begins && { begins }),
  });
  const signed: TransferEvent = {
    ...{ type: 'authorization', status: 'PENDING', bankStatus: 'PATC' },
    bank: { transactionStatus: 'PATC', scaStatus: 'finalised' },
  };
  /** The log of calls alone knows it, and not whose it is. */
  const FOUND: TransferEvent = {
    ...{ type: 'credential-sent', what: 'code', requestId: 'q4', digest: null, isFound: true },
  };

  it.each<[string, TransferEvent[], isCancelled: boolean]>([
    ['nobody has begun to authorise it', [], true],
    ['one has begun, who gets no link', [begun('ada')], true],
    ['one has begun twice', [begun('ada'), begun('ada', 'a1'), begun('ada', 'a2')], true],
    ['one has authorised it', [begun('ada', 'a1'), signed], false],
    ['a person before the last one has a link', [begun('ada', 'a1'), begun('ben')], false],
    ['a person before the last one has authorised it', [begun('ada', 'a1'), signed, begun('ben')], false],
    [
      'the person before the last one has a link too',
      [begun('ada', 'a1'), gave('ben'), begun('cleo')],
      false,
    ],
    ['the person before the last one gave psd2 their PIN', [gave('ada'), begun('ben')], true],
    ['all before the last one gave psd2 their PINs', [gave('ada'), gave('ben'), begun('cleo')], true],
    ['somebody gave psd2 a TAN, and nobody knows who', [FOUND, begun('ben')], false],
    ['a PIN is of the last one alone', [begun('ada', 'a1'), gave('ben')], false],
  ])(
    'is cancelled by psd2 itself only if no other person can authorise it: %s',
    async (_, events, isCancelled) => {
      const transfer = await transferAfter(
        ...[createdTransfer({ commits: 'on execute' }), ACCEPTED, AT_THE_BANK, ...events],
      );
      const run = runOf(transfer, { sca: scaThatSays(OPEN) });
      const error = await errorOf(giveUpPayment(run, WHY));
      expect(error).toMatchObject({ code: 'invalid_amount', message: 'It costs too much', flow: FLOW });
      expect(transfer.recorded()).toEqual(
        isCancelled ? [{ type: 'cancelled', description: 'It costs too much' }] : [],
      );
      expect([error.hint, error.next]).toEqual(
        isCancelled
          ? ['See the limit.', undefined]
          : [
              'See the limit. Nobody else gets a link from psd2. Cancel the payment at the bank with:',
              [['transfer', 'cancel', FLOW]],
            ],
      );
    },
  );
});
