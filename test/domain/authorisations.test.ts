import { expect, it } from 'vitest';
import { describeWaiting, waitingIn } from '../../src/domain/authorisations.ts';

it.each<[[string | null, string | null][], string]>([
  [[], ''],
  [[[null, 'received']], ''],
  [[['dora', null]], 'waits for dora'],
  [[['dora', 'finalised']], 'authorised by dora, waits for another person'],
  [[['dora', 'failed']], ''],
  [
    [
      ['dora', 'finalised'],
      ['emil', 'received'],
    ],
    'authorised by dora, waits for emil',
  ],
  [
    [
      ['dora', 'finalised'],
      ['emil', 'failed'],
    ],
    'authorised by dora, waits for another person',
  ],
  [
    [
      ['dora', 'finalised'],
      ['dora', 'received'],
    ],
    'authorised by dora, waits for another person',
  ],
  [
    [
      ['dora', 'exempted'],
      ['emil', 'finalised'],
      ['fred', null],
      ['gina', null],
    ],
    'authorised by dora, emil, waits for fred, gina',
  ],
])('%j: %s', (known, words) => {
  const all = known.map(([psuId, scaStatus]) => ({ id: null, psuId, scaStatus, at: '' }));
  expect(describeWaiting(waitingIn(all))).toBe(words);
});
