import { ROME } from '../../../../domain/calendar.ts';
import type { BankCall } from '../../../call/call.ts';
import type { BankDescription } from '../description/schema.ts';
import type { Calls } from '../wire/calls.ts';
import { knownIban } from './whose.ts';

/** The zones of the capitals of the countries with the standard or its like whose clocks are not those of Rome. */
const CAPITALS: Readonly<Record<string, string>> = {
  BG: 'Europe/Sofia',
  CY: 'Asia/Nicosia',
  EE: 'Europe/Tallinn',
  FI: 'Europe/Helsinki',
  GB: 'Europe/London',
  GR: 'Europe/Athens',
  IE: 'Europe/Dublin',
  IS: 'Atlantic/Reykjavik',
  FO: 'Atlantic/Faroe',
  GE: 'Asia/Tbilisi',
  MD: 'Europe/Chisinau',
  TR: 'Europe/Istanbul',
  UA: 'Europe/Kyiv',
  LT: 'Europe/Vilnius',
  LV: 'Europe/Riga',
  PT: 'Europe/Lisbon',
  RO: 'Europe/Bucharest',
};

/**
 * The zone in which a bank writes the days of an account: what its file says, else that of the capital of the account's country, else of
 * the country of its banks, else of Rome.
 *
 * @param iban the account's. Null: it is not known
 */
export function zoneOf(
  { accounts, banks = [] }: Pick<BankDescription, 'accounts' | 'banks'>,
  iban: string | null = null,
): string {
  const [only, ...more] = new Set(banks.map((bank) => bank.country));
  const country = iban?.trim().slice(0, 2).toUpperCase() ?? (more.length === 0 ? only : undefined);
  return accounts.zone ?? (country === undefined ? undefined : CAPITALS[country]) ?? ROME;
}

/** Finds the zone of the days in the answer to a reading, by the IBAN that the list of accounts has, else the answer. */
export type ZoneOfAnswer = (namedIban: string | null) => string;

/** @param call a reading of an account */
export function zoneOfAnswer(
  calls: Pick<Calls, 'description' | 'settings' | 'ibans'>,
  { facts: { reads } }: BankCall,
): ZoneOfAnswer {
  const listed = reads === null || reads === 'list' ? null : (knownIban(calls, reads.account) ?? null);
  return (named) => zoneOf(calls.description, listed ?? named);
}
