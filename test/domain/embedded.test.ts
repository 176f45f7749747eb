import { describe, expect, it } from 'vitest';
import {
  type AfterAsking,
  type AfterStep,
  type AskedAfter,
  answeredIn,
  type Became,
  type Given,
  readAfterAsking,
  readStep,
  type StepAnswer,
} from '../../src/domain/embedded.ts';

// What the answers to a PIN, a method and a TAN mean, without a bank and without a journal.

const said = (scaStatus: string | null, next: Given | null = null, isElsewhere = false): StepAnswer => ({
  scaStatus,
  next,
  isElsewhere,
});

describe('the answer to what the customer gave', () => {
  it.each<[Given, string, StepAnswer | null, AfterStep, Became]>([
    ['password', 'the methods', said('psuAuthenticated', 'method'), 'method', 'accepted'],
    ['password', 'a challenge', said('scaMethodSelected', 'code'), 'code', 'accepted'],
    ['password', 'the password again', said('psuIdentified', 'password'), 'password', 'refused'],
    ['password', 'an end', said('finalised'), 'is over', 'accepted'],
    ['password', 'an exemption', said('exempted', 'code'), 'is over', 'accepted'],
    ['password', 'another approach', said('started', 'code', true), 'wait', 'accepted'],
    ['password', 'an unfinished word alone', said('psuAuthenticated'), 'wait', 'accepted'],
    ['password', 'nothing', said(null), 'ask the bank', 'unknown'],
    ['password', 'a failure', said('failed', 'password'), 'ask the bank', 'refused'],
    ['method', 'a challenge', said('started', 'code'), 'code', 'accepted'],
    ['method', 'another approach', said('started', null, true), 'wait', 'accepted'],
    ['method', 'an unfinished word alone', said('started'), 'wait', 'accepted'],
    ['code', 'an end', said('finalised'), 'is over', 'accepted'],
    ['code', 'the TAN again', said('started', 'code'), 'code', 'refused'],
    ['code', 'the method again', said('psuAuthenticated', 'method'), 'method', 'refused'],
    ['code', 'a failure', said('failed'), 'ask the bank', 'refused'],
    ['code', 'an unfinished word alone', said('started'), 'wait', 'unknown'],
    ['code', 'a code of a page', said('unconfirmed'), 'stop', 'accepted'],
    ['code', 'no answer, or a refusal', null, 'ask the bank', 'unknown'],
  ])('%s: %s', (what, _, answer, next, became) => {
    expect(readStep(what, answer)).toEqual({ next, became });
  });
});

const asked = (scaStatus: string | null, decided: AskedAfter['decided'] = null): AskedAfter => ({
  scaStatus,
  decided,
});
const [OURS, REFUSED] = [
  { hasId: true, isRefused: false },
  { hasId: true, isRefused: true },
];
const NEW = { hasId: false, isRefused: true };

describe('what the bank says, asked after an answer that says nothing', () => {
  it.each<[Given, AskedAfter, { hasId: boolean; isRefused: boolean }, AfterAsking, Became]>([
    ['code', asked(null, 'accepted'), REFUSED, 'is over', 'accepted'],
    ['code', asked('finalised'), REFUSED, 'is over', 'accepted'],
    ['password', asked('exempted'), REFUSED, 'is over', 'accepted'],
    ['code', asked(null, 'ended'), REFUSED, 'is over', 'refused'],
    ['code', asked('failed', 'ended'), OURS, 'is over', 'unknown'],
    ['code', asked('failed'), REFUSED, 'anew', 'refused'],
    ['code', asked('expired'), OURS, 'anew', 'unknown'],
    ['code', asked(null), REFUSED, 'stop', 'unknown'],
    ['code', asked(null), NEW, 'stop', 'unknown'],
    ['code', asked('started'), REFUSED, 'again', 'refused'],
    ['code', asked('scaMethodSelected'), OURS, 'again', 'unknown'],
    ['code', asked('psuAuthenticated'), OURS, 'again', 'unknown'],
    ['code', asked('received'), REFUSED, 'stop', 'unknown'],
    ['code', asked('unconfirmed'), OURS, 'stop', 'unknown'],
    ['code', asked('a word of its own'), REFUSED, 'stop', 'unknown'],
    ['password', asked(null), NEW, 'anew', 'refused'],
    ['password', asked(null), REFUSED, 'stop', 'unknown'],
    ['password', asked('psuIdentified'), REFUSED, 'again', 'refused'],
    ['password', asked('received'), OURS, 'again', 'unknown'],
    ['password', asked('psuAuthenticated'), OURS, 'anew', 'accepted'],
    ['method', asked('psuAuthenticated'), REFUSED, 'again', 'refused'],
    ['method', asked('started'), OURS, 'anew', 'accepted'],
    ['method', asked(null), NEW, 'stop', 'unknown'],
  ])('%s, and it is %j: %j', (what, word, known, next, became) => {
    expect(readAfterAsking(what, word, known)).toEqual({ next, became });
  });
});

it('only the last that was sent is answered', () => {
  const sent = { what: 'code', psuId: null, isAnswered: false, requestId: 'r1' } as const;
  expect(answeredIn([sent, sent]).map(({ isAnswered }) => isAnswered)).toEqual([false, true]);
  expect(answeredIn([])).toEqual([]);
});
