import { Psd2Error } from '../../../../errors.ts';
import type { PlannedPayment } from '../../../ports/bank.ts';
import type { BankDescription } from '../description/schema.ts';

/** What a bank file says of the fields of a payment. */
export type FieldRules = Pick<
  BankDescription['payments'],
  'allowed' | 'required' | 'address' | 'constant' | 'days' | 'frequencies'
>;

/** Where the bank wants the reference of a payee. The standard has the field, but no bank need have it. */
const REFERENCE = 'remittanceInformationStructured';

/** Whether the bank file says that the bank takes the reference of a payee in JSON. */
export function namesReference({ allowed, required }: FieldRules): boolean {
  return [...allowed, ...required].some((path) => path.split('.')[0] === REFERENCE);
}

/** The fields of the standard that a bank need not take. The day of execution has a setting of its own. */
const OPTIONAL: readonly string[] = [
  'endToEndIdentification',
  'creditorAgent',
  'creditorAddress',
  'remittanceInformationUnstructured',
];

/** The parts of an address, with the options that give them. */
const ADDRESS = {
  street: ['streetName', '--payee-street'],
  building: ['buildingNumber', '--payee-building'],
  postcode: ['postCode', '--payee-postcode'],
  town: ['townName', '--payee-town'],
  country: ['country', '--payee-country'],
} as const;

/**
 * Whether a bank takes an optional field of the standard (NextGenPSD2, section 2, "if the bank takes them"). It takes all of
 * them, unless `payments.allowed` names some: then those, and what the bank demands.
 */
export function takesField({ allowed, required, address }: FieldRules, path: string): boolean {
  const isOptional = (field: string) => OPTIONAL.includes(field.split('.')[0] ?? '');
  if (!allowed.some(isOptional)) return true;
  const fields = [...allowed, ...required, ...(address !== 'optional' ? ['creditorAddress'] : [])];
  return fields.some((field) => field === path || path.startsWith(`${field}.`));
}

/**
 * Refuses what the operator ordered and the bank has no field for: without it, it would be another payment.
 *
 * @throws Psd2Error `usage`
 */
export function refuseUntakenFields(
  rules: FieldRules & Pick<BankDescription['payments'], 'bulk' | 'products'>,
  {
    description,
    address,
    creditorReference,
  }: Pick<PlannedPayment, 'description' | 'address' | 'creditorReference'>,
): void {
  if (description !== '') refuseField(rules, 'remittanceInformationUnstructured', '--description');
  const isInXml =
    (rules.bulk?.format ?? 'json') !== 'json' ||
    rules.products.payments.some((product) => product.startsWith('pain.001'));
  if (creditorReference && !isInXml && !namesReference(rules))
    throw new Psd2Error('usage', 'This bank does not take the reference of a payee in a payment', {
      hint: `If it does, name ${REFERENCE} in payments.allowed of the bank file. Else pay with a text.`,
    });
  if (!address) return;
  for (const part of ['street', 'building', 'postcode', 'town', 'country'] as const) {
    const [field, option] = ADDRESS[part];
    if (address[part] !== undefined) refuseField(rules, `creditorAddress.${field}`, option);
  }
}

function refuseField(rules: FieldRules, path: string, option: string): void {
  if (takesField(rules, path)) return;
  throw new Psd2Error('usage', `This bank does not take ${path} in a payment`, {
    hint: `Leave out ${option}. payments.allowed of the bank file names the optional fields that the bank takes.`,
  });
}
