/** Whether a credit line is in a balance, as far as the bank says it. */
export interface CreditLimits {
  accountBalance?: boolean | undefined;
  availableBalance?: boolean | undefined;
}
