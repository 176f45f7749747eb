import { describe, expect, it } from 'vitest';
import { NO_END } from '../../src/domain/given-links.ts';
import { shownTime, whyKept, whyManyKept } from '../../src/domain/kept.ts';
import type { OperationState } from '../../src/domain/operation.ts';
import type { Transfer } from '../../src/domain/transfer.ts';
import { INITIATION } from '../flows/stored-transfers.ts';
import { begunTransfer } from './orders.ts';

const [EARLY, LATE] = ['2026-11-22T10:05:30.000Z', '2026-11-23T23:59:00.000Z'];
/** A transfer that the bank has cancelled while a customer had a link. */
const cancelled = (linkUntil: string | null): Pick<Transfer, 'linkUntil' | 'state' | 'givenLinks'> => ({
  ...{ state: 'cancelled', linkUntil, givenLinks: [] },
});
const ON_PHONE = { links: { approach: 'decoupled' } } as const;
const WITH_LINK = { links: { approach: 'redirect', redirect: 'https://bank.example/sca' } } as const;

describe('why the reference of an ended payment stays reserved', () => {
  it.each<[string, Partial<Transfer>, string | null, string]>([
    [
      'a link that ends, and a reference',
      cancelled(EARLY),
      'INV-1',
      'A customer has a link to authorise the transfer, which may work until 2026-11-22 10:06 UTC, although the bank has cancelled it. The reference "INV-1" stays reserved until 2026-11-22 10:07 UTC',
    ],
    [
      'a question on a phone, and a reference',
      { ...cancelled(EARLY), givenLinks: [ON_PHONE] },
      'INV-1',
      'The bank has asked a customer\'s phone to authorise the transfer, which may work until 2026-11-22 10:06 UTC, although the bank has cancelled it. The reference "INV-1" stays reserved until 2026-11-22 10:07 UTC',
    ],
    [
      'a question on a phone without an end',
      { ...cancelled(NO_END), givenLinks: [ON_PHONE] },
      'INV-1',
      'The bank has asked a customer\'s phone to authorise the transfer, which may work, although the bank has cancelled it. The bank does not say what time it is. The reference "INV-1" stays reserved until the bank says that the request is over, or you do',
    ],
    [
      'a question on a phone, and a link',
      { ...cancelled(EARLY), givenLinks: [ON_PHONE, WITH_LINK] },
      null,
      'A customer has a link to authorise the transfer, which may work until 2026-11-22 10:06 UTC, although the bank has cancelled it',
    ],
    [
      'a link that ends over midnight',
      cancelled(LATE),
      'A "B"',
      'A customer has a link to authorise the transfer, which may work until 2026-11-23 23:59 UTC, although the bank has cancelled it. The reference "A \\"B\\"" stays reserved until 2026-11-24 00:00 UTC',
    ],
    [
      'a link that ends, and no reference',
      cancelled(EARLY),
      null,
      'A customer has a link to authorise the transfer, which may work until 2026-11-22 10:06 UTC, although the bank has cancelled it',
    ],
    [
      'a link without an end, and a reference',
      cancelled(NO_END),
      'INV-1',
      'A customer has a link to authorise the transfer, which may work, although the bank has cancelled it. The bank does not say what time it is. The reference "INV-1" stays reserved until the bank says that the link is over, or you do',
    ],
    [
      'a link without an end, and no reference',
      cancelled(NO_END),
      null,
      'A customer has a link to authorise the transfer, which may work, although the bank has cancelled it. The bank does not say what time it is',
    ],
    [
      'the end after the first day, and a reference',
      { state: 'ended' },
      'INV-1',
      'The transfer ended after its first day, 2026-11-21, so payments up to now may have been made. The account\'s bookings show them. The reference "INV-1" stays reserved',
    ],
    [
      'the end after the first day of what has an id',
      { state: 'ended', initiation: { ...INITIATION, endToEndId: 'E2E-7' } },
      null,
      'The transfer ended after its first day, 2026-11-21, so payments up to now may have been made. Their bookings have the end-to-end id E2E-7',
    ],
    [
      'the end after the first day of what has an empty id',
      { state: 'ended', initiation: { ...INITIATION, endToEndId: '' } },
      null,
      "The transfer ended after its first day, 2026-11-21, so payments up to now may have been made. The account's bookings show them",
    ],
    [
      'the end after the first day, where a link is left',
      { state: 'ended', linkUntil: NO_END },
      null,
      "The transfer ended after its first day, 2026-11-21, so payments up to now may have been made. The account's bookings show them",
    ],
  ])('%s', (_, changes, reference, sentences) => {
    expect(whyKept(begunTransfer(changes, { reference }), 'transfer')).toBe(sentences);
  });

  it('the sentences name what it is', () => {
    expect(whyKept(begunTransfer({ state: 'ended' }), 'standing order')).toMatch(/^The standing order ended/);
    expect(whyKept(begunTransfer(cancelled(EARLY)), 'payment 7')).toContain('to authorise the payment 7,');
    expect(whyKept(begunTransfer(cancelled(NO_END)), 'payment 7')).toContain('to authorise the payment 7,');
  });

  it.each<[OperationState, Partial<Transfer>]>([
    ...(['created', 'verified', 'authorizing', 'authorized', 'executing', 'unknown'] as const).map(
      (state): [OperationState, Partial<Transfer>] => [state, { linkUntil: EARLY }],
    ),
    ...(['ordered', 'executed', 'settled', 'failed', 'rejected', 'expired'] as const).map(
      (state): [OperationState, Partial<Transfer>] => [state, { linkUntil: NO_END }],
    ),
    ['cancelled', { linkUntil: null }],
    // Nothing but a refusal says that it has ended.
    ['ended', { refusedUnconfirmed: true }],
  ])('a payment that is %s keeps nothing: %j', (state, changes) => {
    expect(whyKept(begunTransfer({ ...changes, state }, { reference: 'INV-1' }), 'transfer')).toBeNull();
  });
});

