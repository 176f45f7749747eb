import type * as z from 'zod/mini';
import type { BankDescription } from '../../../bank/interfaces/nextgenpsd2/description/schema.ts';
import type { Bank } from '../../bank.ts';
import { addDays, bankDay, type IsoDate } from '../../ledger/bank-time.ts';
import { type DoorCall, inPath } from '../door-call.ts';
import { DoorRefusal, unexpected } from '../refusal.ts';
import { parse, parseBody, readBody } from '../strict/body.ts';
import { bodyForm } from '../strict/headers.ts';
import { checkFields } from './body-fields.ts';
import { fileIdsIn, readPain001, readSinglePain001 } from './pain001-body.ts';
import { PAYMENT_SERVICES, type PaymentInitiation, type PaymentService } from './payment.ts';
import { bulkBody, periodicBody, singleBody, type TransferBody } from './payment-body.ts';
import { readOrder } from './payment-order.ts';
import { FREQUENCIES, type Frequency } from './standing-rule.ts';

/** Service and product in the path of a call. @throws DoorRefusal `PRODUCT_UNKNOWN` */
export function productInPath(bank: Bank, call: DoorCall): { service: PaymentService; product: string } {
  const [serviceName, product] = [inPath(call, 'payment-service'), inPath(call, 'payment-product')];
  const service = PAYMENT_SERVICES.find((one) => one === serviceName);
  const products = service === undefined ? [] : bank.rules.description.payments.products[service];
  if (service !== undefined && products.includes(product)) return { service, product };
  throw unexpected(
    'PRODUCT_UNKNOWN',
    'payment-product',
    `The bank has no such product of ${serviceName}`,
    products.length === 0 ? 'none: the bank does not have this service' : products.join(', '),
    product,
  );
}

/**
 * Reads the body of an initiation, and holds it against the bank file.
 *
 * @throws DoorRefusal `FORMAT_ERROR` with the path of the field, `PAYMENT_FAILED`, `EXECUTION_DATE_INVALID`, `PRODUCT_UNKNOWN`
 */
export function readInitiation(bank: Bank, call: DoorCall): PaymentInitiation {
  const { service, product } = productInPath(bank, call);
  switch (service) {
    case 'payments':
      return readSingle(bank, call, product);
    case 'periodic-payments':
      return readPeriodic(bank, call, product);
    case 'bulk-payments':
      return readBulk(bank, call, product);
  }
}

/** A payment that is sent alone. What the bank file says of its fields is of those in JSON. */
function readAlone<T extends Readonly<Record<string, unknown>>>(
  bank: Bank,
  { request, operation }: DoorCall,
  service: 'payments' | 'periodic-payments',
  schema: z.ZodMiniType<T>,
): { body: T; file?: NonNullable<PaymentInitiation['file']> } {
  const { description } = bank.rules;
  const form = bodyForm(description, operation);
  if (form === 'json') {
    const body = readBody(request, schema);
    checkFields(body, service, description.payments);
    return { body };
  }
  const { format = 'json' } = description.payments.bulk ?? {};
  const version = format === 'json' ? 'pain.001.001.03' : format;
  const body = parseBody(readSinglePain001(request, form, version, bankDay(bank.now())), schema);
  return { body, file: fileIdsIn(request) };
}

function readSingle(bank: Bank, call: DoorCall, product: string): PaymentInitiation {
  const { body, ...file } = readAlone(bank, call, 'payments', singleBody);
  const debtor = readDebtor(bank, body.debtorAccount);
  return {
    service: 'payments',
    product,
    debtor,
    orders: [readOrder(body, orderRules(bank, product, debtor?.product.iban), '')],
    body,
    ...file,
    executionDay: readExecutionDay(bank, body.requestedExecutionDate, product),
    standing: undefined,
  };
}

function readPeriodic(bank: Bank, call: DoorCall, product: string): PaymentInitiation {
  const { body, ...file } = readAlone(bank, call, 'periodic-payments', periodicBody);
  const debtor = readDebtor(bank, body.debtorAccount);
  const { startDate, endDate, executionRule, dayOfExecution } = body;
  const frequency = readFrequency(bank, body.frequency);
  const digits = bank.rules.description.payments.days === 'two-digits' ? 2 : 1;
  const isWritten =
    dayOfExecution === undefined || dayOfExecution === String(Number(dayOfExecution)).padStart(digits, '0');
  if (!isWritten)
    throw unexpected(
      'FORMAT_ERROR',
      'dayOfExecution',
      'dayOfExecution has another form',
      digits === 2 ? 'two digits' : 'no leading zero',
      dayOfExecution,
    );
  const today = bankDay(bank.now());
  if (startDate < today)
    throw wrongDay('startDate', 'startDate is in the past', `${today} or later`, startDate);
  if (endDate !== undefined && endDate < startDate)
    throw wrongDay('endDate', 'endDate is before startDate', `${startDate} or later`, endDate);
  return {
    service: 'periodic-payments',
    product,
    debtor,
    orders: [readOrder(body, orderRules(bank, product, debtor?.product.iban), '')],
    body,
    ...file,
    executionDay: undefined,
    standing: {
      startDate,
      endDate,
      frequency,
      executionRule,
      dayOfExecution: dayOfExecution === undefined ? undefined : Number(dayOfExecution),
    },
  };
}

