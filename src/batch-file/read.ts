import type { BatchLine } from '../domain/batch/line.ts';
import type { BatchProblem } from '../domain/batch/read-line.ts';
import type { IsoDate } from '../domain/calendar.ts';
import { comparableReference } from '../domain/order/sepa-text.ts';
import { Psd2Error } from '../errors.ts';
import { decodeUtf8, joined } from './decode.ts';
import type { Finding, ReadRules } from './finding.ts';

/** More lines than any bank takes. psd2 remembers something of each line, so that none comes twice. */
const MAX_PAYMENTS = 1_000_000;

/**
 * Reads a file of payments, CSV or pain.001, and checks it: each line alone, its repeated payments and references, and its
 * sums. It holds one line at a time. Asks nobody, and knows nothing of other batches.
 *
 * @param bytes the file, in pieces of any size
 * @throws Psd2Error `usage` if the file is neither CSV nor pain.001 in UTF-8, or has too many lines
 */
export async function* readBatchFile(
  bytes: AsyncIterable<Uint8Array>,
  rules: ReadRules,
): AsyncGenerator<Finding> {
  const repeats = findRepeats(rules.today);
  let payments = 0;
  let isWrong = false;
  for await (const finding of findingsIn(decodeUtf8(bytes), rules)) {
    if (finding.type === 'line') {
      payments = finding.line.line;
      if (payments > MAX_PAYMENTS)
        throw new Psd2Error('usage', `The file has more than ${MAX_PAYMENTS} payments`, {
          hint: 'Split it into several files.',
        });
      for (const problem of repeats.add(finding.line)) yield { type: 'problem', problem };
    } else if (finding.type === 'problem') {
      isWrong ||= finding.problem.severity === 'error';
    }
    yield finding;
  }
  if (payments === 0 && !isWrong)
    yield {
      type: 'problem',
      problem: { severity: 'error', line: null, place: '', message: 'The file has no payments' },
    };
}

async function* findingsIn(texts: AsyncGenerator<string>, rules: ReadRules): AsyncGenerator<Finding> {
  try {
    const begin = await firstWords(texts);
    if (begin.trimStart().startsWith('<')) {
      const { readPain001 } = await import('./pain001/read.ts');
      yield* readPain001(joined(begin, texts), rules);
    } else {
      const { readCsv } = await import('./csv.ts');
      yield* readCsv(joined(begin, texts), rules);
    }
  } finally {
    // The file is closed, also if what is wrong with it shows before its end.
    await texts.return(undefined);
  }
}

/** A longer blank beginning says enough about a file. */
const LONGEST_BLANK = 65_536;

/** The beginning of a text, with something that is not blank. */
async function firstWords(texts: AsyncGenerator<string>): Promise<string> {
  for (let begin = ''; ; ) {
    const { value, done } = await texts.next();
    if (done) return begin;
    begin += value;
    if (value.trim() !== '' || begin.length > LONGEST_BLANK) return begin;
  }
}

/** Looks for payments that a batch has twice. It remembers one number for each reference and each payment. */
interface Repeats {
  /** What is wrong with the next line because of the lines before it. */
  add(line: BatchLine): BatchProblem[];
}

/** @param today the day at the bank, for lines without a date */
export function findRepeats(today: IsoDate): Repeats {
  const references = new Map<string, number>();
  const payments = new Map<string, number>();
  return {
    add(line) {
      const problems: BatchProblem[] = [];
      const note = (severity: BatchProblem['severity'], message: string) =>
        problems.push({ severity, line: line.line, place: line.place, message });
      if (line.reference !== null) {
        const first = remember(references, comparableReference(line.reference), line.line);
        if (first !== null)
          note('error', `The reference ${JSON.stringify(line.reference)} is that of payment ${first} too`);
      }
      const first = remember(payments, samePayment(line, today), line.line);
      if (first !== null) note('warning', `Payment ${first} has the same payee, amount and day`);
      return problems;
    },
  };
}

/** The same text for payments of one amount to one account on one day. */
export function samePayment(
  { iban, amount, executionDate }: Pick<BatchLine, 'iban' | 'amount' | 'executionDate'>,
  today: IsoDate,
): string {
  return `${iban} ${amount} ${executionDate ?? today}`;
}

/** Keeps the first line with a key. @returns that line if it is an earlier one; otherwise null */
function remember(lines: Map<string, number>, key: string, line: number): number | null {
  const first = lines.get(key);
  if (first !== undefined) return first;
  lines.set(key, line);
  return null;
}
