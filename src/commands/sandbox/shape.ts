import * as z from 'zod/mini';
import { flag, list, orNull, text, whole } from '../shared/fields.ts';

/** The addresses of a sandbox. */
export const sandbox = () =>
  z.object({
    baseUrl: text("base URL of the bank's interface"),
    customerSiteUrl: text('site where the customers log in'),
    consoleUrl: text('console that shows the calls'),
    pid: whole('process id'),
    profile: text('profile that psd2 stores for the sandbox'),
  });

export const stopped = () => z.object({ stopped: flag('false if no sandbox was running') });

export const reset = () => z.object({ reset: flag('false if no sandbox was running') });

export const variables = () =>
  z
    .record(z.string(), z.string())
    .check(z.describe('environment variables by name; their secrets are valid for this sandbox only'));

export const playedCustomer = () =>
  z.object({
    pages: list(z.string(), 'what the customer did on each page'),
    finalUrl: text("where the customer's browser ended"),
  });

export const fault = () =>
  z.object({
    id: whole('id for fault clear'),
    fault: text('for example status=503'),
    on: orNull(text('calls that the fault matches; null: every call')),
    times: orNull(whole('number of calls that it changes; null: all')),
    after: whole('number of calls that succeed first'),
    probability: z.number().check(z.describe('share of the calls that it changes, 0 to 1')),
    seed: text('seed of the random choice'),
    seen: whole('number of calls that it matched'),
    fired: whole('number of calls that it changed'),
  });

export const faults = () => list(fault());

export const consoleUrl = () => z.object({ url: text('address of the console') });

export const cleared = () => z.object({ cleared: whole('number of removed faults') });
