import type { BankDescription } from '../../../bank/interfaces/nextgenpsd2/description/schema.ts';
import type { Cents } from '../../ledger/cents.ts';
import {
  foreignCharacter,
  isSepaIban,
  readSepaAmount,
  SEPA_AMOUNTS,
  SEPA_CHARACTERS,
} from '../../operations/sepa.ts';
import { COMMISSIONS } from '../../operations/transfer.ts';
import { DoorRefusal, unexpected } from '../refusal.ts';
import type { PaymentOrder } from './payment.ts';
import type { TransferBody } from './payment-body.ts';

/**
 * Reads a transfer whose fields have their form, and holds it against SEPA's rules and the bank file.
 *
 * @param debtorIban of the debited account, if the payment names it
 * @param at where it is in the whole body: `''` or `payments[0].`
 * @throws DoorRefusal `FORMAT_ERROR`, `PAYMENT_FAILED`
 */
export function readOrder(
  body: TransferBody,
  {
    product,
    debtorIban,
    address,
  }: { product: string; debtorIban: string | undefined } & Pick<BankDescription['payments'], 'address'>,
  at: string,
): PaymentOrder {
  const { creditorName, creditorAccount, endToEndIdentification, remittanceInformationUnstructured } = body;
  const description = remittanceInformationUnstructured ?? '';
  checkPaymentTexts(body, at);
  if (body.creditorAddress && body.creditorAddress.townName === undefined && address !== 'country')
    throw new DoorRefusal('FORMAT_ERROR', 'An address has a town', '', {
      path: `${at}creditorAddress.townName`,
    });
  if (address !== 'optional' && body.creditorAddress === undefined)
    throw new DoorRefusal('FORMAT_ERROR', "The bank needs the payee's address", '', {
      path: `${at}creditorAddress`,
    });
  return {
    instant: product.includes('instant'),
    amount: readAmount(body.instructedAmount, at),
    commissions: COMMISSIONS,
    beneficiaryIban: readPayee(creditorAccount.iban, debtorIban, `${at}creditorAccount.iban`),
    beneficiaryName: creditorName,
    description,
    endToEndId: endToEndIdentification,
  };
}

function checkPaymentTexts(body: TransferBody, at: string): void {
  const { creditorName, endToEndIdentification, remittanceInformationUnstructured, creditorAddress } = body;
  const texts: [path: string, text: string | undefined][] = [
    ['creditorName', creditorName],
    ['endToEndIdentification', endToEndIdentification],
    ['remittanceInformationUnstructured', remittanceInformationUnstructured],
    ['creditorAddress.streetName', creditorAddress?.streetName],
    ['creditorAddress.buildingNumber', creditorAddress?.buildingNumber],
    ['creditorAddress.townName', creditorAddress?.townName],
    ['creditorAddress.postCode', creditorAddress?.postCode],
  ];
  for (const [path, text = '-'] of texts) {
    const foreign = foreignCharacter(text);
    if (foreign !== undefined) {
      const received = `"${foreign}"`;
      throw unexpected(
        'FORMAT_ERROR',
        `${at}${path}`,
        `${path} has a character that SEPA does not allow`,
        SEPA_CHARACTERS,
        received,
      );
    }
    if (text.trim() === '')
      throw new DoorRefusal('FORMAT_ERROR', `${path} is blank`, '', { path: `${at}${path}` });
  }
  const id = endToEndIdentification ?? '';
  if (!id.startsWith('/') && !id.endsWith('/') && !id.includes('//')) return;
  throw unexpected(
    'FORMAT_ERROR',
    `${at}endToEndIdentification`,
    'endToEndIdentification is not an identification of SEPA',
    'no "/" at the begin or the end, and no "//"',
    id,
  );
}

function readAmount({ amount, currency }: TransferBody['instructedAmount'], at: string): Cents {
  const path = `${at}instructedAmount`;
  if (currency !== 'EUR')
    throw unexpected('FORMAT_ERROR', `${path}.currency`, 'The product is for euros', 'EUR', currency);
  const cents = readSepaAmount(amount);
  if (cents !== undefined) return cents;
  throw unexpected('FORMAT_ERROR', `${path}.amount`, 'The amount is not valid', SEPA_AMOUNTS, amount);
}

function readPayee(iban: string, debtorIban: string | undefined, path: string): string {
  if (!isSepaIban(iban)) {
    const expected = 'a valid IBAN of a SEPA country, in capitals without blanks';
    throw unexpected('FORMAT_ERROR', path, 'The account of the payee is not valid', expected, iban);
  }
  if (iban !== debtorIban) return iban;
  throw new DoorRefusal('PAYMENT_FAILED', 'The payment stays on the same account', '', { path });
}
