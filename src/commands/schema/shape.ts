import * as z from 'zod/mini';
import { list, text } from '../shared/fields.ts';

export const schemas = () =>
  list(
    z.object({
      command: text('argument of psd2 schema'),
      what: text('what the command prints'),
      schema: z.record(z.string(), z.unknown()).check(z.describe('JSON Schema, 2020-12')),
    }),
  );

export const schema = () => z.record(z.string(), z.unknown()).check(z.describe('JSON Schema, 2020-12'));

/** The events of stderr (`terminal/events.ts`). */
export const event = () =>
  z
    .union([
      z.object({ event: z.enum(['note', 'warning']), message: text('the message') }),
      z.object({
        event: z.literal('flow'),
        flow: text('local id of a flow that psd2 has begun or resumed'),
        kind: z.enum(['transfer', 'consent', 'operation']),
        state: text('state of the flow at that time'),
      }),
      z.object({ event: z.literal('open'), url: text('address for the customer to open') }),
      z.object({
        event: z.literal('call'),
        method: text('GET, POST, PUT or DELETE'),
        path: text('path with its query'),
        outcome: z.union([z.int(), z.string()]).check(z.describe('HTTP status, or why there was no answer')),
        milliseconds: z.number(),
        tppRequestId: text('TPP-Request-ID'),
        transactionId: text('TPP-Transaction-ID'),
        requestId: z.nullable(text("result.requestId of the bank's answer")),
        apiTrackId: z.nullable(text("the bank's session id")),
      }),
    ])
    .check(z.describe('a line of stderr, with --json or ndjson, if stderr is not a terminal'));

/** The last line of stderr of a command that failed. */
export const error = () => {
  const known = (what: string) => z.nullable(text(what));
  return z.object({
    error: z.object({
      code: text('kind of error, from a closed list'),
      message: text('what happened'),
      exitCode: z.int().check(z.describe('exit code of the process')),
      hint: known('what to do about it'),
      next: z
        .array(z.array(z.string()))
        .check(z.describe('commands to run next, each as a list of words: psd2 and its arguments')),
      flow: known('local id of the flow'),
      httpStatus: z.nullable(z.int()).check(z.describe("HTTP status of the bank's answer")),
      bankCode: known("result.messages[].code of the bank's answer"),
      requestId: known("result.requestId of the bank's answer, every digit"),
      tppRequestId: known('TPP-Request-ID of the call'),
      transactionId: known('TPP-Transaction-ID of the call'),
      differs: z
        .optional(z.array(z.string()))
        .check(z.describe('with duplicate_reference: fields in which the two transfers differ')),
    }),
  });
};
