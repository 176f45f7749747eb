import { describe, expect, it } from 'vitest';
import type { LoggedGift, SentCredential } from '../../src/domain/embedded.ts';
import {
  applyOperationEvent,
  type Operation,
  type OrderTarget,
  type StepEvent,
} from '../../src/domain/operation.ts';
import type { TransferEvent } from '../../src/domain/transfer.ts';
import { Psd2Error } from '../../src/errors.ts';
import {
  announcingGift,
  recordedGifts,
  recordLoggedGifts,
  refuseBeforehand,
  refuseUntaken,
} from '../../src/flows/gifts.ts';
import { runOperation } from '../../src/flows/payment/loop.ts';
import type { FlowPorts, KnownInitiation } from '../../src/flows/ports.ts';
import { answeringBank } from '../bank/answering-bank.ts';
import { begunOperation } from '../domain/orders.ts';
import { temporaryFolder } from '../store/temporary-folder.ts';
import { fakeCustomer, NO_GIFTS, returnsTo, untaken } from './doubles.ts';
import {
  AT_THE_BANK,
  createdTransfer,
  paymentStatus,
  runOf,
  scaThatSays,
  transfersIn,
} from './stored-transfers.ts';

// What a customer gives psd2: what the journal and the log of calls have of it, and when psd2 takes nothing.

const transferAfter = transfersIn(temporaryFolder());
const INTENT = { requestId: 'q-1', digest: 'SHA-256=x' };
const CREATED: Operation<OrderTarget> = begunOperation({
  commits: 'by the customer',
  authorises: 'by links',
});

/** A flow that keeps its events. */
function journal(current: Operation<OrderTarget> = CREATED) {
  const events: StepEvent[] = [];
  let now = current;
  const open = {
    get current() {
      return now;
    },
    async record(event: StepEvent) {
      events.push(event);
      now = applyOperationEvent('operation', now, event, '2026-11-24T10:00:00Z');
      return now;
    },
    async assertOurs() {},
  };
  return { events, open };
}

type Announced = Parameters<typeof announcingGift>[2];

describe('something of the customer’s that is about to leave', () => {
  it.each<[Announced, begunNothing: object, gives: object]>([
    [{ what: 'password' }, {}, { what: 'password' }],
    [{ what: 'password', begins: true }, {}, { what: 'password' }],
    [{ what: 'method', psuId: 'ada' }, {}, { what: 'method' }],
    [
      { what: 'code', ofCancellation: true },
      { ofCancellation: true },
      { what: 'code', ofCancellation: true },
    ],
    [
      { what: 'password', begins: true, psuId: 'ada', ofCancellation: true },
      { ofCancellation: true },
      { what: 'password', ofCancellation: true },
    ],
  ])('is in the journal and in the log of calls, without its digest: %j', async (sent, notBegun, gives) => {
    const { events, open } = journal();
    const logged: unknown[] = [];
    const announces: FlowPorts['announces'] = async (announced) => {
      // The journal has it first.
      logged.push([events.length, announced]);
    };
    const attempt = await announcingGift(open, { announces }, sent)(INTENT);
    expect(events).toStrictEqual([{ type: 'credential-sent', requestId: 'q-1', digest: null, ...sent }]);
    expect(logged).toStrictEqual([[1, { requestId: 'q-1', transactionId: 't', gives }]]);
    await attempt?.notBegun?.();
    expect(events.slice(1)).toStrictEqual([{ type: 'credential-not-begun', ...notBegun }]);
    expect([open.current.credentials, open.current.cancellationCredentials]).toEqual([[], []]);
  });

  it('needs no log of calls', async () => {
    const { events, open } = journal();
    await announcingGift(open, {}, { what: 'code' })(INTENT);
    expect(events).toHaveLength(1);
  });

  it.each([undefined, 'ada'])('is of the person who gives it: %s', async (psuId) => {
    const { events, open } = journal();
    const record = recordedGifts(open, {}, psuId === undefined ? {} : { psuId });
    await record.announce('password', true)(INTENT);
    await record.announce('code', false)(INTENT);
    const whose = psuId === undefined ? {} : { psuId };
    const sent = { type: 'credential-sent', requestId: 'q-1', digest: null };
    expect(events).toStrictEqual([
      { ...sent, what: 'password', begins: true, ...whose },
      { ...sent, what: 'code', ...whose },
    ]);
    expect(record.sent()).toEqual(open.current.credentials);
    expect(record.stop('It stops')).toMatchObject({
      code: 'still_open',
      message: `It stops. The payment is not over: ${psuId ?? 'the customer'} can still authorise it`,
    });
  });

  it('has an answer with links, or links alone', async () => {
    const { events, open } = journal();
    const record = recordedGifts(open, {}, {});
    const links = { approach: 'embedded', id: 'a1' } as const;
    await record.answered({ links, scaStatus: 'finalised' });
    await record.kept(links);
    expect(events).toStrictEqual([
      { type: 'credential-answered', links, scaStatus: 'finalised' },
      { type: 'links-left', links },
    ]);
  });
});

