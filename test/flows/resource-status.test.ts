import { describe, expect, it } from 'vitest';
import type { Sca, ScaLinks } from '../../src/bank/ports/customer.ts';
import { NO_END } from '../../src/domain/given-links.ts';
import type { StepEvent } from '../../src/domain/operation.ts';
import type { PaymentReading, ResourceStatus, ScaProgress } from '../../src/domain/payment-answers.ts';
import type { Transfer, TransferEvent } from '../../src/domain/transfer.ts';
import { Psd2Error } from '../../src/errors.ts';
import { askBank, needsLoginAgain } from '../../src/flows/payment/status.ts';
import { temporaryFolder } from '../store/temporary-folder.ts';
import { errorOf } from './doubles.ts';
import {
  AT_THE_BANK,
  createdForExecute,
  createdTransfer,
  FAILING,
  FLOW,
  INTERRUPTED,
  paymentStatus,
  scaThatSays,
  transfersIn,
} from './stored-transfers.ts';

// What the bank's status says of a payment. A bank may have checked a payment before the customer has authorised it, with the
// same word as afterwards.

const transferAfter = transfersIn(temporaryFolder());
const PAGE = 'https://customers.bank.example/sca';
const REDIRECT: ScaLinks = { approach: 'redirect', redirect: PAGE };
const LOGIN: ScaLinks = { approach: 'redirect', oauth: 'https://oauth.bank.example' };
const WITH_STATUS: ScaLinks = { ...REDIRECT, status: '/a1' };
const WITH_ID: ScaLinks = { ...WITH_STATUS, id: 'a1' };

const passed = (word: string) =>
  ({ authorization: { type: 'authorization', status: 'AUTHORIZED', bankStatus: word } }) as const;
const OPEN = paymentStatus('RCVD', null, { awaitsSca: true, isUnauthorised: true });
const CHECKED = paymentStatus('ACTC', null, passed('ACTC'));
const ORDERED = paymentStatus('ACTC', 'ordered', passed('ACTC'));
const OTHER_WORD = paymentStatus('ACFC', null, passed('ACFC'));
const EXECUTED = paymentStatus('ACTC', 'executed', passed('ACTC'));

const CANCELLED = paymentStatus('CANC', 'cancelled');
const DECLINED = paymentStatus('RJCT', null, {
  authorization: { type: 'authorization', status: 'NOT_AUTHORIZED', bankStatus: 'RJCT' },
});

const RETURNED: TransferEvent = { type: 'sca-returned' };
const AUTHORIZED: TransferEvent = { type: 'authorization', status: 'AUTHORIZED', bankStatus: 'ACTC' };
const IN_BASKET: TransferEvent = { type: 'bulk-joined', bulk: 'op-1' };
const AGAIN: TransferEvent = { type: 'approach-sent', requestId: 'q1', digest: null };

const refused = new Psd2Error('bank_refused', 'There is no such call', { refusal: 'other' });
const unreadable = new Psd2Error('bank_answer', 'No JSON');

/** The bank has said ACTC of it, and the customer has the link. */
async function withTheCustomer(links: ScaLinks | null, ...more: TransferEvent[]) {
  const verified = {
    ...{ ...AT_THE_BANK, bank: { transactionStatus: 'ACTC', scaStatus: null } },
    ...(links && { links }),
  };
  const { open } = await transferAfter(createdTransfer(), verified, { type: 'sca-started' }, ...more);
  return open.current;
}

const found = (
  status: 'PENDING' | 'AUTHORIZED' | 'NOT_AUTHORIZED',
  word: string,
  scaStatus: string | null = null,
): StepEvent => ({
  ...{ type: 'authorization', status, bankStatus: word },
  bank: { transactionStatus: word, scaStatus },
});
const UNDECIDED = found('PENDING', 'ACTC');
const ALLOWED = found('AUTHORIZED', 'ACTC');
const executed = (scaStatus: string | null = null, word = 'ACTC'): StepEvent => ({
  ...{ type: 'executed', cro: null },
  bank: { transactionStatus: word, scaStatus },
});
const cancelled = { type: 'cancelled', bank: { transactionStatus: 'CANC', scaStatus: null } } as const;
const FAILED = {
  ...{ type: 'settlement', status: 'KO', description: null },
  bank: { transactionStatus: 'ACTC', scaStatus: null },
} as const;
const ordered = (scaStatus: string | null = null): StepEvent => ({
  type: 'ordered',
  bank: { transactionStatus: 'ACTC', scaStatus },
});

