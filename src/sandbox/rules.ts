/** What a TPP is licensed as: an account information, payment initiation or funds-availability provider. */
export type TppRole = 'AISP' | 'PISP' | 'PIISP';

/** How strict the bank is, and how it answers: what a start of the sandbox may choose. */
export interface BankRules {
  /** The bank's clock. */
  now: () => Date;
  /** `enforced`: a call that needs a consent is refused without it. `recorded`: consents are kept, and not asked for. */
  consents: 'enforced' | 'recorded';
  /** What the TPP may do; undefined: no ACL check, as in the real sandbox. */
  roles: readonly TppRole[] | undefined;
  /** The lifetime of access tokens, in seconds. */
  tokenTtlSeconds: number;
  /** Whether a refresh gives a new refresh token and ends the old one. */
  rotateRefreshTokens: boolean;
  /** How many calls an application may make within 60 seconds; undefined: any number. */
  callsPerMinute: number | undefined;
  /** How many private calls client credentials may make in a day of the bank; undefined: any number. */
  clientCredentialsCallsPerDay: number | undefined;
  /** How many customers are made up, besides those that every sandbox has. */
  customers: number;
  /** How many booked transactions anna's current account and all accounts of made up customers have. */
  transactions: number | undefined;
  /** How many transactions of each kind a page has. */
  rowsAPage: number;
  /** `clean` answers as the interface specification says, `lived-in` in every odd shape that the real bank has. */
  persona: 'clean' | 'lived-in';
}

/** The rules of a sandbox that was started without options. */
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
};
