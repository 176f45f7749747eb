import { describe, expect, it } from 'vitest';
import type { PersonsAuthorisation } from '../../src/domain/authorisations.ts';
import {
  answeredCredential,
  sentCredential,
  withoutCredential,
} from '../../src/domain/credential-changes.ts';
import type { SentCredential } from '../../src/domain/embedded.ts';

// What a customer gives psd2 (embedded SCA) changes in a payment: who has begun, and whether it may be executed without psd2.

type Payment = Parameters<typeof sentCredential>[0];

const [AT, LATER] = ['2026-11-22T10:00:00.000Z', '2026-11-22T10:05:00.000Z'];
const links = (id: string) => ({ approach: 'embedded', id }) as const;
const begun = (
  id: string | null,
  psuId: string | null,
  scaStatus: string | null = null,
): PersonsAuthorisation => ({
  id,
  psuId,
  scaStatus,
  at: AT,
});
const gift = (requestId: string, psuId: string | null, isAnswered = false): SentCredential => ({
  what: 'password',
  psuId,
  isAnswered,
  requestId,
});
const payment = (changes: Partial<Payment> = {}): Payment => ({
  commits: 'on execute',
  links: null,
  authorisations: [],
  cancellation: null,
  credentials: [],
  cancellationCredentials: [],
  cancellationLinks: null,
  ...changes,
});
const sending = (more: Partial<Parameters<typeof sentCredential>[1]> = {}) => ({
  what: 'password' as const,
  requestId: 'q9',
  digest: null,
  ...more,
});

describe('something of the customer is about to leave', () => {
  it('from then on it is as if they had a link', () => {
    expect(sentCredential(payment(), sending({ psuId: 'anna', begins: true }), LATER)).toEqual({
      state: 'authorizing',
      returned: false,
      linkIsOut: true,
      credentials: [gift('q9', 'anna')],
      authorisations: [{ ...begun(null, 'anna'), at: LATER }],
    });
  });

  it.each([
    ['by the customer', true],
    ['on execute', undefined],
  ] as const)('a payment that is executed %s may be executed without psd2: %s', (commits, may) => {
    expect(sentCredential(payment({ commits }), sending(), LATER).mayExecuteWithoutUs).toBe(may);
  });

  const anna = begun('a1', 'anna');
  it.each<[string, Partial<Payment>, Parameters<typeof sending>[0], PersonsAuthorisation[]]>([
    ['the first one begins', {}, { begins: true, psuId: 'anna' }, [{ ...begun(null, 'anna'), at: LATER }]],
    [
      'another person begins',
      { authorisations: [anna], links: links('a1') },
      { begins: true, psuId: 'ben' },
      [anna, { ...begun(null, 'ben'), at: LATER }],
    ],
    [
      'the same person begins again',
      { authorisations: [anna], links: links('a1') },
      { begins: true, psuId: 'anna' },
      [anna, { ...begun(null, 'anna'), at: LATER }],
    ],
    ['one goes on', { authorisations: [anna], links: links('a1') }, { psuId: 'anna' }, [anna]],
    [
      'one goes on whose name the bank has not heard yet',
      { authorisations: [begun('a1', null)], links: links('a1') },
      { psuId: 'anna' },
      [anna],
    ],
    [
      'the first of two goes on',
      { authorisations: [anna, begun('b1', 'ben')], links: links('a1') },
      { psuId: 'anna' },
      [anna, begun('b1', 'ben')],
    ],
    [
      'one goes on of which psd2 has no record',
      { authorisations: [anna], links: links('b1') },
      {},
      [anna, { ...begun('b1', null), at: LATER }],
    ],
  ])('%s', (_, before, event, authorisations) => {
    expect(sentCredential(payment(before), sending(event), LATER).authorisations).toEqual(authorisations);
  });

  it('for a cancellation, nothing of the payment itself changes', () => {
    const before = payment({
      commits: 'by the customer',
      credentials: [gift('q1', 'anna', true)],
      cancellationCredentials: [gift('q2', 'anna', true)],
    });
    expect(sentCredential(before, sending({ psuId: 'ben', ofCancellation: true }), LATER)).toEqual({
      cancellationCredentials: [gift('q2', 'anna', true), gift('q9', 'ben')],
    });
  });

  it('what the log of calls alone knew may be of anyone', () => {
    const { credentials } = sentCredential(payment(), sending({ isFound: true }), LATER);
    expect(credentials).toEqual([{ ...gift('q9', null), isAnyones: true }]);
  });
});

