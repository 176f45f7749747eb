import { X509Certificate } from 'node:crypto';
import { readFile } from 'node:fs/promises';
import { Ledger } from './ledger.ts';
import { Logins } from './logins.ts';
import type { Application, Registration } from './registration.ts';
import { Resources } from './resources.ts';
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

/** The bank's whole state. It lives as long as the server; only the registration is on disk. */
export interface Bank {
  /** Of the API, without a slash at the end. Known once its server listens, before the first request. */
  baseUrl: string;
  /** Of the customer site, in the same way. */
  customerSiteUrl: string;
  now: () => Date;
  /** How long an instant transfer is `PENDING` after its execution. */
  instantSettlesAfterMs: number;
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
}

/** Opens the bank for a TPP that is registered. */
export async function openBank(
  registration: Registration,
  options: Pick<Bank, 'now' | 'instantSettlesAfterMs'>,
): Promise<Bank> {
  const { now } = options;
  const [qwac, qseal] = await Promise.all([
    readFile(registration.qwacCertFile),
    readFile(registration.qsealCertFile),
  ]);
  return {
    ...options,
    baseUrl: '',
    customerSiteUrl: '',
    tppName: 'Sandbox TPP',
    applications: registration.applications,
    tppCertificates: { qwac: new X509Certificate(qwac), qseal: new X509Certificate(qseal) },
    customers: seedCustomers,
    seenRequestIds: new SeenRequestIds(),
    logins: new Logins(now),
    tokens: new Tokens(now),
    resources: new Resources(now),
    consents: new Map(),
    ledger: new Ledger(seedCustomers, now()),
  };
}
