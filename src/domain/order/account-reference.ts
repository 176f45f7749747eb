import { Psd2Error } from '../../errors.ts';
import {
  compactNumber,
  isWholeCardNumber,
  looksLikeCardNumber,
  maskedCardNumber,
  withoutCardNumbers,
} from './card-number.ts';
import { parseSepaIban } from './iban.ts';

/** How the standard refers to an account (`accountReference`). */
export interface AccountReference {
  kind: 'iban' | Other;
  id: string;
  /** Of one account of many currencies. */
  currency: string | null;
}

type Other = 'bban' | 'pan' | 'maskedPan' | 'msisdn';

/** What each kind has, without its blanks. */
const FORMS: Readonly<Record<Other, { form: RegExp; says: string }>> = {
  bban: { form: /^[A-Za-z0-9]{1,30}$/, says: 'has 1 to 30 letters and digits' },
  pan: { form: /^[A-Za-z0-9]{8,35}$/, says: 'has 8 to 35 digits or letters' },
  maskedPan: {
    form: /^(?=.*[*xX])[0-9*xX]{8,35}$/,
    says: 'has 8 to 35 digits, of which some are "*" or "x"',
  },
  msisdn: { form: /^\+?\d{6,15}$/, says: 'has 6 to 15 digits, and may begin with "+"' },
};

const WRITTEN =
  'Give an IBAN, bban:<number>, maskedPan:<number>, msisdn:<number> or pan:@<file>. A currency may follow, as in bban:123456:EUR.';

/**
 * Reads a reference to an account as the operator writes it: an IBAN, or `bban:…`, `maskedPan:…`, `msisdn:…`, each with `:<currency>`
 * for a part in one currency. The whole number of a card is in no argument ({@link numberSource}).
 *
 * @returns the same without blanks
 * @throws Psd2Error `usage`, `invalid_iban`. No message has what could be the whole number of a card
 */
export function parseAccountReference(text: string): string {
  const [, before = text, currency] = CURRENCY.exec(text.trim()) ?? [];
  const [, kind, rest = ''] = /^\s*([A-Za-z]+):(.*)$/s.exec(before) ?? [];
  const after = currency === undefined ? '' : `:${currency.toUpperCase()}`;
  if (kind === undefined) return `${ibanIn(before)}${after}`;
  const accountKind = kindIn(kind);
  if (accountKind === 'pan') throw wholeCardNumber();
  if (accountKind === undefined)
    throw new Psd2Error('usage', `psd2 knows no account ${JSON.stringify(`${kind}:`)}`, { hint: WRITTEN });
  const id = compactNumber(rest);
  if (accountKind === 'maskedPan' && isWholeCardNumber(id)) throw wholeCardNumber();
  return `${accountKind}:${checked(accountKind, id)}${after}`;
}

/** A currency follows the id of an account. */
const CURRENCY = /^(.*:.*|.{9,}):([A-Za-z]{3})$/s;

/**
 * Where the number of a card is, if the operator names an account by it: `pan:@file`, or `pan:-` for standard input.
 *
 * @returns undefined for any other text
 */
export function numberSource(text: string): { source: string; read(number: string): string } | undefined {
  const [, source, currency = ''] = /^\s*pan:(@.+?|-)(:[A-Za-z]{3})?\s*$/is.exec(text) ?? [];
  if (source === undefined) return undefined;
  return {
    source,
    read: (number) => `pan:${checked('pan', compactNumber(number))}${currency.toUpperCase()}`,
  };
}

/** @throws Psd2Error `usage` */
function checked(kind: Other, id: string): string {
  const { form, says } = FORMS[kind];
  if (form.test(id)) return id;
  throw new Psd2Error('usage', `What follows "${kind}:" ${says}`, { hint: WRITTEN });
}

/** A reference as a command takes it that asks for the same: the number of a card comes from a file. */
export function referenceToAsk(written: string): string {
  const { kind, currency } = accountReferenceOf(written);
  return kind === 'pan' ? `pan:@FILE${currency === null ? '' : `:${currency}`}` : written;
}

/** Whether a reference names a card by a number of which psd2 has kept a part alone. */
export function isMaskedReference(written: string): boolean {
  const { kind, id } = accountReferenceOf(written);
  return kind === 'pan' && id.includes('*');
}

/** What a consent covers, as psd2 keeps and shows it: without the whole numbers of cards. */
export function maskedAccess<Access extends object>(access: Access): Access {
  const masked = Object.entries(access).map(([name, value]: [string, unknown]) => {
    if (Array.isArray(value)) return [name, value.map(maskedReference)];
    if (typeof value !== 'string') return [name, value];
    if (name === 'account') return [name, maskedReference(value)];
    return [name, name === 'cardNumber' ? maskedCardNumber(value) : value];
  });
  return { ...access, ...Object.fromEntries(masked) };
}

/** A reference as psd2 keeps and shows it: without the whole number of a card. */
export function maskedReference(written: string): string {
  const { kind, id, currency } = accountReferenceOf(written);
  if (kind !== 'pan') return written;
  return `pan:${maskedCardNumber(id)}${currency === null ? '' : `:${currency}`}`;
}

function kindIn(text: string): Other | undefined {
  return (['bban', 'pan', 'maskedPan', 'msisdn'] as const).find(
    (kind) => kind.toLowerCase() === text.toLowerCase(),
  );
}

function ibanIn(text: string): string {
  if (looksLikeCardNumber(text)) throw wholeCardNumber();
  try {
    return parseSepaIban(text);
  } catch (error) {
    if (!(error instanceof Psd2Error)) throw error;
    throw new Psd2Error(error.code, withoutCardNumbers(error.message), { ...error.context, hint: WRITTEN });
  }
}

function wholeCardNumber(): Psd2Error {
  return new Psd2Error('usage', 'psd2 does not take a full card number from an argument', {
    hint: 'Give it in a file (pan:@file) or on standard input (pan:-), or as the bank shows it: maskedPan:525412******3241.',
  });
}

/** What a reference names. @param written by {@link parseAccountReference} */
export function accountReferenceOf(written: string): AccountReference {
  const [, before = written, currency = null] = CURRENCY.exec(written) ?? [];
  const [, kind, id = ''] = /^(bban|pan|maskedPan|msisdn):(.*)$/s.exec(before) ?? [];
  const accountKind = kind === undefined ? undefined : kindIn(kind);
  if (accountKind) return { kind: accountKind, id, currency };
  return { kind: 'iban', id: before, currency };
}
