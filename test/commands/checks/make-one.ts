import { type Check, examine, openSubject } from '../../../src/commands/checks/check.ts';
import { Diagnosis } from '../../../src/commands/checks/diagnosis.ts';
import type { Context } from '../../../src/commands/context.ts';

/** Makes one check. @returns what it found, by its names, without these, and the kind of its first failure */
export async function makeOne(context: Context, check: Check) {
  const diagnosis = new Diagnosis();
  await examine(openSubject(context, diagnosis), [check]);
  const code = diagnosis.failure && { code: diagnosis.failure.code };
  return Object.fromEntries(
    diagnosis.checks.map(({ name, ...result }) => [
      name,
      { ...result, ...(result.status === 'fail' && code) },
    ]),
  );
}
