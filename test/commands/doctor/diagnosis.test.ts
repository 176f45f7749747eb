import { writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { describe, expect, it } from 'vitest';
import { compareClocks } from '../../../src/commands/doctor/connection.ts';
import { Diagnosis } from '../../../src/commands/doctor/diagnosis.ts';
import { checkCompiledCode } from '../../../src/commands/doctor/doctor.ts';
import { Psd2Error } from '../../../src/errors.ts';
import { temporaryFolder } from '../../store/temporary-folder.ts';
import { thrownBy } from '../../support/thrown.ts';

it('a check that finds several things names each, and the first failure is the one that counts', async () => {
  const diagnosis = new Diagnosis();
  expect([diagnosis.ok, diagnosis.failure]).toEqual([true, undefined]);
  diagnosis.skip(['zero', 'half'], 'not now');
  const fix = { hint: 'Do this.' };
  const good = { status: 'ok', detail: 'fine', fix: null, value: 7 } as const;
  const value = await diagnosis.make('good', async () => good);
  expect([value, diagnosis.ok, diagnosis.failure]).toEqual([7, true, undefined]);
  await diagnosis.add('several', async () => [
    { name: 'one', status: 'warn', detail: 'soon', fix: { hint: 'Later.' } },
    { name: 'two', status: 'fail', detail: 'gone', fix, code: 'certificate' },
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
    { name: 'two', status: 'fail', detail: 'gone', fix },
    { name: 'three', status: 'fail', detail: 'wrong', fix: { hint: 'Now.' } },
    { name: 'thrown', status: 'fail', detail: 'Nothing listens', fix: { next: [['doctor']] } },
  ]);
  expect(diagnosis.ok).toBe(false);
  expect(diagnosis.failure).toMatchObject({ code: 'certificate', message: 'gone', ...fix });
  expect(thrownBy(() => diagnosis.fail())).toMatchObject({
    code: 'certificate',
    message: '3 of 7 checks failed: two, three, thrown',
    ...fix,
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

// The bank's Date has no milliseconds, which is half a second on average.
const DATE = 'Sat, 21 Nov 2026 10:05:00 GMT';
const BANK_TIME = Date.parse(DATE) + 500;

describe("this clock against the bank's", () => {
  it.each([
    [0, 'ok', '0 s ahead of the bank'],
    [5_000, 'ok', '5 s ahead of the bank'],
    [5_001, 'warn', '5 s ahead of the bank'],
    [60_000, 'warn', '60 s ahead of the bank'],
    [60_001, 'fail', '60 s ahead of the bank'],
    [-5_000, 'ok', '5 s behind the bank'],
    [-5_001, 'warn', '5 s behind the bank'],
    [-60_000, 'warn', '60 s behind the bank'],
    [-60_001, 'fail', '60 s behind the bank'],
    [-86_400_000, 'fail', '86400 s behind the bank'],
  ])('for a clock that is %i ms off, the result is: %s', (milliseconds, status, detail) => {
    const finding = compareClocks(new Date(BANK_TIME + milliseconds), DATE);
    expect(finding).toMatchObject({ status, detail });
    if (status === 'ok') expect(finding.fix).toBeNull();
    else expect(finding.fix?.hint).toMatch(/^Set the clock/);
    expect(finding.code).toBe(status === 'fail' ? 'config' : undefined);
  });

  it.each([undefined, '', 'soon'])("psd2 does not compare the clocks if the bank's Date is %j", (date) => {
    expect(compareClocks(new Date(BANK_TIME), date)).toEqual({
      status: 'skip',
      detail: 'the bank sent no Date',
      fix: null,
    });
  });
});

const temporary = temporaryFolder();

/** What the doctor says of a loader that says this. */
function check(kept: object) {
  const path = join(temporary, `${Object.keys(kept)[0]}.cjs`);
  writeFileSync(path, `module.exports = ${JSON.stringify({ kept })}`);
  return checkCompiledCode(path);
}

it('compiled code that psd2 keeps is good', () => {
  expect(check({ folder: '/home/ada/.cache/psd2', build: 'b1' })).toEqual({
    ...{ status: 'ok', detail: 'psd2 keeps it in /home/ada/.cache/psd2', fix: null },
  });
});

it('compiled code that psd2 cannot keep is a warning, because psd2 only starts more slowly', () => {
  expect(check({ why: 'others can change /tmp' })).toEqual({
    ...{ status: 'warn', detail: 'psd2 compiles itself at each start: others can change /tmp' },
    fix: {
      hint: 'Give the user a home folder that only this user can change. Slower starts are the only consequence.',
    },
  });
});
