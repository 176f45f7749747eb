import type { Customer } from './customers/seed-customers.ts';
import { type DoorRules, standardDoor } from './nextgenpsd2/door-rules.ts';

/** The roles of a TPP: account information, payment initiation or funds-availability provider. */
export type TppRole = 'AISP' | 'PISP' | 'PIISP';

/** How strict the bank is, and how it answers. The options of `sandbox start` set these rules. */
export interface BankRules extends DoorRules {
  /** The real time. `sandbox clock` sets the bank's time, which is never behind it. */
  now: () => Date;
  /** `enforced`: the bank refuses a call without its consent. `recorded`: the bank records consents but does not check them. */
  consents: 'enforced' | 'recorded';
  /** The roles of the TPP. Undefined: no ACL check, as in the real sandbox. */
  roles: readonly TppRole[] | undefined;
  /** The lifetime of access tokens, in seconds. */
  tokenTtlSeconds: number;
  /** Whether a refresh issues a new refresh token and ends the old one. */
  rotateRefreshTokens: boolean;
  /** The maximum number of calls of an application within 60 seconds. Undefined: no limit. */
  callsPerMinute: number | undefined;
  /** The maximum number of private calls with client credentials in a bank day. Undefined: no limit. */
  clientCredentialsCallsPerDay: number | undefined;
  /** The number of generated customers, in addition to the seeded ones. */
  customers: number;
  /** The number of booked transactions on anna's current account and on all accounts of generated customers. */
  transactions: number | undefined;
  /** Booked and pending transactions per page. */
  rowsAPage: number;
  /** `clean` follows the interface specification. `lived-in` has all the unusual shapes of the real bank's answers. */
  persona: 'clean' | 'lived-in';
  /** Takes a line of the sandbox's log. */
  log: (line: string) => void;
  /** What the bank has from its first start on, in addition to its own customers. */
  seed: readonly SeededCustomer[];
}

/** A customer of a seed file. Their products have their transactions. */
export interface SeededCustomer {
  customer: Customer;
  /** What the file says of them, for the doors. */
  record: object;
}

/** The rules of a sandbox without options. */
export const defaultRules: BankRules = {
  now: () => new Date(),
  consents: 'enforced',
  roles: undefined,
  tokenTtlSeconds: 3500,
  rotateRefreshTokens: true,
  callsPerMinute: undefined,
  clientCredentialsCallsPerDay: undefined,
  customers: 0,
  transactions: undefined,
  rowsAPage: 10,
  persona: 'clean',
  log: () => {},
  seed: [],
  ...standardDoor,
};
