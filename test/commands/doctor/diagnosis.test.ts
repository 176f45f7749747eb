import { expect, it } from 'vitest';
import { Diagnosis } from '../../../src/commands/doctor/diagnosis.ts';
import { Psd2Error } from '../../../src/errors.ts';
import { thrownBy } from '../../support/thrown.ts';

it('a diagnosis ends with the error of the first check that failed, and names all of them', async () => {
  const diagnosis = new Diagnosis();
  const fix = { hint: 'Do this.' };
  await diagnosis.make('one', async () => ({ status: 'warn', detail: '', fix: null }));
  await diagnosis.make('two', async () => ({ status: 'fail', code: 'not_logged_in', detail: '', fix }));
  await diagnosis.make('three', async () => {
    throw new Psd2Error('certificate', 'It has expired');
  });
  expect(diagnosis.ok).toBe(false);
  expect(thrownBy(() => diagnosis.fail())).toMatchObject({
    code: 'not_logged_in',
    message: '2 of 3 checks failed: two, three',
    hint: 'Do this.',
  });
});

it('a check that finds several things names each, and the first failure is the one that counts', async () => {
  const diagnosis = new Diagnosis();
  expect([diagnosis.ok, diagnosis.failure]).toEqual([true, undefined]);
  diagnosis.skip(['zero', 'half'], 'not now');
  const value = await diagnosis.make('good', async () => ({
    status: 'ok',
    detail: 'fine',
    fix: null,
    value: 7,
  }));
  expect([value, diagnosis.ok, diagnosis.failure]).toEqual([7, true, undefined]);
  await diagnosis.add('several', async () => [
    { name: 'one', status: 'warn', detail: 'soon', fix: { hint: 'Later.' } },
    { name: 'two', status: 'fail', detail: 'gone', fix: null, code: 'certificate' },
    { name: 'three', status: 'fail', detail: 'wrong', fix: { hint: 'Now.' } },
  ]);
  await diagnosis.add('thrown', async () => {
    throw new Psd2Error('bank_unreachable', 'Nothing listens', { next: [['doctor']] });
  });
  expect(diagnosis.checks).toEqual([
    { name: 'zero', status: 'skip', detail: 'not now', fix: null },
    { name: 'half', status: 'skip', detail: 'not now', fix: null },
    { name: 'good', status: 'ok', detail: 'fine', fix: null },
    { name: 'one', status: 'warn', detail: 'soon', fix: { hint: 'Later.' } },
    { name: 'two', status: 'fail', detail: 'gone', fix: null },
    { name: 'three', status: 'fail', detail: 'wrong', fix: { hint: 'Now.' } },
    { name: 'thrown', status: 'fail', detail: 'Nothing listens', fix: { next: [['doctor']] } },
  ]);
  expect(diagnosis.failure).toMatchObject({ code: 'certificate', message: 'gone' });
  expect(thrownBy(() => diagnosis.fail())).toMatchObject({
    code: 'certificate',
    message: '3 of 7 checks failed: two, three, thrown',
  });
});

it.each([
  ['an interruption', new Psd2Error('interrupted', 'Interrupted')],
  ['a fault of psd2', new TypeError('x is undefined')],
])('%s ends the diagnosis', async (_, error) => {
  const diagnosis = new Diagnosis();
  const work = diagnosis.make('one', async () => {
    throw error;
  });
  await expect(work).rejects.toBe(error);
  expect(diagnosis.checks).toEqual([]);
});
