import { Psd2Error } from '../../src/errors.ts';
import { exitCodeOf } from '../../src/exit-codes.ts';

/** What a user reads of an error, and the exit code: the fields that the error does not have are missing. */
export type Failure = ReturnType<typeof describeFailure>;

/** Waits for a command that fails. @throws what is no Psd2Error, and a TypeError if the command does not fail */
export async function failureOf(work: Promise<unknown>): Promise<Failure> {
  const thrown = await work.then(
    () => new TypeError('The command succeeded'),
    (error: unknown) => error,
  );
  if (!(thrown instanceof Psd2Error)) throw thrown;
  return describeFailure(thrown);
}

/** Waits for a command that may fail. @returns null if it succeeds */
export const failureIfAny = (work: Promise<unknown>): Promise<Failure | null> =>
  work.then(
    () => null,
    (error: unknown) => failureOf(Promise.reject(error)),
  );

function describeFailure({ code, message, hint, next, flow }: Psd2Error) {
  return {
    ...{ code, exitCode: exitCodeOf(code), message },
    ...(hint !== undefined && { hint }),
    ...(next !== undefined && { next }),
    ...(flow !== undefined && { flow }),
  };
}
