import { describe, expect, it } from 'vitest';
import { type GivenLink, isLogin, linksAfter, NO_END, reservedUntil } from '../../src/domain/given-links.ts';
import type { StepEvent } from '../../src/domain/operation.ts';
import { INITIATION } from '../flows/stored-transfers.ts';
import { VERIFIED } from './orders.ts';

type Links = NonNullable<GivenLink['links']>;

const page = (id: string): Links => ({ approach: 'redirect', id, redirect: `https://bank.example/${id}` });
const [A, B] = [page('a'), page('b')];
const PHONE: Links = { approach: 'decoupled' };
/** Links without an id. */
const bare = (more: Partial<Links>): Links => ({ approach: 'redirect', ...more });
const LOST: GivenLink = { links: null };
const of = (...links: Links[]): GivenLink[] => links.map((each) => ({ links: each }));

/** The links that customers have after the event. */
function linksOf(
  givenLinks: readonly GivenLink[],
  event: StepEvent,
  changes: Partial<Parameters<typeof linksAfter>[0]> = {},
) {
  return linksAfter({ givenLinks, initiation: INITIATION, bulk: null, links: null, ...changes }, event);
}
const started = (links?: Links): StepEvent => ({ type: 'sca-started', ...(links && { links }) });
const SENT: StepEvent = { type: 'approach-sent', requestId: 'q', digest: null };
const NEEDS_NONE = { initiation: { ...INITIATION, needsLink: false } };

it.each<[Links, boolean]>([
  [bare({ oauth: 'https://bank.example/oauth' }), true],
  [bare({ redirect: 'https://bank.example/' }), false],
  [bare({ redirect: 'https://bank.example/', oauth: 'https://bank.example/oauth' }), false],
  [bare({}), false],
  [PHONE, false],
])('the customer logs in at the OAuth server with %j: %s', (links, logsIn) => {
  expect(isLogin(links)).toBe(logsIn);
});

