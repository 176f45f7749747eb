import { expect, it } from 'vitest';
import {
  anew,
  stepAfter,
  withPassword,
} from '../../../../../src/bank/interfaces/nextgenpsd2/access/embedded-step.ts';
import type { ScaLinks } from '../../../../../src/bank/ports/customer.ts';
import type { EmbeddedStep } from '../../../../../src/domain/embedded.ts';

// What a step of embedded SCA keeps of those before it.

const START = '/v1/consents/c1/authorisations';
const [ONE, OTHER] = [
  { id: '1', type: 'SMS_OTP' },
  { id: '2', type: 'PUSH_OTP' },
];
const [FIRST, SECOND] = [{ information: 'First' }, { information: 'Second' }];

it.each<[string, ScaLinks | null, object]>([
  ['nothing is known', null, { approach: 'embedded', step: { next: 'password' } }],
  [
    'no link begins it',
    { approach: null, id: 'a1' },
    { approach: 'embedded', id: 'a1', step: { next: 'password' } },
  ],
  [
    'a link begins it',
    { approach: 'redirect', start: START, status: '/s' },
    { approach: 'embedded', status: '/s', begins: START, step: { next: 'password', link: START } },
  ],
])('an authorisation begins with the password where %s', (_, links, expected) => {
  expect(withPassword(links)).toEqual(expected);
});

it.each<[ScaLinks | null, object | null]>([
  [null, null],
  [{ approach: 'embedded' }, null],
  [
    { approach: null, id: 'a1', status: '/s', begins: START },
    { approach: 'embedded', begins: START, step: { next: 'password', link: START } },
  ],
])('from %j, another one begins with %j', (links, expected) => {
  expect(anew(links)).toEqual(expected);
});

const CODE: EmbeddedStep = { next: 'code', chosen: ONE, challenge: FIRST };
it.each<[string, EmbeddedStep | undefined, EmbeddedStep, EmbeddedStep]>([
  ['nothing before it', undefined, { next: 'code' }, { next: 'code' }],
  ['methods before it', { next: 'method', methods: [ONE, OTHER] }, CODE, { ...CODE, methods: [ONE, OTHER] }],
  [
    'other methods',
    { next: 'method', methods: [ONE] },
    { next: 'method', methods: [OTHER] },
    { next: 'method', methods: [OTHER] },
  ],
  ['a method that was chosen', CODE, { next: 'password' }, { next: 'password', chosen: ONE }],
  ['the same step', CODE, { next: 'code' }, CODE],
  ['the same method', CODE, { next: 'code', chosen: ONE }, CODE],
  ['another method', CODE, { next: 'code', chosen: OTHER }, { next: 'code', chosen: OTHER }],
  [
    'the first method',
    { next: 'code', challenge: FIRST },
    { next: 'code', chosen: ONE },
    { next: 'code', chosen: ONE },
  ],
  ['another challenge', CODE, { next: 'code', challenge: SECOND }, { ...CODE, challenge: SECOND }],
  ['another link', { ...CODE, link: '/1' }, { next: 'code', link: '/2' }, { ...CODE, link: '/2' }],
  ['a link that is over', { ...CODE, link: '/1' }, { next: 'code' }, CODE],
])('a step after one with %s', (_, before, step, after) => {
  expect(stepAfter(before, step)).toEqual(after);
});
