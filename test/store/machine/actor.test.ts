import { syncBuiltinESMExports } from 'node:module';
import os from 'node:os';
import { beforeEach, expect, it, onTestFinished, vi } from 'vitest';
import { actorOf } from '../../../src/store/machine/actor.ts';
import { thrownBy } from '../../support/thrown.ts';

const user = vi.fn<() => string>();

beforeEach(() => {
  user.mockReturnValue('ada');
  const { userInfo } = os;
  vi.spyOn(os, 'userInfo').mockImplementation(() => ({ ...userInfo(), username: user() }));
  vi.spyOn(os, 'hostname').mockReturnValue('pisp-1');
  syncBuiltinESMExports();
  onTestFinished(() => {
    vi.restoreAllMocks();
    syncBuiltinESMExports();
  });
});

it('is the user of the operating system, unless PSD2_OPERATOR says another name', () => {
  expect(actorOf({})).toEqual({ operator: 'ada', user: 'ada', machine: 'pisp-1', version: '0.0.0' });
  // Set to nothing is not set.
  expect(actorOf({ PSD2_OPERATOR: '' }).operator).toBe('ada');
  expect(actorOf({ PSD2_OPERATOR: 'bea' })).toMatchObject({ operator: 'bea', user: 'ada' });
});

it.each([
  ['blanks around it', '  Bea Rossi \t', 'Bea Rossi'],
  ['letters of any kind', 'Zoë 李', 'Zoë 李'],
  ['characters that a terminal obeys, and lines', 'Be\u001b[2Ja\n\u202e\u2028\u2029', 'Be[2Ja'],
  ['a hundred characters', 'x'.repeat(100), 'x'.repeat(100)],
  ['more before what nobody sees is gone', `${'x'.repeat(100)}\u200b `, 'x'.repeat(100)],
])('a name with %s', (_, named, operator) => {
  expect(actorOf({ PSD2_OPERATOR: named }).operator).toBe(operator);
});

it.each([
  [' ', 'PSD2_OPERATOR is empty'],
  ['\n\u200b', 'PSD2_OPERATOR is empty'],
  ['x'.repeat(101), 'PSD2_OPERATOR has 101 characters'],
])('no name: %j', (named, message) => {
  expect(thrownBy(() => actorOf({ PSD2_OPERATOR: named }))).toMatchObject({
    ...{ code: 'usage', message },
    hint: 'Set it to the name of the person or job, at most 100 characters, or unset it.',
  });
});

it('a user without a name has a number', () => {
  user.mockImplementation(() => {
    throw new Error('no such user');
  });
  expect(actorOf({}).user).toBe(String(process.getuid?.()));
  vi.spyOn(process, 'getuid').mockReturnValue(1234);
  expect(actorOf({})).toMatchObject({ operator: '1234', user: '1234' });
  // Windows has no numbers.
  const number = Object.getOwnPropertyDescriptor(process, 'getuid');
  onTestFinished(() => void (number && Object.defineProperty(process, 'getuid', number)));
  Object.defineProperty(process, 'getuid', { configurable: true, value: undefined });
  expect(actorOf({})).toMatchObject({ operator: 'unknown', user: 'unknown' });
});

it('names of the machine and of the user may have nothing that a terminal obeys', () => {
  user.mockReturnValue('a\u001bda');
  vi.mocked(os.hostname).mockReturnValue('pi\nsp');
  expect(actorOf({})).toMatchObject({ operator: 'ada', user: 'ada', machine: 'pisp' });
});
