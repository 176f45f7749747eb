import { describe, expect, it } from 'vitest';
import type { PersonsAuthorisation } from '../../src/domain/authorisations.ts';
import type { Transfer } from '../../src/domain/transfer.ts';
import { type ErrorContext, Psd2Error } from '../../src/errors.ts';
import {
  type LeftOpen,
  namingNext,
  onlyAsking,
  othersIn,
  stillOpen,
  unlessOpen,
  whoDid,
} from '../../src/flows/still-open.ts';
import { begunTransfer } from '../domain/orders.ts';

// What psd2 says if it stops while somebody can still authorise at the bank: who, and the commands that ask or end it.

const FLOW = 'tr-1';
const PAYMENT = { kind: 'transfer', flow: FLOW, transactionId: 't1' };
const RESUME = ['transfer', 'resume', FLOW];
const FOR_BOB = [...RESUME, '--psu-id', 'bob'];
const STATUS = ['transfer', 'status', FLOW];
const CANCEL = ['transfer', 'cancel', FLOW];

/** The authorisations of these persons. */
const persons = (...all: [psuId: string | null, scaStatus: string | null][]): PersonsAuthorisation[] =>
  all.map(([psuId, scaStatus], index) => ({ id: `a${index}`, psuId, scaStatus, at: '2026-11-24T10:00:00Z' }));
const ANN_HAS = persons(['ann', 'finalised']);

describe('the next commands', () => {
  const stopped = (context: ErrorContext = {}) => new Psd2Error('bank_failing', 'The bank is away', context);

  it.each<[string, Psd2Error | string, LeftOpen, string[][]]>([
    ['a sentence', 'It is late', {}, [RESUME, CANCEL]],
    ['an error that names none', stopped(), {}, [RESUME, CANCEL]],
    ['an error after which nothing goes on', stopped({ isDeadEnd: true }), {}, [STATUS, CANCEL]],
    [
      'one that names how it goes on',
      stopped({ next: [[...RESUME, '--paste']] }),
      {},
      [[...RESUME, '--paste'], CANCEL],
    ],
    [
      'one that names another flow',
      stopped({ next: [['transfer', 'resume', 'tr-2']] }),
      {},
      [RESUME, CANCEL],
    ],
    ['one that names how to end it', stopped({ next: [CANCEL] }), {}, [RESUME, CANCEL]],
    ['one for another person alone', stopped({ next: [FOR_BOB] }), {}, [STATUS, FOR_BOB, CANCEL]],
    [
      'one for another person, after one that asks',
      stopped({ next: [RESUME, FOR_BOB] }),
      {},
      [RESUME, FOR_BOB, CANCEL],
    ],
    [
      'one for another person, before one that asks',
      stopped({ next: [FOR_BOB, RESUME] }),
      {},
      [FOR_BOB, RESUME, CANCEL],
    ],
    ['commands of its own', stopped(), { ask: [STATUS] }, [STATUS, CANCEL]],
    ['its own way to end it', stopped(), { ask: [STATUS, CANCEL] }, [STATUS, CANCEL]],
    [
      'its own way to end it, for a person',
      stopped(),
      { ask: [STATUS, [...CANCEL, '--psu-id', 'bob']] },
      [STATUS, [...CANCEL, '--psu-id', 'bob']],
    ],
  ])('after %s', (_what, why, leftOpen, next) => {
    expect(stillOpen(PAYMENT, why, leftOpen)).toMatchObject({
      code: 'still_open',
      next,
      flow: FLOW,
      transactionId: 't1',
    });
  });

  it('end a cancellation that others have authorised with the next person', () => {
    const cancellation = persons(['ann', 'finalised'], ['bob', 'received']);
    expect(stillOpen({ ...PAYMENT, cancellation }, 'It is late').next).toEqual([
      RESUME,
      [...CANCEL, '--psu-id', 'bob'],
    ]);
  });

  it('delete a consent', () => {
    const consent = { kind: 'consent', flow: 'co-1', transactionId: 't1' };
    expect(stillOpen(consent, 'It is late')).toMatchObject({
      message: 'It is late. The consent is not over: the customer can still authorise it',
      next: [
        ['consent', 'resume', 'co-1'],
        ['consent', 'delete', 'co-1'],
      ],
    });
  });

  it.each([
    ['transfer', 'status'],
    ['consent', 'status'],
    ['operation', 'resume'],
  ])('ask only: psd2 %s %s', (kind, verb) => {
    expect(onlyAsking({ kind, flow: FLOW })).toEqual([kind, verb, FLOW]);
  });
});