/** @throws DoorRefusal for a word that the bank does not have */
function readFrequency({ rules }: Bank, word: string): Frequency {
  const { frequencies } = rules.description.payments;
  const frequency = FREQUENCIES.find((each) => (frequencies[each] ?? each) === word);
  if (frequency) return frequency;
  const expected = FREQUENCIES.map((each) => frequencies[each] ?? each).join(', ');
  throw unexpected('FORMAT_ERROR', 'frequency', 'frequency is none of the words of the bank', expected, word);
}

function readBulk(bank: Bank, { request }: DoorCall, product: string): PaymentInitiation {
  const { payments } = bank.rules.description;
  const { maxEntries, format = 'json' } = payments.bulk ?? {};
  const body = parseBody(
    format === 'json' ? parse(request.body) : readPain001(request, format, bankDay(bank.now())),
    bulkBody,
  );
  checkFields(body, 'bulk-payments', payments);
  checkBooking(body.batchBookingPreferred, payments.bulk?.batchBooking);
  if (maxEntries !== undefined && body.payments.length > maxEntries) {
    const received = String(body.payments.length);
    throw unexpected(
      'FORMAT_ERROR',
      'payments',
      'The bulk has too many payments',
      `at most ${maxEntries}`,
      received,
    );
  }
  const debtor = readDebtor(bank, body.debtorAccount);
  const rules = orderRules(bank, product, debtor?.product.iban);
  const entry = (one: TransferBody, index: number) => {
    const at = `payments[${index}].`;
    checkFields(one, 'entry', payments, at);
    return readOrder(one, rules, at);
  };
  return {
    service: 'bulk-payments',
    product,
    debtor,
    orders: body.payments.map(entry),
    ...(format !== 'json' && { file: fileIdsIn(request) }),
    body,
    executionDay: readExecutionDay(bank, body.requestedExecutionDate, product),
    standing: undefined,
  };
}

/** Whether the TPP says how the bulk is booked, as `payments.bulk.batchBooking` of the bank file wants it. */
function checkBooking(
  preferred: boolean | undefined,
  rule: NonNullable<BankDescription['payments']['bulk']>['batchBooking'] = 'optional',
): void {
  const isWrong = preferred === undefined ? rule === 'required' : rule === 'never';
  if (!isWrong) return;
  const what = rule === 'never' ? 'does not take' : 'needs';
  const path = 'batchBookingPreferred';
  throw new DoorRefusal('FORMAT_ERROR', `The bank ${what} the field ${path}`, '', { path });
}

function orderRules(
  bank: Bank,
  product: string,
  debtorIban: string | undefined,
): Parameters<typeof readOrder>[1] {
  return { product, debtorIban, address: bank.rules.description.payments.address };
}

/** The bank knows its own accounts before the customer has logged in. */
function readDebtor(
  { customers, rules }: Bank,
  named: { iban: string } | undefined,
): PaymentInitiation['debtor'] {
  const rule = rules.description.payments.debtorAccount;
  if (named ? rule === 'never' : rule === 'required') {
    const what = named ? 'does not take' : 'needs';
    const path = 'debtorAccount';
    throw new DoorRefusal('FORMAT_ERROR', `The bank ${what} the field ${path}`, '', { path });
  }
  if (!named) return undefined;
  const { iban } = named;
  const debtor = customers.byProduct(customers.accountByIban(iban)?.productId ?? '');
  if (debtor) return debtor;
  throw unexpected(
    'FORMAT_ERROR',
    'debtorAccount.iban',
    'The bank has no such account',
    'an account of the customer',
    iban,
  );
}

function readExecutionDay(bank: Bank, day: IsoDate | undefined, product: string): IsoDate | undefined {
  if (day === undefined) return undefined;
  const today = bankDay(bank.now());
  const isInstant = product.includes('instant');
  const last = isInstant ? today : addDays(today, bank.rules.description.payments.futureDays);
  if (day >= today && day <= last) return day;
  const expected = isInstant ? `${today}: the payment is instant` : `a day from ${today} to ${last}`;
  throw wrongDay('requestedExecutionDate', 'The bank does not execute payments on this day', expected, day);
}

function wrongDay(path: string, message: string, expected: string, received: IsoDate): DoorRefusal {
  return unexpected('EXECUTION_DATE_INVALID', path, message, expected, received);
}
