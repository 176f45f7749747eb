import * as z from 'zod/mini';
import { list, orNull, text, time, whole } from '../shared/fields.ts';

/** A call to the bank. */
export const loggedCall = () =>
  z.object({
    at: time('when psd2 sent it'),
    profile: text('profile of the call'),
    host: text("host and port of the bank's interface"),
    method: text('GET, POST, PUT or DELETE'),
    path: text('path as sent, without the query'),
    status: orNull(whole('HTTP status; null if there was no usable answer')),
    failure: orNull(text('why there was no usable answer')),
    milliseconds: whole('time from the first attempt to send to the end of the answer'),
    tppRequestId: text('TPP-Request-ID'),
    transactionId: text('TPP-Transaction-ID'),
    requestId: orNull(text("result.requestId of the bank's answer, every digit")),
    apiTrackId: orNull(text('cb-apitrack-id')),
    flow: orNull(text('the flow that the call belongs to')),
  });

export const loggedCalls = () => list(loggedCall());

/** What `log bundle` reports about its file. */
export const bundle = () =>
  z.object({
    file: text('path of the file'),
    calls: whole('number of calls in the file'),
    from: time('time of the first call'),
    to: time('time of the last call'),
  });
