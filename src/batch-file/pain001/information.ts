import { type Debit, type LineRules, readDebit } from '../../domain/batch/read-line.ts';
import { bankDay, isIsoDate } from '../../domain/calendar.ts';
import {
  type PaymentType,
  type Report,
  readPayeeAddress,
  readPaymentType,
  requiredAt,
  textAt,
} from './texts.ts';
import type { Texts } from './walk.ts';

/** What a `PmtInf` says about all its payments. */
export interface PaymentInformation extends Debit {
  paymentInformationId: string;
  /** Null: each payment may say it. */
  type: PaymentType | null;
  /** Absent: it does not say. */
  batchBooking?: boolean;
}

/** Where the fields of a debit are. */
const PATHS = { from: 'DbtrAcct', date: 'ReqdExctnDt', customer: '' } as const;

/**
 * Reads what stands in a `PmtInf` before its payments. psd2 executes by day, so it takes the day of a time at the bank.
 *
 * @param warn as `report`, for what is not wrong
 * @returns null if something is wrong, which is reported
 */
export function readInformation(
  texts: Texts,
  rules: LineRules,
  report: Report,
  warn: Report,
): PaymentInformation | null {
  let isRight = true;
  const wrong: Report = (path, message) => {
    isRight = false;
    report(path, message);
  };
  const paymentInformationId = readId(texts, 'PmtInfId', wrong);
  const method = requiredAt(texts, 'PmtMtd', wrong);
  if (method !== null && method !== 'TRF')
    wrong('PmtMtd', `psd2 cannot pay with ${JSON.stringify(method)}, only with a transfer (TRF)`);
  const booking = textAt(texts, 'BtchBookg');
  const batchBooking = booking === undefined ? undefined : BOOLEANS.get(booking);
  if (booking !== undefined && batchBooking === undefined)
    wrong('BtchBookg', `${JSON.stringify(booking)} is neither true nor false`);
  const type = readPaymentType(texts, wrong);
  readPayeeAddress(texts, 'Dbtr/PstlAdr', wrong);
  const currency = textAt(texts, 'DbtrAcct/Ccy');
  if (currency !== undefined && currency !== 'EUR')
    wrong('DbtrAcct/Ccy', `The account is in ${JSON.stringify(currency)}, and SEPA transfers are in EUR`);

  const debit = readDebit(
    { customer: null, from: readDebtor(texts, wrong), date: readPaymentDay(texts, wrong, warn) },
    rules,
    (field, message) => wrong(PATHS[field], message),
  );
  if (!debit || !isRight) return null;
  return { ...debit, paymentInformationId, type, ...(batchBooking !== undefined && { batchBooking }) };
}

/** The words of XML for yes and no. */
const BOOLEANS: ReadonlyMap<string, boolean> = new Map([
  ...(['true', '1'] as const).map((word) => [word, true] as const),
  ...(['false', '0'] as const).map((word) => [word, false] as const),
]);

/** The id of a group of payments: 1 to 35 characters. */
export function readId(texts: Texts, path: string, report: Report): string {
  const id = requiredAt(texts, path, report) ?? '';
  if (texts.has(path) && !/^.{1,35}$/.test(id)) report(path, 'The id does not have 1 to 35 characters');
  return id;
}

/** The IBAN of the debtor's account, or its id at the bank. */
function readDebtor(texts: Texts, report: Report): string | null {
  const iban = textAt(texts, 'DbtrAcct/Id/IBAN');
  if (iban !== undefined && texts.has('DbtrAcct/Id/Othr'))
    report('DbtrAcct/Id', 'The account has two numbers');
  const account = iban ?? textAt(texts, 'DbtrAcct/Id/Othr/Id');
  if (account === undefined) report('DbtrAcct', 'The account to debit is missing');
  return account ?? null;
}

/** German programs write it for "as soon as possible", because the element must not be missing. */
const AT_ONCE = '1999-01-01';

/** The day of execution, in any of its forms. */
function readPaymentDay(texts: Texts, report: Report, warn: Report): string | null {
  const day = textAt(texts, 'ReqdExctnDt') ?? textAt(texts, 'ReqdExctnDt/Dt');
  const time = textAt(texts, 'ReqdExctnDt/DtTm');
  if (day !== undefined && time !== undefined) report('ReqdExctnDt', 'The element has both Dt and DtTm');
  // XML allows a time zone after a day, and a day has none at the bank.
  const plain = day?.replace(/(?<=^\d{4}-\d\d-\d\d)(Z|[+-]\d\d:\d\d)$/, '');
  if ((plain ?? time?.slice(0, AT_ONCE.length)) === AT_ONCE) {
    warn(
      'ReqdExctnDt',
      `The day ${AT_ONCE} means as soon as possible: psd2 orders the payments for the day on which it pays them`,
    );
    return null;
  }
  if (plain !== undefined) return plain;
  if (time === undefined) {
    report('ReqdExctnDt', 'The element is missing');
    return null;
  }
  const [, date = '', zone] =
    /^(\d{4}-\d\d-\d\d)T\d\d:\d\d:\d\d(?:\.\d+)?(Z|[+-]\d\d:\d\d)?$/.exec(time) ?? [];
  // A day that does not exist would parse as one of the next month.
  if (!isIsoDate(date) || Number.isNaN(Date.parse(time))) {
    report('ReqdExctnDt/DtTm', `The time ${JSON.stringify(time)} is not an ISO 8601 time`);
    return null;
  }
  const orderedDay = zone === undefined ? date : bankDay(new Date(time));
  warn(
    'ReqdExctnDt/DtTm',
    `The bank executes by day: psd2 orders the payments for ${orderedDay}, at no time of the day`,
  );
  return orderedDay;
}
