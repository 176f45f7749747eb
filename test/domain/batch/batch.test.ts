import { describe, expect, it } from 'vitest';
import {
  applyBatchEvent,
  type BatchAdded,
  type BatchEvent,
  COPIED,
  countedApprovals,
  hasDecided,
  newBatch,
  referenceOfLine,
  shortBatchId,
} from '../../../src/domain/batch/batch.ts';

const SHA = '0f4f6bf9e6448862302622fb4ef9c19b91b6358c2ff6bd43d8723932aee94388';
const OTHER = SHA.replace('0', '1');
const AT = '2026-11-24T10:00:00Z';
const LATER = '2026-11-24T11:00:00Z';
const ADDED: BatchAdded = {
  ...{ type: 'added', sha256: SHA, count: 2, format: 'csv', messageId: null, note: 'May', retryOf: null },
  ...{ payees: [], approvalsNeeded: 0, ordered: '', by: 'Ada', user: 'ada', machine: 'pisp-1' },
};
const person = (by: string) => ({ by, user: by.toLowerCase(), machine: 'pisp-2' });
const approved = (by: string, sha256 = SHA): BatchEvent => ({ type: 'approved', sha256, ...person(by) });

const REJECTED: BatchEvent = { type: 'rejected', sha256: SHA, note: 'Wrong payee', ...person('Bob') };
const FORGOTTEN: BatchEvent = { type: 'pseudonymised', sha256: OTHER };

function batchAfter(...events: BatchEvent[]) {
  const batch = newBatch(SHA, ADDED, AT);
  for (const event of events) applyBatchEvent(batch, event, LATER);
  return batch;
}

const { type: _type, by: _by, ...said } = ADDED;
const BEGINNING = {
  ...{ ...said, batch: SHA, addedBy: 'Ada', addedAt: AT, addedRole: null, approvals: [], rejection: null },
  ...{ flows: new Map(), bulks: new Map(), refused: new Map() },
  ...{ cancelled: new Set(), linked: new Set(), pseudonymised: new Set() },
};

it('a batch begins with nothing decided and nothing paid', () => {
  expect(batchAfter()).toEqual(BEGINNING);
});

it.each<[BatchEvent, object]>([
  [approved('Bob'), { approvals: [{ ...person('Bob'), role: null, sha256: SHA, at: LATER }] }],
  [REJECTED, { rejection: { ...person('Bob'), role: null, sha256: SHA, note: 'Wrong payee', at: LATER } }],
  [{ type: 'line-begun', line: 2, flow: 'tr-1' }, { flows: new Map([[2, 'tr-1']]) }],
  [{ type: 'bulk-begun', flow: 'op-1', lines: [1, 2] }, { bulks: new Map([['op-1', [1, 2]]]) }],
  [{ type: 'line-refused', line: 2, reason: 'Too late' }, { refused: new Map([[2, 'Too late']]) }],
  [{ type: 'link-given', line: 2, flow: 'tr-1' }, { linked: new Set(['tr-1']) }],
  [{ type: 'lines-cancelled', lines: [1, 2], ...person('Bob') }, { cancelled: new Set([1, 2]) }],
  [FORGOTTEN, { note: null, pseudonymised: new Set([OTHER]) }],
])('$type changes exactly these fields of a batch: %o', (event, changes) => {
  expect(batchAfter(event)).toEqual({ ...BEGINNING, ...changes });
});

it('a batch that forgets a customer loses the note of its rejection, too', () => {
  expect(batchAfter(REJECTED, { type: 'pseudonymised', sha256: SHA }).rejection).toMatchObject({
    ...{ by: 'Bob', note: '' },
  });
});

it('what happens later is added', () => {
  const batch = batchAfter(
    approved('Bob'),
    { type: 'line-begun', line: 1, flow: 'tr-1' },
    { type: 'line-begun', line: 1, flow: 'tr-2' },
    { type: 'lines-cancelled', lines: [1], ...person('Bob') },
    approved('Eve'),
    { type: 'lines-cancelled', lines: [2], ...person('Bob') },
  );
  expect(batch.approvals.map(({ by }) => by)).toEqual(['Bob', 'Eve']);
  expect([batch.flows, batch.cancelled]).toEqual([new Map([[1, 'tr-2']]), new Set([1, 2])]);
});