/** What psd2 asks, and the answer. */
async function look(
  operation: Transfer,
  status: ResourceStatus | Error,
  more: Partial<Sca> = {},
  isInAuthorisedBasket = false,
) {
  const sca = { ...scaThatSays(status), ...more };
  return askBank(sca, operation, { isInAuthorisedBasket });
}

/** A reading that says nothing more than this. */
const only = (said: Pick<PaymentReading, 'event' | 'awaitsCustomer'> & Partial<PaymentReading>) => ({
  ...{ isUnauthorised: false, isSigned: false, isOverHere: false },
  ...{ partly: null, progress: null, saidAt: undefined },
  ...said,
});

describe('the bank does not say how far the authorisation is', () => {
  it.each<[string, ScaLinks | null, TransferEvent[]]>([
    ['a link', REDIRECT, []],
    ['a login', LOGIN, []],
    ['a link that begins one', { approach: null, start: '/start' }, []],
    ['the bank’s app', { approach: 'decoupled' }, []],
    ['what the bank tells them', { approach: null, message: 'Open the app' }, []],
  ])('and the customer has %s: the same word is no news', async (_what, links, events) => {
    const operation = await withTheCustomer(links, ...events);
    for (const status of [CHECKED, ORDERED])
      expect(await look(operation, status)).toEqual(only({ event: UNDECIDED, awaitsCustomer: true }));
  });

  it.each<[string, ScaLinks | null, TransferEvent[]]>([
    ['has nothing to do', { ...REDIRECT, isDone: true }, []],
    ['has no way to do it', { approach: null }, []],
    ['has no way to do it by a browser', { approach: 'redirect' }, []],
    ['has no links', null, []],
    ['has come back from the login', LOGIN, [RETURNED]],
    ['has authorised it', REDIRECT, [AUTHORIZED]],
  ])('and the customer %s: the same word counts', async (_what, links, events) => {
    const operation = await withTheCustomer(links, ...events);
    expect(await look(operation, CHECKED)).toEqual(only({ event: ALLOWED, awaitsCustomer: false }));
    expect((await look(operation, ORDERED)).event).toEqual(ordered());
  });

  it('and the customer has come back: the same word is no news, but only the bank is missing', async () => {
    const operation = await withTheCustomer(REDIRECT, RETURNED);
    expect(await look(operation, CHECKED)).toEqual(only({ event: UNDECIDED, awaitsCustomer: false }));
  });

  it.each([
    ['another word', OTHER_WORD, found('AUTHORIZED', 'ACFC'), false],
    ['that it is executed', EXECUTED, executed(), false],
    ['that it waits', OPEN, found('PENDING', 'RCVD'), true],
    ['that it is open', paymentStatus('ACTC'), found('PENDING', 'ACTC'), false],
    ['that it has failed', paymentStatus('ACTC', 'failed', passed('ACTC')), FAILED, false],
    ['that it is cancelled', CANCELLED, cancelled, false],
  ] as const)('and it says %s: that counts', async (_what, status, event, awaitsCustomer) => {
    expect(await look(await withTheCustomer(REDIRECT), status)).toMatchObject({
      event,
      awaitsCustomer,
    });
  });

  describe('of a payment in a signing basket', () => {
    it('the same word is no news, and its own links do not matter', async () => {
      for (const links of [null, REDIRECT, LOGIN])
        expect(await look(await withTheCustomer(links, RETURNED, IN_BASKET), CHECKED)).toEqual(
          only({ event: UNDECIDED, awaitsCustomer: false }),
        );
    });

    it('that they have authorised: the same word counts', async () => {
      const operation = await withTheCustomer(REDIRECT, IN_BASKET);
      expect(await look(operation, CHECKED, {}, true)).toEqual(
        only({ event: ALLOWED, awaitsCustomer: false }),
      );
    });

    it('which has no authorisation of its own: it is not asked for', async () => {
      const progressWithoutLink = () => Promise.reject(new TypeError('asked'));
      const operation = await withTheCustomer(REDIRECT, IN_BASKET);
      expect((await look(operation, CHECKED, { progressWithoutLink })).event).toEqual(UNDECIDED);
    });
  });
});

