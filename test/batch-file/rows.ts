import type { ReportRow } from '../../src/domain/batch/report-row.ts';
import { batchLine } from '../domain/batch/lines.ts';

/** Returns a row of a report. `changes` replace its fields. */
export function reportRow(changes: Partial<ReportRow> = {}): ReportRow {
  const { name, iban, amount, currency, description, ids } = batchLine();
  return {
    ...{ line: 1, batch: 'b-1', reference: 'R-1', flow: 'f-1', state: 'executed', from: '0000012345' },
    ...{ name, iban, amount, currency, description, ids },
    ...{ remittanceStructured: null, executionDate: null, endToEndId: 'E-1' },
    ...{
      payeeCheck: null,
      reason: null,
      refusedCall: null,
      bankReasons: [],
      paidAt: null,
      isUncertain: false,
    },
    ...changes,
  };
}

/** Returns all pieces of a text. */
export async function textOf(pieces: AsyncIterable<string>): Promise<string> {
  let text = '';
  for await (const piece of pieces) text += piece;
  return text;
}
