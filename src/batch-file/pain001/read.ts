import Big from 'big.js';
import { written } from '../../domain/account-history.ts';
import type { BatchFormat } from '../../domain/batch/line.ts';
import type { BatchProblem } from '../../domain/batch/read-line.ts';
import { isDecimal } from '../../domain/decimal.ts';
import type { Finding, GroupPlaces, ReadRules } from '../finding.ts';
import type { Collected } from './elements.ts';
import { type PaymentInformation, readId, readInformation } from './information.ts';
import { type Report, requiredAt, textAt } from './texts.ts';
import { readTransaction } from './transaction.ts';
import { type Collecting, lineOf, type Visitor, walkDocument } from './walk.ts';

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
  at: Collecting;
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
  /** The open `PmtInf`. */
  #informationAt: Collecting = { path: '', texts: new Map(), lines: new Map() };
  /** Undefined before the first payment of the `PmtInf`. Null: something in it is wrong. */
  #information: PaymentInformation | null | undefined;
  #group: GroupPlaces | undefined;
  /** How many texts it had before its first payment. */
  #textsBefore = 0;

  constructor(rules: ReadRules) {
    this.#rules = rules;
  }

  /** What was found since the last call. */
  taken(): Finding[] {
    const findings = this.#found;
    this.#found = [];
    return findings;
  }

  format(format: BatchFormat): void {
    this.#format = format;
  }

  problem(severity: BatchProblem['severity'], place: string, message: string, fileLine: number): void {
    const line = place.includes('/CdtTrfTxInf[') ? this.#all.payments : null;
    this.#found.push({ type: 'problem', problem: { severity, line, place, fileLine, message } });
  }

  begin(name: Collected, element: Collecting): void {
    if (name === 'GrpHdr') return;
    if (name === 'PmtInf') {
      if (!this.#header) this.#wrong(element, 'GrpHdr is missing before it');
      this.#ofInformation = noPayments();
      this.#informationAt = element;
      this.#information = undefined;
      return;
    }
    if (this.#information === undefined) this.#readInformation();
    this.#all.payments += 1;
    this.#ofInformation.payments += 1;
  }

  end(name: Collected, element: Collecting): void {
    if (name === 'GrpHdr') this.#readHeader(element);
    else if (name === 'PmtInf') this.#endInformation(element);
    else this.#readTransaction(element);
  }

  /** The document ends. */
  finish(): void {
    if (this.#header) this.#compare(this.#header, this.#all);
  }

  #report(above: Collecting, severity: BatchProblem['severity'] = 'error'): Report {
    return (path, message) => this.problem(severity, `${above.path}/${path}`, message, lineOf(above, path));
  }

  /** Reports what is wrong with an element as a whole. */
  #wrong(element: Collecting, message: string): void {
    this.problem('error', element.path, message, lineOf(element, ''));
  }

  #readHeader(at: Collecting): void {
    const { texts } = at;
    const messageId = readId(texts, 'MsgId', this.#report(at));
    requiredAt(texts, 'NbOfTxs', this.#report(at));
    this.#header = { at, count: textAt(texts, 'NbOfTxs'), sum: textAt(texts, 'CtrlSum') };
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

  #readInformation(): void {
    const at = this.#informationAt;
    this.#textsBefore = at.texts.size;
    this.#group = groupPlaces(at);
    this.#information = readInformation(at.texts, this.#rules, this.#report(at), this.#report(at, 'warning'));
  }

  #endInformation(at: Collecting): void {
    const { texts } = at;
    if (this.#information === undefined) {
      this.#readInformation();
      this.#wrong(at, 'PmtInf has no payments');
    }
    if (texts.size !== this.#textsBefore)
      this.#wrong(at, 'PmtInf has elements after its payments. They must come before');
    this.#compare(
      { at, count: textAt(texts, 'NbOfTxs'), sum: textAt(texts, 'CtrlSum') },
      this.#ofInformation,
    );
  }

  #readTransaction(at: Collecting): void {
    const { texts, path } = at;
    const amount = sumIn(textAt(texts, 'Amt/InstdAmt') ?? '');
    for (const count of [this.#all, this.#ofInformation])
      count.sum = amount && count.sum ? count.sum.plus(amount) : null;
    const transaction = readTransaction(
      texts,
      this.#information ?? null,
      this.#report(at),
      this.#report(at, 'warning'),
      this.#rules.transliterate,
    );
    if (!transaction) return;
    const { instant, payeeVerified } = this.#rules;
    const line = this.#all.payments;
    this.#found.push({
      type: 'line',
      fileLine: lineOf(at, ''),
      ...(this.#group && { group: this.#group }),
      line: { ...transaction, line, place: path, instant: transaction.instant || instant, payeeVerified },
    });
  }

  /** Reports it if a header announces other payments than came. A sum with an amount that is no number is reported there. */
  #compare({ at, count, sum }: Announced, { payments, sum: real }: Count): void {
    if (count !== undefined && (!isCount(count) || Number(count) !== payments))
      this.#report(at)(
        'NbOfTxs',
        `NbOfTxs is ${JSON.stringify(count)}, but there ${payments === 1 ? 'is 1 payment' : `are ${payments} payments`}`,
      );
    if (sum === undefined || !real) return;
    if (!sumIn(sum)?.eq(real))
      this.#report(at)(
        'CtrlSum',
        `CtrlSum is ${JSON.stringify(sum)}, but the sum of the payments is ${written(real)}`,
      );
  }
}

/** Where a `PmtInf` says what holds for its payments. */
function groupPlaces(at: Collecting): GroupPlaces {
  const placeOf = (path: string) => ({ place: `${at.path}/${path}`, fileLine: lineOf(at, path) });
  return {
    debited: placeOf('DbtrAcct'),
    executionDate: placeOf('ReqdExctnDt'),
    type: at.texts.has('PmtTpInf') ? placeOf('PmtTpInf') : null,
  };
}

function noPayments(): Count {
  return { payments: 0, sum: new Big(0) };
}

/** A number in the form of ISO 20022 `DecimalNumber`: 18 digits, 17 of them after the point. Null for any other text. */
function sumIn(text: string): Big | null {
  return /^[+-]?\d{1,18}(\.\d{1,17})?$/.test(text) ? new Big(text.replace(/^\+/, '')) : null;
}

/** ISO 20022 `Max15NumericText`. */
function isCount(text: string): boolean {
  return /^\d{1,15}$/.test(text);
}
