import { expect, it } from 'vitest';
import {
  begunBy,
  describePersons,
  entriesOfPersons,
  hasAuthorised,
  isAuthorised,
  isUnderWay,
  type PersonsAuthorisation,
  personsIn,
  saidOf,
  startedBy,
  withoutRefused,
} from '../../src/domain/authorisations.ts';

// Each person with the status of their authorisation. A dash is not known.
it.each([
  ['', ''],
  ['- received', ''],
  ['dora -', 'waits for dora'],
  ['dora finalised', 'authorised by dora, waits for another person'],
  ['dora failed', 'refused by dora'],
  ['dora finalised, emil received', 'authorised by dora, waits for emil'],
  ['dora finalised, emil failed', 'authorised by dora, refused by emil, waits for another person'],
  ['dora finalised, emil failed, emil received', 'authorised by dora, waits for emil'],
  ['dora finalised, emil failed, emil finalised', 'authorised by dora, emil, waits for another person'],
  ['dora finalised, dora failed', 'authorised by dora, waits for another person'],
  ['dora finalised, dora received', 'authorised by dora, waits for another person'],
  ['dora exempted, emil finalised, fred -, gina -', 'authorised by dora, emil, waits for fred, gina'],
])('%j: %s', (known, words) => {
  const all = [...known.matchAll(/([^\s,]+) ([^\s,]+)/g)].map(([, psuId = '-', scaStatus = '-']) => ({
    ...{ id: null, at: '', psuId: psuId === '-' ? null : psuId },
    scaStatus: scaStatus === '-' ? null : scaStatus,
  }));
  expect(describePersons(personsIn(all))).toBe(words);
  expect(describePersons(personsIn(all), false)).toBe(words.replace(/(, |^)waits for .*/, ''));
  const persons = entriesOfPersons(all).map(({ psuId }) => psuId);
  expect(persons).toEqual([...new Set(persons)]);
});

/** `a dora received`: id, person and status, in the order in which they came. A dash is not known. */
function known(words: string): PersonsAuthorisation[] {
  const orNull = (word: string) => (word === '-' ? null : word);
  return [...words.matchAll(/([^\s,]+) ([^\s,]+) ([^\s,]+)/g)].map(
    ([, id = '-', psuId = '-', scaStatus = '-']) => ({
      ...{ id: orNull(id), psuId: orNull(psuId), scaStatus: orNull(scaStatus), at: 'then' },
    }),
  );
}

/** The same in words, with `now` for what has begun only now. */
function words(all: readonly PersonsAuthorisation[]): string {
  return all
    .map(({ id, psuId, scaStatus, at }) =>
      [id ?? '-', psuId ?? '-', `${scaStatus ?? '-'}${at === 'now' ? ' now' : ''}`].join(' '),
    )
    .join(', ');
}

it.each<[string, string | undefined, string | undefined, string]>([
  // None.
  ['', undefined, undefined, '- - - now'],
  ['', 'a', 'dora', 'a dora - now'],
  // One, whose answer has told neither id nor person, or another one than this.
  ['- - -', 'a', 'dora', 'a dora -'],
  ['- dora -', 'a', undefined, 'a dora -'],
  ['- dora -', 'a', 'dora', 'a dora -'],
  ['- dora -', 'a', 'emil', '- dora -, a emil - now'],
  ['- dora received', undefined, 'dora', '- dora received'],
  ['a dora received', undefined, undefined, 'a dora received'],
  ['a dora received', undefined, 'dora', 'a dora received'],
  ['a dora received', undefined, 'emil', 'a dora received, - emil - now'],
  ['a dora received', 'b', 'dora', 'a dora received, b dora - now'],
  ['a dora received', 'a', 'emil', 'a dora received'],
  ['a - received', 'a', 'emil', 'a emil received'],
  // Several: the id of any of them, else the last one.
  ['a dora finalised, b emil received', 'a', 'dora', 'a dora finalised, b emil received'],
  ['a dora finalised, b - received', 'b', 'emil', 'a dora finalised, b emil received'],
  ['a dora finalised, - emil -', 'b', 'emil', 'a dora finalised, b emil -'],
  ['- dora -, a emil received', 'b', 'dora', '- dora -, a emil received, b dora - now'],
  ['a dora failed, b dora received, - - -', 'c', 'dora', 'a dora failed, b dora received, c dora -'],
])('of %j, the links of %j for %j make %j', (before, id, psuId, after) => {
  expect(words(startedBy(known(before), id, psuId, 'now'))).toBe(after);
});

