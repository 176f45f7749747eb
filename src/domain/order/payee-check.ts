/** What a payee check can say of a name and an IBAN (Regulation (EU) 2024/886, Article 5c). */
export const PAYEE_RESULTS = ['match', 'close', 'none', 'unavailable'] as const;
export type PayeeResult = (typeof PAYEE_RESULTS)[number];

/**
 * Who gave the name and the IBAN of the payee. Where it was not the payer, the provider that places the order has to ensure that
 * they belong together (Regulation (EU) 2024/886, Article 5c).
 */
export const PAYEE_SOURCES = ['payer', 'payee'] as const;
export type PayeeSource = (typeof PAYEE_SOURCES)[number];

/** What the operator's payee check said. */
export interface PayeeCheck {
  result: PayeeResult;
  /** The name that the account is held under, where it was told. */
  name: string | null;
  /** Why the check was not possible. */
  problem: string | null;
}

/** What a payee check said, in words. */
export function describePayeeCheck({ result, name, problem }: PayeeCheck): string {
  const words = { match: 'match', close: 'close match', none: 'no match', unavailable: 'not possible' }[
    result
  ];
  const heldBy = name === null ? '' : `, the account is held by ${name}`;
  return `${words}${heldBy}${problem === null ? '' : `: ${problem}`}`;
}