describe('the bank says how far the authorisation is', () => {
  const at = (means: ScaProgress['means']): Pick<Sca, 'progress'> => ({
    progress: async () => ({ scaStatus: `is ${means}`, means, message: null }),
  });

  it.each<[ScaProgress['means'], ResourceStatus, StepEvent, boolean]>([
    ['going on', CHECKED, found('PENDING', 'ACTC', 'is going on'), true],
    ['going on', ORDERED, found('PENDING', 'ACTC', 'is going on'), true],
    ['needs code', OTHER_WORD, found('PENDING', 'ACFC', 'is needs code'), true],
    ['going on', OPEN, found('PENDING', 'RCVD', 'is going on'), true],
    ['going on', EXECUTED, executed('is going on'), true],
    ['going on', DECLINED, found('NOT_AUTHORIZED', 'RJCT', 'is going on'), true],
    ['done', CHECKED, found('AUTHORIZED', 'ACTC', 'is done'), false],
    ['done', ORDERED, ordered('is done'), false],
    ['done', OPEN, found('PENDING', 'RCVD', 'is done'), false],
    ['failed', CHECKED, found('PENDING', 'ACTC', 'is failed'), true],
    ['failed', paymentStatus('RCVD'), found('PENDING', 'RCVD', 'is failed'), true],
    ['failed', EXECUTED, executed('is failed'), true],
  ])('%s, and its status is %o', async (means, status, event, awaitsCustomer) => {
    expect(await look(await withTheCustomer(WITH_STATUS), status, at(means))).toMatchObject({
      ...{ event, awaitsCustomer },
    });
  });

  it.each([
    ['instant', {}, 'done', 'AUTHORIZED'],
    ['instant', {}, 'going on', 'PENDING'],
    ['instant, for a later day', { futureDated: true }, 'done', 'PENDING'],
    ['not instant', { instant: false }, 'done', 'PENDING'],
  ] as const)(
    'of one that is %s %j, but not its status: if %s, it is %s',
    async (_, order, means, status) => {
      const operation = await withTheCustomer(WITH_STATUS);
      const instant = { ...operation, order: { ...operation.order, instant: true, ...order } };
      expect((await look(instant, OPEN, at(means))).event).toEqual(found(status, 'RCVD', `is ${means}`));
      // Others must authorise it, or nobody knows.
      expect((await look(instant, paymentStatus('PATC'), at(means))).event).toMatchObject({
        status: 'PENDING',
      });
    },
  );

  it.each([
    ['failed', [], 'ours is over', true],
    ['done', [], 'ours is over', false],
    ['going on', [], 'ours is open', false],
    // As long as the code of this customer's page is missing, nobody has authorised it.
    ['needs code', [], null, false],
    [null, [], 'ours is over', false],
    [null, [AGAIN], 'ours is open', false],
  ] as const)('%s after %j, and others have authorised it: %s', async (means, events, partly, isOverHere) => {
    const operation = await withTheCustomer(WITH_STATUS, ...events);
    const status = paymentStatus('PATC', null, { isPartly: true, isStanding: true });
    const says = means === null ? { progress: async () => null } : at(means);
    const looked = await look(operation, status, says);
    expect([looked.partly, looked.isOverHere]).toEqual([partly, isOverHere]);
  });

  it.each([
    ['authorizing', { type: 'authorization', status: 'NOT_AUTHORIZED', description: 'AC04' }],
    ['ordered', { type: 'settlement', status: 'KO' }],
    ['executed', { type: 'settlement', status: 'KO' }],
    ['settled', { type: 'settlement', status: 'KO' }],
  ] as const)('it has failed, and the bank rejects a payment that is %s', async (state, event) => {
    const operation = { ...(await withTheCustomer(WITH_STATUS)), state };
    const why = { code: 'AC04', proprietary: null, level: 'payment', text: null } as const;
    const rejected = paymentStatus('RJCT', 'failed', { reasons: [why] });
    expect((await look(operation, rejected, at('failed'))).event).toMatchObject(event);
  });

  const declined = found('NOT_AUTHORIZED', 'RCVD', 'is failed');
  const open = found('PENDING', 'RCVD', 'is failed');
  const listing = (...ids: string[]): Partial<Sca> => ({ authorisations: async () => ids });
  const refusing = (why: Psd2Error): Partial<Sca> => ({ authorisations: () => Promise.reject(why) });
  it.each<[string, Partial<Sca>, TransferEvent[], StepEvent, ScaLinks?]>([
    ['and there is no other', listing('a1'), [], declined],
    ['and the bank lists none', listing(), [], declined],
    ['and there is another', listing('a1', 'a2'), [], open],
    ['and the bank lists another alone', listing('a2'), [], open],
    ['and the bank lists one, and did not say the id of ours', listing('a2'), [], declined, WITH_STATUS],
    ['and the bank lists two, and did not say the id of ours', listing('a1', 'a2'), [], open, WITH_STATUS],
    ['and the bank has no such list', {}, [], declined],
    ['and the bank itself refuses to list them', refusing(refused.with({ isBanks: true })), [], declined],
    ['and somebody before the bank refuses to list them', refusing(refused), [], open],
    ['and the bank fails to list them', refusing(FAILING), [], open],
    ['and psd2 has begun another', listing('a1'), [AGAIN], open],
    ['of a payment in a basket', listing('a1'), [IN_BASKET], open],
  ])('it has failed, %s', async (_what, sca, events, event, links = WITH_ID) => {
    const operation = await withTheCustomer(links, ...events);
    const looked = await look(operation, OPEN, { ...at('failed'), ...sca });
    expect(looked.event).toEqual(event);
    // Nobody waits for a customer whose authorisation is over. Others are waited for in another place.
    expect(looked.isOverHere).toBe(event === open && events.length === 0);
  });

  it('it has failed, and the others are asked for with the same payment', async () => {
    const asked: string[][] = [];
    const authorisations = async (...of: string[]) => {
      asked.push(of);
      return ['a1'];
    };
    await look(await withTheCustomer(WITH_ID), OPEN, { ...at('failed'), authorisations });
    expect(asked).toEqual(Array(2).fill(['p1', 't1']));
    const interrupted = { ...at('failed'), ...refusing(INTERRUPTED) };
    await expect(look(await withTheCustomer(WITH_ID), OPEN, interrupted)).rejects.toBe(INTERRUPTED);
  });

  it('it refuses to: its status counts alone', async () => {
    const progress = () => Promise.reject(refused);
    expect((await look(await withTheCustomer(WITH_STATUS), OTHER_WORD, { progress })).event).toEqual(
      found('AUTHORIZED', 'ACFC'),
    );
  });

  describe('it fails to', () => {
    const progress = () => Promise.reject(FAILING);

    it.each([
      [EXECUTED, executed()],
      // Whether the customer's link works, the bank does not say.
      [CANCELLED, { ...cancelled, linkUntil: NO_END }],
    ])('but says what became of the payment: %o', async (status, event) => {
      expect(await look(await withTheCustomer(WITH_STATUS), status, { progress })).toEqual(
        only({ event, awaitsCustomer: false }),
      );
    });

    it.each([OPEN, CHECKED, OTHER_WORD, ORDERED])(
      'and its status decides nothing alone: %o',
      async (status) => {
        await expect(look(await withTheCustomer(WITH_STATUS), status, { progress })).rejects.toBe(FAILING);
      },
    );

    it.each([INTERRUPTED, new TypeError('A bug')])('because of what is no failure: %s', async (error) => {
      const ends = () => Promise.reject(error);
      await expect(look(await withTheCustomer(WITH_STATUS), EXECUTED, { progress: ends })).rejects.toBe(
        error,
      );
    });
  });
});

