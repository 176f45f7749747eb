import { X509Certificate } from 'node:crypto';
import { readFile } from 'node:fs/promises';
import { AnswerSeal } from './answers/seal.ts';
import { CallLimits } from './call-limits.ts';
import { Ledger } from './ledger.ts';
import { Logins } from './logins.ts';
import type { Application, Registration } from './registration.ts';
import { Resources } from './resources.ts';
import type { BankRules } from './rules.ts';
import { type Customer, seedCustomers } from './seed-customers.ts';
import { SeenRequestIds } from './strict/seen-request-ids.ts';
import type { TppCertificates } from './strict/signature.ts';
import { Tokens } from './tokens.ts';

/** A consent that a customer gave and the TPP confirmed: valid until it is revoked. */
export interface Consent {
  customerId: string;
  category: string;
  productId: string;
  givenAt: Date;
}

/** The bank's whole state and its rules. It lives as long as the server; only the registration is on disk. */
export interface Bank {
  rules: BankRules;
  /** The clock of the rules. */
  now: () => Date;
  /** Of the API, without a slash at the end. Known once its server listens, before the first request. */
  baseUrl: string;
  /** Of the customer site, in the same way. */
  customerSiteUrl: string;
  tppName: string;
  applications: { authorizationCode: Application; clientCredentials: Application };
  tppCertificates: TppCertificates;
  customers: readonly Customer[];
  seenRequestIds: SeenRequestIds;
  logins: Logins;
  tokens: Tokens;
  resources: Resources;
  /** By customer, category and product. */
  consents: Map<string, Consent>;
  ledger: Ledger;
  limits: CallLimits;
  /** What the bank signs its answers with. */
  seal: AnswerSeal;
}

/** Opens the bank for a TPP that is registered. */
export async function openBank(registration: Registration, rules: BankRules): Promise<Bank> {
  const { now } = rules;
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
    customers: seedCustomers,
    seenRequestIds: new SeenRequestIds(),
    logins: new Logins(now),
    tokens: new Tokens(rules),
    resources: new Resources(now),
    consents: new Map(),
    ledger: new Ledger(seedCustomers, now()),
    limits: new CallLimits(rules),
    seal: new AnswerSeal(bankSigningKey),
  };
}