it.each<[string, string | undefined, string]>([
  ['', undefined, ''],
  ['', 'a', ''],
  ['- - -', undefined, '- - new'],
  ['a - -', undefined, 'a - new'],
  ['a - -', 'a', 'a - new'],
  ['a dora received, b emil received', 'a', 'a dora new, b emil received'],
  ['a dora received, b emil received', 'b', 'a dora received, b emil new'],
  ['a dora received, b emil received', undefined, 'a dora received, b emil new'],
  ['a dora received, b emil received', 'c', 'a dora received, b emil new'],
  ['- dora -, a emil received', undefined, '- dora new, a emil received'],
  ['- dora -, - emil -, a fred received', undefined, '- dora -, - emil new, a fred received'],
])('of %j, a status of %j makes %j', (before, id, after) => {
  expect(words(saidOf(known(before), id, 'new'))).toBe(after);
});

it.each([
  ['', '', '- dora - now'],
  ['- dora -', '', '- dora -, - dora - now'],
  ['a dora -', 'a dora -', 'a dora -, - dora - now'],
  ['- dora -, a emil -', '- dora -, a emil -', '- dora -, a emil -, - dora - now'],
  ['a dora -, - emil -', 'a dora -', 'a dora -, - emil -, - dora - now'],
  ['- dora -, - emil -', '- dora -', '- dora -, - emil -, - dora - now'],
])('of %j, a refused beginning leaves %j, and one that has begun makes %j', (before, refused, begun) => {
  expect(words(withoutRefused(known(before)))).toBe(refused);
  expect(words(begunBy(known(before), 'dora', 'now'))).toBe(begun);
});

/** All that the standard has ("scaStatus"), one that is none, and nothing. */
const STATUSES = [
  ...['received', 'psuIdentified', 'psuAuthenticated', 'scaMethodSelected', 'started', 'unconfirmed'],
  ...['finalised', 'failed', 'exempted', 'FINALISED', 'other', null],
];

it('of all statuses, two say that a person has authorised it, and one that nothing is under way', () => {
  const withStatus = (scaStatus: string | null) => ({ id: 'a', psuId: 'dora', scaStatus, at: 'then' });
  expect(STATUSES.filter((scaStatus) => isAuthorised({ scaStatus }))).toEqual(['finalised', 'exempted']);
  expect(STATUSES.filter((status) => !isUnderWay([withStatus(status)]))).toEqual(['failed']);
  const persons = (status: string | null) => Object.entries(personsIn([withStatus(status)]));
  for (const status of STATUSES) {
    const does = isAuthorised({ scaStatus: status })
      ? 'authorisedBy'
      : status === 'failed'
        ? 'refusedBy'
        : 'waitsFor';
    expect(persons(status).flatMap(([name, who]) => (who.length > 0 ? [name] : []))).toEqual([does]);
  }
});

it.each([
  ['', 'dora', false],
  ['a dora finalised', 'dora', true],
  ['a dora exempted', 'dora', true],
  ['a dora received', 'dora', false],
  ['- dora finalised', 'dora', false],
  ['a dora finalised', 'emil', false],
  ['a dora finalised', undefined, false],
  ['a - finalised', undefined, true],
  ['a - finalised', 'dora', false],
  ['a dora finalised, b emil received', 'dora', true],
  ['a emil received, b dora finalised', 'dora', true],
  ['a dora finalised, b dora failed', 'dora', true],
])('of %j, %j has authorised it: %j', (before, psuId, has) => {
  expect(hasAuthorised(known(before), psuId)).toBe(has);
});

it.each([
  [null, false],
  ['', false],
  ['a dora failed', false],
  ['a dora failed, b emil failed', false],
  ['a dora failed, b emil -', true],
  ['a dora received, b emil failed', true],
  ['a dora finalised', true],
])('a cancellation with %j is under way: %j', (before, is) => {
  expect(isUnderWay(before === null ? null : known(before))).toBe(is);
});
