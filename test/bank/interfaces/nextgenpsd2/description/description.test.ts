import { expect, it } from 'vitest';
import {
  credentialsAt,
  isNextGenPsd2,
  nextgenpsd2,
} from '../../../../../src/bank/interfaces/nextgenpsd2/description/description.ts';
import { bankFile } from '../../../../../src/bank/interfaces/nextgenpsd2/description/schema.ts';

const SERVER = {
  authorizationEndpoint: 'https://login.example/authorize',
  tokenEndpoint: 'https://login.example/token',
};
const bankWith = (fields: object) => bankFile.parse({ interface: 'nextgenpsd2', ...fields });

it.each([
  [['redirect'], 'none', 'redirect'],
  [['oauth'], 'integrated', 'OAuth'],
  [['redirect', 'oauth'], 'integrated', 'redirect, OAuth'],
  [['decoupled', 'redirect'], 'pre-step', 'decoupled, redirect, after a login with OAuth'],
  [['embedded'], 'client-credentials', "embedded, with the application's token"],
])('customers of a bank with %j and OAuth %s log in by: %s', (approaches, mode, words) => {
  const oauth = mode === 'none' ? { mode } : { mode, ...SERVER };
  expect(nextgenpsd2.login(bankWith({ sca: { approaches }, oauth }))).toBe(words);
});

it.each([
  [['redirect'], null],
  [['embedded'], true],
  [['embedded', 'redirect'], false],
  [['decoupled', 'embedded'], false],
])('at a bank with %j, customers give psd2 credentials, and have no other way: %j', (approaches, isAlone) => {
  const bank = bankWith({
    sca: { approaches },
    psu: { label: 'VR-NetKey' },
    api: { baseUrl: 'https://b.example' },
  });
  expect(credentialsAt(bank)).toEqual(
    isAlone === null ? null : { isAlone, label: 'VR-NetKey', address: 'https://b.example' },
  );
});

it.each<['unknown' | 'same-answer', object | undefined, object | undefined]>([
  [
    'unknown',
    { repeat: 'same-answer', repeatMinutes: 5, cancel: 'direct' },
    { repeat: 'same-answer', cancel: 'direct' },
  ],
  ['same-answer', { repeat: 'same-answer', repeatMinutes: 5 }, { repeat: 'same-answer', repeatMinutes: 5 }],
  ['unknown', undefined, undefined],
])('a file that says "%s" of repetitions, over one with %j, inherits %j', (repeat, below, inherited) => {
  const of = (payments: object | undefined) =>
    payments ? { payments, psu: { ip: 'own' } } : { psu: { ip: 'own' } };
  expect(nextgenpsd2.inherited?.(of(below), { interface: 'nextgenpsd2', payments: { repeat } })).toEqual(
    of(inherited),
  );
});

it('a description says by its interface whose it is', () => {
  expect(isNextGenPsd2(bankWith({}))).toBe(true);
  expect(isNextGenPsd2(undefined)).toBe(false);
});
