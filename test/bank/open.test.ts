import { expect, it } from 'vitest';
import * as z from 'zod/mini';
import { anyBankFile, DESCRIPTIONS } from '../../src/bank/descriptions.ts';
import { DEFAULT_INTERFACE, INTERFACES, interfaceNamed } from '../../src/bank/open.ts';
import { described } from './interfaces/nextgenpsd2/scripted.ts';
import { toyDescription } from './toy-interface/description.ts';

it.each(['cb', 'nextgenpsd2'])('the interface %s is found by its name', async (name) => {
  expect(await interfaceNamed(name, described())).toMatchObject({ name });
  expect(Object.keys(INTERFACES)).toContain(name);
});

it('a profile that names no interface has the one that needs no description', async () => {
  expect(await interfaceNamed(DEFAULT_INTERFACE)).toMatchObject({ name: 'cb' });
});

it.each([
  ['nextgenpsd2', undefined, 'A bank of the interface nextgenpsd2 needs its description'],
  [
    'nextgenpsd2',
    { ...described(), interface: 'toy' },
    'A bank of the interface nextgenpsd2 needs its description',
  ],
  ['toy', described(), 'There is no interface toy'],
])('no interface: %s', async (name, bank, message) => {
  await expect(interfaceNamed(name, bank)).rejects.toThrow(new TypeError(message));
});

it('a bank file is one of an interface that has such files, and each of them is read', () => {
  const read = (file: object) => z.safeParse(anyBankFile(), file).success;
  const [ours, toys] = [{ interface: 'nextgenpsd2' }, { interface: 'toy' }];
  expect(Object.keys(DESCRIPTIONS)).toEqual(['nextgenpsd2']);
  // Of one interface alone, the problems are those of its fields.
  expect(z.safeParse(anyBankFile(), { ...ours, unknownField: 1 }).error?.issues).toMatchObject([
    { code: 'unrecognized_keys' },
  ]);
  expect([read(ours), read({ ...ours, unknownField: 1 }), read(toys)]).toEqual([true, false, false]);
  DESCRIPTIONS.toy = () => toyDescription;
  try {
    expect([read(ours), read({ ...ours, unknownField: 1 }), read(toys)]).toEqual([true, false, true]);
  } finally {
    delete DESCRIPTIONS.toy;
  }
});

it('without any interface that has bank files there is no schema of them', () => {
  const { nextgenpsd2 } = DESCRIPTIONS;
  if (!nextgenpsd2) throw new TypeError('NextGenPSD2 has bank files');
  delete DESCRIPTIONS.nextgenpsd2;
  try {
    expect(() => anyBankFile()).toThrow(new TypeError('No interface describes its banks'));
  } finally {
    DESCRIPTIONS.nextgenpsd2 = nextgenpsd2;
  }
});
