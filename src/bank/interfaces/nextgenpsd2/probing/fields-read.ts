import { LIST, namesReadBy } from '../../../call/names-read.ts';
import {
  accountAnswer,
  accountsAnswer,
  balancesAnswer,
  cardAccountsAnswer,
  nextOfPage,
  transactionsAnswerIn,
} from '../wire/accounts.ts';
import {
  consentAnswer,
  consentDetailsAnswer,
  consentStatusAnswer,
  scaStatusAnswer,
  startAnswer,
} from '../wire/consent.ts';
import { messagesIn } from '../wire/messages.ts';
import {
  authorisationsAnswer,
  bulkAnswer,
  cancellationAnswer,
  fundsAnswer,
  paymentAnswer,
  paymentInformation,
  paymentStatusAnswer,
} from '../wire/payment.ts';

const ANSWERS = [
  accountsAnswer,
  cardAccountsAnswer,
  accountAnswer,
  balancesAnswer,
  transactionsAnswerIn('Europe/Rome'),
  consentAnswer,
  consentStatusAnswer,
  consentDetailsAnswer,
  startAnswer,
  scaStatusAnswer,
  paymentAnswer,
  paymentStatusAnswer,
  paymentInformation,
  bulkAnswer,
  cancellationAnswer,
  authorisationsAnswer,
  fundsAnswer,
];

/** What a row is refused without, and lists that are none otherwise, or not read one by one. */
const READABLE = {
  transactionAmount: { amount: '1.00', currency: 'EUR' },
  tppMessages: LIST,
  payments: LIST,
  entryDetails: LIST,
};

/** The names of the members that psd2 reads in the answers of NextGenPSD2. */
export function fieldsRead(): Set<string> {
  const readers = ANSWERS.map((answer) => (json: object) => answer.safeParse(json));
  return namesReadBy([messagesIn, nextOfPage, ...readers], READABLE);
}
