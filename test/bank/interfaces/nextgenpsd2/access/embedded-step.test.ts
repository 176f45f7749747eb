import { describe, expect, it } from 'vitest';
import {
  anew,
  beginsAuthorisation,
  refuseUnusual,
  stepAfter,
  stepIn,
  usualStep,
  withPassword,
} from '../../../../../src/bank/interfaces/nextgenpsd2/access/embedded-step.ts';
import { SCA_STATUSES, startAnswer } from '../../../../../src/bank/interfaces/nextgenpsd2/wire/consent.ts';
import type { ScaLinks } from '../../../../../src/bank/ports/customer.ts';
import type { EmbeddedStep } from '../../../../../src/domain/embedded.ts';
import { errorOf } from '../scripted.ts';

// What a bank wants from psd2 in embedded SCA, and what a step keeps of those before it.

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

/** An answer with these links, and with nothing else that is about SCA. */
const said = (links: object) => startAnswer.parse({ _links: links });

/** What each link of the standard asks for. */
const STEPS = {
  authoriseTransaction: 'code',
  startAuthorisationWithTransactionAuthorisation: 'code',
  selectAuthenticationMethod: 'method',
  startAuthorisationWithAuthenticationMethodSelection: 'method',
  updatePsuAuthentication: 'password',
  startAuthorisationWithPsuAuthentication: 'password',
} as const;
const OTHER_LINKS = [
  ...[
    'scaRedirect',
    'scaOAuth',
    'startAuthorisation',
    'startAuthorisationWithPsuIdentification',
    'scaStatus',
  ],
  ...['confirmation', 'updatePsuIdentification'],
];
const REFUSED_LINKS = [
  ...['updateEncryptedPsuAuthentication', 'updateAdditionalPsuAuthentication'],
  ...['updateAdditionalEncryptedPsuAuthentication', 'startAuthorisationWithEncryptedPsuAuthentication'],
];

describe('the step that a bank wants', () => {
  it.each(Object.entries(STEPS))('with %s is %s', (name, next) => {
    expect(stepIn(said({ [name]: '/x' }))).toStrictEqual({ next, link: '/x' });
  });

  it.each([...OTHER_LINKS, ...REFUSED_LINKS])('is none with %s', (name) => {
    expect(stepIn(said({ [name]: '/x' }))).toBeNull();
  });

  const code = { authoriseTransaction: '/c' };
  const method = { selectAuthenticationMethod: '/m' };
  const pin = { updatePsuAuthentication: '/p' };
  const beginning = {
    startAuthorisationWithTransactionAuthorisation: '/sc',
    startAuthorisationWithAuthenticationMethodSelection: '/sm',
    startAuthorisationWithPsuAuthentication: '/sp',
  };
  const methods = [ONE, OTHER];
  it.each<[string, object, Partial<Parameters<typeof stepIn>[0]>, object | null]>([
    ['nothing', {}, {}, null],
    ['a code that has begun', { ...beginning, ...code }, {}, { next: 'code', link: '/c' }],
    [
      'a method that has begun',
      { ...beginning, ...method, ...code },
      { scaMethods: methods },
      {
        ...{ next: 'method', link: '/m', methods },
      },
    ],
    [
      'a password that has begun',
      { startAuthorisationWithPsuAuthentication: '/sp', ...pin },
      {},
      { next: 'password', link: '/p' },
    ],
    ['a code before a password', { ...pin, ...code }, {}, { next: 'code', link: '/c' }],
    ['a method before a password', { ...pin, ...method }, {}, { next: 'method', link: '/m' }],
    ['a code, where there is nothing to choose', { ...method, ...code }, {}, { next: 'code', link: '/c' }],
    [
      'a code, where the list of methods is empty',
      { ...method, ...code },
      { scaMethods: [] },
      { next: 'code', link: '/c' },
    ],
    [
      'a method, where one is to be chosen',
      { ...method, ...code },
      { scaMethods: methods },
      { next: 'method', link: '/m', methods },
    ],
    [
      'a code, where one was chosen',
      { ...method, ...code },
      { scaMethods: methods, chosenScaMethod: ONE },
      { next: 'code', link: '/c', methods, chosen: ONE },
    ],
    [
      'a code, where its challenge is there',
      { ...method, ...code },
      { scaMethods: methods, challengeData: FIRST },
      { next: 'code', link: '/c', methods, challenge: FIRST },
    ],
    [
      'a code, where none can be chosen',
      code,
      { scaMethods: methods },
      { next: 'code', link: '/c', methods },
    ],
    [
      'a code, whatever the status',
      code,
      { scaMethods: methods, scaStatus: 'psuAuthenticated' },
      { next: 'code', link: '/c', methods },
    ],
    [
      'a method, beside the link of a password',
      pin,
      { scaMethods: methods, scaStatus: 'psuAuthenticated' },
      { next: 'method', methods },
    ],
    [
      'a password, where a method was chosen',
      pin,
      { scaMethods: methods, scaStatus: 'psuAuthenticated', chosenScaMethod: ONE },
      { next: 'password', link: '/p', methods, chosen: ONE },
    ],
    ['nothing, where no method is there', {}, { scaMethods: [], scaStatus: 'psuAuthenticated' }, null],
  ])('is %s', (_, links, more, step) => {
    expect(stepIn({ ...said(links), ...more })).toStrictEqual(step);
  });

  it.each(SCA_STATUSES)('with methods alone is a choice only after the password: %s', (scaStatus) => {
    const step = { next: 'method', methods };
    const answer = { scaStatus, psuMessage: null, scaMethods: methods };
    expect(stepIn(answer)).toStrictEqual(scaStatus === 'psuAuthenticated' ? step : null);
  });
});

