import Big from 'big.js';
import { written } from '../../domain/account-history.ts';
import type { BatchFormat, PayeeAddress } from '../../domain/batch/line.ts';
import type { IsoDate } from '../../domain/calendar.ts';
import type { Decimal } from '../../domain/decimal.ts';
import { type CreditorReference, SCOR } from '../../domain/order/creditor-reference.ts';
import type { Iban } from '../../domain/order/iban.ts';
import { element } from '../../statements/xml.ts';
import { NOT_PROVIDED } from './transaction.ts';

/** A payment as it goes into pain.001. All texts have the characters of SEPA. */
export interface OrderedPayment {
  /** At most 35 characters. */
  instructionId: string | null;
  endToEndId: string;
  name: string;
  iban: Iban;
  /** Of several accounts with this IBAN, the one in this currency. */
  accountCurrency?: string | undefined;
  amount: Decimal;
  currency: string;
  description: string;
  creditorReference?: CreditorReference;
  address: PayeeAddress | null;
}

/** Payments of one account, one day and one product: a `PmtInf`. */
export interface PaymentGroup {
  /** At most 35 characters. */
  paymentInformationId: string;
  debtor: { name: string; iban: Iban; accountCurrency?: string | undefined };
  executionDate: IsoDate;
  instant: boolean;
  urgent: boolean;
  batchBooking?: boolean | undefined;
  /** What {@link payments} will add up to. */
  count: number;
  sum: Decimal;
  payments: AsyncIterable<OrderedPayment> | Iterable<OrderedPayment>;
}

/** A pain.001. */
export interface Initiation {
  format: Extract<BatchFormat, `pain.001.001.${string}`>;
  /** At most 35 characters. */
  messageId: string;
  /** ISO 8601 with zone. */
  createdAt: string;
  /** The name of who initiates the payments. */
  initiator: string;
  groups: readonly PaymentGroup[];
}

/**
 * Writes pain.001.001 (ISO 20022, CustomerCreditTransferInitiation) for SEPA.
 *
 * @returns pieces of text
 * @throws TypeError if a group has other payments than its count and sum say. What was written must not be sent then
 */
export async function* writePain001(initiation: Initiation): AsyncGenerator<string> {
  const { format, messageId, createdAt, initiator, groups } = initiation;
  const count = groups.reduce((total, group) => total + group.count, 0);
  const sum = groups.reduce((total, group) => total.plus(group.sum), new Big(0));
  yield `<?xml version="1.0" encoding="UTF-8"?>
<Document xmlns="urn:iso:std:iso:20022:tech:xsd:${format}">
<CstmrCdtTrfInitn>
<GrpHdr>${element('MsgId', messageId)}<CreDtTm>${createdAt}</CreDtTm><NbOfTxs>${count}</NbOfTxs><CtrlSum>${written(sum)}</CtrlSum><InitgPty>${element('Nm', initiator)}</InitgPty></GrpHdr>
`;
  for (const group of groups) yield* writeGroup(group, format);
  yield '</CstmrCdtTrfInitn>\n</Document>\n';
}

async function* writeGroup(group: PaymentGroup, format: Initiation['format']): AsyncGenerator<string> {
  const { paymentInformationId, debtor, executionDate, instant, urgent, count, sum, payments } = group;
  const booking = group.batchBooking === undefined ? '' : `<BtchBookg>${group.batchBooking}</BtchBookg>`;
  const day = format === 'pain.001.001.03' ? executionDate : `<Dt>${executionDate}</Dt>`;
  const instrument = instant ? '<LclInstrm><Cd>INST</Cd></LclInstrm>' : '';
  yield `<PmtInf>
${element('PmtInfId', paymentInformationId)}<PmtMtd>TRF</PmtMtd>${booking}<NbOfTxs>${count}</NbOfTxs><CtrlSum>${sum}</CtrlSum>
<PmtTpInf>${urgent ? '<InstrPrty>HIGH</InstrPrty>' : ''}<SvcLvl><Cd>SEPA</Cd></SvcLvl>${instrument}</PmtTpInf>
<ReqdExctnDt>${day}</ReqdExctnDt>
<Dbtr>${element('Nm', debtor.name)}</Dbtr><DbtrAcct>${writeAccount(debtor)}</DbtrAcct>
<DbtrAgt><FinInstnId><Othr><Id>${NOT_PROVIDED}</Id></Othr></FinInstnId></DbtrAgt><ChrgBr>SLEV</ChrgBr>
`;
  let seen = 0;
  let total = new Big(0);
  for await (const payment of payments) {
    seen += 1;
    total = total.plus(payment.amount);
    yield writePayment(payment);
  }
  if (seen !== count || !total.eq(sum))
    throw new TypeError(
      `${paymentInformationId} has ${seen} payments of ${written(total)}, and not ${count} of ${sum}`,
    );
  yield '</PmtInf>\n';
}

function writePayment(payment: OrderedPayment): string {
  const { instructionId, endToEndId, name, amount, currency, description, address } = payment;
  const remittance = writeRemittance(description, payment.creditorReference);
  return `<CdtTrfTxInf>
<PmtId>${element('InstrId', instructionId)}${element('EndToEndId', endToEndId)}</PmtId><Amt><InstdAmt Ccy="${currency}">${amount}</InstdAmt></Amt>
<Cdtr>${element('Nm', name)}${address ? writeAddress(address) : ''}</Cdtr><CdtrAcct>${writeAccount(payment)}</CdtrAcct>
${remittance && `<RmtInf>${remittance}</RmtInf>`}</CdtTrfTxInf>
`;
}

function writeAccount({
  iban,
  accountCurrency = '',
}: {
  iban: Iban;
  accountCurrency?: string | undefined;
}): string {
  return `<Id><IBAN>${iban}</IBAN></Id>${element('Ccy', accountCurrency)}`;
}

/** What is in `RmtInf`: the text, or the payee's reference in its place. */
export function writeRemittance(text: string, creditorReference: CreditorReference | undefined): string {
  if (!creditorReference) return element('Ustrd', text);
  const { reference, type, issuer } = creditorReference;
  const named = element(type === SCOR ? 'Cd' : 'Prtry', type);
  return `<Strd><CdtrRefInf><Tp><CdOrPrtry>${named}</CdOrPrtry>${element('Issr', issuer)}</Tp>${element('Ref', reference)}</CdtrRefInf></Strd>`;
}

function writeAddress({
  streetName,
  buildingNumber,
  postCode,
  townName,
  country,
  lines,
}: PayeeAddress): string {
  const parts = [
    element('StrtNm', streetName),
    element('BldgNb', buildingNumber),
    element('PstCd', postCode),
    element('TwnNm', townName),
    element('Ctry', country),
    ...lines.map((line) => element('AdrLine', line)),
  ];
  return `<PstlAdr>${parts.join('')}</PstlAdr>`;
}
