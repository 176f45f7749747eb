/** What a bank file cannot say of a bank, and the second door can play. */
export const VARIATIONS = [
  /** Links are whole addresses. By default they are paths of the host. */
  'absolute-links',
  /** Links are relative to the base URL: without the path of the base URL. */
  'base-links',
  /** Errors have the form of RFC 7807. */
  'problem-json',
  /** The authorisation needs a confirmation code, which comes with the redirect. */
  'confirmation-codes',
  /** A new recurring consent leaves the former one in force. */
  'multiple-consents',
  /** The bank answers with `startAuthorisation` without being asked. */
  'start-link',
  /** The bank executes payments at once, without SCA. */
  'no-sca',
  /** The bank executes a payment an hour after the customer authorised it. */
  'executes-late',
  /** Once the customer has logged in with a payment, calls about it need the token of that login. */
  'payment-tokens',
] as const;

export type Variation = (typeof VARIATIONS)[number];
