import { Psd2Error } from '../../../../errors.ts';
import { answerText } from '../../../call/charset.ts';
import type { ZoneOfAnswer } from '../readings/zone.ts';
import { transactionsAnswerIn } from '../wire/accounts.ts';
import { callName, type NextGenAnswer } from '../wire/answer.ts';
import { readCamt } from './camt.ts';
import { readMt940 } from './mt940.ts';
import type { ReportReading } from './report.ts';

/**
 * Reads an account report that is not JSON to what the standard's JSON would have.
 *
 * @param zone of the bank, or of the account that the report names
 * @param listedCurrency of the account, for a report that names none
 * @throws Psd2Error `bank_answer` with the place of what cannot be read
 */
export function readReport(
  answer: NextGenAnswer,
  format: 'camt' | 'mt940',
  zone: ZoneOfAnswer,
  listedCurrency: string | undefined,
): ReportReading {
  const fail = (what: string): never => {
    throw new Psd2Error('bank_answer', `The bank's answer to ${callName(answer)} cannot be read. ${what}`, {
      httpStatus: answer.status,
      tppRequestId: answer.tppRequestId,
      ...(answer.reply.requestId && { requestId: answer.reply.requestId }),
      transactionId: answer.call.transactionId,
    });
  };
  const { text, problem } = answerText(answer);
  // SWIFT has ASCII alone, and what banks write beyond it is Latin.
  if (problem !== null && format === 'camt') fail(`It ${problem}`);
  const report = format === 'camt' ? readCamt(text, zone, fail) : readMt940(text, fail, listedCurrency);
  // A report has days alone, which no zone changes.
  const read = transactionsAnswerIn(zone(null)).safeParse(report);
  const issue = read.error?.issues[0];
  if (!read.success) return fail(`${issue?.path.join('.')}: ${issue?.message}`);
  const { headers, status, wasUnusable } = answer;
  const { isPart, contradictions } = report;
  const reading = { data: read.data, headers, status, notices: [], isPart, contradictions };
  return { ...reading, ...(wasUnusable && { wasUnusable }) };
}
