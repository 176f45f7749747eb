import { LIST, namesReadBy } from '../../call/names-read.ts';
import { accountsAnswer, balanceAnswer, transactionsAnswer } from './accounts.ts';
import { readEnvelope } from './answer.ts';
import { approachAnswer, consentAnswer, operationStatusAnswer } from './consents.ts';
import { executeAnswer, executionStatusAnswer, prepareAnswer, verifyAnswer } from './payments.ts';

const ANSWERS = [
  accountsAnswer,
  balanceAnswer,
  transactionsAnswer,
  prepareAnswer,
  verifyAnswer,
  executeAnswer,
  executionStatusAnswer,
  consentAnswer,
  approachAnswer,
  operationStatusAnswer,
];

/** What rows are refused without, and lists that are none otherwise. */
const READABLE = {
  amountTransaction: { amount: '1.00', currency: 'EUR' },
  messages: LIST,
  holidays: LIST,
  currencyList: LIST,
  countries: LIST,
  categoriesOutcome: LIST,
};

/** The names of the members that psd2 reads in the answers of `cb`. */
export function fieldsRead(): Set<string> {
  const readers = ANSWERS.map((answer) => (json: object) => answer.safeParse(json));
  return namesReadBy([readEnvelope, ...readers], READABLE);
}
