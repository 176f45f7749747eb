import { expect, it } from 'vitest';
import { Psd2Error } from '../../src/errors.ts';
import { isNotKnown, notKnownThere } from '../../src/flows/not-known.ts';

const SAYS = new Psd2Error('bank_refused', 'No such thing', { isBanks: true, isNotKnown: true });
const OLD = { name: 'old.pem', sha256: 'aa' };
const NEW = { name: 'new.pem', sha256: 'bb' };
const UNKNOWN = 'with this certificate, but psd2 has not ended it, so';

it.each([
  ['a consent', 'consent', OLD, { ...OLD, name: 'renamed.pem' }, 'it may be in force'],
  ['a consent of before certificates were kept', 'consent', null, NEW, 'it may be in force'],
  ['a consent, and nobody knows the certificate of now', 'consent', OLD, undefined, 'it may be in force'],
  ['a payment', 'transfer', OLD, OLD, 'the bank may execute it'],
] as const)('%s that the bank does not know may live: ask later', (_, kind, certificate, now, lives) => {
  const flow = { kind, flow: 'x-1', transactionId: 't1', certificate };
  const error = notKnownThere(flow, now ? { certificate: () => now } : {}, SAYS);
  expect(error).toMatchObject({
    code: 'outcome_unknown',
    message: `The bank does not know the ${kind} x-1 ${UNKNOWN} ${lives}. No such thing`,
    hint: "Nothing has ended here. Ask again later, or ask the bank's support:",
    next: [[kind, 'status', 'x-1']],
    flow: 'x-1',
    transactionId: 't1',
  });
});

it.each([
  ['consent', 'it may be in force'],
  ['transfer', 'the bank may execute it'],
] as const)('a %s that was begun with another certificate may live: ask with that', (kind, lives) => {
  const flow = { kind, flow: 'x-1', transactionId: 't1', certificate: OLD };
  expect(notKnownThere(flow, { certificate: () => NEW }, SAYS)).toMatchObject({
    code: 'certificate',
    message: `The bank does not know the ${kind} x-1 with the certificate new.pem, but psd2 began it with another one: old.pem`,
    hint: `Nothing has ended: ${lives}. Ask again with that certificate:`,
    next: [[kind, 'status', 'x-1']],
    flow: 'x-1',
    transactionId: 't1',
  });
});

it('only the word of the bank says that it does not know something', () => {
  expect(isNotKnown(SAYS)).toBe(true);
  expect(isNotKnown(new Psd2Error('bank_refused', 'No', { isBanks: true }))).toBe(false);
  expect(isNotKnown(new TypeError('No'))).toBe(false);
});