describe('why the references of several cancelled payments stay reserved', () => {
  const authorised = (payments: string, them: string) =>
    `although the bank has cancelled ${them}. ${payments} reserved until`;
  const one = authorised('Its reference stays', 'it');
  const many = authorised('Their references stay', 'them');
  const endless = 'the bank says that the link is over, or you do';
  const early = 'until 2026-11-22 10:06 UTC';
  const late = 'until 2026-11-23 23:59 UTC';
  it.each<[string, (string | null)[], string]>([
    ['one', [EARLY], `1 payment, which may work ${early}, ${one} 2026-11-22 10:07 UTC`],
    [
      'one beside another without a link',
      [null, EARLY],
      `1 payment, which may work ${early}, ${one} 2026-11-22 10:07 UTC`,
    ],
    [
      'two that end together',
      [EARLY, EARLY],
      `2 payments, which may work ${early}, ${many} 2026-11-22 10:07 UTC`,
    ],
    [
      'two, the last of which ends last',
      [EARLY, LATE],
      `2 payments, which may work ${late}, ${many} 2026-11-24 00:00 UTC`,
    ],
    [
      'two, the first of which ends last',
      [LATE, EARLY],
      `2 payments, which may work ${late}, ${many} 2026-11-24 00:00 UTC`,
    ],
    ['three', [EARLY, LATE, EARLY], `3 payments, which may work ${late}, ${many} 2026-11-24 00:00 UTC`],
    ['one without an end', [NO_END], `1 payment, which may work, ${one} ${endless}`],
    [
      'one without an end before one that ends',
      [NO_END, EARLY],
      `2 payments, which may work, ${many} ${endless}`,
    ],
    [
      'one without an end after one that ends',
      [EARLY, NO_END],
      `2 payments, which may work, ${many} ${endless}`,
    ],
  ])('%s', (_, ends, rest) => {
    expect(whyManyKept(ends.map(cancelled))).toBe(`A customer has a link to authorise ${rest}`);
  });

  it('those of which nobody has a link are asked for on phones', () => {
    const asked = { ...cancelled(EARLY), givenLinks: [ON_PHONE] };
    expect(whyManyKept([asked, cancelled(null)])).toBe(
      "The bank has asked a customer's phone to authorise 1 payment, which may work until 2026-11-22 10:06 UTC, although the bank has cancelled it. Its reference stays reserved until 2026-11-22 10:07 UTC",
    );
    expect(whyManyKept([asked, cancelled(EARLY)])).toMatch(/^A customer has a link to authorise 2 payments,/);
  });

  it('without a cancelled payment that has a link there is nothing to say', () => {
    expect(whyManyKept([])).toBeNull();
    expect(whyManyKept([cancelled(null), cancelled(null)])).toBeNull();
    expect(whyManyKept([{ ...cancelled(EARLY), state: 'unknown' }])).toBeNull();
    // Another one counts beside them.
    expect(whyManyKept([{ ...cancelled(NO_END), state: 'unknown' }, cancelled(EARLY)])).toContain(
      '1 payment,',
    );
  });
});

it.each([
  ['2026-11-22T10:04:59.999Z', '2026-11-22 10:05 UTC'],
  ['2026-11-22T10:05:00.000Z', '2026-11-22 10:05 UTC'],
  ['2026-11-22T10:05:00.001Z', '2026-11-22 10:06 UTC'],
  ['2026-12-31T23:59:00.001Z', '2027-01-01 00:00 UTC'],
  ['2026-11-22T00:30:00.000+01:00', '2026-11-21 23:30 UTC'],
])('the time %s is shown as %s', (time, shown) => {
  expect(shownTime(time)).toBe(shown);
});
