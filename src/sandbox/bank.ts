import { X509Certificate } from 'node:crypto';
import { readFile } from 'node:fs/promises';
import { CallLimits } from './access/call-limits.ts';
import { Consents } from './access/consents.ts';
import { Logins } from './access/logins.ts';
import { Tokens } from './access/tokens.ts';
import { AnswerSeal } from './answers/seal.ts';
import { CallLog } from './console/call-log.ts';
import { Customers } from './customers/customers.ts';
import { FaultBook } from './faults/fault-book.ts';
import type { Application, Registration } from './folder/registration.ts';
import { Ledger } from './ledger/ledger.ts';
import { type DoorState, newDoorState } from './nextgenpsd2/door-state.ts';
import { Resources } from './operations/resources.ts';
import type { BankRules } from './rules.ts';
import { SeenRequestIds } from './strict/seen-request-ids.ts';
import type { TppCertificates } from './strict/signature.ts';

/** The state that changes while the bank runs. It is only in memory, and a reset replaces it. */
interface BankState {
  seenRequestIds: SeenRequestIds;
  logins: Logins;
  tokens: Tokens;
  resources: Resources;
  consents: Consents;
  ledger: Ledger;
  limits: CallLimits;
  faults: FaultBook;
  /** The calls and flows whose magic value was applied. */
  usedMagic: Set<string>;
  /** What the second door remembers. */
  door: DoorState;
}

/** The bank: its state, its rules and its fixed data. Only the registration is on disk. */
export interface Bank extends BankState {
  rules: BankRules;
  /** The clock of the rules. */
  now: () => Date;
  /** The API's address, without a trailing slash. Set when the server listens, before the first request. */
  baseUrl: string;
  /** The customer site's address, in the same form. */
  customerSiteUrl: string;
  tppName: string;
  applications: { authorizationCode: Application; clientCredentials: Application };
  tppCertificates: TppCertificates;
  customers: Customers;
  /** What the console shows. */
  calls: CallLog;
  /** Signs the bank's answers. */
  seal: AnswerSeal;
}

/** Opens the bank for a registered TPP. */
export async function openBank(registration: Registration, rules: BankRules): Promise<Bank> {
  const { now } = rules;
  const customers = new Customers(rules);
  const [qwac, qseal, bankSigningKey] = await Promise.all([
    readFile(registration.qwacCertFile),
    readFile(registration.qsealCertFile),
    readFile(registration.bankSigningKeyFile),
  ]);
  return {
    rules,
    now,
    baseUrl: '',
    customerSiteUrl: '',
    tppName: 'Sandbox TPP',
    applications: registration.applications,
    tppCertificates: { qwac: new X509Certificate(qwac), qseal: new X509Certificate(qseal) },
    customers,
    ...newState(rules, customers),
    calls: new CallLog(),
    seal: new AnswerSeal(bankSigningKey),
  };
}

/**
 * Resets the bank to its state after the start: the initial ledger, and no tokens, logins, consents, operations or
 * faults. Certificates and registration stay.
 */
export function resetBank(bank: Bank): void {
  Object.assign(bank, newState(bank.rules, bank.customers));
}

function newState(rules: BankRules, customers: Customers): BankState {
  const { now } = rules;
  return {
    seenRequestIds: new SeenRequestIds(),
    logins: new Logins(now),
    tokens: new Tokens(rules),
    resources: new Resources(now),
    consents: new Consents(now),
    ledger: new Ledger(customers, now()),
    limits: new CallLimits(rules),
    faults: new FaultBook(),
    usedMagic: new Set(),
    door: newDoorState(rules),
  };
}