describe('what the log of calls alone knows of it', () => {
  const sent = (requestId: string): SentCredential => ({
    what: 'password',
    psuId: null,
    isAnswered: true,
    requestId,
  });
  const PIN: LoggedGift = { what: 'password', requestId: 'q1' };
  const TAN: LoggedGift = { what: 'code', requestId: 'q2' };
  const OF_CANCELLATION: LoggedGift = { what: 'code', requestId: 'q3', ofCancellation: true };

  it.each<[string, Partial<Operation<OrderTarget>>, LoggedGift[], LoggedGift[]]>([
    ['nothing', {}, [], []],
    ['a PIN', {}, [PIN], [PIN]],
    ['a PIN and a TAN', {}, [PIN, TAN], [PIN, TAN]],
    ['a TAN beside what the journal has', { credentials: [sent('q1')] }, [PIN, TAN], [TAN]],
    ['what the journal has', { credentials: [sent('q1'), sent('q2')] }, [PIN, TAN], []],
    ['a TAN of the cancellation', { credentials: [sent('q1')] }, [OF_CANCELLATION], [OF_CANCELLATION]],
    [
      'what the journal has of the cancellation',
      { cancellationCredentials: [sent('q3')] },
      [OF_CANCELLATION],
      [],
    ],
  ])('is recorded once: %s', async (_, changes, logged, found) => {
    for (const hasEmbedded of [true, false]) {
      const { events, open } = journal({ ...CREATED, ...changes });
      const asked: string[] = [];
      const given: FlowPorts['given'] = async (transactionId) => {
        asked.push(transactionId);
        return logged;
      };
      const bank = answeringBank(() => ({ data: {} }));
      const sca = { ...bank.sca, ...(hasEmbedded && { hasEmbedded }) };
      await recordLoggedGifts(open, { bank: { ...bank, sca }, given });
      const recorded = found.map((gift) => ({
        type: 'credential-sent',
        digest: null,
        ...gift,
        isFound: true,
      }));
      expect(events).toStrictEqual(hasEmbedded ? recorded : []);
      expect(asked).toEqual(hasEmbedded ? ['t'] : []);
      await recordLoggedGifts(open, { bank: { ...bank, sca } });
      expect(events).toHaveLength(hasEmbedded ? found.length : 0);
    }
  });
});

describe('a payment whose journal was restored', () => {
  const SENT: TransferEvent = { type: 'verify-sent', requestId: 'q', digest: null };
  const STARTED: TransferEvent = { type: 'sca-started' };
  const RESOURCE: KnownInitiation = { answer: 'answered', resourceId: 'p1' };
  const TAN = { what: 'code', requestId: 'q2' } as const;
  const FOUND = { type: 'credential-sent', digest: null, ...TAN, isFound: true };
  const OVER: TransferEvent = { type: 'settlement', status: 'KO', description: 'No' };

  it.each<[string, TransferEvent[], KnownInitiation, recorded: object[]]>([
    ['knows the resource', [AT_THE_BANK, STARTED], { answer: 'no' }, [FOUND]],
    [
      'does not know the resource, and the log of calls does',
      [SENT],
      RESOURCE,
      [AT_THE_BANK, STARTED, FOUND],
    ],
    ['knows that the bank has ended it', [AT_THE_BANK, STARTED, OVER], { answer: 'no' }, []],
  ])('learns once what the log of calls has of the customer’s: it %s', async (_, events, is, recorded) => {
    const transfer = await transferAfter(createdTransfer(), { type: 'accepted' }, ...events);
    const sca = { ...scaThatSays(paymentStatus('RCVD')), hasEmbedded: true } as const;
    const asked: string[] = [];
    const { calls, ports } = runOf(transfer, { sca });
    const given: FlowPorts['given'] = async (transactionId) => {
      asked.push(transactionId);
      return [TAN];
    };
    const returns = returnsTo();
    const run = () =>
      runOperation(transfer.open, calls, {
        ...{ ...ports, given, returns, initiated: async () => is, accept: async () => true },
        customer: fakeCustomer({ scaTimeoutMs: 1_000 }),
      }).catch(() => {});
    await run();
    const asks = transfer.recorded().filter(({ type }) => type !== 'authorization');
    expect(asks.slice(0, recorded.length)).toEqual(recorded);
    await run();
    const found = transfer.recorded().filter(({ type }) => type === 'credential-sent');
    expect(found).toHaveLength(recorded.length === 0 ? 0 : 1);
  });
});

describe('psd2 takes nothing of the customer’s', () => {
  const WHY = new Psd2Error('config', 'The profile does not allow it');
  const thrown = (work: () => void): unknown => {
    try {
      work();
      return null;
    } catch (error) {
      return error;
    }
  };

  it.each([
    ['where the profile does not allow it', WHY],
    ['unless it may', null],
  ])('%s: before and after the first of it', (_, why) => {
    const returns = { credentials: untaken(why) };
    const ended = why && expect.objectContaining({ code: 'config', message: why.message, isDeadEnd: true });
    expect(thrown(() => refuseBeforehand({ isEmbeddedAlone: true }, returns))).toEqual(ended);
    // Another way leads on.
    expect(thrown(() => refuseBeforehand({}, returns))).toBeNull();
    expect(thrown(() => refuseUntaken(returns, NO_GIFTS))).toEqual(ended);
    const stopped = new Psd2Error('still_open', 'It is open');
    const sent: SentCredential = { what: 'password', psuId: null, isAnswered: true, requestId: 'q1' };
    const later = { ...NO_GIFTS, sent: () => [sent], stop: () => stopped };
    expect(thrown(() => refuseUntaken(returns, later))).toBe(why === null ? null : stopped);
  });
});
