import type { BatchLine } from '../../domain/batch/line.ts';
import { readLineOfBatch } from '../../domain/batch/read-line.ts';
import { type CreditorReference, SCOR } from '../../domain/order/creditor-reference.ts';
import type { PaymentInformation } from './information.ts';
import { type Report, readPayeeAddress, readPaymentType, requiredAt, textAt } from './texts.ts';
import type { Texts } from './walk.ts';

/** Where the fields of a payment are. */
const PATHS = {
  name: 'Cdtr/Nm',
  iban: 'CdtrAcct/Id/IBAN',
  amount: 'Amt/InstdAmt',
  currency: 'Amt/InstdAmt/@Ccy',
  description: 'RmtInf/Ustrd',
  creditorReference: 'RmtInf/Strd/CdtrRefInf/Ref',
  reference: 'PmtId/EndToEndId',
} as const;

/** The word of ISO 20022 for no reference. */
export const NOT_PROVIDED = 'NOTPROVIDED';

/** The payee's reference. Its type is SCOR in SEPA, or the name of a national form. */
function creditorReferenceIn(texts: Texts, report: Report): CreditorReference | null {
  const type = 'RmtInf/Strd/CdtrRefInf/Tp';
  const reference = textAt(texts, PATHS.creditorReference);
  const code = textAt(texts, `${type}/CdOrPrtry/Cd`);
  if (code !== undefined && code !== SCOR)
    report(`${type}/CdOrPrtry/Cd`, `psd2 cannot pay with ${JSON.stringify(code)}: it knows ${SCOR}`);
  if (reference === undefined) return null;
  const issuer = textAt(texts, `${type}/Issr`) ?? null;
  return { reference, type: textAt(texts, `${type}/CdOrPrtry/Prtry`) ?? SCOR, issuer };
}

/** What a `CdtTrfTxInf` says, and what it takes from its `PmtInf`. */
export type Transaction = Omit<BatchLine, 'line' | 'place' | 'payeeVerified'>;

/**
 * Reads a payment.
 *
 * @param information null if something in it is wrong. The payment is checked then, but not read
 * @param warn as `report`, for what is not wrong
 * @param transliterate as in the rules of the file
 * @returns null if something is wrong, which is reported
 */
export function readTransaction(
  texts: Texts,
  information: PaymentInformation | null,
  report: Report,
  warn: Report,
  transliterate: boolean,
): Transaction | null {
  let isRight = true;
  const wrong: Report = (path, message) => {
    isRight = false;
    report(path, message);
  };
  const endToEndId = requiredAt(texts, PATHS.reference, wrong);
  const instructionId = textAt(texts, 'PmtId/InstrId') ?? null;
  if (instructionId !== null && instructionId.length > 35)
    wrong('PmtId/InstrId', 'The id does not have 1 to 35 characters');
  const ownType = readPaymentType(texts, wrong);
  if (ownType && information?.type) wrong('PmtTpInf', 'PmtTpInf is in PmtInf too. It must be in one of them');
  const address = readPayeeAddress(texts, 'Cdtr/PstlAdr', wrong);
  if (address && address.lines.length > 0)
    warn('Cdtr/PstlAdr/AdrLine', 'psd2 pays without this part of the address');
  for (const path of [PATHS.name, PATHS.iban, PATHS.amount, PATHS.currency]) requiredAt(texts, path, wrong);
  if (textAt(texts, 'CdtrAcct/Id/Othr/Id') !== undefined)
    wrong('CdtrAcct/Id/Othr', 'psd2 pays to an IBAN, and to no other account number');

  if (texts.has('RmtInf/Strd')) requiredAt(texts, PATHS.creditorReference, wrong);
  const payment = readLineOfBatch(
    {
      name: textAt(texts, PATHS.name) ?? '',
      iban: textAt(texts, PATHS.iban) ?? '',
      amount: textAt(texts, PATHS.amount) ?? '',
      currency: textAt(texts, PATHS.currency) ?? '',
      description: textAt(texts, PATHS.description) ?? '',
      creditorReference: creditorReferenceIn(texts, wrong),
      reference: endToEndId === NOT_PROVIDED ? null : endToEndId,
    },
    // What is missing was reported above.
    (field, message) => texts.has(PATHS[field]) && wrong(PATHS[field], message),
    transliterate ? (field, message) => warn(PATHS[field], message) : undefined,
  );
  if (!payment || !information || !isRight) return null;
  const { type, paymentInformationId, ...debit } = information;
  const { instant, urgent } = ownType ?? type ?? { instant: false, urgent: false };
  return {
    ...payment,
    ...debit,
    instant,
    urgent,
    address,
    ids: { paymentInformationId, instructionId, endToEndId },
  };
}
