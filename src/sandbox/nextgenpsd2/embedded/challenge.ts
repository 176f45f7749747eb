import { randomInt } from 'node:crypto';
import { dateText, ibanText, moneyText } from '../../customer-site/texts.ts';
import type { CustomerMethod } from '../../customers/sca-methods.ts';
import { money } from '../../ledger/cents.ts';
import type { DoorPayment, PaymentOrder } from '../payments/payment.ts';
import { type Asked, paymentsIn } from '../sca/asked.ts';
import { matrixImage } from './matrix-image.ts';

/** What a method makes of an authorisation. */
export interface MadeChallenge {
  tan: string;
  /** What the customer's device says. It names what the TAN is for (RTS (EU) 2018/389, article 5). */
  text: string;
  /** What the device scans: a PNG in base64. */
  image: string | undefined;
  /** For the TPP (NextGenPSD2, "Challenge"). */
  challengeData: Readonly<Record<string, unknown>>;
}

/** Letters and digits that nobody takes for others. */
const SIGNS = 'abcdefghjkmnpqrstuvwxyz23456789';

/**
 * Makes the challenge of a method, and the TAN that answers it.
 *
 * @param wordsAlone the bank has no other challenge than words
 */
export function makeChallenge(matter: Asked, method: CustomerMethod, wordsAlone: boolean): MadeChallenge {
  const made = challengeFor(matter, method);
  if (!wordsAlone) return made;
  return { ...made, challengeData: { additionalInformation: made.challengeData.additionalInformation } };
}

function challengeFor(matter: Asked, { device, name }: CustomerMethod): MadeChallenge {
  switch (device) {
    case 'chip':
    case 'optical':
      return generatorChallenge(generatorFields(matter), device, name);
    case 'photo':
      return photoChallenge(subjectText(matter), name);
    default:
      return typedChallenge(subjectText(matter), device);
  }
}

/** The customer types what is shown into a TAN generator, or holds it to the screen. */
function generatorChallenge(
  shown: ReturnType<typeof generatorFields>,
  device: 'chip' | 'optical',
  name: string,
): MadeChallenge {
  const startCode = digits(8);
  const tan = digits(6);
  const check = shown.map(({ label, value }) => `${label} ${value}`).join(', ');
  const words =
    device === 'chip'
      ? `Start code ${startCode}.<br>Check on the display: ${check}. Press OK each time.`
      : `Hold the TAN generator to the flickering picture.<br>Check on the display: ${check}.`;
  const values = shown.map(({ value }) => value);
  return {
    tan,
    text: `${name}: start code ${startCode}, ${check}. TAN ${tan}`,
    image: undefined,
    challengeData: {
      data: [hhd(startCode, values)],
      otpMaxLength: '6',
      otpFormat: 'Integer',
      additionalInformation: words,
    },
  };
}

function photoChallenge(what: string, name: string): MadeChallenge {
  const image = matrixImage(what).toString('base64');
  const tan = digits(7);
  return {
    tan,
    text: `${name}: ${what}. TAN ${tan}`,
    image,
    challengeData: {
      image,
      otpMaxLength: 7,
      otpFormat: 'integer',
      additionalInformation: 'Scan the picture with the photoTAN app.<br>Compare payee and amount there.',
    },
  };
}

/** The device shows a TAN, and the customer types it. */
function typedChallenge(what: string, device: CustomerMethod['device']): MadeChallenge {
  const tan = Array.from({ length: 10 }, () => SIGNS[randomInt(SIGNS.length)]).join('');
  const sent = device === 'sms' ? 'was sent to your telephone' : 'stands in your app';
  return {
    tan,
    text: `Sandbox Bank: the TAN for ${what} is ${tan}. Tell it to nobody.`,
    image: undefined,
    challengeData: {
      otpMaxLength: 10,
      otpFormat: 'characters',
      additionalInformation: `The TAN ${sent}.<br>Compare the amount.`,
    },
  };
}

/** What a TAN is for, in words. */
function subjectText(matter: Asked): string {
  if (matter.kind === 'consent')
    return `access to your accounts until ${dateText(matter.consent.validUntil)}`;
  const cancels = matter.kind === 'cancellation' ? 'the cancellation of ' : '';
  const payments = paymentsIn(matter);
  const orders = ordersIn(payments);
  const [order] = orders;
  if (orders.length !== 1 || !order)
    return `${cancels}${orders.length} payments, ${moneyText(money(sumOfOrders(orders)))} in all`;
  const standing = payments[0]?.standing ? 'a standing order of ' : '';
  const { amount, beneficiaryName, beneficiaryIban } = order;
  return `${cancels}${standing}${moneyText(money(amount))} to ${beneficiaryName}, ${ibanText(beneficiaryIban)}`;
}

/** What the customer compares on the display of a TAN generator: of several payments their number and their sum. */
function generatorFields(matter: Asked): { label: string; value: string }[] {
  const orders = ordersIn(paymentsIn(matter));
  const [order] = orders;
  if (!order) return [];
  const sum = money(sumOfOrders(orders)).amount.replace('.', ',');
  const payee =
    orders.length === 1
      ? { label: 'the last ten characters of the IBAN', value: order.beneficiaryIban.slice(-10) }
      : { label: 'number of payments', value: String(orders.length) };
  return [payee, { label: 'amount', value: sum }];
}

function ordersIn(payments: readonly DoorPayment[]): PaymentOrder[] {
  return payments.flatMap(({ orders }) => orders);
}

function sumOfOrders(orders: readonly PaymentOrder[]): number {
  return orders.reduce((sum, { amount }) => sum + amount, 0);
}

/** The code of a TAN generator (HHD 1.3): its length, then start code and fields, each after its own length. */
function hhd(startCode: string, fields: readonly string[]): string {
  const parts = [startCode, ...fields]
    .map((part) => `${String(part.length).padStart(2, '0')}${part}`)
    .join('');
  return `${String(parts.length).padStart(2, '0')}${parts}`;
}

function digits(count: number): string {
  return Array.from({ length: count }, () => String(randomInt(10))).join('');
}