it.each([...Object.keys(STEPS), ...OTHER_LINKS, ...REFUSED_LINKS])(
  'an authorisation begins at the link %s if its name says so',
  (name) => {
    const links = said({ [name]: '/x' })._links ?? undefined;
    const isStart = name.startsWith('startAuthorisationWith') && Object.keys(STEPS).includes(name);
    expect(beginsAuthorisation(links, '/x')).toBe(isStart);
    expect(beginsAuthorisation(links, '/y')).toBe(false);
    expect(beginsAuthorisation(undefined, '/x')).toBe(false);
  },
);

it('no link begins nothing', () => {
  expect(beginsAuthorisation(undefined, undefined)).toBe(false);
});

describe('an authorisation that has begun, of which the bank says nothing else,', () => {
  const PASSWORD = { next: 'password' };
  it.each<[string, object, object, string | undefined, object | null]>([
    ['an id', {}, { authorisationId: 'a1' }, 'EMBEDDED', PASSWORD],
    ['a link to its status', { scaStatus: '/s' }, {}, 'EMBEDDED', PASSWORD],
    ['both', { scaStatus: '/s' }, { authorisationId: 'a1' }, 'EMBEDDED', PASSWORD],
    ['the same link twice', { scaStatus: '/s', confirmation: '/s' }, {}, 'EMBEDDED', PASSWORD],
    ['neither', {}, {}, 'EMBEDDED', null],
    ['an id, and another approach', {}, { authorisationId: 'a1' }, 'REDIRECT', null],
    ['an id, and no approach', {}, { authorisationId: 'a1' }, undefined, null],
    ['an id and another link', { startAuthorisation: '/x' }, { authorisationId: 'a1' }, 'EMBEDDED', null],
    ['a status and another link', { scaStatus: '/s', scaRedirect: '/x' }, {}, 'EMBEDDED', null],
  ])('wants the password by %s', (_, links, more, chosen, step) => {
    expect(usualStep(startAnswer.parse({ _links: links, ...more }), chosen)).toEqual(step);
  });

  it('needs no links', () => {
    const silent = { scaStatus: null, psuMessage: null };
    expect(usualStep({ ...silent, authorisationId: 'a1' }, 'EMBEDDED')).toEqual(PASSWORD);
    expect(usualStep(silent, 'EMBEDDED')).toBeNull();
  });
});

describe('what psd2 does not send', () => {
  it.each(REFUSED_LINKS)('is a dead end: %s', (name) => {
    const what = name.includes('Encrypted')
      ? "the customer's password encrypted"
      : 'a second password of the customer';
    expect(errorOf(() => refuseUnusual(said({ [name]: '/x' })._links ?? undefined))).toEqual({
      ...{ code: 'bank_answer', isDeadEnd: true },
      message: `The bank wants ${what} from psd2 (${name}), which psd2 does not send`,
      hint: 'Ask the bank to offer redirect or decoupled SCA to this application.',
    });
  });

  it.each([...Object.keys(STEPS), ...OTHER_LINKS])('is not %s', (name) => {
    expect(() => refuseUnusual(said({ [name]: '/x' })._links ?? undefined)).not.toThrow();
    expect(() => refuseUnusual(undefined)).not.toThrow();
  });
});
