/** What a bank file cannot say of a bank, and the second door can play: the word of `--variation`, and what it does, for the docs. */
export const VARIATIONS = {
  'absolute-links':
    'links are whole addresses. By default they are paths of the host, `/nextgenpsd2/v1/consents/…`',
  'base-links': 'links are paths below the base URL, `/v1/consents/…`',
  'problem-json': 'errors have the form of RFC 7807 instead of `tppMessages`',
  'confirmation-codes':
    "after a redirect the authorisation is `unconfirmed` until the TPP sends the `confirmationCode` of the redirect's query. A wrong code ends it",
  'multiple-consents':
    'a new recurring consent leaves the former one in force, and the answer has `ASPSP-Multiple-Consent-Support: true`',
  'start-link': 'the bank answers with `startAuthorisation` without being asked',
  'no-sca': 'the bank executes a payment at once, without SCA: `scaStatus` is `exempted`',
  'executes-late': 'the bank executes a payment an hour after SCA, by its own clock',
  'payment-tokens':
    'with `oauth.mode: integrated`, each later call about a payment needs the token of its login. The customer can log in for it again',
  'gateway-links': "links have the address behind the bank's gateway: `http://xs2a.internal:8080/core/v1/…`",
  'funds-consents': "the bank confirms funds only with the customer's consent to that",
  'no-baskets': 'the bank has no signing baskets: 501',
  'shared-ids': "a card has the id of its customer's current account",
  notices: 'each answer that succeeds has a `psuMessage` and a `tppMessages`',
  'date-wanted': 'the bank wants `Date` with every call, whatever the bank file says',
  compressed: 'answers are compressed with gzip, if the call accepts that',
  'company-account':
    '`dora` (password `dora-sandbox`) and `emil` (`emil-sandbox`) hold a company account, and both must authorise: the second with `POST …/authorisations` and their `PSU-ID`. After the first, a payment is `PATC`, a consent `partiallyAuthorised`',
  embedded: 'the TPP asks for [PIN and TAN](#pin-and-tan-at-the-second-door)',
  'embedded-atruvia':
    "the same in the shape of Atruvia's recordings: seven methods, ids in links alone, challenges of words, 403 for an authorisation that is over",
  'row-ids-fresh': 'the id of a booked row is another one in each reading',
  'row-ids-shared': 'two neighbours have one id',
  'row-ids-positional': 'the id of a row is its position in the list',
  'row-ids-constant': 'all rows have the id `NOTPROVIDED`',
  'row-ids-moved':
    'whenever a row is booked, two neighbours exchange their ids. Every third row keeps its own',
  'value-day-30-february': 'every seventh booked row has a value day of 30 February',
  'rows-cut-at-50': 'a list ends after 50 rows, without a link to more',
  'report-links': 'a list of transactions is a document behind a link (`_links.download`)',
  'days-ignored': 'the bank ignores `dateFrom` and `dateTo`, and shows all rows',
} as const;

export type Variation = keyof typeof VARIATIONS;

export function isVariation(word: string): word is Variation {
  return Object.hasOwn(VARIATIONS, word);
}
