import { writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { expect, it } from 'vitest';
import { checkCompiledCode } from '../../../src/commands/doctor/doctor.ts';
import { temporaryFolder } from '../../store/temporary-folder.ts';

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
