/** The values of the characters at odd positions of an Italian BBAN, indexed by digit or by letter. */
const oddValues = [
  1, 0, 5, 7, 9, 13, 15, 17, 19, 21, 2, 4, 18, 20, 11, 3, 6, 8, 12, 14, 16, 10, 22, 25, 24, 23,
];

/**
 * Makes an Italian IBAN with its national check letter (CIN) and the check digits of ISO 13616.
 *
 * @param abi the bank, 5 digits
 * @param cab the branch, 5 digits
 * @param account 12 characters
 */
export function italianIban(abi: string, cab: string, account: string): string {
  const bban = `${cin(`${abi}${cab}${account}`)}${abi}${cab}${account}`;
  const checkDigits = 98n - (BigInt(asDigits(`${bban}IT00`)) % 97n);
  return `IT${String(checkDigits).padStart(2, '0')}${bban}`;
}

/** The national check letter of 22 characters. Odd and even positions have different weights. */
function cin(characters: string): string {
  const sum = [...characters].reduce((total, character, index) => {
    const value = /\d/.test(character) ? Number(character) : character.charCodeAt(0) - 65;
    return total + (index % 2 === 0 ? (oddValues[value] ?? 0) : value);
  }, 0);
  return String.fromCharCode(65 + (sum % 26));
}

function asDigits(text: string): string {
  return text.replace(/[A-Z]/g, (letter) => String(letter.charCodeAt(0) - 55));
}

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
