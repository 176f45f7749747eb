import * as z from 'zod/mini';
import { flag, list, orNull, text, whole } from '../shared/fields.ts';

/** Where the sandbox is. */
export const sandbox = () =>
  z.object({
    baseUrl: text("of the bank's interface"),
    customerSiteUrl: text('where its customers log in'),
    consoleUrl: text('where its calls can be watched'),
    pid: whole('of its process'),
    profile: text('the profile that was written for it'),
  });

export const stopped = () => z.object({ stopped: flag('false where none was running') });

export const reset = () => z.object({ reset: flag('false where none was running') });

export const variables = () =>
  z
    .record(z.string(), z.string())
    .check(z.describe('environment variables by their name; secrets that open nothing but this sandbox'));

export const playedCustomer = () =>
  z.object({
    pages: list(z.string(), 'what the customer did on each page'),
    finalUrl: text("where the customer's browser ended"),
  });

export const fault = () =>
  z.object({
    id: whole('its number, for fault clear'),
    fault: text('what goes wrong'),
    on: orNull(text('the calls that it is for; null: every call')),
    times: orNull(whole('how many calls it spoils; null: all of them')),
    after: whole('how many calls go well first'),
    probability: z.number().check(z.describe('of each call to be spoilt, 0 to 1')),
    seed: text('of the dice'),
    seen: whole('how many calls it was for'),
    fired: whole('how many of them went wrong'),
  });

export const faults = () => list(fault());

export const consoleUrl = () => z.object({ url: text('of the console') });

export const cleared = () => z.object({ cleared: whole('how many faults') });