describe('no link says how far the authorisation is, but the bank lists them', () => {
  const asked: string[][] = [];
  const lists = (answer: ScaProgress['means'] | Error | null): Partial<Sca> => ({
    async progressWithoutLink(...of) {
      asked.push(of);
      if (answer instanceof Error) throw answer;
      return answer && { scaStatus: `is ${answer}`, means: answer, message: null };
    },
  });

  it.each<[ScaProgress['means'] | Error | null, StepEvent, boolean]>([
    ['done', found('AUTHORIZED', 'ACTC', 'is done'), false],
    ['going on', found('PENDING', 'ACTC', 'is going on'), true],
    [null, found('PENDING', 'ACTC'), true],
    [refused, found('PENDING', 'ACTC'), true],
    [unreadable, found('PENDING', 'ACTC'), true],
  ])('as %o', async (answer, event, awaitsCustomer) => {
    asked.length = 0;
    expect(await look(await withTheCustomer(REDIRECT), CHECKED, lists(answer))).toEqual(
      only({ event, awaitsCustomer, isSigned: answer === 'done' }),
    );
    expect(asked).toEqual([['p1', 't1']]);
  });

  it.each([FAILING, INTERRUPTED])('or fails to: %s', async (error) => {
    await expect(look(await withTheCustomer(REDIRECT), CHECKED, lists(error))).rejects.toBe(error);
  });

  it('they are not asked for if a link says it', async () => {
    asked.length = 0;
    const progress = async () => ({ scaStatus: 'started', means: 'going on', message: null }) as const;
    await look(await withTheCustomer(WITH_STATUS), CHECKED, { ...lists('done'), progress });
    expect(asked).toEqual([]);
  });

  it('they are asked for if the link says nothing', async () => {
    const progress = () => Promise.reject(refused);
    const looked = await look(await withTheCustomer(WITH_STATUS), CHECKED, { ...lists('done'), progress });
    expect(looked).toMatchObject({ isSigned: true });
  });

  it.each<[string, ScaLinks | null, ResourceStatus]>([
    ['the customer has nothing to do', { ...REDIRECT, isDone: true }, CHECKED],
    ['the payment is open', REDIRECT, OPEN],
    ['the payment is executed', REDIRECT, EXECUTED],
  ])('they are not asked for if %s', async (_what, links, status) => {
    asked.length = 0;
    await look(await withTheCustomer(links), status, lists('done'));
    expect(asked).toEqual([]);
  });
});

