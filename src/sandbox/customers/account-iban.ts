import { italianIban } from './italian-iban.ts';

/** The bank code (ABI) of the sandbox bank. No real bank has it. */
export const BANK_ABI = '09990';
const BRANCH_CAB = '01600';

/** The IBAN of an account of this bank. @param account its number, up to 12 digits */
export function accountIban(account: string): string {
  return italianIban(BANK_ABI, BRANCH_CAB, account.padStart(12, '0'));
}

/** The account number, 12 characters, in an IBAN of this bank. Undefined for another bank's IBAN. */
export function accountOfIban(iban: string): string | undefined {
  const account = iban.slice(15);
  return iban.slice(5, 15) === `${BANK_ABI}${BRANCH_CAB}` && accountIban(account) === iban
    ? account
    : undefined;
}
