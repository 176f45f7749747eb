import { hostname, userInfo } from 'node:os';
import { expect, it } from 'vitest';
import { operatorOf } from '../../../src/commands/batch/person.ts';

it('who runs psd2 is the user of the operating system, on this machine', () => {
  expect(operatorOf()).toEqual({ user: userInfo().username, machine: hostname() });
});