it('at a bank that has execute, the status alone counts', async () => {
  const { current } = (await transferAfter(createdForExecute(), AT_THE_BANK)).open;
  const ask = () => Promise.reject(new TypeError('asked'));
  expect(await look(current, CHECKED, { progress: ask, progressWithoutLink: ask })).toEqual(
    only({ event: CHECKED.authorization, awaitsCustomer: false }),
  );
});

it('without a resource the journal is damaged, and nothing is asked', async () => {
  const { current } = (await transferAfter(createdTransfer())).open;
  const sca = scaThatSays(OPEN);
  const end = Promise.resolve().then(() => askBank(sca, current));
  expect(await errorOf(end)).toEqual({
    code: 'config',
    message: `The journal of ${FLOW} does not have the line with its resource at the bank`,
    hint: 'The journal is the record of a flow. Restore it from a backup.',
    ...{ next: undefined, flow: undefined, transactionId: undefined },
  });
  expect(sca.asked).toEqual([]);
});

describe('the bank wants the token of the login with the payment', () => {
  const noToken = new Psd2Error('not_logged_in', 'The token has ended', { refusal: 'unread', isBanks: true });
  const tooMany = new Psd2Error('too_many_calls', 'x', { refusal: 'unread', isBanks: true });
  const advised = {
    ...{ code: 'not_logged_in', message: 'The token has ended' },
    hint: 'The customer logs in for it again with:',
    next: [['transfer', 'resume', FLOW]],
    ...{ flow: undefined, transactionId: undefined },
  };
  const progress = () => Promise.reject(noToken);

  it('and refuses the one that psd2 has: the customer logs in again', async () => {
    const operation = await withTheCustomer({ ...LOGIN, status: '/a1' });
    expect(await errorOf(look(operation, noToken))).toEqual(advised);
    expect(await errorOf(look(operation, EXECUTED, { progress }))).toEqual(advised);
    const list = { progressWithoutLink: progress };
    expect(await errorOf(look(await withTheCustomer(LOGIN), CHECKED, list))).toEqual(advised);
  });

  it('and refuses it where no login would help', async () => {
    const operation = await withTheCustomer(WITH_STATUS);
    await expect(look(operation, noToken)).rejects.toBe(noToken);
    expect((await look(operation, EXECUTED, { progress })).event).toEqual(executed());
  });

  it.each<[string, Error, ScaLinks | null, TransferEvent[], boolean]>([
    ['while the customer authorises it', noToken, LOGIN, [], true],
    ['after that', noToken, LOGIN, [AUTHORIZED], false],
    ['without links', noToken, null, [], false],
    ['with another link', noToken, REDIRECT, [], false],
    ['or a gateway does', new Psd2Error('not_logged_in', 'x', { refusal: 'unread' }), LOGIN, [], false],
    ['or has too many calls', tooMany, LOGIN, [], false],
    ['or fails', FAILING, LOGIN, [], false],
  ])('%s: another login helps', async (_what, error, links, events, expected) => {
    expect(needsLoginAgain(error, await withTheCustomer(links, ...events))).toBe(expected);
  });
});

