import { expect, it } from 'vitest';
import { repeatProfile } from '../../src/cli/repeat-profile.ts';
import { Psd2Error } from '../../src/errors.ts';

const hintWith = (hint: string) => {
  const error = repeatProfile(new Psd2Error('usage', 'Wrong', { hint, transactionId: 't1' }), 'my.bank');
  expect(error).toMatchObject({ code: 'usage', message: 'Wrong', transactionId: 't1' });
  return error instanceof Psd2Error ? error.hint : undefined;
};

it('the commands of a hint name the profile, all of them that work with one', () => {
  expect(hintWith('Run psd2 auth login, then psd2 transfer resume tr-1.')).toBe(
    'Run psd2 --profile my.bank auth login, then psd2 --profile my.bank transfer resume tr-1.',
  );
});

it('other commands, and those that name a profile, stay', () => {
  for (const hint of [
    'Run psd2 profile add <name>, or psd2 sandbox start --detach, then psd2 --profile sandbox auth login.',
    'Run psd2 as that user.',
  ])
    expect(hintWith(hint)).toBe(hint);
});

it('an error without a hint, and a bug, stay as they are', () => {
  for (const error of [new Psd2Error('usage', 'Wrong'), new TypeError('bug')])
    expect(repeatProfile(error, 'my.bank')).toBe(error);
});
