import * as z from 'zod/mini';
import { list, orNull, text, time, whole } from '../shared/fields.ts';

/** A call to the bank. */
export const loggedCall = () =>
  z.object({
    at: time('when it was sent'),
    profile: text('with which it was made'),
    host: text("host and port of the bank's interface"),
    method: text('GET, POST, PUT or DELETE'),
    path: text('as sent, without the query'),
    status: orNull(whole('HTTP status; null when no usable answer came')),
    failure: orNull(text('why there was none')),
    milliseconds: whole('from the first attempt to write to the end of the answer'),
    tppRequestId: text('TPP-Request-ID'),
    transactionId: text('TPP-Transaction-ID'),
    requestId: orNull(text("result.requestId of the bank's answer, every digit")),
    apiTrackId: orNull(text('cb-apitrack-id')),
    flow: orNull(text('the flow that the call belongs to')),
  });

export const loggedCalls = () => list(loggedCall());

/** What `log bundle` says of its file. */
export const bundle = () =>
  z.object({
    file: text('its path'),
    calls: whole('in it'),
    from: time('of the first'),
    to: time('of the last'),
  });