describe('the bank has cancelled a payment whose customer has its link', () => {
  const GOING_ON: ScaProgress = { scaStatus: 'started', means: 'going on', message: null };
  const DONE: ScaProgress = { scaStatus: 'finalised', means: 'done', message: null };
  const bank = { transactionStatus: 'CANC' };
  const NOBODY_KNOWS = { type: 'execute-unanswered', bank };
  const BY_LINK = { ...NOBODY_KNOWS, isPaidByLink: true };
  const ours: TransferEvent = { type: 'cancel-taken' };

  it.each<[string, Partial<Transfer>, goesOn: object, done: object]>([
    ['nothing else', {}, { type: 'cancelled', bank, linkUntil: NO_END }, BY_LINK],
    ['that it has another one like it', { isDuplicate: true }, NOBODY_KNOWS, BY_LINK],
    ['that the customer has authorised it since', { isPaidByLink: true }, NOBODY_KNOWS, NOBODY_KNOWS],
    ['both', { isDuplicate: true, isPaidByLink: true }, NOBODY_KNOWS, NOBODY_KNOWS],
    ['so by the answer to a call', { authorises: 'by call' }, { type: 'cancelled' }, { type: 'cancelled' }],
  ])('and has said before %s', async (_, known, goesOn, done) => {
    const operation = { ...(await withTheCustomer(WITH_STATUS, ours)), ...known };
    for (const [says, event] of [
      [GOING_ON, goesOn],
      [DONE, done],
    ] as const)
      expect((await look(operation, CANCELLED, { progress: async () => says })).event).toMatchObject(event);
  });
});

describe('the bank has called an authorisation done in its answer to the TAN', () => {
  const entry = (id: string | null, scaStatus: string | null) => ({
    ...{ id, psuId: null, scaStatus, at: '2026-11-24T10:00:00Z' },
  });
  const TAN = { what: 'code', psuId: null, isAnswered: true, requestId: 'q' } as const;
  const ofLink = (id: string | undefined): ScaLinks => ({
    approach: 'embedded',
    ...(id !== undefined && { id }),
  });

  it.each<[string, Partial<Transfer>, isSigned: boolean]>([
    ['that has the link', { links: ofLink('a1'), authorisations: [entry('a1', 'finalised')] }, true],
    ['that needed none', { links: ofLink('a1'), authorisations: [entry('a1', 'exempted')] }, true],
    [
      'of which it never said the id',
      { links: ofLink(undefined), authorisations: [entry(null, 'finalised')] },
      true,
    ],
    [
      'beside one that goes on',
      { links: ofLink('a1'), authorisations: [entry('a1', 'finalised'), entry('a2', 'started')] },
      true,
    ],
    ['that has no links', { links: null, authorisations: [entry(null, 'finalised')] }, true],
    [
      'that has another link',
      { links: ofLink('a2'), authorisations: [entry('a1', 'finalised'), entry('a2', 'started')] },
      false,
    ],
    ['that nobody knows', { links: ofLink('a2'), authorisations: [entry('a1', 'finalised')] }, false],
    ['which goes on', { links: ofLink('a1'), authorisations: [entry('a1', 'started')] }, false],
    ['of which it has said nothing', { links: ofLink('a1'), authorisations: [entry('a1', null)] }, false],
    [
      'without a TAN',
      { credentials: [], links: ofLink('a1'), authorisations: [entry('a1', 'finalised')] },
      false,
    ],
  ])('and knows it no more: %s', async (_, changes, isSigned) => {
    const operation = { ...(await withTheCustomer(REDIRECT)), credentials: [TAN], ...changes };
    const gone = { progress: () => Promise.reject(refused) };
    const looked = await look(operation, OPEN, gone);
    expect(looked.isSigned).toBe(isSigned);
    const word = operation.authorisations[0]?.scaStatus;
    expect(looked.progress).toEqual(isSigned ? { scaStatus: word, means: 'done', message: null } : null);
    // What the bank says now counts more.
    const progress = async () => ({ scaStatus: 'started', means: 'going on', message: null }) as const;
    if (operation.links) expect((await look(operation, OPEN, { progress })).isSigned).toBe(false);
  });
});
