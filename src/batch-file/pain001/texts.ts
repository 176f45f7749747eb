import type { PayeeAddress } from '../../domain/batch/line.ts';
import { isCountryCode } from '../../domain/order/address.ts';
import { parseSepaText } from '../../domain/order/sepa-text.ts';
import { Psd2Error } from '../../errors.ts';
import type { Texts } from './walk.ts';

/** Reports an error in an element. @param path of the element, in the one whose texts are read */
export type Report = (path: string, message: string) => void;

/** The text of an element; undefined if it is missing. If it comes twice, the walk has reported it. */
export function textAt(texts: Texts, path: string): string | undefined {
  return texts.get(path)?.[0];
}

/** The text of an element that must be there; null if it is missing, which is reported then. */
export function requiredAt(texts: Texts, path: string, report: Report): string | null {
  const text = textAt(texts, path);
  if (text === undefined) report(path, 'The element is missing');
  return text ?? null;
}

/** The parts of an address, with their longest length. */
const PARTS = { Ctry: 2, TwnNm: 35, PstCd: 16, StrtNm: 70, BldgNb: 16 } as const;
const MAX_LINES = 2;

/**
 * A postal address. SEPA forbids one without town and country (EPC rulebooks, since 15 November 2026).
 *
 * @param path of `PstlAdr`
 * @returns null if there is no address, or if something is wrong, which is reported then
 */
export function readPayeeAddress(texts: Texts, path: string, report: Report): PayeeAddress | null {
  if (!texts.has(path)) return null;
  const part = (name: keyof typeof PARTS) => checked(texts.get(`${path}/${name}`)?.[0], name);
  const checked = (text: string | undefined, name: keyof typeof PARTS | 'AdrLine'): string | null => {
    if (text === undefined) return null;
    try {
      // An element can be empty.
      return parseSepaText('The text', text, name === 'AdrLine' ? 70 : PARTS[name]) || null;
    } catch (error) {
      if (!(error instanceof Psd2Error)) throw error;
      report(`${path}/${name}`, error.message);
      return null;
    }
  };
  const country = part('Ctry');
  const townName = part('TwnNm');
  const lines = (texts.get(`${path}/AdrLine`) ?? []).flatMap((line) => checked(line, 'AdrLine') ?? []);
  if (lines.length > MAX_LINES) report(`${path}/AdrLine`, `The address has more than ${MAX_LINES} lines`);
  const address = {
    postCode: part('PstCd'),
    streetName: part('StrtNm'),
    buildingNumber: part('BldgNb'),
    lines,
  };
  if (!townName || !country) {
    const lacks = [...(townName ? [] : ['town (TwnNm)']), ...(country ? [] : ['country (Ctry)'])].join(
      ' and ',
    );
    report(path, `The address lacks ${lacks}, so SEPA forbids it since 15 November 2026`);
    return null;
  }
  if (!isCountryCode(country)) {
    report(`${path}/Ctry`, `The country ${JSON.stringify(country)} is not a code of ISO 3166-1`);
    return null;
  }
  return { country, townName, ...address };
}

/** What `PmtTpInf` says about the speed of a payment. */
export interface PaymentType {
  instant: boolean;
  urgent: boolean;
}

/** Reads `PmtTpInf` and `ChrgBr`. Null: there is no `PmtTpInf`. */
export function readPaymentType(texts: Texts, report: Report): PaymentType | null {
  const only = (path: string, allowed: readonly string[]): string | undefined => {
    const text = textAt(texts, path);
    if (text === undefined || allowed.includes(text)) return text;
    report(path, `psd2 cannot pay with ${JSON.stringify(text)}: it knows ${allowed.join(' and ')}`);
    return undefined;
  };
  only('ChrgBr', ['SLEV']);
  if (!texts.has('PmtTpInf')) return null;
  const priority = only('PmtTpInf/InstrPrty', ['NORM', 'HIGH']);
  only('PmtTpInf/SvcLvl/Cd', ['SEPA']);
  only('PmtTpInf/SvcLvl/Prtry', ['SEPA']);
  const instruments = ['Cd', 'Prtry'].map((kind) => only(`PmtTpInf/LclInstrm/${kind}`, ['INST']));
  return { instant: instruments.includes('INST'), urgent: priority === 'HIGH' };
}
