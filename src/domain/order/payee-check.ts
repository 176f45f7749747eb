/** The results of a payee check of a name and an IBAN (Regulation (EU) 2024/886, Article 5c). */
export const PAYEE_RESULTS = ['match', 'close', 'none', 'unavailable'] as const;
export type PayeeResult = (typeof PAYEE_RESULTS)[number];

/**
 * Who gave the name and the IBAN of the payee. If it was not the payer, the provider that places the order must ensure that
 * they belong together (Regulation (EU) 2024/886, Article 5c).
 */
export const PAYEE_SOURCES = ['payer', 'payee'] as const;
export type PayeeSource = (typeof PAYEE_SOURCES)[number];

/** The result of the operator's payee check. */
export interface PayeeCheck {
  result: PayeeResult;
  /** The name of the account holder, if the check gave it. */
  name: string | null;
  /** Why the check was not possible. */
  problem: string | null;
}

/** Describes the result of a payee check. */
export function describePayeeCheck({ result, name, problem }: PayeeCheck): string {
  const words = { match: 'match', close: 'close match', none: 'no match', unavailable: 'not possible' }[
    result
  ];
  const heldBy = name === null ? '' : `, the account is held by ${name}`;
  return `${words}${heldBy}${problem === null ? '' : `: ${problem}`}`;
}