describe('no byte of it has left', () => {
  const both = {
    credentials: [gift('q1', 'anna', true), gift('q2', 'ben')],
    cancellationCredentials: [gift('q3', 'anna', true), gift('q4', 'ben')],
  };
  it.each<[string, PersonsAuthorisation[], PersonsAuthorisation[]]>([
    [
      'the authorisation that it was to begin',
      [begun('a1', 'anna'), begun(null, 'ben')],
      [begun('a1', 'anna')],
    ],
    [
      'none that the bank has named',
      [begun('a1', 'anna'), begun('b1', 'ben')],
      [begun('a1', 'anna'), begun('b1', 'ben')],
    ],
    ['none, if there is none', [], []],
  ])('it takes back the last one, and %s', (_, authorisations, left) => {
    expect(withoutCredential(payment({ ...both, authorisations }), {})).toEqual({
      credentials: [gift('q1', 'anna', true)],
      authorisations: left,
    });
  });

  it.each([
    ['of one', []],
    ['of three', [gift('q1', 'anna', true), gift('q2', 'ben')]],
  ])('it takes back the last one %s', (_, left) => {
    const sent = [...left, gift('q5', 'cleo')];
    const before = payment({ credentials: sent, cancellationCredentials: sent });
    expect(withoutCredential(before, {}).credentials).toEqual(left);
    expect(withoutCredential(before, { ofCancellation: true }).cancellationCredentials).toEqual(left);
  });

  it('of a cancellation, it takes back nothing of the payment', () => {
    const before = payment({ ...both, authorisations: [begun(null, 'ben')] });
    expect(withoutCredential(before, { ofCancellation: true })).toEqual({
      cancellationCredentials: [gift('q3', 'anna', true)],
    });
  });
});

describe('the bank has said what became of it', () => {
  const two = [gift('q1', 'anna', true), gift('q2', 'ben')];
  const answered = [gift('q1', 'anna', true), gift('q2', 'ben', true)];
  const before = payment({
    links: links('a1'),
    credentials: two,
    authorisations: [begun('a1', 'anna', 'finalised'), begun(null, 'ben')],
  });

  it('the last one is answered, and its authorisation has the id and the status of the answer', () => {
    expect(answeredCredential(before, { scaStatus: 'started', links: links('b1') }, LATER)).toEqual({
      state: 'authorizing',
      credentials: answered,
      links: links('b1'),
      scaStatus: 'started',
      authorisations: [begun('a1', 'anna', 'finalised'), begun('b1', 'ben', 'started')],
    });
  });

  it('without a word of how far it is, what was known of it stays', () => {
    const changes = answeredCredential(before, { scaStatus: null, links: links('b1') }, LATER);
    expect(changes).not.toHaveProperty('scaStatus');
    expect(changes.authorisations).toEqual([begun('a1', 'anna', 'finalised'), begun('b1', 'ben')]);
  });

  it('without links of its own, it is of the authorisation whose links psd2 has', () => {
    const changes = answeredCredential(before, { scaStatus: 'failed' }, LATER);
    expect(changes.links).toEqual(links('a1'));
    expect(changes.authorisations).toEqual([begun('a1', 'anna', 'failed'), begun(null, 'ben')]);
  });

  it('of a payment of which psd2 has no links yet, it is of the last one', () => {
    const changes = answeredCredential(
      payment({ credentials: [gift('q1', null)], authorisations: [begun(null, null)] }),
      { scaStatus: 'started' },
      LATER,
    );
    expect(changes.links).toBeNull();
    expect(changes.authorisations).toEqual([begun(null, null, 'started')]);
  });

  it('without any record, the authorisation is of who has given it', () => {
    const changes = answeredCredential(
      payment({ credentials: two }),
      { scaStatus: 'started', links: links('b1') },
      LATER,
    );
    expect(changes.authorisations).toEqual([{ ...begun('b1', 'ben', 'started'), at: LATER }]);
  });

  it('and psd2 names nobody who has given nothing', () => {
    const changes = answeredCredential(payment(), { scaStatus: 'started', links: links('b1') }, LATER);
    expect(changes.authorisations).toEqual([{ ...begun('b1', null, 'started'), at: LATER }]);
  });

  describe('of a cancellation', () => {
    const cancelling = payment({
      ...before,
      cancellation: [begun(null, 'ben')],
      cancellationCredentials: two,
    });
    it('nothing of the payment itself changes', () => {
      expect(
        answeredCredential(
          cancelling,
          { ofCancellation: true, scaStatus: 'finalised', id: 'c1', links: links('c1') },
          LATER,
        ),
      ).toEqual({
        cancellationCredentials: answered,
        cancellation: [begun('c1', 'ben', 'finalised')],
        cancellationLinks: links('c1'),
      });
    });

    it('without links and status, those of before stay', () => {
      expect(
        answeredCredential(cancelling, { ofCancellation: true, scaStatus: null, id: 'c1' }, LATER),
      ).toEqual({
        cancellationCredentials: answered,
        cancellation: [begun('c1', 'ben')],
      });
    });

    it('the first one begins the list', () => {
      const first = payment({ cancellationCredentials: two });
      const { cancellation } = answeredCredential(
        first,
        { ofCancellation: true, scaStatus: 'started', id: 'c1' },
        LATER,
      );
      expect(cancellation).toEqual([{ ...begun('c1', 'ben', 'started'), at: LATER }]);
    });
  });
});
