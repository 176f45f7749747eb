import { inject } from 'vitest';
import type { BankFile } from '../../../src/bank/interfaces/nextgenpsd2/description/schema.ts';
import { type Bank, openBank } from '../../../src/sandbox/bank.ts';
import { DOORS } from '../../../src/sandbox/doors.ts';
import { parseFault } from '../../../src/sandbox/faults/fault.ts';
import { loadOrCreateRegistration } from '../../../src/sandbox/folder/registration.ts';
import { accessSide } from '../../../src/sandbox/nextgenpsd2/access-side.ts';
import type { DoorAnswer, DoorCall } from '../../../src/sandbox/nextgenpsd2/door-call.ts';
import type { DoorGrant } from '../../../src/sandbox/nextgenpsd2/oauth/grant.ts';
import { operationAt } from '../../../src/sandbox/nextgenpsd2/operations.ts';
import { runDuePayments } from '../../../src/sandbox/nextgenpsd2/payments/run-payments.ts';
import { servedCalls } from '../../../src/sandbox/nextgenpsd2/served-calls.ts';
import type { Variation } from '../../../src/sandbox/nextgenpsd2/variations.ts';
import { defaultRules } from '../../../src/sandbox/rules.ts';
import { rawRequest } from '../strict/raw.ts';
import { type Json, TestClock } from '../tpp.ts';
import { CALLBACK } from './door-client.ts';
import { answerTo, bankOf } from './refused.ts';

// A bank in memory: its second door without server and signatures, for tests of what it does with each call.

const registration = await loadOrCreateRegistration(inject('registration'));

/** What a call has besides its method and path. */
interface Call {
  body?: object | string;
  headers?: Record<string, string>;
  grant?: Partial<DoorGrant> | undefined;
  /** `no-sca` */
  faults?: readonly string[];
}

export interface BankHere {
  bank: Bank;
  clock: TestClock;
  /** The answer to a call, `POST /v1/consents`. @throws DoorRefusal */
  serve(call: string, more?: Call): DoorAnswer & { json: Json };
  /** What the client reads if the call is refused: see `answerTo`. */
  answer(call: string, more?: Call): string;
  /** The customer approves what an answer asks for. */
  approve(answer: { json: Json }, customerId: string): void;
}

/** Opens a bank at noon on 20 November 2026 (a Friday) in Rome. */
export async function bankHere(
  file: Omit<BankFile, 'interface'> = {},
  variations: readonly Variation[] = [],
  { strict = true }: { strict?: boolean } = {},
): Promise<BankHere> {
  const clock = new TestClock('2026-11-20T11:00:00Z');
  const own: BankFile = { interface: 'nextgenpsd2', ...file };
  const played = { description: bankOf(file), own, strict, variations };
  const bank = await openBank(registration, { ...defaultRules, ...played, now: clock.now }, undefined, DOORS);
  bank.baseUrl = 'https://bank.example';
  bank.customerSiteUrl = 'https://customers.example';
  const serve: BankHere['serve'] = (call, more) => {
    const { body, ...answer } = servedBy(bank, call, more);
    return { ...answer, ...(body !== undefined && { body }), json: JSON.parse(JSON.stringify(body ?? {})) };
  };
  return {
    ...{ bank, clock, serve },
    answer: (call, more) => answerTo(() => servedBy(bank, call, more)),
    approve: ({ json }, customerId) => {
      const id = String(json._links?.scaStatus?.href).split('/').at(-1) ?? '';
      accessSide(bank).approve(id, customerId, undefined);
    },
  };
}

function servedBy(
  bank: Bank,
  call: string,
  { body = '', headers = {}, grant, faults = [] }: Call = {},
): DoorAnswer {
  const [method = '', target = ''] = call.split(' ');
  const [path = ''] = target.split('?');
  const operation = operationAt(bank.rules.description, method, path);
  if (typeof operation !== 'object') throw new TypeError(`The bank has no ${call}`);
  const sent = typeof body === 'string' ? body : JSON.stringify(body);
  const all = { 'tpp-redirect-uri': CALLBACK, ...headers };
  const request = rawRequest({ method, target, body: sent, headers: Object.entries(all) });
  // As before each request to the bank.
  runDuePayments(bank);
  const doorCall: DoorCall = {
    ...{ request, operation, grant: grant && grantOf(grant) },
    faults: faults.map((fault) => parseFault(fault)),
  };
  return servedCalls[operation.id](bank, doorCall);
}

/** What an access token gives, by default to the application alone. */
export function grantOf(grant: Partial<DoorGrant>): DoorGrant {
  return { scope: '', customerId: undefined, consentId: undefined, paymentId: undefined, ...grant };
}
