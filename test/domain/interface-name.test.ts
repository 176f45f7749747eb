import { expect, it } from 'vitest';
import {
  interfaceInWords,
  lacking,
  otherInterfaceAnswered,
  stepInterfaceAnswered,
} from '../../src/domain/interface-name.ts';

it.each([
  ['cb', 'the step interface (cb)'],
  // The words say the short name.
  ['nextgenpsd2', 'NextGenPSD2'],
  ['toy', 'toy'],
  ['', ''],
])('the interface %j is called %s', (name, words) => {
  expect(interfaceInWords(name)).toBe(words);
});

it('what an interface lacks is an error of use, with what else is known', () => {
  expect(lacking('cb', 'standing orders', { hint: 'Leave it out.' })).toMatchObject({
    ...{ code: 'usage', hint: 'Leave it out.' },
    message: 'The interface of this bank, the step interface (cb), has no standing orders',
  });
  expect(lacking('nextgenpsd2', 'execute')).toMatchObject({
    ...{ message: 'The interface of this bank, NextGenPSD2, has no execute', context: {} },
  });
});

it('a bank that answers in the other interface leads to the command that mends the profile', () => {
  expect(stepInterfaceAnswered()).toMatchObject({
    code: 'bank_answer',
    message: 'This bank answers as the step interface (cb) does, not as NextGenPSD2',
    hint: 'You recognise it: its paths begin with /private/customers/, and a payment is inserted, authorised, and then executed with a call of its own. It needs no bank file. Take that of the profile away with:',
    next: [['profile', 'set', '--unset', 'bank']],
  });
  expect(otherInterfaceAnswered()).toMatchObject({
    code: 'bank_answer',
    message: 'This bank answers as NextGenPSD2, not as the step interface (cb)',
    hint: 'It needs a bank file. Find its platform, and give its name to psd2 profile set --bank, with:',
    next: [['bank', 'list']],
  });
});
