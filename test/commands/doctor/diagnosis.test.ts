import { expect, it } from 'vitest';
import { Diagnosis } from '../../../src/commands/doctor/diagnosis.ts';
import { Psd2Error } from '../../../src/errors.ts';

it('a diagnosis ends with the error of the first check that failed, and names all of them', async () => {
  const diagnosis = new Diagnosis();
  const fix = { hint: 'Do this.' };
  await diagnosis.make('one', async () => ({ status: 'warn', detail: '', fix: null }));
  await diagnosis.make('two', async () => ({ status: 'fail', code: 'not_logged_in', detail: '', fix }));
  await diagnosis.make('three', async () => {
    throw new Psd2Error('certificate', 'It has expired');
  });
  expect(diagnosis.ok).toBe(false);
  expect(() => diagnosis.fail()).toThrow(
    expect.objectContaining({
      code: 'not_logged_in',
      message: '2 of 3 checks failed: two, three',
      hint: 'Do this.',
    }),
  );
});
