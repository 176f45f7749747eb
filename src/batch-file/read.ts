import { findRepeats } from '../domain/batch/repeats.ts';
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
      const { fileLine } = finding;
      for (const problem of repeats.add(finding.line))
        yield { type: 'problem', problem: { ...problem, fileLine } };
    } else if (finding.type === 'problem') {
      isWrong ||= finding.problem.severity === 'error';
    }
    yield finding;
  }
  if (payments === 0 && !isWrong)
    yield {
      type: 'problem',
      problem: {
        severity: 'error',
        line: null,
        place: '',
        fileLine: null,
        message: 'The file has no payments',
      },
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
