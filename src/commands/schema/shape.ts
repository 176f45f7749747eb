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

/** The events of stderr (`terminal/events.ts`). */
export const event = () =>
  z
    .union([
      z.object({ event: z.enum(['note', 'warning']), message: text('what a person would read') }),
      z.object({
        event: z.literal('flow'),
        flow: text('the local id of a flow that was begun or taken up'),
        kind: z.enum(['transfer', 'consent', 'operation']),
        state: text('its state then'),
      }),
      z.object({ event: z.literal('open'), url: text('the address that the customer has to open') }),
      z.object({
        event: z.literal('call'),
        method: text('GET, POST, PUT or DELETE'),
        path: text('with its query'),
        outcome: z.union([z.int(), z.string()]).check(z.describe('HTTP status, or why there was none')),
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
      code: text('which error: a word of a closed list'),
      message: text('what happened'),
      exitCode: z.int().check(z.describe('as the process ends with')),
      hint: known('what to do about it, in words'),
      next: z
        .array(z.array(z.string()))
        .check(
          z.describe('the commands that go on from here, each as it can be run: psd2 and its arguments'),
        ),
      flow: known('the local id of the flow that it is about'),
      httpStatus: z.nullable(z.int()).check(z.describe("of the bank's answer")),
      bankCode: known("result.messages[].code of the bank's answer"),
      requestId: known("result.requestId of the bank's answer, every digit"),
      tppRequestId: known('TPP-Request-ID of the call'),
      transactionId: known('TPP-Transaction-ID of the call'),
    }),
  });
};
