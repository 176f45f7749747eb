import Big from 'big.js';
import { written } from '../../../../domain/account-history.ts';
import type { Initiation } from '../../../../domain/operation.ts';
import { isIban } from '../../../../domain/order/iban.ts';
import type { TransferOrder } from '../../../../domain/transfer.ts';
import { Psd2Error } from '../../../../errors.ts';
import type { BankDescription } from '../description/schema.ts';
import type { Calls } from '../wire/calls.ts';
import { debtorOf, ruleOf, singleInitiation } from './initiation.ts';

// Payments whose body is a pain.001 (NextGenPSD2 1.3, "payment-product"). A standing order has two parts: the payment in XML, and when
// it repeats in JSON.

const FORMATS = ['pain.001.001.03', 'pain.001.001.09', 'pain.001.001.11'] as const;
type Format = (typeof FORMATS)[number];

/** What a pain.001 of psd2 says. */
interface PaymentFile {
  format: Format;
  messageId: string;
  /** Payments of one account, day and product. Their references are the end-to-end ids. */
  orders: readonly TransferOrder[];
  /** Absent: nobody said it. */
  batchBooking?: boolean | undefined;
}

/** Whether the body of a payment is a pain.001, alone or with the rule of a standing order. */
export function isInXml({ body }: Pick<Initiation, 'body'>): boolean {
  return /^<|^--/.test(body);
}

/** What the body of a payment is. Undefined: JSON, as the bank file names it. */
export function mediaTypeOf(body: string): string | undefined {
  const [, boundary] = /^--(\S+)\r\n/.exec(body) ?? [];
  if (boundary !== undefined) return `multipart/form-data; boundary=${boundary}`;
  return body.startsWith('<') ? 'application/xml' : undefined;
}

/**
 * The initiation of a payment that is sent alone, as pain.001.
 *
 * @throws Psd2Error `usage`, `invalid_date` and `invalid_text` for an order that this bank does not take so
 */
export async function xmlInitiationOf(
  calls: Pick<Calls, 'description' | 'settings'>,
  order: TransferOrder,
  back: { address: string; state: string },
  newId: () => string,
): Promise<Initiation> {
  const { payments } = calls.description;
  const { endToEndId, ...initiation } = singleInitiation(calls, order, back, newId);
  const format = payments.bulk?.format ?? 'json';
  const body = await singleBody(calls.settings, { ...order, reference: endToEndId }, payments, {
    format: format === 'json' ? FORMATS[0] : format,
    messageId: newId().replaceAll('-', ''),
  });
  return { ...initiation, endToEndId, body };
}

/** The body of a payment that is sent alone. Of a standing order it has two parts. @param order with its end-to-end id as the reference */
export async function singleBody(
  settings: Calls['settings'],
  order: TransferOrder,
  rules: Pick<BankDescription['payments'], 'days' | 'frequencies'>,
  file: Pick<PaymentFile, 'format' | 'messageId'>,
): Promise<string> {
  const xml = await writeXml(settings, { ...file, orders: [order] });
  if (!order.standing) return xml;
  const part = (name: string, type: string, content: string) =>
    `Content-Disposition: form-data; name="${name}"\r\nContent-Type: ${type}\r\n\r\n${content}\r\n`;
  const boundary = `--psd2-${file.messageId}`;
  return [
    '',
    `\r\n${part('xml_sct', 'application/xml', xml)}`,
    `\r\n${part('json_standingorderType', 'application/json', JSON.stringify(ruleOf(order, order.standing, rules)))}`,
    '--\r\n',
  ].join(boundary);
}

/** Whether a body is what psd2 would write now. @param write in the format that it has */
export async function isWritten(body: string, write: (format: Format) => Promise<string>): Promise<boolean> {
  const format = FORMATS.find((each) => body.includes(`:${each}"`));
  return format !== undefined && withoutMaking(body) === withoutMaking(await write(format));
}

