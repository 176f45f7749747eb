import { describe, expect, it } from 'vitest';
import {
  chooseStore,
  containsPassword,
  describeChoice,
  hidePassword,
  isDatabaseAddress,
  type RememberedStore,
  refusePassword,
} from '../../../src/store/machine/store-choice.ts';
import { thrownBy } from '../../support/thrown.ts';

const ADDRESS = 'postgres://ada@db/bank';
const database = (isSet: boolean): RememberedStore => ({
  home: 'postgres',
  id: 'id-1',
  shown: 'db/bank',
  address: ADDRESS,
  isSet,
});

describe('the choice of a store', () => {
  it.each([
    ['without settings it is the files', undefined, undefined, 'default', undefined],
    ['PSD2_STORE that is empty counts as not set', '', undefined, 'default', undefined],
    ['PSD2_STORE counts', ADDRESS, undefined, 'environment', ADDRESS],
    ['PSD2_STORE counts before the profile', ADDRESS, { home: 'files', isSet: true }, 'environment', ADDRESS],
    ['the database of the profile counts', undefined, database(true), 'profile', ADDRESS],
    ['the files of the profile count', undefined, { home: 'files', isSet: true }, 'profile', undefined],
    ['a store that was only used is not chosen by that', undefined, database(false), 'default', undefined],
  ] as const)('%s', (_case, set, remembered, source, address) => {
    expect(chooseStore({ PSD2_STORE: set }, remembered)).toEqual({ source, address });
  });

  it.each(['files', 'mysql://db/bank', 'db/postgres://', '/var/lib/psd2', ' postgres://x', 'postgres'])(
    'PSD2_STORE with %s is refused, and not repeated: it may contain a password',
    (text) => {
      expect(thrownBy(() => chooseStore({ PSD2_STORE: text }, database(true)))).toMatchObject({
        code: 'config',
        message: 'PSD2_STORE is not the address of a database',
        hint: 'Give postgres://user@host:5432/database, or unset it: the store is then the configuration folder.',
      });
    },
  );

  it.each([
    ['environment', 'PSD2_STORE'],
    ['profile', 'setting of the profile'],
    ['default', 'default'],
  ] as const)('the operator reads where it comes from: %s', (source, words) => {
    expect(describeChoice(source, false)).toBe(words);
    expect(describeChoice(source, true)).toBe(`${words}; remembered`);
  });
});

it.each([
  ['postgres://db/bank', true],
  ['postgresql://db/bank', true],
  ['Postgres:///bank', true],
  ['files', false],
  ['postgresq://db/bank', false],
  ['my-postgres://db/bank', false],
  ['postgres', false],
])('whether %s is meant as the address of a database: %s', (text, isAddress) => {
  expect(isDatabaseAddress(text)).toBe(isAddress);
});

describe('a password in an address', () => {
  it.each([
    ['postgres://ada:secret@db/bank', 'postgres://ada@db/bank'],
    ['postgres://:secret@db/bank', 'postgres://@db/bank'],
    ['postgres://ada:@db/bank', 'postgres://ada@db/bank'],
    ['postgres://ada:sec:ret@x@db:5432/bank', 'postgres://ada@db:5432/bank'],
    ['postgres://ada:sec\nret@db/bank', 'postgres://ada@db/bank'],
    ['postgres://db/bank?password=secret', 'postgres://db/bank?password=…'],
    ['postgres://db/bank?sslmode=require&PassWord=secret', 'postgres://db/bank?sslmode=require&PassWord=…'],
    [
      'postgres://db/bank?sslpassword=secret&a=b&password=secret',
      'postgres://db/bank?sslpassword=…&a=b&password=…',
    ],
    ['postgres://ada:secret@db/bank?password=secret', 'postgres://ada@db/bank?password=…'],
  ])('%s is refused in an option, and shown as %s', (address, shown) => {
    expect(containsPassword(address)).toBe(true);
    expect(hidePassword(address)).toBe(shown);
    expect(thrownBy(() => refusePassword('--store', address))).toMatchObject({
      code: 'usage',
      message: '--store contains a password, which others can read in the list of processes',
      hint: 'Leave it out, and set PGPASSWORD or PGPASSFILE. Or set the address in PSD2_STORE.',
    });
  });

  it.each([
    'postgres://db/bank',
    'postgres://db:5432/bank',
    'postgres://ada@db:5432/bank',
    'postgres://db/bank?passwordless=yes&nopassword=1',
    'files',
  ])('%s has none, and stays as it is', (address) => {
    expect(containsPassword(address)).toBe(false);
    expect(hidePassword(address)).toBe(address);
    refusePassword('--store', address);
  });
});
