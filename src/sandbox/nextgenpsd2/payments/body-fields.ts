import type { BankDescription } from '../../../bank/interfaces/nextgenpsd2/description/schema.ts';
import { DoorRefusal } from '../refusal.ts';

/** The fields of a transfer that the standard has for SEPA's products. All others are a bank's own. */
const TRANSFER = [
  'endToEndIdentification',
  'instructedAmount.currency',
  'instructedAmount.amount',
  'creditorAccount.iban',
  'creditorAccount.currency',
  'creditorAgent',
  'creditorName',
  'creditorAddress.streetName',
  'creditorAddress.buildingNumber',
  'creditorAddress.townName',
  'creditorAddress.postCode',
  'creditorAddress.country',
  'remittanceInformationUnstructured',
];
/** Of these, the fields that a bank need not take. */
const OPTIONAL =
  /^(endToEndIdentification|creditorAgent|creditorAddress|remittanceInformationUnstructured)(\.|$)/;
const OF_STANDING: readonly string[] = [
  'startDate',
  'endDate',
  'frequency',
  'dayOfExecution',
  'executionRule',
];
const DEBTOR = ['debtorAccount.iban', 'debtorAccount.currency'];

/** The fields of each service. The entries of a bulk are looked at alone. */
export const STANDARD_FIELDS = {
  payments: [...DEBTOR, ...TRANSFER],
  'periodic-payments': [...DEBTOR, ...TRANSFER, ...OF_STANDING],
  'bulk-payments': [...DEBTOR, 'payments', 'batchBookingPreferred'],
  entry: TRANSFER,
} as const;

/** The fields of the standard that the bank takes: if `payments.allowed` names optional ones, no other optional ones. */
function standardFields(
  kind: keyof typeof STANDARD_FIELDS,
  { allowed, address }: Pick<BankDescription['payments'], 'allowed' | 'address'>,
): string[] {
  const isNarrow = allowed.some((path) => OPTIONAL.test(path));
  return STANDARD_FIELDS[kind].filter(
    (path) =>
      !isNarrow || !OPTIONAL.test(path) || (address !== 'optional' && path.startsWith('creditorAddress.')),
  );
}

/**
 * Checks that a body has no field that the bank does not take, and each that it demands (`payments.allowed`,
 * `payments.required`, `payments.futureDays`).
 *
 * @param at where it is in the whole body: `''` or `payments[0].`
 * @throws DoorRefusal `FORMAT_ERROR` with the path of the field
 */
export function checkFields(
  body: Readonly<Record<string, unknown>>,
  kind: keyof typeof STANDARD_FIELDS,
  { allowed, required, constant, futureDays, address }: BankDescription['payments'],
  at = '',
): void {
  const dated = kind === 'payments' || kind === 'bulk-payments';
  const fields = [
    ...standardFields(kind, { allowed, address }),
    ...allowed,
    ...required,
    ...Object.keys(constant),
    ...(dated && futureDays > 0 ? ['requestedExecutionDate'] : []),
  ];
  refuseOthers(body, '', fields, at);
  // A bulk has the fields of a transfer in its entries.
  if (kind === 'bulk-payments') return;
  for (const [path, value] of Object.entries(constant)) {
    const received = valueAt(body, path);
    // What the standard has, the customer may have said otherwise.
    if (received === value || (received !== undefined && TRANSFER.includes(path))) continue;
    throw new DoorRefusal('FORMAT_ERROR', `The bank needs the field ${path} with ${value}`, '', {
      path: `${at}${path}`,
    });
  }
  const inWeeks = ['Daily', 'Weekly', 'EveryTwoWeeks'].includes(String(body.frequency));
  for (const path of required) {
    if (kind !== 'periodic-payments' && OF_STANDING.includes(path)) continue;
    if (valueAt(body, path) !== undefined || (path === 'dayOfExecution' && inWeeks)) continue;
    throw new DoorRefusal('FORMAT_ERROR', `The bank needs the field ${path}`, '', { path: `${at}${path}` });
  }
}

function refuseOthers(value: object, within: string, fields: readonly string[], at: string): void {
  for (const [name, inner] of Object.entries(value)) {
    const path = within === '' ? name : `${within}.${name}`;
    if (fields.includes(path)) continue;
    const isAbove = fields.some((field) => field.startsWith(`${path}.`));
    if (!isAbove)
      throw new DoorRefusal('FORMAT_ERROR', `The bank does not take the field ${path}`, '', {
        path: `${at}${path}`,
      });
    if (isNested(inner)) refuseOthers(inner, path, fields, at);
  }
}

function valueAt(body: object, path: string): unknown {
  return path
    .split('.')
    .reduce<unknown>((value, name) => (isNested(value) ? Reflect.get(value, name) : undefined), body);
}

function isNested(value: unknown): value is object {
  return typeof value === 'object' && value !== null && !Array.isArray(value);
}
