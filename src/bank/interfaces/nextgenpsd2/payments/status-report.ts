import { readPain002, type StatusReport } from '../../../../batch-file/pain002/read.ts';
import type { Initiation } from '../../../../domain/operation.ts';
import { Psd2Error } from '../../../../errors.ts';
import { contradictsItself } from '../wire/answer.ts';

/** The ids of a file of ours: its `MsgId` and `PmtInfId`. */
export function idsIn({ body }: Pick<Initiation, 'body'>): string[] {
  return [...body.matchAll(/<(?:MsgId|PmtInfId)>([^<]*)</g)].flatMap(([, id]) => id ?? []);
}

/**
 * What the bank says of a payment that was no file: by the payment's own id, since what it calls its file is the bank's.
 *
 * @returns null: it is no pain.002
 * @throws Psd2Error `bank_answer` as {@link reportOf}
 */
export function reportOfPayment(
  body: Buffer,
  paymentId: string,
  { endToEndId }: Pick<Initiation, 'endToEndId'>,
): Pick<StatusReport, 'status' | 'reasons'> | null {
  // One that contradicts itself has no entries.
  const own = readPain002(body.toString('utf8'))?.entries.get(endToEndId);
  return own ?? reportOf(body, [paymentId]);
}

/**
 * What the bank says of the payments of a file of ours.
 *
 * @param ours the ids by which it must name the file
 * @returns null: it is no pain.002
 * @throws Psd2Error `bank_answer` if it is about another file, or contradicts itself: it decides nothing
 */
export function reportOf(body: Buffer, ours: readonly string[]): StatusReport | null {
  const report = readPain002(body.toString('utf8'));
  const isOurs = (named: string) => ours.includes(named);
  if (!report || (report.about.length > 0 && report.about.every(isOurs))) {
    if (report && report.contradiction !== null) throw contradictsItself(report.contradiction);
    return report;
  }
  const other = report.about.find((named) => !isOurs(named));
  throw new Psd2Error(
    'bank_answer',
    other === undefined
      ? "The bank's report does not say which file it is about"
      : `The bank's report is about the file ${other}, not about ${ours[0]}`,
    { hint: 'psd2 did not use the answer. A gateway on the way may mix up answers.' },
  );
}
