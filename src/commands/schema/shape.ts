import * as z from 'zod/mini';
import { list, text } from '../shared/fields.ts';

export const schemas = () =>
  list(
    z.object({
      command: text('what psd2 schema takes'),
      what: text('what the command prints'),
      schema: z.record(z.string(), z.unknown()).check(z.describe('JSON Schema, 2020-12')),
    }),
  );

export const schema = () => z.record(z.string(), z.unknown()).check(z.describe('JSON Schema, 2020-12'));

/** Any event of stderr: `event` says which. */
export const event = () =>
  z
    .looseObject({ event: text('which') })
    .check(z.describe('a line of stderr, where --json or ndjson is asked for and stderr is no terminal'));

/** The last line of stderr of a command that failed. */
export const error = () => {
  const known = (what: string) => z.nullable(text(what));
  return z.object({
    error: z.object({
      code: text('which error: a word of a closed list'),
      message: text('what happened'),
      exitCode: z.int().check(z.describe('as the process ends with')),
      hint: known('what to do about it'),
      httpStatus: z.nullable(z.int()).check(z.describe("of the bank's answer")),
      bankCode: known("result.messages[].code of the bank's answer"),
      requestId: known("result.requestId of the bank's answer, every digit"),
      tppRequestId: known('TPP-Request-ID of the call'),
      transactionId: known('TPP-Transaction-ID of the call'),
    }),
  });
};
