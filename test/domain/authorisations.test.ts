import { expect, it } from 'vitest';
import { describePersons, entriesOf, personsIn } from '../../src/domain/authorisations.ts';

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
  const persons = entriesOf(all).map(({ psuId }) => psuId);
  expect(persons).toEqual([...new Set(persons)]);
});
