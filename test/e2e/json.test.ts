import { createPrivateKey } from 'node:crypto';
import { readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import type { CommandUnknownOpts } from '@commander-js/extra-typings';
import { afterEach, beforeAll, beforeEach, describe, expect, it } from 'vitest';
import * as z from 'zod';
import { buildProgram } from '../../src/cli/program.ts';
import { readError } from './errors.ts';
import { readDocument, useSandbox } from './psd2.ts';
import { secretsIn } from './secrets.ts';
import * as shapes from './shapes.ts';

const ACCOUNT = '0010482620';
const ORDER = ['--from', ACCOUNT, '--to', 'DE89370400440532013000', '--name', 'Ada Lovelace', '--amount', '3.00'];
const CONSENT = ['--category', 'ACCOUNT_INFO', '--all-products'];
const operator = useSandbox();
const certificates = join(operator.config, 'sandbox', 'certificates');

/** Every secret that there was while this file ran. */
const secrets = new Set<string>();
const gather = () => {
  for (const secret of secretsIn(operator.config)) secrets.add(secret);
};
beforeEach(gather);
afterEach(gather);

let flows: { transfer: string; consent: string };
beforeAll(async () => {
  await operator.json(shapes.login, ['auth', 'login']);
  const consent = await operator.json(shapes.consent, ['consent', 'request', ...CONSENT]);
  const transfer = await operator.json(shapes.transfer, ['transfer', 'create', '--yes', ...ORDER]);
  flows = { transfer: transfer.flow, consent: consent.flow };
});

const sandbox = z.strictObject({
  baseUrl: z.url(),
  customerSiteUrl: z.url(),
  pid: z.int(),
  profile: z.literal('sandbox'),
});
const setting = z.strictObject({ value: z.string(), source: z.enum(['profile', 'environment']) });
const profile = z.strictObject({ name: z.string(), baseUrl: z.url(), current: z.boolean() });
const terms = z.looseObject({ today: z.iso.date(), currencies: z.array(z.looseObject({ code: z.string() })) });
/** Data of the bank whose shape the interface does not show. */
const bankData = z.json();

/** Each command with the shape of its one document, in the order in which they can be run. */
const COMMANDS: [args: () => string[], shape: z.ZodType, input?: () => string][] = [
  [() => ['sandbox', 'status'], sandbox],
  [() => ['auth', 'login'], shapes.login],
  [() => ['auth', 'login', '--client-credentials'], shapes.applicationLogin],
  [() => ['auth', 'status'], shapes.login],
  [() => ['auth', 'status', '--grant', 'client_credentials'], shapes.applicationLogin],
  [() => ['auth', 'list'], z.array(z.union([shapes.login, shapes.applicationLogin]))],
  [() => ['auth', 'refresh'], shapes.login],
  [() => ['auth', 'token'], shapes.token],
  [() => ['customer', 'id'], shapes.customer],
  [() => ['customer', 'show'], bankData],
  [() => ['products', 'list'], bankData],
  [() => ['accounts', 'list'], shapes.accounts],
  [() => ['accounts', 'list', '--grant', 'client_credentials'], shapes.accounts],
  [() => ['accounts', 'show', ACCOUNT], bankData],
  [() => ['accounts', 'balance', ACCOUNT], shapes.balance],
  [() => ['accounts', 'transactions', ACCOUNT], shapes.transactions],
  [() => ['accounts', 'transactions', ACCOUNT, '--from', '2000-01-01', '--to', '2000-01-02'], shapes.transactions.length(0)],
  [() => ['api', 'GET', '/private/customers/customerid-info'], bankData],
  [() => ['consent', 'request', ...CONSENT], shapes.consent],
  [() => ['consent', 'list'], shapes.consents.min(2)],
  [() => ['consent', 'show', flows.consent], shapes.consent],
  [() => ['consent', 'resume', flows.consent], shapes.consent],
  [() => ['transfer', 'prepare', ACCOUNT], terms],
  [() => ['transfer', 'create', '--yes', ...ORDER], shapes.transfer],
  [() => ['transfer', '--yes', '--instant', '--payee-verified', ...ORDER], shapes.transfer],
  [() => ['transfer', 'list'], shapes.transfers.length(3)],
  [() => ['transfer', 'show', flows.transfer], shapes.transfer],
  [() => ['transfer', 'status', flows.transfer], shapes.transfer],
  [() => ['transfer', 'resume', flows.transfer], shapes.transfer],
  [() => ['sandbox', 'customer', loginAddress], z.strictObject({ pages: z.array(z.string()), finalUrl: z.url() })],
  [() => addProfile(), profile, () => 'a-client-secret-of-the-second-profile\n'],
  [() => ['profile', 'list'], z.array(profile).length(2)],
  [() => ['profile', 'show', 'second'], z.strictObject({ name: z.string(), settings: z.record(z.string(), setting) })],
  [() => ['profile', 'use', 'second'], profile],
  [() => ['profile', 'remove', 'second', '--yes'], z.strictObject({ name: z.string(), removed: z.literal(true) })],
  [() => ['auth', 'logout', '--grant', 'client_credentials'], shapes.logout],
  [() => ['auth', 'logout', '--revoke'], shapes.logout],
];
