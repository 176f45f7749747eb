import { X509Certificate } from 'node:crypto';
import { readFile } from 'node:fs/promises';
import { Logins } from './access/logins.ts';
import { Tokens } from './access/tokens.ts';
import { AnswerSeal } from './answers/seal.ts';
import { CallLimits } from './cb/call-limits.ts';
import { Consents } from './cb/consents.ts';
import type { Grant, LoginOrder } from './cb/grant.ts';
import { Resources } from './cb/orders/resources.ts';
import { CallLog } from './console/call-log.ts';
import { Customers } from './customers/customers.ts';
import type { Customer } from './customers/seed-customers.ts';
import { FaultBook, UsedMagic } from './faults/fault-book.ts';
import type { Application, Registration } from './folder/registration.ts';
import { openStateFolder, type StateParts } from './folder/state-folder.ts';
import { BankClock } from './ledger/bank-clock.ts';
import { Ledger } from './ledger/ledger.ts';
import type { BankRules, SeededCustomer } from './rules.ts';
import type { DoorSeed } from './seed/seed-fields.ts';
import type { DoorMemory, StatePart } from './state-part.ts';
import { SeenRequestIds } from './strict/seen-request-ids.ts';
import type { TppCertificates } from './strict/signature.ts';

/** How long the first door tells an expired token from an unknown one. */
const DAY_MS = 24 * 60 * 60 * 1000;

/** The state that changes while the bank runs. A reset replaces it. */
interface BankState {
  clock: BankClock;
  customers: Customers;
  seenRequestIds: SeenRequestIds;
  logins: Logins<LoginOrder, Grant>;
  tokens: Tokens<Grant>;
  resources: Resources;
  consents: Consents;
  ledger: Ledger;
  limits: CallLimits;
  faults: FaultBook;
  usedMagic: UsedMagic;
  /** All of the above, and what the doors remember, each part under its name. */
  parts: StateParts;
}

/** What a door brings to the state of the bank. */
export interface DoorState {
  memory?: Pick<DoorMemory<Record<string, StatePart>>, 'begin'>;
  seed: DoorSeed<BankState>;
}

/** The bank: its state, its rules and its fixed data. The registration is on disk, and with `--state` the state too. */
export interface Bank extends BankState {
  rules: BankRules;
  doors: ReadonlyMap<string, DoorState>;
  /** The bank's time: of tokens, consents, bookings and holidays. */
  now: () => Date;
  /** The real time: of headers, signatures and certificates, because a client has no other one. */
  wallNow: () => Date;
  /** Waits until the state as it is now is on the disk, if the bank keeps it. */
  keep: () => Promise<void>;
  /** The API's address, without a trailing slash. Set when the server listens, before the first request. */
  baseUrl: string;
  /** The customer site's address, in the same form. */
  customerSiteUrl: string;
  tppName: string;
  applications: { authorizationCode: Application; clientCredentials: Application };
  tppCertificates: TppCertificates;
  nextTppCertificates: TppCertificates;
  /** What the console shows. */
  calls: CallLog;
  /** Signs the bank's answers. */
  seal: AnswerSeal;
}

/** Opens the bank for a registered TPP. @param folder where it keeps its state. Undefined: only in memory */
export async function openBank(
  registration: Registration,
  rules: BankRules,
  folder: string | undefined,
  doors: Bank['doors'],
): Promise<Bank> {
  const stateFolder = folder === undefined ? undefined : await openStateFolder(folder);
  const [tppCertificates, nextTppCertificates, bankSigningKey] = await Promise.all([
    readCertificates(registration.qwacCertFile, registration.qsealCertFile),
    readCertificates(registration.nextQwacCertFile, registration.nextQsealCertFile),
    readFile(registration.bankSigningKeyFile),
  ]);
  const bank: Bank = {
    rules,
    doors,
    now: () => bank.clock.now(),
    wallNow: rules.now,
    keep: async () => stateFolder?.save(bank.parts),
    baseUrl: '',
    customerSiteUrl: '',
    tppName: 'Sandbox TPP',
    applications: registration.applications,
    tppCertificates,
    nextTppCertificates,
    ...newState(rules, doors),
    calls: new CallLog(),
    seal: new AnswerSeal(bankSigningKey),
  };
  stateFolder?.restore(bank.parts);
  await bank.keep();
  return bank;
}

async function readCertificates(qwacFile: string, qsealFile: string): Promise<TppCertificates> {
  const [qwac, qseal] = await Promise.all([readFile(qwacFile), readFile(qsealFile)]);
  return { qwac: new X509Certificate(qwac), qseal: new X509Certificate(qseal) };
}

/**
 * Resets the bank to its state after the first start: the time, the customers and the ledger of it, and no tokens, logins,
 * consents, operations or faults. Certificates and registration stay.
 */
export function resetBank(bank: Bank): void {
  Object.assign(bank, newState(bank.rules, bank.doors));
}

/** Resets what the bank knows of one customer: the accounts are as at the start, and tokens, consents and payments are gone. */
export function resetCustomer(bank: Bank, customer: Customer): void {
  for (const part of Object.values(bank.parts)) part.forgetCustomer(customer);
}

function newState(bankRules: BankRules, doors: Bank['doors']): BankState {
  const clock = new BankClock(bankRules.now);
  const now = (): Date => clock.now();
  const rules = { ...bankRules, now };
  const customers = new Customers(rules);
  const own = {
    clock,
    customers,
    seenRequestIds: new SeenRequestIds(),
    logins: new Logins<LoginOrder, Grant>(now),
    tokens: new Tokens<Grant>(rules, DAY_MS),
    resources: new Resources(now),
    consents: new Consents(now),
    ledger: new Ledger(customers, now()),
    limits: new CallLimits(rules),
    faults: new FaultBook(),
    usedMagic: new UsedMagic(),
  };
  const parts: Record<string, StatePart> = { ...own };
  for (const [name, { memory }] of doors)
    for (const [part, begun] of Object.entries(memory?.begin(parts, rules) ?? {}))
      parts[`${name}.${part}`] = begun;
  const state = { ...own, parts };
  for (const seeded of rules.seed) giveSeeded({ ...state, doors }, seeded);
  return state;
}

/** Gives a customer what a seed says that they gave at the doors. */
export function giveSeeded(
  bank: BankState & Pick<Bank, 'doors'>,
  { customer, record }: SeededCustomer,
): void {
  for (const { seed } of bank.doors.values()) seed.give(bank, customer, record);
}