describe('the links that customers may have', () => {
  it.each<[string, readonly GivenLink[], Links, readonly GivenLink[]]>([
    ['the first', [], A, of(A)],
    ['another one', of(A), B, of(A, B)],
    ['the same one again', of(A), A, of(A)],
    ['one of two again', of(A, B), A, of(A, B)],
    ['the answer to what was sent last', [LOST], A, of(A)],
    ['the answer, beside an earlier one', [...of(A), LOST], B, of(A, B)],
    ['the answer to the last of two', [LOST, LOST], A, [LOST, ...of(A)]],
    ['another one after what was lost before', [LOST, ...of(A)], B, [LOST, ...of(A, B)]],
    ['a known one after what was sent last', [...of(A), LOST], A, [...of(A), LOST]],
    ['the end of the authorisation', of(A), { ...B, isDone: true }, of(A)],
  ])('gain %s', (_, before, links, all) => {
    expect(linksOf(before, started(links))).toEqual(all);
  });

  it.each<[string, Links, Links, boolean]>([
    ['the same id, whatever else they say', A, { ...A, redirect: 'https://bank.example/new' }, true],
    ['another id at the same place', A, { ...A, id: 'b' }, false],
    ['the same place, where one has no id', A, bare({ redirect: 'https://bank.example/a' }), true],
    ['another place, where one has no id', A, bare({ redirect: 'https://bank.example/b' }), false],
    ['the same login', bare({ oauth: 'x' }), bare({ oauth: 'x' }), true],
    ['another login', bare({ oauth: 'x' }), bare({ oauth: 'y' }), false],
    ['a login and a page', bare({ oauth: 'x' }), bare({ redirect: 'x' }), false],
    ['another approach', bare({}), PHONE, false],
    ['the same approach alone', PHONE, { ...PHONE, message: 'Look at your phone' }, true],
  ])('count as one with %s: %j, %j', (_, one, other, isOne) => {
    for (const [first, second] of [
      [one, other],
      [other, one],
    ] satisfies [Links, Links][])
      expect(linksOf(of(first), started(second))).toHaveLength(isOne ? 1 : 2);
  });

  it('are those of before, if the start says none', () => {
    expect(linksOf([], started(), { links: A })).toEqual(of(A));
    expect(linksOf([], started(B), { links: A })).toEqual(of(B));
    expect(linksOf([], started())).toEqual([LOST]);
    expect(linksOf([LOST], started())).toEqual([LOST]);
  });

  it('are none of a payment that another authorisation covers, or that is authorised by a call', () => {
    expect(linksOf([], started(A), { bulk: 'op-1' })).toEqual([]);
    expect(linksOf(of(B), started(A), { bulk: 'op-1' })).toEqual(of(B));
    expect(linksOf([], started(A), { initiation: null })).toEqual([]);
  });

  it('may be one more while an answer is missing, where the bank may ask without a link', () => {
    expect(linksOf(of(A), SENT, NEEDS_NONE)).toEqual([...of(A), LOST]);
    expect(linksOf(of(A), SENT)).toEqual(of(A));
    expect(linksOf(of(A), SENT, { initiation: null })).toEqual(of(A));
  });

  describe('of a customer who gives psd2 something, instead of taking a link', () => {
    const sent = (more: object = {}): StepEvent => ({
      type: 'credential-sent',
      what: 'password',
      requestId: 'q',
      digest: null,
      ...more,
    });
    const answer = (more: object = {}): StepEvent => ({
      type: 'credential-answered',
      scaStatus: null,
      ...more,
    });

    it('are one more when it is about to leave: that of the authorisation that it begins, or goes on with', () => {
      expect(linksOf(of(A), sent({ begins: true }))).toEqual([...of(A), LOST]);
      expect(linksOf(of(A), sent(), { links: B })).toEqual(of(A, B));
      expect(linksOf(of(A), sent(), { links: A })).toEqual(of(A));
      expect(linksOf([], sent())).toEqual([LOST]);
    });

    it('have the name that the bank answers', () => {
      expect(linksOf([...of(A), LOST], answer({ links: B }))).toEqual(of(A, B));
      expect(linksOf([...of(A), LOST], answer())).toEqual([...of(A), LOST]);
      expect(linksOf([...of(A), LOST], answer({ links: { ...B, isDone: true } }))).toEqual([...of(A), LOST]);
    });

    it.each<[string, (more: object) => StepEvent]>([
      ['is about to leave', sent],
      ['begins one', (more) => sent({ begins: true, ...more })],
      ['is answered', (more) => answer({ links: B, ...more })],
    ])('stay as they are where it cannot be of this payment: it %s', (_, event) => {
      const before = of(A);
      for (const changes of [{ bulk: 'op-1' }, { initiation: null }, { bulk: 'op-1', initiation: null }])
        expect(linksOf(before, event({}), { links: B, ...changes })).toBe(before);
      expect(linksOf(before, event({ ofCancellation: true }), { links: B })).toBe(before);
    });
  });

  it('begin with the answer to the initiation only if the bank asks the phone at once', () => {
    expect(linksOf(of(A), { ...VERIFIED, links: PHONE })).toEqual(of(PHONE));
    expect(linksOf(of(A), { ...VERIFIED, links: B })).toEqual([]);
    expect(linksOf(of(A), VERIFIED)).toEqual([]);
  });

  it('are none if psd2 initiates the payment again', () => {
    expect(linksOf([...of(A), LOST], { type: 'initiate-again' })).toEqual([]);
  });

  it('are one more after a deleted basket, whose link may work for a time', () => {
    const until = '2026-11-22T10:05:00.000Z';
    expect(linksOf(of(A), { type: 'basket-deleted', linkUntil: until })).toEqual([
      ...of(A),
      { links: null, until },
    ]);
    expect(linksOf(of(A), { type: 'basket-deleted' })).toEqual(of(A));
  });

  it.each<StepEvent>([
    { type: 'links-left', links: B },
    { type: 'accepted' },
    { type: 'approach-refused' },
    { type: 'sca-returned' },
    { type: 'sca-again' },
    { type: 'cancelled' },
    { ...VERIFIED, type: 'further-verified', links: PHONE },
  ])('stay as they are after %j', (event) => {
    const before = of(A);
    expect(linksOf(before, event, NEEDS_NONE)).toBe(before);
  });
});

it('a reference is reserved for a minute after the link', () => {
  expect(reservedUntil('2026-11-22T23:59:30.500Z').toISOString()).toBe('2026-11-23T00:00:30.500Z');
  expect(reservedUntil(NO_END).getUTCFullYear()).toBe(9999);
});