/** A pain.001 without what does not follow from the orders: when it was made, and who initiates it. */
function withoutMaking(xml: string): string {
  return xml
    .replace(/<CreDtTm>[^<]*<\/CreDtTm>/, '<CreDtTm/>')
    .replace(/<InitgPty><Nm>[^<]*<\/Nm><\/InitgPty>/, '<InitgPty/>');
}

/**
 * Writes payments as pain.001.
 *
 * @throws Psd2Error `usage` for an account without IBAN, and an address without a town
 */
export async function writeXml(
  { now, identity }: Calls['settings'],
  { format, messageId, orders, batchBooking }: PaymentFile,
): Promise<string> {
  const [first] = orders;
  const iban = first && debtorOf(first);
  if (!first || iban === undefined) throw new TypeError('A pain.001 has at least one transfer');
  if (iban === null) throw xmlNamesDebtor();
  if (!isIban(iban)) throw new Psd2Error('usage', `The account ${iban} has no IBAN, so psd2 cannot debit it`);
  const sum = orders.reduce((total, { amount }) => total.plus(amount), new Big(0));
  // No other call needs XML.
  const { writePain001 } = await import('../../../../batch-file/pain001/write.ts');
  const pieces: string[] = [];
  for await (const piece of writePain001({
    format,
    messageId,
    createdAt: now().toISOString(),
    initiator: initiatorOf(identity.qwacCertificate.subject),
    groups: [
      {
        paymentInformationId: messageId,
        // psd2 does not know the name of the account holder. The bank does.
        debtor: { name: 'NOTPROVIDED', iban, accountCurrency: first.fromCurrency },
        executionDate: first.executionDate,
        instant: first.instant,
        urgent: false,
        batchBooking,
        count: orders.length,
        sum: written(sum),
        payments: orders.map(({ to, name, amount, currency, description, payeeAddress, ...order }) => ({
          ...(order.creditorReference && { creditorReference: order.creditorReference }),
          instructionId: null,
          endToEndId: endToEndIdOf(order),
          name,
          iban: to,
          accountCurrency: order.toCurrency,
          amount,
          currency,
          description,
          address: payeeAddress
            ? {
                country: payeeAddress.country,
                townName: townOf(payeeAddress),
                postCode: payeeAddress.postcode ?? null,
                streetName: payeeAddress.street ?? null,
                buildingNumber: payeeAddress.building ?? null,
                lines: [],
              }
            : null,
        })),
      },
    ],
  }))
    pieces.push(piece);
  return pieces.join('');
}

/** @throws Psd2Error `usage`: pain.001 has no address without a town */
function townOf({ town }: NonNullable<TransferOrder['payeeAddress']>): string {
  if (town !== undefined) return town;
  throw new Psd2Error(
    'usage',
    "This bank takes the payment as pain.001, so the payee's address needs a town",
  );
}

/** In a bulk, the end-to-end id tells the transfers apart. */
export function endToEndIdOf({ reference }: Pick<TransferOrder, 'reference'>): string {
  if (reference !== null) return reference;
  throw new TypeError('A transfer of a bulk payment has a reference');
}

/** A pain.001 has an account to debit, whatever the bank could do without. */
export function xmlNamesDebtor(): Psd2Error {
  return new Psd2Error('usage', 'The bank takes this payment as pain.001, which names the account to debit', {
    hint: 'Name it with --from.',
  });
}

/** The organisation of the certificate, as SEPA writes a name. */
function initiatorOf(subject: string): string {
  const name = /^O=(.+)$/m.exec(subject)?.[1] ?? '';
  return (
    name
      // Node.js writes names as RFC 2253 does: `\,` is a comma, `\0A` a control character.
      .replace(/\\(?:[0-9A-F]{2}|(.))/g, (_, plain = ' ') => plain)
      .replace(/[^A-Za-z0-9/?:().,'+ -]/g, ' ')
      .trim()
      .slice(0, 70) || 'TPP'
  );
}