describe('an approval', () => {
  const ALIKE = ['Jo Anna', 'Joanna'];
  it.each<[string, BatchEvent[], string[]]>([
    ['of another person counts', [approved('Bob')], ['Bob']],
    ['of two other persons counts twice', [approved('Bob'), approved('Eve')], ['Bob', 'Eve']],
    ['of two persons whose names are alike counts twice', [approved('Jo Anna'), approved('Joanna')], ALIKE],
    ['of the same person counts once', [approved('Bob'), approved(' BOB ')], ['Bob']],
    ['has composed or decomposed letters', [approved('Zo\u00e9'), approved('Zoe\u0301')], ['Zo\u00e9']],
    ['is not that of another content', [approved('Bob', OTHER)], []],
    ['of another content is none of this person either', [approved('Bob', OTHER), approved('Bob')], ['Bob']],
    ['of who added it does not count', [approved('Ada'), approved('ada'), approved(' ADA')], []],
  ])('%s', (_what, events, expected) => {
    expect(countedApprovals(batchAfter(...events)).map(({ by }) => by)).toEqual(expected);
  });

  it('of who added it does not count, whichever of their two names it has', () => {
    const batch = { ...batchAfter(approved('root'), approved('Grace  Hopper')), addedBy: 'grace hopper' };
    expect(countedApprovals({ ...batch, user: 'ROOT' })).toEqual([]);
    expect(countedApprovals({ ...batch, user: 'x' }).map(({ by }) => by)).toEqual(['root']);
  });

  it.each(['Bo\u200bb', 'Bo\ufffdb', 'Ｂｏｂ', '\u2066Bob\u2069', 'Bob\u00ad'])(
    'of %j is of Bob, as anybody would read it',
    (name) => {
      expect(countedApprovals(batchAfter(approved('Bob'), approved(name)))).toHaveLength(1);
    },
  );

  it('in a database is of a role, whatever name it has, and none of the role that added it', () => {
    const batch = newBatch(SHA, ADDED, AT, 'one');
    for (const given of ['Ada two', 'Bob one', 'Eve two', 'Ada three']) {
      const [name = '', role = ''] = given.split(' ');
      applyBatchEvent(batch, approved(name), LATER, role);
    }
    expect(countedApprovals(batch).map(({ role }) => role)).toEqual(['two', 'three']);
    const decided = ['one', 'two', 'four'].filter((role) => hasDecided(batch, { by: 'x', role }));
    expect(decided).toEqual(['one', 'two']);
  });

  it('that a copy of the store has brought counts for nobody: it was given elsewhere', () => {
    const batch = batchAfter();
    applyBatchEvent(batch, approved('Bob'), LATER, COPIED);
    expect(countedApprovals(batch)).toEqual([]);
    expect(hasDecided(batch, { ...person('Bob'), role: null })).toBe(false);
    // Here, he still can.
    applyBatchEvent(batch, approved('Bob'), LATER, null);
    expect(countedApprovals(batch).map(({ by }) => by)).toEqual(['Bob']);
    expect(hasDecided(batch, { ...person('Bob'), role: null })).toBe(true);
  });

  it.each([
    ['ADA ', true],
    ['bob', true],
    ['Eve', false],
  ])('of %s would come from a person who has decided: %s', (by, expected) => {
    expect(hasDecided(batchAfter(approved('Bob', OTHER)), { ...person(by), role: null })).toBe(expected);
  });

  it('would come from a person who has decided, by the name of their account', () => {
    expect(hasDecided({ ...batchAfter(), addedBy: 'Countess' }, { ...person('ada'), role: null })).toBe(true);
  });
});

it.each([
  [SHA, '0f4f6bf9e644'],
  [`${SHA}-2`, '0f4f6bf9e644-2'],
])('the batch %s is called %s', (batch, expected) => {
  expect(shortBatchId(batch)).toBe(expected);
});

it.each([
  [SHA, 1, 'B0f4f6bf9e64488623026-1-1'],
  [SHA, 99999, 'B0f4f6bf9e64488623026-1-99999'],
  [`${SHA}-2`, 1, 'B0f4f6bf9e64488623026-2-1'],
])('the payments of the batch %s have references of their own: %i', (batch, line, expected) => {
  expect(referenceOfLine({ batch }, line)).toBe(expected);
  expect(expected.length).toBeLessThanOrEqual(35);
});
