import { Psd2Error } from '../../errors.ts';
import { parseSepaIban } from './iban.ts';

/** How the standard refers to an account (NextGenPSD2 1.3, `accountReference`). */
export interface AccountReference {
  kind: 'iban' | Other;
  id: string;
  /** Of one account of many currencies. */
  currency: string | null;
}

type Other = 'bban' | 'maskedPan' | 'msisdn';

/** What each kind has, without its blanks. */
const FORMS: Readonly<Record<Other, { form: RegExp; says: string }>> = {
  bban: { form: /^[A-Za-z0-9]{1,30}$/, says: 'has 1 to 30 letters and digits' },
  maskedPan: {
    form: /^(?=.*[*xX])[0-9*xX]{8,35}$/,
    says: 'has 8 to 35 digits, of which some are "*" or "x"',
  },
  msisdn: { form: /^\+?\d{6,15}$/, says: 'has 6 to 15 digits, and may begin with "+"' },
};

const WRITTEN =
  'Give an IBAN, bban:<number>, maskedPan:<number> or msisdn:<number>. A currency may follow, as in bban:123456:EUR.';

/**
 * Reads a reference to an account as the operator writes it: an IBAN, or `bban:…`, `maskedPan:…`, `msisdn:…`, each with `:<currency>`
 * for a part in one currency.
 *
 * @returns the same without blanks
 * @throws Psd2Error `usage`, `invalid_iban`. No message has what could be the whole number of a card
 */
export function parseAccountReference(text: string): string {
  const [, before = text, currency] = /^(.*):([A-Za-z]{3})$/s.exec(text.trim()) ?? [];
  const [, kind, rest = ''] = /^\s*([A-Za-z]+):(.*)$/s.exec(before) ?? [];
  const after = currency === undefined ? '' : `:${currency.toUpperCase()}`;
  if (kind === undefined) return `${ibanIn(before)}${after}`;
  if (kind.toLowerCase() === 'pan') throw wholeCardNumber();
  const known = kindIn(kind);
  if (known === undefined)
    throw new Psd2Error('usage', `psd2 knows no account ${JSON.stringify(`${kind}:`)}`, { hint: WRITTEN });
  const id = rest.replace(/[\s-]/g, '');
  if (known === 'maskedPan' && /^\d{12,19}$/.test(id)) throw wholeCardNumber();
  const { form, says } = FORMS[known];
  if (!form.test(id)) throw new Psd2Error('usage', `What follows "${known}:" ${says}`, { hint: WRITTEN });
  return `${known}:${id}${after}`;
}

function kindIn(text: string): Other | undefined {
  return (['bban', 'maskedPan', 'msisdn'] as const).find((kind) => kind.toLowerCase() === text.toLowerCase());
}

function ibanIn(text: string): string {
  try {
    return parseSepaIban(text);
  } catch (error) {
    throw error instanceof Psd2Error ? error.with({ hint: WRITTEN }) : error;
  }
}

function wholeCardNumber(): Psd2Error {
  return new Psd2Error('usage', 'psd2 does not take the whole number of a card', {
    hint: 'Give the number as the bank shows it, for example maskedPan:525412******3241.',
  });
}

/** What a reference names. @param written by {@link parseAccountReference} */
export function accountReferenceOf(written: string): AccountReference {
  const [, before = written, currency = null] = /^(.*):([A-Z]{3})$/s.exec(written) ?? [];
  const [, kind, id = ''] = /^(bban|maskedPan|msisdn):(.*)$/s.exec(before) ?? [];
  const known = kind === undefined ? undefined : kindIn(kind);
  if (known) return { kind: known, id, currency };
  return { kind: 'iban', id: before, currency };
}
