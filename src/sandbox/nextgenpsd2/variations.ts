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
  /** Links have the address that the bank has behind its gateway. */
  'gateway-links',
  /** The bank confirms funds only with the customer's consent to that. */
  'funds-consents',
  /** The bank has no signing baskets. */
  'no-baskets',
  /** A card has the id of the customer's current account. */
  'shared-ids',
  /** Every answer has a notice for the customer and one for the TPP. */
  'notices',
  /** The bank wants the header Date, although the bank file does not say so. */
  'date-wanted',
  /** Answers are compressed, if the call accepts that. */
  'compressed',
  /** The customers dora and emil have a company account, and both must authorise. */
  'company-account',
  /** The id of a row is another one in each reading. */
  'row-ids-fresh',
  /** Two neighbours have one id. */
  'row-ids-shared',
  /** The id of a row is its position in the list. */
  'row-ids-positional',
  /** All rows have one id. */
  'row-ids-constant',
  /** Whenever a row is booked, two neighbours exchange their ids, and every third row keeps its own. */
  'row-ids-moved',
  /** Every seventh row has a value day of 30 February. */
  'value-day-30-february',
  /** The list ends after 50 rows of each kind, without a link to more. */
  'rows-cut-at-50',
  /** The bank ignores the days that were asked for. */
  'days-ignored',
  /** Lists of transactions are documents behind a link, in the first format of the bank file. */
  'report-links',
] as const;

export type Variation = (typeof VARIATIONS)[number];
