import { ROME } from '../../../../domain/calendar.ts';
import type { BankDescription } from '../description/schema.ts';

/** The zones of the capitals of the countries with the standard whose clocks are not those of Rome. */
const CAPITALS: Readonly<Record<string, string>> = {
  ...{ BG: 'Europe/Sofia', CY: 'Asia/Nicosia', EE: 'Europe/Tallinn', FI: 'Europe/Helsinki' },
  ...{ GB: 'Europe/London', GR: 'Europe/Athens', IE: 'Europe/Dublin', IS: 'Atlantic/Reykjavik' },
  ...{ LT: 'Europe/Vilnius', LV: 'Europe/Riga', PT: 'Europe/Lisbon', RO: 'Europe/Bucharest' },
};

/** The zone in which a bank writes its days: what its file says, else that of the capital of the country of its banks, else of Rome. */
export function zoneOf({ accounts, banks = [] }: Pick<BankDescription, 'accounts' | 'banks'>): string {
  const [country, ...more] = new Set(banks.map((bank) => bank.country));
  return (
    accounts.zone ?? (more.length === 0 && country !== undefined ? CAPITALS[country] : undefined) ?? ROME
  );
}