it.each<[PersonsAuthorisation[], string]>([
  [[], 'The transfer has an authorisation'],
  [persons([null, 'finalised']), 'The transfer has an authorisation'],
  [persons(['ann', 'failed']), 'The transfer has an authorisation, ann refused it'],
  [ANN_HAS, 'ann authorised the transfer'],
  [persons(['ann', 'finalised'], ['bob', 'exempted']), 'ann, bob authorised the transfer'],
  [persons(['ann', 'finalised'], ['bob', 'failed']), 'ann authorised the transfer, bob refused it'],
  [
    persons(['bob', 'failed'], ['ann', 'finalised'], ['eve', 'failed']),
    'ann authorised the transfer, bob, eve refused it',
  ],
])('who authorised and who refused it: %#', (authorisations, sentence) => {
  expect(whoDid(authorisations, 'transfer')).toBe(sentence);
});

it.each<[string, PersonsAuthorisation[] | null, string, string[], boolean]>([
  ['no cancellation', null, 'another person', ['--psu-id', 'ID'], false],
  ['nobody', [], 'another person', ['--psu-id', 'ID'], false],
  ['one that has authorised it', ANN_HAS, 'another person', ['--psu-id', 'ID'], true],
  ['one that goes on', persons(['ann', 'received']), 'ann', ['--psu-id', 'ann'], false],
  [
    'one that goes on after another',
    persons(['ann', 'finalised'], ['bob', 'received']),
    'bob',
    ['--psu-id', 'bob'],
    true,
  ],
  [
    'two that go on',
    persons(['ann', 'finalised'], ['bob', 'received'], ['eve', null]),
    'bob, eve',
    ['--psu-id', 'ID'],
    true,
  ],
])('who else must authorise it, of %s', (_what, authorisations, who, named, isAuthorised) => {
  expect(othersIn(authorisations ?? [])).toEqual({ who, named });
  // Nobody is named of a cancellation that nobody has authorised.
  expect(namingNext(authorisations)).toEqual(isAuthorised ? named : []);
});

describe('a payment that psd2 stopped with', () => {
  const LINKED = begunTransfer({ state: 'authorizing', linkIsOut: true, mayExecuteWithoutUs: true });
  const WRONG = new Psd2Error('config', 'Wrong');

  it.each([
    ['the customer', undefined],
    ['ben', 'ben'],
  ])('can still be authorised by %s', (name, who) => {
    expect(unlessOpen(LINKED, WRONG, who)).toMatchObject({
      code: 'still_open',
      message: `Wrong. The payment is not over: ${name} can still authorise it`,
    });
  });

  it.each<[string, Partial<Transfer>, Psd2Error]>([
    ['nobody has a link', { linkIsOut: false }, WRONG],
    ['it has ended', { state: 'rejected', mayExecuteWithoutUs: false }, WRONG],
    ['the error says more', {}, new Psd2Error('interrupted', 'Ctrl-C')],
    ['nobody knows what became of it', {}, new Psd2Error('outcome_unknown', 'Unknown')],
  ])('ends with its error if %s', (_, changes, error) => {
    expect(unlessOpen({ ...LINKED, ...changes }, error)).toBe(error);
  });
});
