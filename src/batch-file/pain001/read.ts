import Big from 'big.js';
import { written } from '../../domain/account-history.ts';
import type { BatchFormat } from '../../domain/batch/line.ts';
import type { BatchProblem } from '../../domain/batch/read-line.ts';
import { isDecimal } from '../../domain/decimal.ts';
import type { Finding, ReadRules } from '../finding.ts';
import type { Collected } from './elements.ts';
import { type PaymentInformation, readId, readInformation } from './information.ts';
import { type Report, requiredAt, textAt } from './texts.ts';
import { readTransaction } from './transaction.ts';
import { type Texts, type Visitor, walkDocument } from './walk.ts';

/**
 * Reads pain.001. What psd2 cannot pay as the file says it is an error; what it leaves out is a warning.
 *
 * @throws Psd2Error `usage` if the file is not such a document
 */
export async function* readPain001(texts: AsyncIterable<string>, rules: ReadRules): AsyncGenerator<Finding> {
  const reading = new Reading(rules);
  const walk = walkDocument(reading);
  for await (const text of texts) {
    walk.write(text);
    yield* reading.taken();
  }
  walk.close();
  reading.finish();
  yield* reading.taken();
}

/** How many payments there are, and their sum. Null: an amount could not be read. */
interface Count {
  payments: number;
  sum: Big | null;
}

/** What a header says about the payments after it. */
interface Announced {
  path: string;
  count: string | undefined;
  sum: string | undefined;
}

/** What was read of a document so far. */
class Reading implements Visitor {
  readonly #rules: ReadRules;
  #found: Finding[] = [];
  #format: BatchFormat = 'pain.001.001.09';
  #header: Announced | null = null;
  #all = noPayments();
  #ofInformation = noPayments();
  /** Those of the open `PmtInf`. */
  #informationTexts: Texts = new Map();
  /** Undefined before the first payment of the `PmtInf`. Null: something in it is wrong. */
  #information: PaymentInformation | null | undefined;
  /** How many texts it had before its first payment. */
  #textsBefore = 0;

  constructor(rules: ReadRules) {
    this.#rules = rules;
  }

  /** What was found since the last call. */
  taken(): Finding[] {
    const found = this.#found;
    this.#found = [];
    return found;
  }

  format(format: BatchFormat): void {
    this.#format = format;
  }

  problem(severity: BatchProblem['severity'], place: string, message: string): void {
    const line = place.includes('/CdtTrfTxInf[') ? this.#all.payments : null;
    this.#found.push({ type: 'problem', problem: { severity, line, place, message } });
  }

  begin(name: Collected, path: string, texts: Texts): void {
    if (name === 'GrpHdr') return;
    if (!this.#header && name === 'PmtInf') this.problem('error', path, 'GrpHdr is missing before it');
    if (name === 'PmtInf') {
      this.#ofInformation = noPayments();
      this.#informationTexts = texts;
      this.#information = undefined;
      return;
    }
    if (this.#information === undefined) this.#readInformation(path.slice(0, path.lastIndexOf('/')));
    this.#all.payments += 1;
    this.#ofInformation.payments += 1;
  }

  end(name: Collected, path: string, texts: Texts): void {
    if (name === 'GrpHdr') this.#readHeader(path, texts);
    else if (name === 'PmtInf') this.#endInformation(path, texts);
    else this.#readTransaction(path, texts);
  }

  /** The document ends. */
  finish(): void {
    if (this.#header) this.#compare(this.#header, this.#all);
  }

  #report(above: string, severity: BatchProblem['severity'] = 'error'): Report {
    return (path, message) => this.problem(severity, `${above}/${path}`, message);
  }

  #readHeader(path: string, texts: Texts): void {
    const messageId = readId(texts, 'MsgId', this.#report(path));
    requiredAt(texts, 'NbOfTxs', this.#report(path));
    this.#header = { path, count: textAt(texts, 'NbOfTxs'), sum: textAt(texts, 'CtrlSum') };
    const { count, sum } = this.#header;
    this.#found.push({
      type: 'source',
      source: {
        format: this.#format,
        messageId,
        count: count !== undefined && isCount(count) ? Number(count) : null,
        sum: sum !== undefined && isDecimal(sum) ? sum : null,
      },
    });
  }

  #readInformation(path: string): void {
    this.#textsBefore = this.#informationTexts.size;
    this.#information = readInformation(
      this.#informationTexts,
      this.#rules,
      this.#report(path),
      this.#report(path, 'warning'),
    );
  }

  #endInformation(path: string, texts: Texts): void {
    if (this.#information === undefined) {
      this.#readInformation(path);
      this.problem('error', path, 'PmtInf has no payments');
    }
    if (texts.size !== this.#textsBefore)
      this.problem('error', path, 'PmtInf has elements after its payments. They must come before');
    this.#compare(
      { path, count: textAt(texts, 'NbOfTxs'), sum: textAt(texts, 'CtrlSum') },
      this.#ofInformation,
    );
  }

  #readTransaction(path: string, texts: Texts): void {
    const amount = numberIn(textAt(texts, 'Amt/InstdAmt') ?? '');
    for (const count of [this.#all, this.#ofInformation])
      count.sum = amount && count.sum ? count.sum.plus(amount) : null;
    const transaction = readTransaction(
      texts,
      this.#information ?? null,
      this.#report(path),
      this.#report(path, 'warning'),
      this.#rules.transliterate,
    );
    if (!transaction) return;
    const { instant, payeeVerified } = this.#rules;
    const line = this.#all.payments;
    this.#found.push({
      type: 'line',
      line: { ...transaction, line, place: path, instant: transaction.instant || instant, payeeVerified },
    });
  }

  /** Reports it if a header announces other payments than came. A sum with an amount that is no number is reported there. */
  #compare({ path, count, sum }: Announced, { payments, sum: real }: Count): void {
    if (count !== undefined && (!isCount(count) || Number(count) !== payments))
      this.problem(
        'error',
        `${path}/NbOfTxs`,
        `NbOfTxs is ${JSON.stringify(count)}, but there ${payments === 1 ? 'is 1 payment' : `are ${payments} payments`}`,
      );
    if (sum === undefined || !real) return;
    if (!numberIn(sum)?.eq(real))
      this.problem(
        'error',
        `${path}/CtrlSum`,
        `CtrlSum is ${JSON.stringify(sum)}, but the sum of the payments is ${written(real)}`,
      );
  }
}

function noPayments(): Count {
  return { payments: 0, sum: new Big(0) };
}

/** A number in the form of ISO 20022 `DecimalNumber`: 18 digits, 17 of them after the point. Null for any other text. */
function numberIn(text: string): Big | null {
  return /^[+-]?\d{1,18}(\.\d{1,17})?$/.test(text) ? new Big(text.replace(/^\+/, '')) : null;
}

/** ISO 20022 `Max15NumericText`. */
function isCount(text: string): boolean {
  return /^\d{1,15}$/.test(text);
}
